"""A model and a text for the benchmarks that read: loaded as the engine does it, read token by token or in chunks."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.timing import own_home

TEXT = Path(__file__).with_name("texts") / "lighthouse.txt"
STARTER, GEMMA3 = "starter", "gemma3"


@contextlib.contextmanager
def model_and_ids(name: str, tokens: int) -> Iterator[tuple[Any, list[int]]]:
    """Load `name` ("starter", "gemma3", or a folder) in a temporary home; yield the mlx-lm module and the text's first ids.

    Where the model is not to be had the program ends in words.
    """
    from engine.inference.blas import prefer_system_blas

    prefer_system_blas()  # It has an effect only before MLX is imported.
    from tests.models.loading import load_folder
    from tests.models.real import NotInstalled, gemma3_folder, starter_folder

    with own_home() as home:
        try:
            kinds = {STARTER: starter_folder, GEMMA3: gemma3_folder}
            folder = kinds[name](home.parent / "models") if name in kinds else Path(name)
        except NotInstalled as missing:
            sys.exit(f"Error: {missing}")
        loaded = load_folder(folder)
        ids = loaded.tokenizer.encode(TEXT.read_text())[:tokens]
        yield loaded.model, ids


def read(model: Any, caches: list[Any], ids: Sequence[int], chunk: int) -> Iterator[Any]:
    """Yield the logits [tokens, vocabulary] of each chunk of `ids`, evaluated."""
    import mlx.core as mx

    for start in range(0, len(ids), chunk):
        logits = model(mx.array([ids[start : start + chunk]]), cache=caches)[0].astype(mx.float32)
        mx.eval(logits, [cache.state for cache in caches])
        yield logits

"""The fit of every model at hand, told from its config before any weight is there, against MLX's measured peak once it runs.

Both real ones (SmolLM2 135M and Gemma 3 270M, imported from their GGUFs), each quantized here to 8, 6, 4 and 3 bits, and a tiny
one of every architecture that the tests have, described and downloaded by the real client from a hub on loopback. The quantized
ones run twice on a CPU: as it holds them by itself, unpacked, and as they are stored. The peak is `mx.get_peak_memory()` of
reading a prompt in chunks and writing a few tokens; the context is one at which the run takes 200 MB, where the model can.
To reach: predicted / measured from 0.95 to 1.15 in every run of 200 MB or more.
"""

import contextlib
import gc
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.benchmarks.predicted_peak import HIGHEST, LOWEST, SMALLEST_RUN, Run, measure, row, table
from tests.benchmarks.timing import machine, options, own_home

BITS = ("8", "6", "4", "3")
CONTEXTS = (1026, 4098, 8194)
AS_STORED_CONTEXT = 98
"""Packed weights on a CPU read a dozen tokens a second."""
CHUNK = 2048


@dataclass(frozen=True)
class Subject:
    """A model: what its config says, and its folder, which may not be there before `fetch` was called."""

    name: str
    config: dict[str, Any]
    folder: Path
    quantized: bool = False


def real_models(root: Path, only: str, quick: bool) -> Iterator[Subject]:
    """Those that packages carry, and what is quantized of each; one that is not installed is left out, or not `only`."""
    from tests.models.real import NotInstalled, gemma3_folder, starter_folder

    makers = {"SmolLM2 135M": starter_folder, "Gemma 3 270M": gemma3_folder}
    for name, make in list(makers.items())[: 1 if quick else None]:
        if only.casefold() not in name.casefold():
            continue
        try:
            folder = make(root / "own")
        except NotInstalled as missing:
            print(missing, file=sys.stderr)
            continue
        yield Subject(name, _config(folder), folder, quantized=True)
        yield from quantized(name, folder, root, BITS[-1:] if quick else BITS)


def quantized(name: str, folder: Path, root: Path, wanted: tuple[str, ...]) -> Iterator[Subject]:
    """Copies of a model, made by Flint from its weights in half precision; their quality is not tried here."""
    from engine.inference.quantize import quantize
    from engine.models.entries import folder_entry

    plain = _unpacked(folder, root / "plain" / name)
    entry = folder_entry(plain, "flint", name, name)
    for bits in wanted:
        with patch("engine.inference.quantize.perplexity", lambda *_: 0.0):
            made = quantize(entry, root / "quantized", bits, 64, f"{name} {bits}-bit", lambda *_: None, lambda: False)  # type: ignore[arg-type]
        yield Subject(f"{name} {bits}-bit", _config(made.folder), made.folder, quantized=True)
        shutil.rmtree(made.folder)
    shutil.rmtree(plain)


def downloaded(root: Path, only: str, quick: bool) -> Iterator[Subject]:
    """A tiny random model of every architecture, described by the hub first, then fetched."""
    from engine.models.hub import Hub as Client
    from engine.models.repository_download import RepositoryDownload
    from tests.hub.repositories import Repository
    from tests.hub.server import Hub
    from tests.models.tiny import tiny_model
    from tests.models.tiny_architectures import ARCHITECTURES
    from tests.models.tiny_kinds import CONFIGS

    wanted = list({**CONFIGS, **ARCHITECTURES}.items())[: 2 if quick else None]
    with Hub() as hub:
        os.environ["HF_ENDPOINT"] = hub.base
        client = Client(lambda: None)
        for name, config in wanted:
            if only.casefold() not in f"tiny {name}":
                continue
            own_vocabulary = {field: value for field, value in config.items() if field != "vocab_size"}
            made = tiny_model(root / "made" / name, own_vocabulary)
            hub.add(Repository(f"tiny/{name}", tags=["mlx"]).add_folder(made))
            detail = client.describe(f"tiny/{name}")
            told = json.loads(detail.config)
            yield Subject(f"tiny {name}", told, RepositoryDownload(client, root / "hub", detail).run())


def judged(subject: Subject, weights: str, contexts: tuple[int, ...]) -> Run:
    """Predict from the config, then load, run and measure."""
    import mlx.core as mx

    from engine.hardware.device import read_device
    from engine.models.load_plan import predict_unread
    from tests.models.loading import load_folder

    device = read_device()
    fits = [
        predict_unread(
            subject.config,
            context=context,
            metal=device.metal,
            memory_bytes=device.memory_bytes,
            chunk=CHUNK,
            weights=weights,  # type: ignore[arg-type]
        )
        for context in contexts
    ]
    fit = next((fit for fit in fits if fit.peak_bytes >= SMALLEST_RUN), fits[-1])
    started = time.perf_counter()
    loaded = load_folder(subject.folder, weights)
    vocabulary = len(loaded.tokenizer)
    measured = measure(loaded.model, fit.context, "off", CHUNK, vocabulary)
    del loaded
    gc.collect()
    mx.clear_cache()
    name = subject.name + (", as stored" if weights == "as-stored" else "")
    return Run(name, fit.context, "off", CHUNK, fit.peak_bytes, measured, time.perf_counter() - started)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--only", default="", help="the models whose names hold this: “tiny”, or a part of a real one’s")
    given = parser.parse_args()
    from engine.inference.blas import prefer_system_blas

    prefer_system_blas()
    runs: list[Run] = []
    with own_home() as home:
        os.environ["HF_HUB_OFFLINE"] = "0"  # It has a hub, on loopback.
        root = home.parent / "models"
        for subjects in (downloaded(root, given.only, given.quick), real_models(root, given.only, given.quick)):
            for subject in subjects:
                runs.append(judged(subject, "auto", CONTEXTS))
                print(row(runs[-1]), file=sys.stderr, flush=True)
                if subject.quantized and _on_cpu():
                    runs.append(judged(subject, "as-stored", (AS_STORED_CONTEXT,)))
                    print(row(runs[-1]), file=sys.stderr, flush=True)
    large = [run.ratio for run in runs if run.measured >= SMALLEST_RUN]
    line = {
        "benchmark": "fit_models",
        "against": "mx.get_peak_memory() of the same run",
        "models": len(runs),
        "judged": len(large),
        "lowest": min(large, default=0.0),
        "highest": max(large, default=0.0),
        "bounds": [LOWEST, HIGHEST],
        "holds": bool(large) and min(large) >= LOWEST and max(large) <= HIGHEST,
        "runs": [{**run.__dict__, "ratio": round(run.ratio, 4), "seconds": round(run.seconds, 1)} for run in runs],
        "machine": machine(),
    }
    print(json.dumps(line))
    print(table(runs))


def _on_cpu() -> bool:
    import mlx.core as mx

    return bool(mx.default_device() == mx.cpu)


def _config(folder: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((folder / "config.json").read_text("utf-8"))
    return config


def _unpacked(folder: Path, target: Path) -> Path:
    """Write a model's weights in half precision, and all that is beside them."""
    import mlx.core as mx
    from mlx_lm.utils import dequantize_model, load_model, save_config, save_model

    model, config = load_model(folder)
    dequantize_model(model)
    model.set_dtype(mx.bfloat16)
    target.mkdir(parents=True)
    for path in folder.glob("*token*"):
        shutil.copy(path, target)
    with contextlib.redirect_stdout(sys.stderr):
        save_model(target, model)
        save_config({name: value for name, value in config.items() if "quantization" not in name}, target / "config.json")
    return target


if __name__ == "__main__":
    main()

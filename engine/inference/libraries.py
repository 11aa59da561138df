"""MLX-LM and transformers, imported by one thread at a time.

transformers makes its names when they are first asked for, and tells a second thread that asks meanwhile that there are none.
"""

import gc
import os
import sys
import threading
from pathlib import Path
from typing import Any

_one_thread = threading.Lock()


def import_libraries() -> None:
    """Import what loads models, and never look for garbage in it: a full collection would hold a window up for two frames.

    Only before the first model is there: what was frozen with one would stay when it is dropped.
    """
    with _one_thread:
        if "mlx_lm.utils" not in sys.modules:
            import mlx_lm.utils  # noqa: F401

            gc.freeze()


def tokenizer_of(folder: Path) -> Any:
    """Return what transformers makes of a model folder's tokenizer, imported with its own module. Raises as that does."""
    with _one_thread:
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # It would print about PyTorch, which is not wanted here.
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)

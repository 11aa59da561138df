"""Which architectures mlx-lm runs, read from its files: importing it would load MLX."""

import ast
import functools
import importlib.util
import re
from pathlib import Path

_MODULE = re.compile(r"[\w\-]+")
_MODEL_CLASS = re.compile(r"^class Model\b|^Model\s*=", re.MULTILINE)


def is_supported(model_type: str) -> bool:
    """Say whether mlx-lm has a model for `model_type`, the name in a config.json, also under another name of its own."""
    folder = _package()
    if folder is None or not _MODULE.fullmatch(model_type):
        return False
    module = folder / "models" / f"{_renamed().get(model_type, model_type)}.py"
    try:
        return bool(_MODEL_CLASS.search(module.read_text("utf-8")))
    except OSError:
        return False


def _package() -> Path | None:
    spec = importlib.util.find_spec("mlx_lm")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


@functools.cache
def _renamed() -> dict[str, str]:
    """mlx-lm's `MODEL_REMAPPING`: types that another type's code runs."""
    folder = _package()
    if folder is None:
        return {}
    for node in ast.parse((folder / "utils.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "MODEL_REMAPPING" for t in node.targets):
            return dict(ast.literal_eval(node.value))
    return {}

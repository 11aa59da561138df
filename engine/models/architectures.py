"""Which architectures mlx-lm runs, read from its files: importing it would load MLX."""

import ast
import functools
import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

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


def module_name(model_type: str) -> str:
    """Return the name of the mlx-lm module that runs `model_type`; the type itself where no other one does."""
    return _renamed().get(model_type, model_type)


@functools.cache
def argument_defaults(module: str) -> Mapping[str, Any]:
    """Return what mlx-lm's `module` fills in for the fields that a config leaves out: the defaults that are plain values.

    They are those of the dataclass that has a `hidden_size`. Empty where there is none.
    """
    folder = _package()
    if folder is None or not _MODULE.fullmatch(module):
        return MappingProxyType({})
    try:
        tree = ast.parse((folder / "models" / f"{module}.py").read_text("utf-8"))
    except (OSError, SyntaxError):
        return MappingProxyType({})
    classes = (_annotated(node) for node in tree.body if isinstance(node, ast.ClassDef))
    fields = next((found for found in classes if "hidden_size" in found), {})
    return MappingProxyType({name: value for name, value in fields.items() if value is not None})


def _annotated(node: ast.ClassDef) -> dict[str, Any]:
    """The annotated fields of a class with their defaults; None where there is none, or none that is a plain value."""
    fields: dict[str, Any] = {}
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            try:
                fields[item.target.id] = None if item.value is None else ast.literal_eval(item.value)
            except ValueError:
                fields[item.target.id] = None
    return fields


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

"""Whether a model folder can be used, checked in milliseconds: no tensor is read and nothing of the model is imported."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.core.errors import FlintError, ModelBroken, ModelUnsupported
from engine.core.json_file import read_object
from engine.core.presence import file_there
from engine.models.architectures import is_supported
from engine.models.facts import read_config
from engine.models.safetensors_file import check_safetensors

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
WEIGHTS_PATTERN = "model*.safetensors"
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tiktoken.model", "vocab.json")
_SHARD = re.compile(r"model-(\d{5})-of-(\d{5})\.safetensors")


def check_folder(folder: Path) -> None:
    """Check that a model folder is whole and of a kind that Flint runs.

    Raises `ModelBroken` (a file is missing, cut short or damaged) or `ModelUnsupported` (pickled weights, code of its own,
    an architecture that mlx-lm lacks).
    """
    config = read_config(folder)
    _check_architecture(folder, config)
    for name in _weight_files(folder):
        check_safetensors(folder / name)
    if not any(file_there(folder / name) for name in TOKENIZERS):
        raise ModelBroken(f"{folder.name} has no tokenizer (tokenizer.json).")


def problem_of(folder: Path) -> str:
    """Return why a model folder cannot be used, in one sentence; "" when it can."""
    trouble = trouble_with(folder)
    return trouble.text if trouble else ""


def trouble_with(folder: Path) -> FlintError | None:
    """Return what `check_folder` raises for a folder, or None."""
    try:
        check_folder(folder)
    except FlintError as error:
        return error
    except OSError as error:
        return ModelBroken(f"{folder.name} could not be read: {error.strerror}.")
    return None


def _check_architecture(folder: Path, config: Mapping[str, Any]) -> None:
    if config.get("model_file") is not None:
        raise ModelUnsupported(f"{folder.name} brings Python code of its own, which Flint never runs.")
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        raise ModelBroken(f"{folder.name}'s config.json does not name an architecture (model_type).")
    if not is_supported(model_type):
        raise ModelUnsupported(f"{folder.name} is of architecture “{model_type}”, which mlx-lm does not run.")


def _weight_files(folder: Path) -> list[str]:
    """Return the names of the weight files that must be there, after checking that they are."""
    present = sorted(path.name for path in folder.glob(WEIGHTS_PATTERN))
    missing = [name for name in _listed(folder) if not file_there(folder / name)]
    for name in present:
        if match := _SHARD.fullmatch(name):
            whole = [f"model-{number:05}-of-{match[2]}.safetensors" for number in range(1, min(int(match[2]), 9999) + 1)]
            missing += [shard for shard in whole if not file_there(folder / shard)]
    if missing:
        more = len(set(missing)) - 1
        raise ModelBroken(f"{folder.name} lacks {missing[0]}{f' and {more} more of its files' if more else ''}.")
    if present:
        # A link into the Hugging Face cache whose target is gone is still listed by its name.
        dangling = [name for name in present if not file_there(folder / name)]
        if dangling:
            raise ModelBroken(f"{folder.name} lacks {dangling[0]}: its download is not finished.")
        return present
    if any(path.suffix in _PICKLES for path in folder.iterdir()):
        raise ModelUnsupported(
            f"{folder.name} has only pickled weights, which can run code; Flint reads safetensors.",
            "Choose a version of the model in safetensors.",
        )
    raise ModelBroken(f"{folder.name} has no weights (model.safetensors).")


def _listed(folder: Path) -> list[str]:
    """Return the shards that model.safetensors.index.json names, if there is one."""
    path = folder / "model.safetensors.index.json"
    try:
        places = read_object(path).get("weight_map")
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        places = None
    if not isinstance(places, dict):
        raise ModelBroken(f"{folder.name}'s {path.name} is damaged.")
    if not all(isinstance(name, str) and name == Path(name).name for name in places.values()):
        raise ModelBroken(f"{folder.name}'s {path.name} names files outside its folder.")
    return sorted(set(places.values()))

"""Whether a file or folder that somebody offers is a model, told in plain words where it is not."""

import os
from pathlib import Path

from engine.core.errors import FlintError, ModelBroken, ModelNotFound, ModelUnsupported, UsageError
from engine.core.presence import file_there, folder_there, there

_MAGIC = b"GGUF"
_PICKLED = {".bin", ".pt", ".pth", ".ckpt", ".pkl"}
_PACKED = {".zip", ".gz", ".tar", ".tgz", ".xz", ".7z", ".zst"}
_PARTS = {".safetensors", ".json", ".jinja", ".model"}
_WHAT_IS = "A model is one .gguf file, or a folder with a config.json and .safetensors files."
_SAFE_ONLY = (
    "Flint reads .safetensors and .gguf only: files like this one can hold programs. Look for a version in one of those."
)


def model_source(path: Path) -> Path:
    """Return what is to be imported: the .gguf file, the model folder, or the one .gguf in a folder.

    Raises `ModelNotFound`, `ModelBroken`, `ModelUnsupported` or `UsageError` when it is no model, with what to do instead.
    """
    try:
        if folder_there(path):
            return _folder(path)
        if file_there(path):
            return _file(path)
        if there(path):  # To read a pipe would wait for ever.
            raise UsageError(f"“{path.name}” is not a file.", _WHAT_IS)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "it could not be opened"
        raise ModelBroken(
            f"“{path.name}” could not be read: {reason}.", "Check that you may open it, then try again."
        ) from error
    raise ModelNotFound(f"“{path.name}” is not there any more.", "It may have been moved or renamed. Choose it again.")


def _file(path: Path) -> Path:
    suffix = path.suffix.lower()
    with path.open("rb") as file:
        is_gguf = file.read(len(_MAGIC)) == _MAGIC
    if is_gguf:
        return path
    raise _refusal(path, suffix)


def _refusal(path: Path, suffix: str) -> FlintError:
    name = f"“{path.name}”"
    if suffix == ".gguf":
        return ModelBroken(
            f"{name} is named like a GGUF file, but is not one.", "It may be a download that was cut short. Download it again."
        )
    if suffix in _PARTS:
        return UsageError(f"{name} is one part of a model.", "Choose the whole folder that it is in.")
    if suffix in _PICKLED:
        return ModelUnsupported(f"{name} is a kind of file that Flint does not open.", _SAFE_ONLY)
    if suffix in _PACKED:
        return UsageError(f"{name} is an archive.", "Unpack it first, then choose what was in it.")
    return UsageError(f"{name} is not a model.", _WHAT_IS)


def _folder(path: Path) -> Path:
    files = [file for file in path.iterdir() if file_there(file) and not file.name.startswith(".")]
    kinds = {file.suffix.lower() for file in files}
    if file_there(path / "config.json"):
        if ".safetensors" in kinds:
            return path
        if kinds & _PICKLED:
            raise ModelUnsupported(f"The weights in “{path.name}” are of a kind that Flint does not open.", _SAFE_ONLY)
        if ".gguf" not in kinds:
            raise ModelBroken(f"“{path.name}” has a config.json, but no weights.", "Download the model again, whole.")
    ggufs = [file for file in files if file.suffix.lower() == ".gguf"]
    if len(ggufs) == 1:
        return _file(ggufs[0])
    if ggufs:
        raise UsageError(f"“{path.name}” holds {len(ggufs)} GGUF files.", "Choose the one that you want, not the folder.")
    if ".safetensors" in kinds:
        raise ModelBroken(f"“{path.name}” has weights, but no config.json.", "Download the model again, whole.")
    raise UsageError(f"“{path.name}” is not a model folder.", _WHAT_IS)

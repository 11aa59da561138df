"""A file that holds one JSON object."""

import json
from pathlib import Path
from typing import Any


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a UTF-8 file, with a byte order mark or without.

    Raises `OSError`, and `ValueError` for whatever else a file may hold.
    """
    try:
        found = json.loads(path.read_text("utf-8-sig"))
    except RecursionError:
        raise ValueError(f"{path.name} is nested too deep") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} is no JSON object")
    return found

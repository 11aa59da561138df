"""A digest of pieces from all over a file: two files of one size that differ nowhere in them are taken for the same."""

import hashlib
from pathlib import Path

PIECE_BYTES = 65536


def content_sample(path: Path) -> str:
    """Return 64 hex digits made of four pieces of a file, of a quarter megabyte in all. Raises `OSError`."""
    size, digest = path.stat().st_size, hashlib.sha256()
    with path.open("rb") as file:
        for place in (0, size // 3, size // 2, max(0, size - PIECE_BYTES)):
            file.seek(place)
            digest.update(file.read(PIECE_BYTES))
    return digest.hexdigest()

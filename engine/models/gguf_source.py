"""A GGUF file read front to back once: every byte is counted and hashed on its way to the conversion."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.core.errors import ModelBroken

CHUNK_BYTES = 8 * 2**20


class ImportCancelled(Exception):
    """The import was stopped because `cancelled()` said so; nothing of it was kept."""


class Source:
    """The open file. After each read `progress` gets the bytes done and in all, and `cancelled` is asked whether to stop."""

    def __init__(self, path: Path, size: int, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        self._path, self._size = path, size
        self._progress, self._cancelled = progress, cancelled
        self._digest = hashlib.sha256()
        self._hashed = 0
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise self._unreadable(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes at `offset`.

        Raises `ModelBroken` when the file is not as long as it was or cannot be read, `ImportCancelled` when asked to stop.
        """
        while self._hashed < offset:
            self._next(min(CHUNK_BYTES, offset - self._hashed))
        if self._hashed == offset:
            return self._next(size)
        return self._at(offset, size)

    def sha256(self) -> str:
        """Read what is left and return the hash of the whole file."""
        while self._hashed < self._size:
            self._next(min(CHUNK_BYTES, self._size - self._hashed))
        return self._digest.hexdigest()

    def _next(self, size: int) -> bytes:
        if self._cancelled():
            raise ImportCancelled(self._path.name)
        data = self._at(self._hashed, size)
        self._digest.update(data)
        self._hashed += size
        self._progress(self._hashed, self._size)
        return data

    def _at(self, offset: int, size: int) -> bytes:
        try:
            self._file.seek(offset)
            data = self._file.read(size)
        except OSError as error:
            raise self._unreadable(error) from error
        if len(data) != size:
            raise ModelBroken(f"{self._path.name} became shorter while it was read.", "Download the file again.")
        return data

    def _unreadable(self, error: OSError) -> ModelBroken:
        return ModelBroken(f"{self._path.name} could not be read: {error.strerror}.", "Check the file and its disk.")

"""The files of a GGUF read front to back once: every byte is counted and hashed on its way to the conversion."""

import contextlib
import hashlib
from collections.abc import Callable
from types import TracebackType
from typing import Self

from engine.core.errors import ModelBroken
from engine.models.gguf_file import Header, Part

CHUNK_BYTES = 8 * 2**20


class ImportCancelled(Exception):
    """The import was stopped because `cancelled()` said so; nothing of it was kept."""


class Source:
    """The open files, as one. After each read `progress` gets the bytes done and in all, and `cancelled` is asked whether to
    stop."""

    def __init__(self, header: Header, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        self._name, self._size = header.path.name, header.file_size
        self._progress, self._cancelled = progress, cancelled
        self._digest = hashlib.sha256()
        self._hashed = 0
        self._open = contextlib.ExitStack()
        self._parts = []
        for part in header.parts:
            try:
                self._parts.append((part, self._open.enter_context(part.path.open("rb"))))
            except OSError as error:
                self._open.close()
                raise _unreadable(part, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open.close()

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
            raise ImportCancelled(self._name)
        data = self._at(self._hashed, size)
        self._digest.update(data)
        self._hashed += size
        self._progress(self._hashed, self._size)
        return data

    def _at(self, offset: int, size: int) -> bytes:
        """Return bytes of the files laid end to end; only the hash ever asks for some of two."""
        pieces: list[bytes] = []
        for part, file in self._parts:
            if size and offset < part.size:
                wanted = min(size, part.size - offset)
                try:
                    file.seek(offset)
                    data = file.read(wanted)
                except OSError as error:
                    raise _unreadable(part, error) from error
                if len(data) != wanted:
                    raise ModelBroken(f"{part.path.name} became shorter while it was read.", "Download the file again.")
                pieces.append(data)
                offset, size = offset + wanted, size - wanted
            offset -= part.size
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _unreadable(part: Part, error: OSError) -> ModelBroken:
    return ModelBroken(f"{part.path.name} could not be read: {error.strerror}.", "Check the file and its disk.")

"""Taking deleted chats out of the prefix cache's folder: of every model's files, loaded or not, without MLX.

Two chats share what they have in common from the beginning on. A file that only deleted chats own is cut to what one that stays
has in common with it, or removed.
"""

import logging
from bisect import bisect_left
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.cache.disk import DiskCache, remove, stored_paths
from engine.cache.stored_file import Header, Place, StoredBroken, Tensor, read_header, read_tensors, write_stored

logger = logging.getLogger("flint.engine")

ROWS_AXIS = 2
"""The axis of positions in an array of rows [B, H, rows, width]."""


@dataclass(frozen=True)
class _Read:
    path: Path
    header: Header

    @property
    def owners(self) -> set[str]:
        return set(self.header.facts["owners"])

    @property
    def order(self) -> bytes:
        """The tokens, so that those with the longest common beginning stand beside each other when sorted."""
        return self.header.tokens.astype(">u4").tobytes()


def forget_chats(disk: DiskCache, chat_ids: Collection[str]) -> None:
    """Take what belongs to none but these chats off the disk, and with it every file that can't be read."""
    for folder in disk.folders():
        try:
            _forget_in(folder, set(chat_ids))
        except OSError as error:
            logger.warning("Deleted chats could not be taken out of the prefix cache: %s", error.strerror)


def _forget_in(folder: Path, chat_ids: set[str]) -> None:
    going: list[_Read] = []
    staying: list[_Read] = []
    for path in stored_paths(folder):
        try:
            read = _Read(path, read_header(path))
            (going if read.owners and read.owners <= chat_ids else staying).append(read)
        except (StoredBroken, KeyError, TypeError):
            remove([path])  # Nobody can tell whose it was.
    staying.sort(key=lambda read: read.order)
    orders = [read.order for read in staying]
    for read in going:
        place = bisect_left(orders, read.order)
        beside = staying[max(0, place - 1) : place + 1]
        shared, owners = max(
            ((_shared(read, other), other.owners - chat_ids) for other in beside), key=lambda each: each[0], default=(0, set())
        )
        _cut(read, shared, owners)
    for read in staying:
        if read.owners & chat_ids:
            _cut(read, len(read.header.tokens), read.owners - chat_ids)  # So that it goes with the last of them.


def _shared(one: _Read, other: _Read) -> int:
    """Return how many leading tokens two files have in common."""
    import numpy as np

    length = min(len(one.header.tokens), len(other.header.tokens))
    apart = np.flatnonzero(one.header.tokens[:length] != other.header.tokens[:length])
    return int(apart[0]) if apart.size else length


def _cut(read: _Read, stop: int, owners: Collection[str]) -> None:
    """Replace a file by one of what it holds below position `stop`, which `owners` have too."""
    facts, tensors = dict(read.header.facts), []
    try:
        rows = [(row, min(row[2], stop)) for row in facts["rows"] if row[1] < stop]
        facts["rows"] = [[row[0], row[1], end, *row[3:]] for row, end in rows]
        facts["states"] = {at: state for at, state in facts["states"].items() if int(at) <= stop}
        facts["owners"] = sorted(owners)
        for row, end in rows:
            start = f"rows.{row[0]}.{row[1]}."
            whole = [read.header.place(name) for name in read.header.names if name.startswith(f"{start}{row[2]}.")]
            tensors += [_shortened(read.path, place, f"{start}{end}.", end - row[1]) for place in whole]
        for at in facts["states"]:
            kept = [read.header.place(name) for name in read.header.names if name.startswith(f"state.{at}.")]
            tensors += [_shortened(read.path, place, "", 0) for place in kept]
    except (StoredBroken, KeyError, TypeError, ValueError, IndexError):
        tensors = []
    remove([read.path])
    if tensors:
        write_stored(read.path.parent, facts, read.header.tokens[:stop].tolist(), tensors, lambda: False)


def _shortened(path: Path, place: Place, name: str, rows: int) -> Tensor:
    """Return a tensor with its first `rows` rows and a name that begins with `name`; the whole one where that is empty."""
    import numpy as np

    data = next(iter(read_tensors(path, [place])))
    spec = place.spec
    if not name:
        return Tensor(spec, lambda: data)
    width = len(data) // max(1, int(np.prod(spec.shape[: ROWS_AXIS + 1])))
    cut: Any = np.frombuffer(data, np.uint8).reshape(*spec.shape[: ROWS_AXIS + 1], width)[:, :, :rows]
    named = ".".join(spec.name.split(".")[-2:])
    shorter = replace(spec, name=f"{name}{named}", shape=(*spec.shape[:ROWS_AXIS], rows, *spec.shape[ROWS_AXIS + 1 :]))
    return Tensor(shorter, _bytes_of(cut))


def _bytes_of(array: Any) -> Callable[[], bytes]:
    return lambda: bytes(array.tobytes())

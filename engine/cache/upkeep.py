"""The prefix cache's housekeeping beside a loaded model: what is saved when nothing else is to be done, and before it goes."""

import logging
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from engine.cache.disk import DiskCache
from engine.cache.forgetting import forget_chats

if TYPE_CHECKING:
    from engine.cache.prefix import PrefixCache

logger = logging.getLogger("flint.engine")

MEMORY = 2 * 10**9
REST_S = 300.0
"""How long nothing is saved after that failed."""
LEAVE_S = 3.0
"""The longest that a model's end waits for what is still to be saved."""


class Upkeep:
    """Bounds of the prefix cache, `memory` bytes besides the live conversation and those of `disk`; and who obeys them.

    Without a disk nothing outlives the model. It must be used on the engine thread.
    """

    def __init__(self, disk: DiskCache | None = None, memory: int = MEMORY) -> None:
        self.disk = disk
        self.memory = memory
        self._tidy = False
        self._rest_until = 0.0

    def set_bounds(self, cache: "PrefixCache | None", memory: int, disk: int) -> None:
        """Obey other bounds from now on; what is over them goes with the next `idle`."""
        self.memory = memory
        self._tidy = False
        if self.disk is not None:
            self.disk.limit = disk
        if cache is not None:
            cache.limit = memory

    def idle(self, cache: "PrefixCache | None", busy: Callable[[], bool]) -> None:
        """Save what is not on disk yet, file by file, until somebody is `busy` or all is done; then keep within the bounds.

        It never raises: what can't be saved is read again later.
        """
        try:
            while cache is not None and time.monotonic() >= self._rest_until and not busy() and cache.save(busy):
                pass
        except Exception:
            self._rest_until = time.monotonic() + REST_S
            logger.exception("what was read could not be saved")
        if not self._tidy and not busy():
            self._tidy = True
            if self.disk is not None:
                self.disk.tidy()
            if cache is not None:
                cache.shrink(self.memory)

    def leave(self, cache: "PrefixCache") -> None:
        """Save what is not on disk yet, for `LEAVE_S` seconds at most."""
        until = time.monotonic() + LEAVE_S
        self.idle(cache, lambda: time.monotonic() > until)

    def forget_chats(self, cache: "PrefixCache | None", chat_ids: Collection[str]) -> None:
        """Forget what belongs to none but these chats, in memory and in every model's files."""
        if cache is not None:
            self.leave(cache)  # What the others share with them is then known by their own files.
            cache.forget_chats(chat_ids)
        if self.disk is not None:
            forget_chats(self.disk, chat_ids)

    def clear(self, cache: "PrefixCache | None") -> None:
        """Forget everything, the live conversation too, in memory and on disk."""
        if self.disk is not None:
            self.disk.clear()
        if cache is not None:
            cache.forget()

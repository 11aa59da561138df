"""Serves what is asked of the hub, on threads of its own: a search waits for no download, and neither for the model."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from engine.core.connection import Connection
from engine.core.daemon_pool import DaemonPool
from engine.core.hub_messages import (
    AskHubAccount,
    CancelDownload,
    DescribeHub,
    DownloadChanged,
    DownloadsListed,
    FindVariants,
    HubAccount,
    HubDescribed,
    HubFound,
    HubVariants,
    ListDownloads,
    PauseDownload,
    SearchHub,
    SetHubToken,
    StartDownload,
)
from engine.core.messages import Command, Event
from engine.core.paths import Paths
from engine.core.presence import there
from engine.download_queue import DownloadQueue
from engine.models.hub import Hub
from engine.models.hub_token import HubToken
from engine.models.huggingface_cache import cache_folder
from engine.pool import CommandPool

AT_ONCE = 8
BATCH = 8
"""Configs of found models that are asked for side by side; what they say is told batch by batch."""
PATIENCE_S = 0.5
"""How long the end of the program waits for an answer of the hub, and for the downloads to keep what they have."""

type Work = Callable[[Command], Iterator[Event]]


class Librarian:
    """Takes the commands of `handles`; `announce` gets what concerns everybody. No network before one comes."""

    def __init__(self, paths: Paths, announce: Callable[[Event], object], environ: Mapping[str, str] = os.environ) -> None:
        self._token = HubToken(paths.config, environ)
        self.hub = Hub(lambda: self._token.read()[0], environ)
        self._cache = cache_folder(environ)
        self._queue = DownloadQueue(
            self.hub,
            self._cache,
            paths.data / "downloads.json",
            lambda download, gone: announce(DownloadChanged("", download, gone)),
        )
        self._pool = CommandPool(2, "flint-hub")
        self._went_on = False
        self._work: dict[type, Work] = {
            SearchHub: self._search,
            DescribeHub: self._describe,
            FindVariants: self._find_variants,
            StartDownload: lambda command: self._do(lambda: self._queue.add(command.model_id)),  # type: ignore[union-attr]
            PauseDownload: lambda command: self._do(lambda: self._queue.pause(command.model_id)),  # type: ignore[union-attr]
            CancelDownload: lambda command: self._do(lambda: self._queue.cancel(command.model_id)),  # type: ignore[union-attr]
            ListDownloads: self._list,
            SetHubToken: self._set_token,
            AskHubAccount: self._account,
        }

    def serve(self, kind: type[Command], work: Work) -> None:
        """Carry out one more kind of command here: it asks the hub, and nothing else should wait for the answer."""
        self._work[kind] = work

    def handles(self, command: Command) -> bool:
        """Whether a command is one of the hub's."""
        return type(command) in self._work

    def post(self, command: Command, connection: Connection) -> None:
        """Carry a command out on another thread; its events go to `connection`. After `close` it fails at once."""
        self._pool.post(command, connection, self._work[type(command)])

    def close(self) -> None:
        """Stop the downloads, which go on at the next start, and end what is asked."""
        self._queue.close()
        self.hub.close()
        self._pool.close(wait=False)

    def join(self) -> None:
        """Let what is at work end by itself after `close`, where it does so soon: a hub may never answer."""
        self._pool.join(PATIENCE_S)
        self._queue.join(PATIENCE_S)

    def _do(self, work: Callable[[], object]) -> Iterator[Event]:
        work()
        yield from ()

    def _search(self, command: Command) -> Iterator[Event]:
        """Tell what was found, then again with what the models' own configs say of layers and lengths."""
        assert isinstance(command, SearchHub)
        models, more = self.hub.search(
            command.query, command.sort, mlx_only=command.mlx_only, limit=command.limit, task=command.task
        )
        yield HubFound(command.request_id, models, more)
        found = list(models)
        with DaemonPool(AT_ONCE, "flint-configs") as pool:
            for start in range(0, len(found), BATCH):
                found[start : start + BATCH] = pool.map(self.hub.configured, found[start : start + BATCH])
                yield HubFound(command.request_id, tuple(found), more)

    def _describe(self, command: Command) -> Iterator[Event]:
        assert isinstance(command, DescribeHub)
        yield HubDescribed(command.request_id, self.hub.describe(command.model_id))

    def _find_variants(self, command: Command) -> Iterator[Event]:
        assert isinstance(command, FindVariants)
        yield HubVariants(command.request_id, command.model_id, self.hub.variants(command.model_id, command.base))

    def _list(self, command: Command) -> Iterator[Event]:
        if not self._went_on:
            self._went_on = True
            self._queue.go_on()
        free = _free_bytes(self._cache)
        with self._queue.listed() as downloads:
            yield DownloadsListed(command.request_id, downloads, free)

    def _set_token(self, command: Command) -> Iterator[Event]:
        assert isinstance(command, SetHubToken)
        token = command.token.strip()
        name = self.hub.account(token) if token else ""
        yield HubAccount(command.request_id, self._token.keep(token) or self._token.read()[1], name)

    def _account(self, command: Command) -> Iterator[Event]:
        yield HubAccount(command.request_id, self._token.read()[1])


def _free_bytes(folder: Path) -> int:
    """Return what is free where `folder` is or will be."""
    while not there(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0

"""Models on their way: one after the other, their files side by side; what is left of them is known after a restart."""

import contextlib
import dataclasses
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.core.codec import restore
from engine.core.disk import write_whole
from engine.core.errors import EngineStopped, FlintError, Stopped, describe
from engine.core.hub_errors import HubError
from engine.core.hub_facts import Download, HubDetail
from engine.metrics import RollingRate
from engine.models.backoff import Backoff
from engine.models.download_note import wanted
from engine.models.fetched import check_fetched
from engine.models.hub import Hub
from engine.models.hub_facts import check_files
from engine.models.hub_variants import check_id
from engine.models.names import human_name
from engine.models.repository_download import RepositoryDownload, alone, remove_fetched, repository_folder
from engine.models.superseded import noted_in, sweep
from engine.models.transfer import OWN

logger = logging.getLogger("flint.engine")

RATE_WINDOW_S = 5.0
TOLD_EVERY_S = 0.25


@dataclass
class _Item:
    """A download as it is told of, and what carries it out while it runs."""

    download: Download
    work: RepositoryDownload | None = None
    cancelled: bool = False


class DownloadQueue:
    """Runs downloads on a thread of its own and tells of each change through `told`, which any thread may call.

    `file` remembers them. `cache` is the Hugging Face cache. Call `go_on` once to take up what an earlier run left unfinished.
    """

    def __init__(self, hub: Hub, cache: Path, file: Path, told: Callable[[Download, bool], object]) -> None:
        self._hub, self._cache, self._file, self._told = hub, cache, file, told
        self._gate = threading.RLock()
        self._wake = threading.Condition(self._gate)
        self._items = {download.model_id: _Item(download) for download in _read(file)}
        self._closed = False
        self._thread: threading.Thread | None = None
        self._running: _Item | None = None

    @contextlib.contextmanager
    def listed(self) -> Iterator[tuple[Download, ...]]:
        """Give all of them, in their order. Nothing changes until they are told: an older list would take news back."""
        with self._gate:
            yield tuple(item.download for item in self._items.values())

    def go_on(self) -> None:
        """Take up what was running when Flint ended; what was paused stays so."""
        with self._gate:
            for item in self._items.values():
                if item.download.going:
                    self._change(item, state="queued", rate=None, left_s=None)
            self._start_thread()

    def add(self, model_id: str) -> None:
        """Queue a model, or go on with one that is paused, failed or done. Raises `UsageError` for a name that is none."""
        check_id(model_id)
        with self._gate:
            item = self._items.get(model_id)
            if item is None:
                item = _Item(Download(model_id, human_name(model_id.partition("/")[2]), "queued", 0, 0))
                self._items[model_id] = item
            if item.download.state in ("paused", "failed", "done", "queued"):
                self._change(item, state="queued", error=None, rate=None, left_s=None)
            self._start_thread()

    def pause(self, model_id: str) -> None:
        """Stop a download and keep what is there."""
        with self._gate:
            item = self._items.get(model_id)
            if item and item.download.going:
                self._change(item, state="paused", rate=None, left_s=None, error=None)
                if item.work:
                    item.work.stop()
                self._wake.notify_all()

    def cancel(self, model_id: str) -> None:
        """Take a download off the list; what an unfinished one fetched is removed."""
        with self._gate:
            item = self._items.get(model_id)
            if item is None:
                return
            item.cancelled = True
            if item.work:
                item.work.stop()  # Its thread removes what it fetched, once it has let go of the files, and tells it again.
            self._forget(item)
            if not item.work and item is not self._running:
                self._remove_remains(item.download)
            self._wake.notify_all()

    def close(self) -> None:
        """End the thread within a piece of each file; unfinished downloads go on at the next start."""
        with self._gate:
            self._closed = True
            for item in self._items.values():
                if item.work:
                    item.work.stop()
            self._wake.notify_all()

    def join(self, seconds: float) -> None:
        """Wait for the thread after `close`, for so long at most; what it is cut off from is as after a crash."""
        if self._thread is not None:
            self._thread.join(seconds)

    # -- the thread -------------------------------------------------------------------------------------------------

    def _start_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            # A daemon: it only waits for the network or writes a file that is checked at the next start anyway.
            self._thread = threading.Thread(target=self._run, name="flint-downloads", daemon=True)
            self._thread.start()
        self._wake.notify_all()

    def _run(self) -> None:
        for snapshot in noted_in(self._cache):  # Of a version that was in use when it was updated.
            sweep(snapshot)
        while True:
            with self._gate:
                item = self._next()
                while item is None and not self._closed:
                    self._wake.wait()
                    item = self._next()
                if self._closed or item is None:
                    return
                self._running = item
                self._change(item, state="running", error=None)
            self._carry_out(item)

    def _next(self) -> _Item | None:
        return next((item for item in self._items.values() if item.download.state == "queued"), None)

    def _carry_out(self, item: _Item) -> None:
        """Fetch one model, and say how it ended."""
        model_id = item.download.model_id
        try:
            with alone(self._cache, model_id):
                detail = self._described(item)
                check_files(detail)
                folder = self._fetch(item, detail)
                check_fetched(folder, detail)
            self._end(item, state="done", done_bytes=item.download.total_bytes, folder=str(folder), rate=None, left_s=None)
        except (Stopped, EngineStopped):
            self._end(item)
        except Exception as error:
            if not isinstance(error, FlintError):
                logger.exception("the download of %s failed", model_id)
            self._end(item, state="failed", error=describe(error), rate=None, left_s=None)

    def _described(self, item: _Item) -> HubDetail:
        """Ask what there is to fetch; what passes by itself is waited for, longer each time."""
        backoff = Backoff()
        while True:
            try:
                return self._hub.describe(item.download.model_id)
            except HubError as error:
                if not error.passing:
                    raise
                seconds = backoff.pause_s(error)
                with self._gate:
                    self._change(item, state="waiting", error=error.info(), rate=None, left_s=seconds)
                    end = time.monotonic() + seconds
                    while not self._is_off(item) and time.monotonic() < end:
                        self._wake.wait(max(0.0, end - time.monotonic()))
                    if self._is_off(item):
                        raise Stopped from None
                    self._change(item, state="running", error=None, left_s=None)

    def _is_off(self, item: _Item) -> bool:
        return self._closed or item.cancelled or item.download.state not in ("running", "waiting", "verifying")

    def _fetch(self, item: _Item, detail: HubDetail) -> Path:
        rate = RollingRate(RATE_WINDOW_S)
        work = RepositoryDownload(self._hub, self._cache, detail)
        last = [0.0, -1.0]

        def changed() -> None:
            now = time.monotonic()
            with self._gate:
                rate.add(now, max(0, work.done_bytes - max(0, last[1])) if last[1] >= 0 else 0)
                last[1] = work.done_bytes
                if now - last[0] >= TOLD_EVERY_S or work.waiting:
                    last[0] = now
                    self._progress(item, work, rate.rate(now))

        work.changed = changed
        with self._gate:
            item.work = work  # Also where it ends at once: a cancelled one takes what it left away.
            if self._is_off(item):
                raise Stopped
            self._change(item, name=detail.model.name, total_bytes=work.total_bytes, commit=detail.commit)
        return work.run()

    def _progress(self, item: _Item, work: RepositoryDownload, rate: float) -> None:
        if item.download.state not in ("running", "waiting", "verifying") or item.cancelled:
            return
        waiting = work.waiting
        left = (work.total_bytes - work.done_bytes) / rate if rate > 0 else None
        state = "waiting" if waiting else "verifying" if work.done_bytes >= work.total_bytes else "running"
        self._change(
            item,
            keep=False,
            state=state,
            done_bytes=work.done_bytes,
            rate=None if waiting else rate or None,
            left_s=max(0.0, waiting[1] - time.monotonic()) if waiting else left,
            error=waiting[0].info() if waiting else None,
        )

    def _end(self, item: _Item, **changes: Any) -> None:
        with self._gate:
            work, item.work, self._running = item.work, None, None
            if item.cancelled:
                self._clean_up(item, work, finished=changes.get("state") == "done")
                return
            done: dict[str, Any] = {"done_bytes": work.done_bytes} if work else {}
            if item.download.state == "paused":  # Somebody asked for that while it ran.
                changes = {} if changes.get("state") != "done" else changes
            self._change(item, **{**done, **changes})

    # -- what is kept -----------------------------------------------------------------------------------------------

    def _change(self, item: _Item, *, keep: bool = True, **changes: Any) -> None:
        before = item.download
        item.download = replace(before, **changes)
        if item.download != before:
            self._told(item.download, False)
        if keep:
            self._write()

    def _forget(self, item: _Item) -> None:
        self._items.pop(item.download.model_id, None)
        self._write()
        self._told(item.download, True)

    def _clean_up(self, item: _Item, work: RepositoryDownload | None, *, finished: bool) -> None:
        """Take away what a cancelled download fetched; one that was whole by then stays."""
        if work is None:
            self._remove_remains(item.download)
        elif not finished:
            with contextlib.suppress(OSError, FlintError), alone(self._cache, item.download.model_id):
                work.remove()
        if item.download.model_id not in self._items:  # Somebody may have begun it anew.
            self._told(item.download, True)

    def _remove_remains(self, download: Download) -> None:
        """Remove what a download that does not run fetched, unless another of the same repository has something there too."""
        folder = repository_folder(self._cache, download.model_id)
        others = [item.download for item in self._items.values() if item.download.state != "done"]
        if download.state == "done" or folder in [repository_folder(self._cache, one.model_id) for one in others]:
            return
        with contextlib.suppress(OSError, FlintError), alone(self._cache, download.model_id):
            partial = [path.name.partition(OWN)[0] for path in (folder / "blobs").glob(f"*{OWN}*")]
            remove_fetched(folder, {*wanted(folder), *partial})

    def _write(self) -> None:
        rows = [dataclasses.asdict(replace(item.download, rate=None, left_s=None)) for item in self._items.values()]
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, [json.dumps(rows, indent=1, ensure_ascii=False), "\n"])
        except (OSError, FlintError):  # A full disk must not end what runs; the cache itself tells what is there.
            logger.warning("the list of downloads could not be kept", exc_info=True)


def _read(file: Path) -> Sequence[Download]:
    """Return the downloads that are remembered; what can't be read is left out."""
    try:
        rows = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    found = []
    for row in rows if isinstance(rows, list) else ():
        with contextlib.suppress(Exception):
            found.append(restore(Download, row))
    return [download for download in found if download.model_id]

"""A whole repository, fetched into the Hugging Face cache so that other tools share it.

Layout: `models--org--name/blobs/<etag>` holds files, `snapshots/<commit>/` links to them by name, `refs/main` names the commit.
The links are made when every file is there: until then an earlier snapshot stays what it was.
"""

import contextlib
import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TextIO

from engine.core.daemon_pool import DaemonPool
from engine.core.disk import lack_of_room, write_whole
from engine.core.errors import DiskFull, FlintError, Stopped, UsageError
from engine.core.hub_errors import HubError
from engine.core.hub_facts import HubDetail
from engine.core.presence import folder_there, there
from engine.models.backoff import Backoff
from engine.models.download_note import NOTE, lock_of, write_note
from engine.models.hub_variants import split_id
from engine.models.huggingface_cache import cache_errors, main_commit, snapshots_of
from engine.models.superseded import supersede
from engine.models.transfer import OWN, PARTIAL, SURE, Source, Transfer, Watch

AT_ONCE = 4
"""Files fetched at a time."""
_LOOK_S = 0.02


def repository_folder(cache: Path, model_id: str) -> Path:
    """Return where the repository of a model is in a Hugging Face cache."""
    return cache / f"models--{split_id(model_id)[0].replace('/', '--')}"


@contextlib.contextmanager
def alone(cache: Path, model_id: str) -> Iterator[None]:
    """Hold the one right to fetch a model into a cache: two at once would write into the same partial files.

    Raises `UsageError` where another process holds it.
    """
    repository = repository_folder(cache, model_id)
    lock = lock_of(repository)
    with cache_errors(lock), _locked(lock, model_id):
        try:
            yield
        finally:
            if not there(repository):
                with contextlib.suppress(OSError):
                    lock.unlink()
                remove_empty(lock.parent, lock.parent.parent)


def _locked(lock: Path, model_id: str) -> TextIO:
    tries = 3
    while True:
        lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            held = lock.open("w")
        except FileNotFoundError:  # Whoever had it before took the folder away just now.
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if there(lock) and os.path.samestat(os.fstat(held.fileno()), lock.stat()):
                return held
            held.close()  # And so did they with the file.
        except BlockingIOError:
            held.close()
            tries -= 1
            if tries:  # Somebody may only be looking whether it is held.
                time.sleep(_LOOK_S)
                continue
            raise UsageError(f"Another Flint is fetching {model_id}.", "Wait for it, or pause it there.") from None


def remove_empty(*folders: Path) -> None:
    """Take away those of some folders that hold nothing, in their order."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def remove_empty_repository(folder: Path) -> None:
    """Take away what is empty of a repository's folder, and the folder itself where nothing else is in it."""
    remove_empty(folder / "blobs", folder / "snapshots", folder / "refs")
    if not there(folder / "blobs"):
        (folder / NOTE).unlink(missing_ok=True)
    remove_empty(folder)


def remove_fetched(folder: Path, etags: Iterable[str]) -> None:
    """Take away what was fetched of files, by their hashes, and nobody else has a use for; nothing of a finished snapshot."""
    used = {os.path.realpath(link) for link in folder.glob("snapshots/**/*") if link.is_symlink()}
    for etag in etags:
        blob = folder / "blobs" / etag
        for path in (blob.with_name(etag + PARTIAL), blob.with_name(etag + SURE)):
            path.unlink(missing_ok=True)
        if str(blob.resolve()) not in used:
            blob.unlink(missing_ok=True)
    remove_empty_repository(folder)


@dataclass
class RepositoryDownload:
    """One repository's download. `run` may be called again after it raised: it goes on where it was.

    `changed` is called from the download's threads whenever there is something new to tell. What passes by itself (no
    network, too many requests, a fault of the hub's) is waited for, longer each time. `left` then says why the version before
    is still there, "" where it is not.
    """

    source: Source
    cache: Path
    detail: HubDetail
    changed: Callable[[], object] = lambda: None
    free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free
    done_bytes: int = 0
    left: str = ""
    _waits: dict[str, tuple[HubError, float]] = field(default_factory=dict)
    _active: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _abort: threading.Event = field(default_factory=threading.Event)
    _gate: threading.Lock = field(default_factory=threading.Lock)

    @property
    def folder(self) -> Path:
        """The repository's folder in the cache."""
        return repository_folder(self.cache, self.detail.model.id)

    @property
    def snapshot(self) -> Path:
        """Where the finished model is."""
        return self.folder / "snapshots" / self.detail.commit

    @property
    def total_bytes(self) -> int:
        """The size of all its files."""
        return sum(file.size_bytes for file in self.detail.files)

    @property
    def waiting(self) -> tuple[HubError, float] | None:
        """Why nothing moves, and until when by `time.monotonic`; None while any file does."""
        with self._gate:
            return min(self._waits.values(), key=lambda wait: wait[1]) if len(self._waits) == self._active > 0 else None

    def stop(self) -> None:
        """Let `run` end with `Stopped`, within a piece of each file, now and ever after."""
        self._stop.set()
        self._abort.set()

    def run(self) -> Path:
        """Fetch what is missing and return the snapshot's folder.

        Raises `Stopped`, a `HubError`, `DiskFull` or `ReadOnly`; what was fetched stays in every case.
        """
        if not self._stop.is_set():
            self._abort.clear()  # An error of one file ended the others of an earlier run.
        blobs = self.folder / "blobs"
        with cache_errors(blobs):
            blobs.mkdir(parents=True, exist_ok=True)
        transfers = self._transfers(blobs)
        self.done_bytes = sum(transfer.done_bytes for transfer in transfers)
        write_note(self.folder, self.detail.files)
        try:
            self._check_space()
            self._fetch([transfer for transfer in transfers if not transfer.complete])
        except BaseException:
            remove_empty_repository(self.folder)  # Where it was refused before anything came.
            raise
        before = self._before()
        with cache_errors(self.snapshot):
            self._link()
        (self.folder / NOTE).unlink(missing_ok=True)
        if before is not None and before != self.snapshot:
            self._supersede(before)
        if not self.detail.variants:  # Else they may be of another of its files, to be gone on with.
            for remains in blobs.glob(f"*{OWN}*"):  # Of a file that the hub has another version of by now.
                remains.unlink(missing_ok=True)
        return self.snapshot

    def _before(self) -> Path | None:
        """Return the snapshot in force, or that with the model where there are several: others may be of newer ones."""
        main, names = main_commit(self.folder), [file.path for file in self.detail.files]

        def holds(snapshot: Path) -> bool:
            several = self.detail.variants
            return any(os.path.lexists(snapshot / name) for name in names) if several else snapshot.name == main

        with contextlib.suppress(OSError):
            return next(filter(holds, snapshots_of(self.folder)), None)
        return None

    def _supersede(self, before: Path) -> None:
        """Take away the version before, of one model alone where there are several; that it can't be ends no update."""
        here = [str(path.relative_to(before)) for path in before.rglob("*") if not folder_there(path)]
        wanted = [file.path for file in self.detail.files] if self.detail.variants else here
        with contextlib.suppress(OSError, FlintError):
            self.left = supersede(before, wanted)

    def remove(self) -> None:
        """Take away what this download fetched, as `remove_fetched` does."""
        remove_fetched(self.folder, [file.etag for file in self.detail.files])

    def _transfers(self, blobs: Path) -> list[Transfer]:
        watch = Watch(self._moved, self._abort.is_set)
        known: dict[str, Transfer] = {}
        for file in self.detail.files:  # The same content under two names is fetched once.
            known.setdefault(file.etag, Transfer(self.source, self.detail.model.id, self.detail.commit, file, blobs, watch))
        return list(known.values())

    def _check_space(self) -> None:
        lack = lack_of_room(self.detail.model.name, self.total_bytes - self.done_bytes, self.free_bytes(self.folder))
        if lack:
            raise DiskFull(lack, "Free some space, or choose a smaller model. What was fetched is kept.")

    def _fetch(self, transfers: Sequence[Transfer]) -> None:
        """Run the transfers side by side, the large ones first; the first error ends the others."""
        if not transfers:
            return
        ordered = sorted(transfers, key=lambda transfer: transfer.size_bytes, reverse=True)
        with DaemonPool(AT_ONCE, "flint-fetch") as pool:
            running = [pool.submit(self._persist, transfer) for transfer in ordered]
            done, _ = wait(running, return_when=FIRST_EXCEPTION)
            failed = [error for future in done if (error := future.exception()) is not None]
            if failed:
                self._abort.set()
                for future in running:
                    future.cancel()
        if failed:
            raise _worst(failed)

    def _persist(self, transfer: Transfer) -> None:
        """Run a transfer until it is done; raises what does not pass by itself."""
        with self._gate:
            self._active += 1
        try:
            self._keep_trying(transfer)
        finally:
            with self._gate:
                self._active -= 1
            self.changed()  # Perhaps all that is left waits now.

    def _keep_trying(self, transfer: Transfer) -> None:
        backoff = Backoff()
        while True:
            before = transfer.done_bytes
            try:
                transfer.run()
            except HubError as error:
                if not error.passing:
                    raise
                if transfer.done_bytes > before:
                    backoff.restart()
                self._pause(transfer, error, backoff.pause_s(error))
            else:
                return

    def _pause(self, transfer: Transfer, error: HubError, seconds: float) -> None:
        with self._gate:
            self._waits[transfer.blob.name] = (error, time.monotonic() + seconds)
        self.changed()
        stopped = self._abort.wait(seconds)
        with self._gate:
            del self._waits[transfer.blob.name]
        self.changed()
        if stopped:
            raise Stopped

    def _moved(self, count: int) -> None:
        with self._gate:
            self.done_bytes += count
        self.changed()

    def _link(self) -> None:
        """Name the blobs in the snapshot, then say that it is the newest."""
        for file in self.detail.files:
            link = self.snapshot / PurePosixPath(file.path)
            link.parent.mkdir(parents=True, exist_ok=True)
            blob = self.folder / "blobs" / file.etag
            target = os.path.relpath(blob, link.parent)
            link.unlink(missing_ok=True)
            try:
                link.symlink_to(target)
            except OSError:  # A file system without links: the cache's layout allows the file itself.
                shutil.copy2(blob, link)
        refs = self.folder / "refs"
        refs.mkdir(exist_ok=True)
        write_whole(refs / "main", [self.detail.commit])


def _worst(errors: Sequence[BaseException]) -> BaseException:
    """Return the error that has to be told: others were stopped because of it."""
    return next((error for error in errors if not isinstance(error, Stopped)), errors[0])

"""Models on their way here: what is known of each, and what is to be done with it."""

import time

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from engine.core.hub_facts import Download
from engine.core.hub_messages import (
    CancelDownload,
    DownloadChanged,
    DownloadsListed,
    ListDownloads,
    PauseDownload,
    StartDownload,
)
from engine.core.messages import Event, Failed

_FREE_EVERY_S = 5.0
"""How often the free disk space is asked for while something is fetched."""


class DownloadController(QObject):
    """Keeps the list. `changed` says that it is another one now, `finished` carries a `Download` that just ended whole,
    `stopped` one that just failed, `went_on` those of an earlier run that go on now.

    `dropped` says that one was cancelled, and again once what it fetched is gone. `failed` carries the `ErrorInfo` of a wish
    that could not be carried out.
    """

    changed = Signal()
    finished = Signal(object)
    stopped = Signal(object)
    went_on = Signal(object)
    dropped = Signal()
    failed = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._downloads: dict[str, Download] = {}
        self._wishes: set[str] = set()
        self._listed = False
        self._asked_at = 0.0
        self.free_bytes = 0
        bridge.received.connect(self._take)

    @property
    def downloads(self) -> tuple[Download, ...]:
        """All that are not forgotten, in the order they run."""
        return tuple(self._downloads.values())

    def of(self, model_id: str) -> Download | None:
        """Return a model's download."""
        return self._downloads.get(model_id)

    def refresh(self) -> None:
        """Ask for all of them and for the free space; at the first time those of an earlier run go on."""
        self._asked_at = time.monotonic()
        self._bridge.send(ListDownloads(self._bridge.new_id("downloads")))

    def start(self, model_id: str) -> None:
        """Fetch a model, or go on with it."""
        self._wish(StartDownload(self._bridge.new_id("download"), model_id))

    def pause(self, model_id: str) -> None:
        """Stop, and keep what is there."""
        self._wish(PauseDownload(self._bridge.new_id("pause"), model_id))

    def cancel(self, model_id: str) -> None:
        """Stop, and remove what was fetched; or take a finished one off the list."""
        self._wish(CancelDownload(self._bridge.new_id("cancel-download"), model_id))

    def _wish(self, command: StartDownload | PauseDownload | CancelDownload) -> None:
        self._wishes.add(command.request_id)
        self._bridge.send(command)

    def _take(self, event: Event) -> None:
        match event:
            case DownloadsListed():
                self.free_bytes = event.free_bytes
                self._downloads = {download.model_id: download for download in event.downloads}
                self.changed.emit()
                self._tell_of_earlier()
            case DownloadChanged():
                self._on_change(event.download, gone=event.gone)
            case Failed() if event.request_id in self._wishes:
                self._wishes.discard(event.request_id)
                self.failed.emit(event.error)

    def _tell_of_earlier(self) -> None:
        going = [download for download in self.downloads if download.going]
        if going and not self._listed:
            self.went_on.emit(going)
        self._listed = True

    def _on_change(self, download: Download, *, gone: bool) -> None:
        before = self._downloads.get(download.model_id)
        if gone:
            self._downloads.pop(download.model_id, None)
        else:
            self._downloads[download.model_id] = download
        self.changed.emit()
        ended = download.state == "done" and not gone and (before is None or before.state != "done")
        if ended:
            self.finished.emit(download)
        if download.state == "failed" and not gone and (before is None or before.state != "failed"):
            self.stopped.emit(download)
        if gone and download.state != "done":
            self.dropped.emit()
        if gone or ended or time.monotonic() - self._asked_at > _FREE_EVERY_S:
            self.refresh()

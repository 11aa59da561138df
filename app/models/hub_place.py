"""The hub in the window: its controllers, the pages they fill, and what is told of downloads when no page is open."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.bridge import Bridge
from app.errors import advice
from app.models.controller import ModelController
from app.models.download_controller import DownloadController
from app.models.hub_controller import HubController
from app.models.hub_wishes import HubWishes
from app.models.hub_words import TOKEN_ERRORS
from app.models.words import progress_text
from app.theme import Theme
from app.widgets.toast import Kind, Toaster
from app.widgets.web_link import open_link
from engine.core.errors import ErrorInfo
from engine.core.hub_facts import Download
from engine.core.messages import Event, MemoryMeasured

if TYPE_CHECKING:
    from app.models.dialog import ModelsDialog
    from app.models.discover import Discover
    from app.models.download_list import DownloadList
    from app.models.token_dialog import TokenDialog


class HubPlace(QObject):
    """Made with the window; its pages only when the models dialog is. `failed` carries an `ErrorInfo`, `used` a model's id,
    `list_asked` says that somebody wants to see the downloads."""

    failed = Signal(object)
    used = Signal(str)
    list_asked = Signal()

    def __init__(
        self, theme: Theme, bridge: Bridge, models: ModelController, toaster: Toaster, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._models, self._toaster = theme, models, toaster
        self._budget = 0
        self.hub = HubController(bridge, self)
        self.downloads = DownloadController(bridge, self)
        self.discover: Discover | None = None
        self.list: DownloadList | None = None
        self._dialog: ModelsDialog | None = None
        self._token: TokenDialog | None = None
        bridge.received.connect(self._take)
        models.listed.connect(lambda _entries: self._feed())
        self.downloads.changed.connect(self._feed)
        self.downloads.finished.connect(self._on_finished)
        self.downloads.went_on.connect(self._on_went_on)
        self.downloads.stopped.connect(self._on_stopped)
        self.downloads.failed.connect(self._on_failed)
        self.downloads.dropped.connect(models.refresh)
        self.hub.account.connect(self._on_account)
        self.hub.token_kept.connect(self._on_token_kept)
        self.hub.token_failed.connect(self._on_token_failed)

    def start(self) -> None:
        """Let downloads of an earlier run go on; without any, nothing is asked of the network."""
        self.downloads.refresh()

    def close(self) -> None:
        """End the threads that compute."""
        if self.discover is not None:
            self.discover.close_work()

    def make_pages(self, parent: "ModelsDialog") -> "tuple[Discover, DownloadList]":
        """Return the page and the list of downloads for the models dialog, wired."""
        from app.models.discover import Discover  # Not before they are wanted: the window itself comes sooner.
        from app.models.download_list import DownloadList
        from app.models.machine import read_machine

        wishes = HubWishes(parent)
        wishes.fetch_asked.connect(self.downloads.start)
        wishes.pause_asked.connect(self.downloads.pause)
        wishes.cancel_asked.connect(self.downloads.cancel)
        wishes.use_asked.connect(self.used)
        wishes.page_asked.connect(lambda address: open_link(address, parent))
        wishes.token_asked.connect(lambda: self.ask_for_token(parent))
        page = Discover(self._theme, self.hub, wishes, read_machine(self._budget), parent)
        rows = DownloadList(self._theme, wishes, parent)
        self.discover, self.list, self._dialog = page, rows, parent
        self._feed()
        return page, rows

    def refresh(self) -> None:
        """Judge for the machine as it is now, and read the free space again: the dialog is about to be shown."""
        from app.models.machine import read_machine

        self.downloads.refresh()
        if self.discover is not None:
            self.discover.set_machine(read_machine(self._budget))

    def _take(self, event: Event) -> None:
        if isinstance(event, MemoryMeasured):
            self._budget = event.reading.budget

    def _feed(self) -> None:
        downloads = self.downloads.downloads
        if self.discover is not None and self.list is not None:
            here = [entry.id for entry in self._models.entries if not entry.problem]
            self.discover.set_state(here, downloads)
            self.discover.detail.set_free(self.downloads.free_bytes)
            self.list.show_downloads(downloads, self.downloads.free_bytes)

    def _on_finished(self, download: Download) -> None:
        if self._models.model is not None and self._models.model.id == download.model_id:
            self._models.unload()  # What is loaded is an earlier version; the next message loads this one.
        self._models.refresh()
        self._toaster.show(f"{download.name} is ready to use.", action=("Use it", lambda: self.used.emit(download.model_id)))

    def _on_went_on(self, downloads: list[Download]) -> None:
        """Say which downloads of an earlier run go on: nobody asked for them in this one."""
        if len(downloads) == 1:
            download = downloads[0]
            so_far = progress_text(download.done_bytes, download.total_bytes)
            self._tell(f"The download of {download.name} goes on.", f"{so_far} are here." if download.done_bytes else "")
        else:
            self._tell(f"{len(downloads)} downloads go on.", f"{', '.join(download.name for download in downloads)}.")

    def _on_stopped(self, download: Download) -> None:
        error = download.error
        self._tell(f"The download of {download.name} stopped.", f"{error.text} {advice(error)}" if error else "", "error")

    def _tell(self, text: str, hint: str, kind: Kind = "info") -> None:
        """Tell of downloads where their list is not on show, and lead to it."""
        if not self._dialog_shows:
            self._toaster.show(text, hint, kind, ("Show downloads", self.list_asked.emit))

    @property
    def _dialog_shows(self) -> bool:
        return self._dialog is not None and self._dialog.isVisible()

    def ask_for_token(self, parent: QWidget) -> None:
        """Let somebody enter a token for the hub, over `parent`."""
        from app.models.token_dialog import TokenDialog

        if self._token is None:
            self._token = TokenDialog(self._theme, parent)
            self._token.saved.connect(self.hub.set_token)
            self._token.page_asked.connect(self._open_over_token)
            self._token.finished.connect(self._drop_token)
            self._token.show_source("")
            self.hub.ask_account()
            self._token.open()

    def _open_over_token(self, address: str) -> None:
        if self._token is not None:
            open_link(address, self._token)

    def _drop_token(self) -> None:
        if self._token is not None:
            self._token.deleteLater()  # With what was typed into it.
            self._token = None

    def _on_account(self, source: str) -> None:
        if self._token is not None:
            self._token.show_source(source)

    def _on_token_kept(self, source: str, name: str) -> None:
        from app.models.token_dialog import KEPT

        if self._token is not None:
            self._token.accept()
        kept = f"The token of {name} was saved." if name else "The token was forgotten."
        where = KEPT.get(source, "") if name else ""
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.tell(kept, where)
        else:
            self._toaster.show(kept, where)
        if name:
            self._try_again()

    def _try_again(self) -> None:
        """Go on with what only wanted a token."""
        for download in self.downloads.downloads:
            if download.state == "failed" and download.error and download.error.code in TOKEN_ERRORS:
                self.downloads.start(download.model_id)
        if self.discover is not None and self.discover.isVisible():
            self.discover.try_again()

    def _on_failed(self, error: ErrorInfo) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.show_problem(error.text, advice(error))
        else:
            self.failed.emit(error)

    def _on_token_failed(self, error: ErrorInfo) -> None:
        if self._token is not None:
            self._token.show_failure(error)

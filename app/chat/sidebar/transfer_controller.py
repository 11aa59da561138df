"""Chats into files and out of them: what the sidebar wishes for, done on a thread of its own, one thing at a time."""

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QStandardPaths, QTemporaryDir, Signal

from app.chat.sidebar.list_controller import ChatListController
from app.chat.sidebar.sidebar import Sidebar
from app.errors import telling
from app.long_work import LongWork, Progress
from app.widgets.file_dialogs import ask_for_files, ask_for_folder, ask_where_to_save
from app.widgets.toast import Toaster
from engine.chats.file_names import safe_name
from engine.chats.store import ChatStore
from engine.core.errors import FlintError
from engine.core.presence import folder_there
from engine.core.sizes import count_text

if TYPE_CHECKING:
    from engine.chats.import_files import ImportReport

_FOLDER = "folder of exported chats"
_MARKDOWN, _JSON = "Markdown (*.md)", "JSON, with everything (*.json)"
_CHATS = "Chats (*.json *.zip);;All files (*)"


class TransferController(QObject):
    """Exports and imports chats. Closing it stops what is on its way: an import then leaves nothing behind."""

    failed = Signal(object)

    def __init__(
        self,
        store: ChatStore,
        sidebar: Sidebar,
        chats: ChatListController,
        toaster: Toaster,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._sidebar = sidebar
        self._chats = chats
        self._toaster = toaster
        self._work = LongWork(self)
        self._dragged: QTemporaryDir | None = None
        self._drags = 0
        self._done: Callable[[Any], object] = lambda _: None
        self._work.progressed.connect(sidebar.transfer.show_progress)
        self._work.finished.connect(lambda result: self._done(result))
        self._work.failed.connect(self.failed)
        self._work.ended.connect(sidebar.transfer.hide)
        self._work.ended.connect(chats.refresh)
        sidebar.transfer.stopped.connect(self._work.stop)
        sidebar.wishes.export_requested.connect(self.export)
        sidebar.wishes.import_requested.connect(self._import)
        sidebar.drag_files(self._files_of)

    def close(self) -> None:
        """Stop what is on its way and wait for it."""
        self._work.close()
        if self._dragged is not None:
            self._dragged.remove()

    # -- export -----------------------------------------------------------------------------------------------------

    def export_chosen(self) -> None:
        """Export the chats that are selected, else the open one; ask in which form, and where."""
        chats = self._chats.acted_on()
        if not chats:
            self._toaster.show("There is no chat to export.", "Open one, or select some in the list.", "refusal")
        elif len(chats) == 1:
            self.export(chats, "")
        else:
            self._sidebar.offer_forms(chats)

    def export_all(self) -> None:
        """Export every chat outside the trash to one file, with everything in them."""
        with telling(self.failed):
            chats = tuple(chat.id for chat in self._store.chats())
            if chats:
                self.export(chats, "json")
            else:
                self._toaster.show("There is no chat to export.", kind="refusal")

    def export(self, chat_ids: tuple[str, ...], form: str) -> None:
        """Ask where to, then write; `form` is "markdown", "json", or "" to have that asked, too."""
        window = self._sidebar.window()
        with telling(self.failed):
            folder = self._folder()
            if len(chat_ids) == 1:
                name = safe_name(self._store.chat(chat_ids[0]).title)
                ending = "json" if form == "json" else "md"
                filters = {"markdown": _MARKDOWN, "json": _JSON}.get(form, f"{_MARKDOWN};;{_JSON}")
                self._ask_where(chat_ids, f"{name}.{ending}", filters, folder)
            elif form == "json":
                self._ask_where(chat_ids, f"Flint chats {datetime.date.today().isoformat()}.json", _JSON, folder)
            else:
                title = "Export into a Folder"
                ask_for_folder(window, "exportDialog", title, lambda path: self._write_each(chat_ids, path), folder)

    def _ask_where(self, chat_ids: tuple[str, ...], name: str, filters: str, folder: str) -> None:
        window = self._sidebar.window()
        ask_where_to_save(window, "exportDialog", "Export", filters, name, lambda path: self._write(chat_ids, path), folder)

    def _write(self, chat_ids: tuple[str, ...], path: Path) -> None:
        from engine.chats.export_files import write_json, write_markdown  # Here, as below: a window opens sooner without.

        self._keep_folder(path.parent)
        if path.suffix.lower() == ".json":
            self._start("Exporting", lambda told: write_json(self._store, chat_ids, path, told), lambda _: self._tell(path))
        else:
            self._start("Exporting", lambda _: write_markdown(self._store, chat_ids[0], path), lambda _: self._tell(path))

    def _write_each(self, chat_ids: tuple[str, ...], folder: Path) -> None:
        from engine.chats.export_files import write_markdowns

        self._keep_folder(folder)
        told = f"{count_text(len(chat_ids), 'chat')} were exported."
        self._start(
            "Exporting chats",
            lambda progress: write_markdowns(self._store, chat_ids, folder, progress),
            lambda _: self._toaster.show(told, f"They are in {folder}."),
        )

    def _files_of(self, chat_ids: tuple[str, ...]) -> Sequence[Path]:
        """Write dragged chats as Markdown, for whoever they are dropped on; they are there until Flint is closed."""
        from engine.chats.export_files import write_markdowns

        self._dragged = self._dragged or QTemporaryDir()
        self._drags += 1
        try:
            folder = Path(self._dragged.path()) / str(self._drags)
            folder.mkdir()
            return write_markdowns(self._store, chat_ids, folder)
        except (FlintError, OSError):
            return ()  # They can still be dropped in the list.

    def _tell(self, path: Path) -> None:
        self._toaster.show(f"“{path.name}” was written.", f"It is in {path.parent}.")

    def _folder(self) -> str:
        """Return where the dialogs begin: where the last one ended, else in the documents."""
        kept = self._store.recall(_FOLDER)
        if folder_there(kept):
            return kept
        return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or str(Path.home())

    def _keep_folder(self, folder: Path) -> None:
        with telling(self.failed):
            self._store.remember(_FOLDER, str(folder))

    # -- import -----------------------------------------------------------------------------------------------------

    def ask_to_import(self) -> None:
        """Ask for files, then import the chats in them."""
        self._import(())

    def _import(self, paths: tuple[str | Path, ...]) -> None:
        if not paths:
            with telling(self.failed):
                window = self._sidebar.window()
                ask_for_files(window, "importDialog", "Import Chats", _CHATS, self._import, self._folder())
            return
        from engine.chats.import_files import import_files

        files = [Path(path) for path in paths]
        self._start("Importing chats", lambda told: import_files(self._store, files, told), self._welcome)

    def _welcome(self, result: "ImportReport") -> None:
        """Tell what came of an import; all of it can be taken back into the trash."""
        chats = result.chat_ids
        if not chats:
            there = f"{count_text(result.known, 'chat')} {'is' if result.known == 1 else 'are'} here already."
            self._toaster.show(f"There was nothing new: {there}", _left_out(result, known=False))
            return
        told = f"{count_text(len(chats), 'chat')} {'was' if len(chats) == 1 else 'were'} imported."
        self._toaster.show(told, _left_out(result), action=("Undo", lambda: self._take_back(chats)))
        if len(chats) == 1:
            self._sidebar.chat_selected.emit(chats[0])

    def _take_back(self, chat_ids: tuple[str, ...]) -> None:
        self._sidebar.wishes.delete_requested.emit(chat_ids)

    # -- both -------------------------------------------------------------------------------------------------------

    def _start(self, what: str, work: Callable[[Progress], object], done: Callable[[Any], object]) -> None:
        if self._work.running:
            self._toaster.show(
                "Other chats are still on their way.", "Wait until they are through, or stop them first.", "refusal"
            )
            return
        self._done = done
        self._sidebar.transfer.begin(what)
        self._work.start(work)


def _left_out(report: "ImportReport", *, known: bool = True) -> str:
    """Return in words what an import left out."""
    parts = []
    if known and report.known:
        parts.append(f"{count_text(report.known, 'chat')} {'was' if report.known == 1 else 'were'} here already.")
    if report.unreadable:
        parts.append(f"{count_text(report.unreadable, 'chat')} could not be read.")
    if report.skipped:
        left = count_text(report.skipped, "step")
        parts.append(f"{left} of tools or in unknown forms {'was' if report.skipped == 1 else 'were'} left out.")
    if report.problem:
        parts.append(report.problem)
    return " ".join(parts)

"""The models window: what is on this machine, what is known of each, and importing more."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QHideEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.errors import advice
from app.models.detail import ModelDetail
from app.models.drop_overlay import DropOverlay
from app.models.empty import NoModels
from app.models.import_row import ImportRow
from app.models.list_side import ListSide
from app.models.model_list import ModelList
from app.models.results import ResultsView
from app.models.source import model_source
from app.models.words import disk_use
from app.theme import Theme
from app.widgets.button import Button
from app.widgets.debounce import Debounce
from app.widgets.file_dialogs import ask_for_file
from app.widgets.filter_field import FilterField
from app.widgets.focus_memory import FocusMemory
from app.widgets.frame import draw_hairline
from app.widgets.label import Label
from app.widgets.segmented import Segmented
from app.widgets.toast import Toaster
from engine.core.errors import FlintError
from engine.core.facts import ModelEntry
from engine.core.machine import THIS_MACHINE

if TYPE_CHECKING:
    from app.models.discover import Discover
    from app.models.download_list import DownloadList
    from app.models.hub_place import HubPlace

FIRST_SIZE, LEAST_SIZE = (1080, 710), (880, 600)
_HEADER, _FIELD, _AROUND_FOOT = 52, 400, 16
_OVER = 0.95
"""How much of the window under it this one may cover."""
_HINTS = {"discover": "Search models on Hugging Face", "machine": f"Filter models on {THIS_MACHINE}"}
_FILE_FILTER = "GGUF models (*.gguf *.GGUF);;All files (*)"


class ModelsDialog(QDialog):
    """Window-modal, 880×600 at least. Nothing here touches files but to look: every wish is a signal.

    `model_chosen` carries the id of a usable model and closes the window; `import_requested` the path of a .gguf file or a
    model folder; `import_cancelled` says that the import on show is to stop. With a `hub` there is a page to find models on
    it, which is shown first, and the downloads stand at the foot. What is told while the window is closed goes to `behind`.
    """

    model_chosen = Signal(str)
    import_requested = Signal(str)
    import_cancelled = Signal()

    def __init__(
        self,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        hub: "HubPlace | None" = None,
        behind: Toaster | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = ModelList(parent=self)
        self._selected = ""
        self.setObjectName("modelsDialog")
        self.setAccessibleName("Models")
        self.setWindowTitle("Models")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        if sys.platform == "darwin":
            self.setWindowFlag(Qt.WindowType.Sheet)
        self.setMinimumSize(*LEAST_SIZE)
        self.resize(self._first_size())
        self.setAcceptDrops(True)
        self.search = FilterField(theme, "modelSearch", f"Filter models on {THIS_MACHINE}", self)
        self.results = ResultsView(theme, self._model, self)
        self.detail = ModelDetail(theme, self)
        self._import = Button(theme, "Import…", parent=self)
        self._done = Button(theme, "Done", parent=self)
        self._import_row = ImportRow(theme, self)
        self._list_side = _MachineSide(theme, self.results, self)
        self._empty = NoModels(theme, self)
        self._pages = QStackedWidget(self)
        self._places = QStackedWidget(self)
        self.discover: Discover | None = None
        self._downloads: DownloadList | None = None
        if hub is not None:
            self.discover, self._downloads = hub.make_pages(self)
        self._where = Segmented(
            theme, (("discover", "Discover"), ("machine", f"On {THIS_MACHINE}")), "Models shown", parent=self
        )
        self._words: dict[str, str] = {}
        self._search_later = Debounce(self._search_hub, self)
        self._overlay = DropOverlay(theme, self)
        self._toaster, self._behind = Toaster(theme, self), behind
        self._focus = FocusMemory(self)
        self._name_buttons()
        self._lay_out()
        self._connect()
        self.set_models((), "")
        for part in (self._where, self._empty.discover):
            part.setVisible(hub is not None)
        self.show_place("discover" if hub is not None else "machine")

    def _first_size(self) -> QSize:
        """Return the size to open with: larger for larger text, within the window this one lies over."""
        usual, window = QSize(*FIRST_SIZE), self.parentWidget()
        room = window.size() * _OVER if window is not None else usual
        return QSize(*(self._theme.grown(side) for side in FIRST_SIZE)).boundedTo(room).expandedTo(usual)

    def set_models(self, entries: Sequence[ModelEntry], current_id: str | None) -> None:
        """Show these models; `current_id` is the one in use. What is selected stays selected while it is there."""
        keep = self._selected
        self._model.set_entries(entries, current_id or "")
        self._list_side.show_use(entries)
        self._pages.setCurrentIndex(0 if entries else 1)
        self._import.setVisible(bool(entries) or self.discovering)
        if not entries and self.isVisible() and not self.discovering:
            # Before the field that has the focus is disabled: it would pass it on to the next button.
            self._empty.button.setFocus(Qt.FocusReason.OtherFocusReason)
        self.search.setEnabled(bool(entries) or self.discovering)
        self._select(keep)

    @property
    def discovering(self) -> bool:
        """Whether the page on show is the hub's."""
        return self.discover is not None and self._where.value == "discover"

    def show_place(self, place: str) -> None:
        """Show the hub's models, "discover", or those on this "machine"; what was typed over each stays with it."""
        before = "machine" if self._places.currentIndex() else "discover"
        self._words[before] = self.search.text()
        self._search_later.forget()
        self._where.set_value(place)
        self._places.setCurrentIndex(0 if self.discovering else 1)
        self.search.setPlaceholderText(_HINTS[place])
        self.search.setAccessibleName(_HINTS[place])
        if place != before:
            self.search.setText(self._words.get(place, ""))
            self._search_later.forget()
        self.set_models(self._model.entries, self._model.current_id)

    def show_import(self, name: str, done: int, total: int, words: str = "") -> None:
        """Show an import under way: bytes `done` of `total`, which is 0 while it is not known; or other work, in `words`."""
        self._import_row.show_progress(name, done, total, words)

    def end_import(self) -> None:
        """Take the import's row away."""
        self._import_row.hide()

    def select(self, model_id: str) -> None:
        """Select a model, as one that was just imported; a filter that hides it is cleared."""
        if self.discovering:
            self.show_place("machine")
        if self._model.row_of(model_id) < 0:
            self.search.clear()
        self._select(model_id)

    def tell(self, text: str, hint: str = "", action: tuple[str, Callable[[], object]] | None = None) -> None:
        """Tell of something that is done, over the window, and offer what can come next."""
        self._teller.show(text, hint, action=action)

    def show_problem(self, text: str, hint: str) -> None:
        """Tell of something that went wrong, over the window; it stays until it is closed."""
        self._teller.show(text, hint, "error")

    @property
    def _teller(self) -> Toaster:
        """What tells it where somebody sees it: a copy may end minutes after the window was closed."""
        return self._toaster if self.isVisible() or self._behind is None else self._behind

    def offer(self, path: Path) -> None:
        """Take a path that somebody chose or dropped: ask for its import, or say in plain words why it is no model."""
        try:
            source = model_source(path)
        except FlintError as error:
            self.show_problem(error.text, advice(error))
            return
        self.import_requested.emit(str(source))

    def ask_for_file(self) -> None:
        """Let somebody choose a GGUF file."""
        ask_for_file(self, "ggufDialog", "Import a GGUF", _FILE_FILTER, self.offer, str(Path.home()))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._overlay.cover()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._overlay.hide()
        event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        self._overlay.hide()
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if len(paths) > 1:
            self.show_problem("Those were several files at once.", "Drop one .gguf file or one model folder at a time.")
        elif paths:
            self.offer(Path(paths[0]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the newest message first, then the window; Return is for what has the focus alone."""
        if event.key() == Qt.Key.Key_Escape and self._toaster.dismiss_newest():
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return
        super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """What goes gives the keyboard back; else it goes on with Tab."""
        return self._focus.go_back() or super().focusNextPrevChild(forward)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._select(self._selected)
        first = self.search if self._model.entries or self.discovering else self._empty.button
        first.setFocus(Qt.FocusReason.PopupFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        """What was wrong the last time is not shown again the next time."""
        while self._toaster.dismiss_newest():
            pass
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._overlay.setGeometry(self.rect())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        y = _HEADER - 1
        draw_hairline(QPainter(self), QPointF(0, y), QPointF(self.width(), y), self._theme.color("separator"))

    def _name_buttons(self) -> None:
        self._import.setObjectName("importButton")
        self._done.setObjectName("doneButton")
        for button in (self._import, self._done):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def _lay_out(self) -> None:
        header = QHBoxLayout()
        header.setContentsMargins(20, 0, 12, 1)
        header.setSpacing(16)
        header.addWidget(Label(self._theme, "Models", style="section", parent=self))
        header.addSpacing(8)
        self._where.setFixedWidth(self._where.sizeHint().width())
        header.addWidget(self._where)
        self.search.setMaximumWidth(_FIELD)
        header.addWidget(self.search, 1)
        header.addStretch()
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self._import)
        buttons.addWidget(self._done)
        header.addLayout(buttons)
        top = QWidget(self)
        top.setFixedHeight(_HEADER)
        top.setLayout(header)
        machine = QWidget(self)
        self._list_side.beside(self.detail, machine)
        self._pages.addWidget(machine)
        self._pages.addWidget(self._empty)
        self._places.addWidget(self.discover or QWidget(self))
        self._places.addWidget(self._pages)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for part, stretch in ((top, 0), (self._places, 1), (self._import_row, 0)):
            layout.addWidget(part, stretch)
        if self._downloads is not None:
            layout.addWidget(self._downloads)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._filter)
        self.search.moved.connect(self._move)
        self._where.chosen.connect(self.show_place)
        self.results.selectionModel().currentChanged.connect(self._follow)
        self.results.chosen.connect(self._choose_row)
        self.detail.chat_requested.connect(self._choose)
        self._import.clicked.connect(self.ask_for_file)
        self._empty.import_requested.connect(self.ask_for_file)
        self._empty.discover_requested.connect(lambda: self.show_place("discover"))
        self._done.clicked.connect(self.accept)
        self._import_row.cancelled.connect(self.import_cancelled)

    def _filter(self, query: str) -> None:
        if self.discovering:
            self._search_later.touch()
            return
        keep = self._selected
        self._model.set_query(query)
        self._select(keep)

    def _search_hub(self) -> None:
        """Ask the hub for what was typed; without anything, back to what needs no network."""
        if self.discover is None or not self.discovering:
            return
        query = self.search.text().strip()
        if not query:
            self.discover.show_recommended()
        elif query != self.discover.query:
            self.discover.search(query)

    def _select(self, model_id: str) -> None:
        """Select a model; where it is not shown, the one in use, else the first."""
        rows = (self._model.row_of(model_id), self._model.row_of(self._model.current_id), 0)
        row = next((row for row in rows if 0 <= row < len(self._model.shown)), -1)
        self.results.setCurrentIndex(self._model.index(row) if row >= 0 else QModelIndex())
        self._list_side.show_nothing(self.search.text() if row < 0 and self._model.entries else "")
        self._show(row)

    def _follow(self, index: QModelIndex, _before: QModelIndex) -> None:
        if index.isValid():
            self._show(index.row())

    def _show(self, row: int) -> None:
        entry = self._model.shown[row] if row >= 0 else None
        if entry is not None:
            self._selected = entry.id
        self.detail.show_entry(entry, current=entry is not None and entry.id == self._model.current_id)

    def _move(self, event: QKeyEvent) -> None:
        """Take a key that the search field passed on: arrows move the selection, Return searches or chooses."""
        if self.discover is None or not self.discovering:
            self.results.keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.search.text().strip() != self.discover.query:
            self._search_later.forget()
            self.discover.search(self.search.text())
        else:
            self.discover.take_key(event)

    def _choose_row(self, row: int) -> None:
        self._choose(self._model.shown[row].id)

    def _choose(self, model_id: str) -> None:
        entry = self._model.shown[self._model.row_of(model_id)]
        if not entry.problem:
            self.accept()
            self.model_chosen.emit(model_id)


class _MachineSide(ListSide):
    """The list of the models on this machine; says so when nothing matches."""

    def __init__(self, theme: Theme, results: ResultsView, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._nothing = Label(theme, style="read-ui", role="ink-3", wrap=True, parent=self)
        self._nothing.setObjectName("nothingFound")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 1, 0)
        layout.setSpacing(0)
        self._nothing.setContentsMargins(16, 8, 16, 0)
        layout.addWidget(self._nothing)
        layout.addWidget(results, 1)
        self._use = Label(theme, style="read-caption", role="ink-3", parent=self)
        self._use.setObjectName("diskUse")
        self._use.setContentsMargins(16, 0, 16, 0)
        self._use.setFixedHeight(self._use.height() + _AROUND_FOOT)
        layout.addWidget(self._use)

    def show_use(self, entries: Sequence[ModelEntry]) -> None:
        """Say what all models take on the disk."""
        self._use.setText(disk_use(entries))

    def show_nothing(self, query: str) -> None:
        """Say that nothing matches `query`; an empty one takes that back."""
        self._nothing.setText(f"No model on {THIS_MACHINE} matches “{query}”." if query else "")
        self._nothing.setVisible(bool(query))

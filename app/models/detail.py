"""The right part of the models window: one model's facts, what is wrong with it, and what can be done with it."""

import sys
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.errors import in_window
from app.models.badge import Badge
from app.models.detail_pane import DetailPane
from app.models.facts_table import FactsTable
from app.models.keep_menu import fill_keep_menu
from app.models.path_text import PathText
from app.models.problem_card import ProblemCard
from app.models.words import unbroken
from app.theme import Theme
from app.widgets.button import PrimaryButton
from app.widgets.icon_button import IconButton
from app.widgets.label import Label
from app.widgets.link import Link
from engine.core.facts import ModelEntry
from engine.core.presence import folder_there
from engine.models.fact_words import facts_of, origin_badge, remedy

SHOW_FOLDER = "Show in Finder" if sys.platform == "darwin" else "Open folder"
_GGUF_NOTE = "Kept as a GGUF file. Flint converts it once, when you first chat with it."


class ModelDetail(DetailPane):
    """Shows one model at a time. `chat_requested` carries its id.

    `wished` carries what else is wanted of it, as its menu names it, the bits of a copy, and the model's entry.
    """

    chat_requested = Signal(str)
    wished = Signal(str, str, object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setObjectName("modelDetail")
        self.setAccessibleName("The chosen model")
        self._entry: ModelEntry | None = None
        self._name = Label(theme, style="detail", wrap=True, parent=self.body)
        self._name.setObjectName("modelName")
        self._name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.chat = PrimaryButton(theme, "Chat with it", parent=self.body)
        self.chat.setObjectName("chatWithModel")
        self.more = IconButton(theme, "dots", "More for this model", parent=self.body)
        self.more.setObjectName("modelMore")
        self.more.clicked.connect(self._show_menu)
        self._origin, self._use = Badge(theme, self.body), Badge(theme, self.body)
        self.problem = ProblemCard(theme, self.body)
        self.table = FactsTable(theme, self.body)
        self._note = Label(theme, _GGUF_NOTE, style="read-small", role="ink-2", wrap=True, parent=self.body)
        self._path = PathText(theme, "modelFolder", self.body)
        self._open = Link(theme, SHOW_FOLDER, style="read-small", parent=self.body)
        self._open.setObjectName("showFolder")
        self._notes = Label(theme, "", style="read-small", role="ink-2", wrap=True, parent=self.body)
        self._notes.setObjectName("modelOwnNotes")
        self._notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._notes.setTextFormat(Qt.TextFormat.PlainText)
        self._notes.setContentsMargins(0, 12, 0, 0)
        self._note.setContentsMargins(0, 12, 0, 0)
        self.chat.clicked.connect(self._ask)
        self._open.clicked.connect(self._show_folder)
        self._lay_out()
        self.show_entry(None, current=False)

    @property
    def entry(self) -> ModelEntry | None:
        """The model on show."""
        return self._entry

    def show_entry(self, entry: ModelEntry | None, *, current: bool) -> None:
        """Show a model, or nothing; `current` marks the one in use."""
        other = self._entry is None or entry is None or entry.id != self._entry.id
        self._entry = entry
        self.body.setVisible(entry is not None)
        if entry is None:
            return
        self._name.setText(unbroken(entry.name))
        self._origin.show_words(origin_badge(entry))
        self._use.show_words("In use" if current else "", "yes", "check")
        self.chat.setEnabled(not entry.problem)
        arriving = entry.download != ""  # Nothing is wrong with it.
        advised = in_window(remedy(entry))
        self.problem.show_problem("" if arriving else entry.problem, advised)
        self._note.setText(f"{entry.problem.rstrip('.')}. {advised}" if arriving else _GGUF_NOTE)
        self._note.setVisible(arriving or (entry.kind == "gguf" and not entry.problem))
        self._notes.setText(entry.notes)
        self._notes.setVisible(entry.notes != "")
        self._path.show_path(entry.path)
        self.table.show_facts(facts_of(entry))
        if other:
            self.verticalScrollBar().setValue(0)

    def _ask(self) -> None:
        if self._entry is not None:
            self.chat_requested.emit(self._entry.id)

    def _show_menu(self) -> None:
        entry = self._entry
        if entry is None:
            return
        menu = QMenu(self)
        menu.setObjectName("modelMoreMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fill_keep_menu(menu, entry, lambda what, bits: self.wished.emit(what, bits, entry), self._show_folder, SHOW_FOLDER)
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))

    def _show_folder(self) -> None:
        if self._entry is not None:
            path = Path(self._entry.path)
            folder = path if folder_there(path) else path.parent
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _lay_out(self) -> None:
        buttons, badges, where = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.chat, self.more):
            buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        buttons.addStretch(1)
        head = self.pair()
        head.addWidget(self._name, 1)
        head.addLayout(buttons)
        badges.setSpacing(4)
        badges.addWidget(self._origin)
        badges.addWidget(self._use)
        badges.addStretch(1)
        where.addWidget(Label(self._theme, "Where it is", style="read-small", weight=600, parent=self.body))
        where.addStretch(1)
        where.addWidget(self._open)
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addSpacing(4)
        layout.addLayout(badges)
        layout.addSpacing(16)
        for part in (self.problem, self.table, self._note, self._notes):
            layout.addWidget(part)
        layout.addSpacing(16)
        layout.addLayout(where)
        layout.addSpacing(4)
        layout.addWidget(self._path)

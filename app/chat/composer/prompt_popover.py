"""The list of system prompts that opens over the composer."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHBoxLayout, QListView, QVBoxLayout, QWidget

from app.chat.composer.prompt_list import NONE, PromptDelegate, PromptList
from app.theme import Theme
from app.widgets.button import Button
from app.widgets.cover import Cover
from app.widgets.frame import draw_frame
from app.widgets.text_field import TextField
from engine.chats.prompts import SystemPrompt

WIDTH = 360
_RADIUS, _EDGE, _ABOVE, _MARGIN = 8, 6, 8, 8
_MOST = 380


class PromptCard(QFrame):
    """What is seen of the popover: a search field, the prompts, and two buttons."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.prompts = PromptList(self)
        self.search = TextField(theme, "Search prompts", parent=self)
        self.search.setObjectName("promptSearch")
        self.search.setPlaceholderText("Search")
        self.list = QListView(self)
        self.list.setObjectName("promptList")
        self.list.setAccessibleName("System prompts")
        self.list.setModel(self.prompts)
        self.list.setItemDelegate(PromptDelegate(theme, self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.new = Button(theme, "New…", small=True, quiet=True)
        self.new.setObjectName("newPrompt")
        self.edit = Button(theme, "Edit…", small=True, quiet=True)
        self.edit.setObjectName("editPrompt")
        self.edit.setToolTip("Edit the marked prompt (F2)")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, _EDGE, 1, _EDGE)
        layout.setSpacing(4)
        top = QHBoxLayout()
        top.setContentsMargins(_EDGE, 0, _EDGE, 2)
        top.addWidget(self.search)
        foot = QHBoxLayout()
        foot.setContentsMargins(_EDGE, 2, _EDGE, 0)
        foot.addWidget(self.new)
        foot.addWidget(self.edit)
        foot.addStretch(1)
        layout.addLayout(top)
        layout.addWidget(self.list, 1)
        layout.addLayout(foot)
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_frame(QPainter(self), self.rect(), _RADIUS, self._theme.color("raised"), self._theme.color("border"))


class PromptPopover(Cover):
    """Its card lies over `anchor`. `chosen` carries a text; every choice closes it.

    Arrows go through the list from the search field too; F2 edits the marked prompt.
    """

    chosen = Signal(str)
    new_requested = Signal()
    edit_requested = Signal(object)

    def __init__(self, theme: Theme, anchor: QWidget) -> None:
        super().__init__(anchor.window())
        self._anchor = anchor
        self.card = PromptCard(theme, self)
        self.set_seen(theme, self.card, _RADIUS, self._room)
        self.setObjectName("promptPopover")
        self.setAccessibleName("System prompts")
        self.card.search.textChanged.connect(self._narrow)
        self.card.list.clicked.connect(lambda index: self._choose(index.row()))
        self.card.list.entered.connect(self.card.list.setCurrentIndex)
        self.card.list.selectionModel().currentChanged.connect(lambda *_: self._offer_edit())
        self.card.new.clicked.connect(self._new)
        self.card.edit.clicked.connect(self._edit)
        for part in (self.card.search, self.card.list):
            part.installEventFilter(self)

    def open_with(self, prompts: Sequence[SystemPrompt], current: str | None) -> None:
        """Show the prompts over the button, the one in force marked."""
        self.card.search.clear()
        self.card.prompts.set_prompts(prompts, current)
        self._mark(self.card.prompts.row_of_current())
        self.open_over([self._anchor])
        self.card.search.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Make the search field and the list one for the keyboard."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._take_key(watched, event)
        return super().eventFilter(watched, event)

    def _take_key(self, watched: QObject, event: QKeyEvent) -> bool:
        row = self.card.list.currentIndex().row()
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(row)
        elif event.key() == Qt.Key.Key_F2:
            self._edit()
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up) and watched is self.card.search:
            self._mark(row + (1 if event.key() == Qt.Key.Key_Down else -1))
        else:
            return False
        return True

    def _room(self) -> QRect:
        """Over the anchor, as high as its rows."""
        window = self.window()
        foot = self._anchor.mapTo(window, QPoint(0, -_ABOVE))
        rows = sum(self.card.list.sizeHintForRow(row) for row in range(len(self.card.prompts.shown)))
        height = max(160, min(rows + 24 + 24 + 2 * _EDGE + 16, _MOST, foot.y() - _MARGIN))
        left = max(_MARGIN, min(foot.x(), window.width() - WIDTH - _MARGIN))
        return QRect(left, max(_MARGIN, foot.y() - height), WIDTH, height)

    def _narrow(self, query: str) -> None:
        self.card.prompts.set_query(query)
        self._mark(0)

    def _mark(self, row: int) -> None:
        last = len(self.card.prompts.shown) - 1
        if last >= 0:
            self.card.list.setCurrentIndex(self.card.prompts.index(max(0, min(row, last))))
        self._offer_edit()

    def _marked(self) -> SystemPrompt | None:
        row = self.card.list.currentIndex().row()
        return self.card.prompts.shown[row] if 0 <= row < len(self.card.prompts.shown) else None

    def _offer_edit(self) -> None:
        marked = self._marked()
        self.card.edit.setEnabled(marked is not None and marked is not NONE)

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self.card.prompts.shown):
            prompt = self.card.prompts.shown[row]
            self.leave()
            self.chosen.emit(prompt.text)

    def _new(self) -> None:
        self.leave()
        self.new_requested.emit()

    def _edit(self) -> None:
        marked = self._marked()
        if marked is not None and marked is not NONE:
            self.leave()
            self.edit_requested.emit(marked)

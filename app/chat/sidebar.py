"""The sidebar: search, ways to other places, and every chat by date."""

import sys
import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.chat.chat_list import UNTITLED, Row
from app.chat.chat_view import ChatView
from app.chat.date_groups import group_by_date, seconds_to_midnight
from app.chat.nav_row import NavRow
from app.chat.search_field import SearchField
from app.theme import Theme
from app.widgets.frame import draw_hairline
from app.widgets.icon_button import IconButton
from engine.chats.records import ChatSummary, SearchHit

SEARCH_KEYS, NEW_KEYS, MODELS_KEYS = "Ctrl+Shift+F", "Ctrl+N", "Ctrl+Shift+M"

_WIDTH, _LEAST, _MOST = 260, 200, 360
_LEAD = 18
_MAC = sys.platform == "darwin"


class Sidebar(QWidget):
    """All chats, and what a person does to one. Nothing here touches the store: every wish is a signal.

    `chat_selected` comes with every pick, `hit_selected` (chat id, message id or "") besides when it was a search hit;
    calls such as `select` and `set_chats` emit nothing. The widget draws its own line at the right.
    """

    new_requested = Signal()
    models_requested = Signal()
    chat_selected = Signal(str)
    hit_selected = Signal(str, str)
    rename_requested = Signal(str, str)
    delete_requested = Signal(str)
    search_changed = Signal(str)
    search_left = Signal()
    collapse_requested = Signal()

    def __init__(
        self, theme: Theme, footer: QWidget | None = None, parent: QWidget | None = None, *, traffic_lights: bool = _MAC
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chats: tuple[ChatSummary, ...] = ()
        self._hits: tuple[SearchHit, ...] | None = None
        self._selected: str | None = None
        self._search = SearchField(theme, QKeySequence(SEARCH_KEYS), self)
        self._new = NavRow(theme, "compose", "New Chat", QKeySequence(NEW_KEYS), self)
        self._models = NavRow(theme, "cube", "Models", QKeySequence(MODELS_KEYS), self)
        self._list = ChatView(theme, self)
        self._strip = _Strip(theme, traffic_lights, self)
        self._midnight = QTimer(self, singleShot=True)
        self.setObjectName("sidebar")
        self.setAccessibleName("Chats and places")
        self.setMinimumWidth(_LEAST)
        self.setMaximumWidth(_MOST)
        self._new.setObjectName("newChatButton")
        self._new.setCheckable(True)
        self._models.setObjectName("modelsButton")
        self._lay_out(footer)
        self._connect()
        self._list_rows()

    def set_chats(self, chats: Sequence[ChatSummary]) -> None:
        """List these chats by the day of their last message; selection and scroll position stay."""
        self._chats = tuple(chats)
        self._list_rows()

    def listed(self) -> Sequence[str]:
        """Return the ids of the chats in the list, top to bottom, each once."""
        return list(dict.fromkeys(row.chat_id for row in self._list.rows if row.chat_id))

    def set_hits(self, hits: Sequence[SearchHit] | None) -> None:
        """Show what a search found in place of the chats; None shows the chats again."""
        self._hits = None if hits is None else tuple(hits)
        self._list_rows()

    def select(self, chat_id: str | None) -> None:
        """Mark a chat as the one shown; None marks "New Chat"."""
        self._selected = chat_id
        self._new.setChecked(chat_id is None)
        self._list.select(chat_id)

    def set_writing(self, chat_id: str | None) -> None:
        """Mark the chat in which a reply is being written."""
        self._list.set_writing(chat_id)

    def focus_search(self) -> None:
        """Put the caret into the search field, its text ready to be typed over."""
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def rename_selected(self) -> None:
        """Edit the title of the selected chat in place."""
        self._list.setFocus(Qt.FocusReason.OtherFocusReason)
        self._list.rename_current()

    def sizeHint(self) -> QSize:
        """260 wide."""
        return QSize(_WIDTH, 600)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground and the line towards the chat."""
        del event
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("sidebar"))
        right = float(self.width() - 1)
        draw_hairline(painter, QPointF(right, 0), QPointF(right, self.height()), self._theme.color("separator"))

    def changeEvent(self, event: QEvent) -> None:
        """A machine that slept over midnight has other days under the same headings."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self._list_rows()

    def _lay_out(self, footer: QWidget | None) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 1, 0)
        column.setSpacing(0)
        column.addWidget(self._strip)
        # The widget's own line counts to its width: 8 px on both sides leaves rows 244 wide at 260.
        top = QVBoxLayout()
        top.setContentsMargins(8, 0, 7, 0)
        top.setSpacing(0)
        top.addWidget(self._search)
        top.addSpacing(8)
        top.addWidget(self._new)
        top.addWidget(self._models)
        column.addLayout(top)
        column.addSpacing(4)
        column.addWidget(self._list, 1)
        if footer is not None:
            foot = QVBoxLayout()
            foot.setContentsMargins(8, 8, 7, 12)
            foot.addWidget(footer)
            column.addLayout(foot)

    def _connect(self) -> None:
        self._new.clicked.connect(self._ask_for_new)
        self._models.clicked.connect(self.models_requested)
        self._strip.collapse_requested.connect(self.collapse_requested)
        self._search.textChanged.connect(self._take_search)
        self._search.returnPressed.connect(self._list.choose_first)
        self._search.down_pressed.connect(self._go_to_list)
        self._search.left.connect(self.search_left)
        self._list.chosen.connect(self._take_choice)
        self._list.renamed.connect(self.rename_requested)
        self._list.delete_requested.connect(self.delete_requested)
        self._midnight.timeout.connect(self._list_rows)

    def _ask_for_new(self) -> None:
        # A click toggles a checkable button; what is shown is decided by `select`.
        self._new.setChecked(self._selected is None)
        self.new_requested.emit()

    def _take_search(self, text: str) -> None:
        if not text.strip():
            self.set_hits(None)
        self.search_changed.emit(text)

    def _take_choice(self, row: Row) -> None:
        self._selected = row.chat_id
        self._new.setChecked(False)
        self.chat_selected.emit(row.chat_id)
        if row.kind == "hit":
            self.hit_selected.emit(row.chat_id, row.message_id)

    def _go_to_list(self) -> None:
        self._list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not self._list.currentIndex().isValid():
            self._list.choose_first()

    def _list_rows(self) -> None:
        now = time.time()
        if self._hits is not None:
            query = self._search.text().strip()
            self._list.set_empty("", f"Nothing found for “{query}”")
            rows = [hit_row(hit) for hit in self._hits]
        else:
            self._list.set_empty("Chats", "The chats you start are listed here.")
            rows = chat_rows(self._chats, now)
        self._list.show_rows(rows, self._selected)
        self._midnight.start(int(seconds_to_midnight(now) * 1000) + 1000)


class _Strip(QWidget):
    """The empty top: room for the traffic lights and the collapsing button on a Mac, 12 px elsewhere. Drags the window."""

    collapse_requested = Signal()

    def __init__(self, theme: Theme, lights: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(52 if lights else 12)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 12, 0)
        row.addStretch(1)
        button = IconButton(theme, "sidebar", "Hide the sidebar", parent=self)
        button.setObjectName("collapseButton")
        button.clicked.connect(self.collapse_requested)
        button.setVisible(lights)
        row.addWidget(button)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the window, as a title bar does."""
        handle = self.window().windowHandle()
        if event.button() == Qt.MouseButton.LeftButton and handle is not None:
            handle.startSystemMove()


def chat_rows(chats: Sequence[ChatSummary], now: float) -> list[Row]:
    """Return the rows for chats: the pinned ones first, the others by date, newest first; `now` in Unix seconds."""
    pinned = [chat for chat in chats if chat.pinned]
    others = [chat for chat in chats if not chat.pinned]
    rows = [Row("heading", "Pinned")] if pinned else []
    rows += [Row("chat", chat.title, chat.id) for chat in pinned]
    for heading, places in group_by_date([chat.updated_at for chat in others], now):
        rows.append(Row("heading", heading))
        rows += [Row("chat", others[place].title, others[place].id) for place in places]
    return rows


def hit_row(hit: SearchHit) -> Row:
    """Return the row for a search hit; its snippet begins near the first match, so that the match can be seen."""
    text = "".join(" " if char.isspace() else char for char in hit.snippet)
    spans = hit.spans
    first = min((start for start, _ in spans), default=0)
    if first > _LEAD:
        cut = text.find(" ", first - _LEAD, first) + 1 or first - _LEAD
        text = "…" + text[cut:]
        spans = tuple((start - cut + 1, end - cut + 1) for start, end in spans)
    return Row("hit", hit.title or UNTITLED, hit.chat_id, hit.message_id or "", text, spans)

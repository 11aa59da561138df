"""The inspector: what the model sees, token by token, and how likely it found each token it wrote."""

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.chat.inspector.inspector_note import InspectorNote
from app.chat.inspector.prompt_head import PromptHead
from app.chat.inspector.reply_head import ReplyHead
from app.chat.inspector.token_popover import TokenPopover
from app.chat.inspector.token_sheet import CACHED, TokenSheet, shown
from app.chat.inspector.token_view import TokenView
from app.theme import Theme
from app.widgets.frame import draw_hairline
from app.widgets.icon_button import IconButton
from app.widgets.label import Label
from app.widgets.segmented import Segmented
from engine.core.odds import TokenOdds

WIDTH, LEAST_WIDTH = 400, 320
_HEADER, _ROW = 44, 32


class InspectorPanel(QWidget):
    """Two tabs over one reply, or over what would be sent next.

    `tab_chosen` carries "prompt" or "reply"; `stepped` -1 or 1, towards an earlier reply or a later one; `odds_pointed` and
    `odds_picked` a token of the reply (-1 for none) and where it stands.
    """

    opened = Signal()
    closed = Signal()
    tab_chosen = Signal(str)
    stepped = Signal(int)
    odds_pointed = Signal(int)
    odds_picked = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._read = "read now"
        self._popover: TokenPopover | None = None
        self.setObjectName("inspectorPanel")
        self.setAccessibleName("What the model sees")
        self.setFixedWidth(WIDTH)
        self._tabs = Segmented(theme, (("prompt", "Prompt"), ("reply", "Reply")), "Inspect", height=24, parent=self)
        self._tabs.setObjectName("inspectorTabs")
        self._tabs.setFixedWidth(136)
        self._target = Label(theme, style="small", role="ink-2", parent=self)
        self._back = self._step("left", "Earlier reply", "inspectEarlier", -1)
        self._on = self._step("right", "Later reply", "inspectLater", 1)
        self.head = PromptHead(theme)
        self.tokens = TokenView(theme, "Tokens of the prompt")
        self.tokens.setObjectName("promptTokens")
        self.reply_head = ReplyHead(theme)
        self.reply_tokens = TokenView(theme, "Tokens of the reply", whole=True)
        self.reply_tokens.setObjectName("replyTokens")
        self.note = InspectorNote(theme)
        self._lay_out()
        self._tabs.chosen.connect(self.tab_chosen)
        self.tokens.pointed.connect(self._explain)
        self.reply_tokens.pointed.connect(self.odds_pointed)
        self.reply_tokens.picked.connect(self.odds_picked)
        theme.changed.connect(self.update)

    def _step(self, icon: str, name: str, handle: str, step: int) -> IconButton:
        button = IconButton(self._theme, icon, name, size=24, icon_size=14, role="ink-2", parent=self)
        button.setObjectName(handle)
        button.clicked.connect(lambda: self.stepped.emit(step))
        return button

    @property
    def theme(self) -> Theme:
        """What it is painted with."""
        return self._theme

    @property
    def tab(self) -> str:
        """The tab that is shown."""
        return self._tabs.value

    @property
    def page(self) -> str:
        """What stands under the tabs: "prompt", "reply" or "note"."""
        return {0: "prompt", 1: "reply"}.get(self._stack.currentIndex(), "note")

    @property
    def target(self) -> str:
        """What is inspected, in words."""
        return self._target.text()

    def show_target(self, text: str, *, earlier: bool, later: bool) -> None:
        """Say what is inspected, and whether there is something before and after it."""
        self._target.setText(text)
        self._back.setEnabled(earlier)
        self._on.setEnabled(later)

    def show_prompt(self, sheet: TokenSheet, note: str, read: str, remark: str = "") -> None:
        """Show a prompt's tokens; `read` names those that were not cached."""
        self._read = read
        self.head.show_counts(len(sheet.ids), sheet.grounds.count(CACHED), note, read, remark)
        if sheet != self.tokens.sheet:
            self.tokens.show_sheet(sheet)
        self._stack.setCurrentIndex(0)

    def show_reply(self, odds: TokenOdds, sheet: TokenSheet, *, shaded: bool) -> None:
        """Show a reply's tokens, shaded; `shaded` says that the chat is, too."""
        self.reply_head.show_odds(odds)
        self.reply_head.show_shading(shaded)
        if sheet != self.reply_tokens.sheet:
            self.reply_tokens.show_sheet(sheet)
        self._stack.setCurrentIndex(1)

    def show_note(self, title: str, text: str, *, keep: str | None = None, again: bool = False) -> None:
        """Show words in place of tokens, as `InspectorNote.say`."""
        self.note.say(title, text, keep=keep, again=again)
        self._stack.setCurrentIndex(2)

    def showEvent(self, event: QShowEvent) -> None:
        """Say that there is somebody to show things to."""
        super().showEvent(event)
        self.opened.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Say that there is nobody any more."""
        super().hideEvent(event)
        self.closed.emit()

    def fit(self, room: int) -> None:
        """Take 400 pixels, in a narrow window no more than `room`, but 320 at least."""
        self.setFixedWidth(max(LEAST_WIDTH, min(WIDTH, room)))

    def sizeHint(self) -> QSize:
        """400 wide."""
        return QSize(WIDTH, 640)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("panel"))
        line = self._theme.color("separator")
        draw_hairline(painter, QPointF(0, 0), QPointF(0, self.height() - 1), line)
        for y in (_HEADER - 1, _HEADER + _ROW - 1):
            draw_hairline(painter, QPointF(1, y), QPointF(self.width() - 1, y), line)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the card about a token."""
        if event.key() == Qt.Key.Key_Escape and self._popover is not None and self._popover.isVisible():
            self._popover.hide()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The card goes when the tokens scroll or are hidden."""
        if event.type() in (QEvent.Type.Hide, QEvent.Type.Wheel) and self._popover is not None:
            self._popover.hide()
        return super().eventFilter(watched, event)

    def _lay_out(self) -> None:
        header = QWidget(self)
        header.setFixedHeight(_HEADER)
        row = QHBoxLayout(header)
        row.setContentsMargins(15, 0, 12, 1)
        row.addWidget(Label(self._theme, "What the model sees", weight=600, parent=header))
        row.addStretch(1)
        row.addWidget(self._tabs)
        chooser = QWidget(self)
        chooser.setFixedHeight(_ROW)
        row = QHBoxLayout(chooser)
        row.setContentsMargins(15, 0, 10, 1)
        row.setSpacing(4)
        row.addWidget(self._target, 1)
        row.addWidget(self._back)
        row.addWidget(self._on)
        self._stack = QStackedWidget(self)
        for parts in ((self.head, self.tokens), (self.reply_head, self.reply_tokens), (self.note,)):
            page = QWidget()
            column = QVBoxLayout(page)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            for part in parts:
                column.addWidget(part, 1 if part is parts[-1] else 0)
            self._stack.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(header)
        column.addWidget(chooser)
        column.addWidget(self._stack, 1)
        self.tokens.installEventFilter(self)
        self.tokens.viewport().installEventFilter(self)

    def _explain(self, index: int) -> None:
        """Show the card about a token of the prompt, or none."""
        sheet = self.tokens.sheet
        rect = self.tokens.chip_rect(index) if index >= 0 else QRect()
        if sheet is None or not rect.height():
            if self._popover is not None:
                self._popover.hide()
            return
        self._popover = self._popover or TokenPopover(self._theme, self.window())
        self._popover.show_rows(self._rows(sheet, index), self.tokens.viewport(), rect)

    def _rows(self, sheet: TokenSheet, index: int) -> list[tuple[str, str]]:
        token = sheet.ids[index]
        face = sheet.faces[token]
        pairs = " ".join(face.bytes_hex[at : at + 2] for at in range(0, len(face.bytes_hex), 2))
        state = "cached" if sheet.grounds[index] == CACHED else self._read
        state += ", left the context" if index in sheet.gone else ""
        return [("Token", shown(face)), ("Id", str(token)), ("Bytes", pairs or "none"), ("Position", f"{index:,}, {state}")]

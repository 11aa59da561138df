"""The quiet line under a message: what was measured, what became of it, the branches, and what can be done with it."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.icon_button import IconButton
from engine.chats.records import StoredMessage
from engine.core.facts import ReplyFacts

HEIGHT = 24
# How far the line reaches over the column on each side, so that its icons meet the column's edges.
BLEED = 5
_APART = 12
_ENDINGS = {
    "cancelled": "Stopped",
    "interrupted": "Interrupted: Flint was closed while this was being written",
}
_CUT = {"length": "cut at the token limit", "context": "cut where the context was full"}


class StatsLine(QWidget):
    """24 pixels high: branches at the left, facts after them, actions at the right. The signals carry nothing but the step."""

    copy_pressed = Signal()
    regenerate_pressed = Signal()
    branch_pressed = Signal(int)
    details_pressed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._items: list[str] = []
        self._branch = ""
        self._right = False
        self.setObjectName("statsLine")
        self._back = self._button("left", "Earlier version", "previousBranch")
        self._on = self._button("right", "Later version", "nextBranch")
        self._copy = self._button("copy", "Copy message", "copyMessage")
        self._again = self._button("redo", "Write another reply", "regenerate")
        self._details = self._button("dots", "What was measured", "replyDetails")
        self._back.clicked.connect(lambda: self.branch_pressed.emit(-1))
        self._on.clicked.connect(lambda: self.branch_pressed.emit(1))
        self._copy.clicked.connect(self.copy_pressed)
        self._again.clicked.connect(self.regenerate_pressed)
        self._details.clicked.connect(self.details_pressed)
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        """What the line says, in one piece."""
        return "  ".join(self._items)

    def show_message(self, message: StoredMessage, status: str = "", *, names_model: bool = False) -> None:
        """Say what is known of a message; `status` takes the place of the facts while it is written."""
        written = message.state != "streaming"
        reply = message.role == "assistant"
        self._items = stats(message, names_model=names_model) if written else [status] if status else []
        several = message.sibling_count > 1
        self._branch = f"{message.sibling_index + 1}/{message.sibling_count}" if several else ""
        self._back.setEnabled(message.sibling_index > 0)
        self._on.setEnabled(message.sibling_index < message.sibling_count - 1)
        self._right = not reply
        for button, shown in (
            (self._back, several),
            (self._on, several),
            (self._copy, written and bool(message.text)),
            (self._again, written and reply),
            (self._details, written and message.facts is not None),
        ):
            button.setVisible(shown)
        self.setAccessibleName(self.text)
        self._arrange()
        self.update()

    def details_place(self) -> QRect:
        """Return where the details button is, for what it opens."""
        return self._details.geometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the actions at the right."""
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Write the items that fit, 12 pixels apart; the first one is shortened rather than left out."""
        painter = QPainter(self)
        painter.setFont(self._theme.font("caption"))
        metrics = painter.fontMetrics()
        if self._branch:
            painter.setPen(self._theme.color("ink-2"))
            painter.drawText(self._branch_rect(), Qt.AlignmentFlag.AlignCenter, self._branch)
        painter.setPen(self._theme.color("ink-3"))
        left, end = self._items_left(), self._items_right()
        for index, item in enumerate(self._items):
            width = metrics.horizontalAdvance(item)
            if left + width > end:
                if index:
                    break
                item = metrics.elidedText(item, Qt.TextElideMode.ElideRight, max(0, end - left))
            painter.drawText(QRect(left, 0, width + 2, HEIGHT), Qt.AlignmentFlag.AlignVCenter, item)
            left += width + _APART

    def _button(self, icon: str, name: str, handle: str) -> IconButton:
        button = IconButton(self._theme, icon, name, size=24, icon_size=14, role="ink-3", parent=self)
        button.setObjectName(handle)
        return button

    def _arrange(self) -> None:
        right = self.width()
        for button in (self._details, self._again, self._copy):
            if not button.isHidden():
                right -= button.width()
                button.move(right, 0)
        if self._branch:
            left = self._branch_left()
            self._back.move(left, 0)
            self._on.move(left + 24 + self._branch_width(), 0)

    def _branch_width(self) -> int:
        return QFontMetrics(self._theme.font("caption")).horizontalAdvance(self._branch)

    def _branch_left(self) -> int:
        return self.width() - 2 * 24 - self._branch_width() - 24 if self._right else 0

    def _branch_rect(self) -> QRect:
        return QRect(self._branch_left() + 24, 0, self._branch_width(), HEIGHT)

    def _items_left(self) -> int:
        return self._branch_rect().right() + 1 + 24 + 7 if self._branch and not self._right else BLEED

    def _items_right(self) -> int:
        shown = [button.x() for button in (self._copy, self._again, self._details) if not button.isHidden()]
        return min(shown, default=self.width()) - 8


def stats(message: StoredMessage, *, names_model: bool = False) -> list[str]:
    """Return what the line says of a finished message, the most important first; the model where it `names_model`."""
    items = [_ENDINGS[message.state]] if message.state in _ENDINGS else []
    facts = message.facts
    if message.role != "assistant" or facts is None or message.state == "failed":
        return items
    if names_model:
        items.append(facts.model)
    items.append("1 token" if facts.output_tokens == 1 else f"{_count(facts.output_tokens)} tokens")
    if message.state == "complete" and facts.finish_reason in _CUT:
        items.append(_CUT[facts.finish_reason])
    if facts.decode_tps > 0:
        items.append(f"{facts.decode_tps:.1f} tok/s")
    if facts.ttft_s > 0:
        items.append(f"first token {facts.ttft_s:.2f} s")
    items.append(_prompt(facts))
    return items


def _prompt(facts: ReplyFacts) -> str:
    if facts.cached_tokens:
        return f"{_count(facts.cached_tokens)} of {_count(facts.prompt_tokens)} prompt tokens cached"
    return f"{_count(facts.prompt_tokens)} prompt tokens"


def _count(tokens: int) -> str:
    return f"{tokens / 1000:.1f}k" if tokens >= 10_000 else f"{tokens:,}"

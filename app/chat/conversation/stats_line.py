"""The quiet line under a message: what was measured, what became of it, the branches, and what can be done with it."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.chat.conversation.action_button import ActionButton, Fading
from app.theme import Theme
from app.widgets.button import Button
from engine.chats.continuing import is_cut, is_unbegun
from engine.chats.records import StoredMessage
from engine.core.facts import ReplyFacts
from engine.core.sizes import count_text, figure

HEIGHT = 24
# How far the line reaches over the column on each side, so that its icons meet the column's edges.
BLEED = 5
_APART = 12
_SPACE = 8
_ENDINGS = {
    "cancelled": "Stopped",
    "interrupted": "Interrupted: Flint was closed while this was being written",
}
_CUT = {"length": "cut at the token limit", "context": "cut where the context was full"}


class StatsLine(QWidget):
    """24 pixels high: branches at the left, facts after them, actions at the right. The signals carry nothing but the step.

    For a user's message all of it stands at the right, beside the bubble. The actions come with the pointer (`set_hovered`) or
    the keyboard's focus, and stay at the newest reply.
    """

    copy_pressed = Signal()
    edit_pressed = Signal()
    regenerate_pressed = Signal()
    continue_pressed = Signal()
    branch_pressed = Signal(int)
    details_pressed = Signal()
    menu_pressed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._items: list[str] = []
        self._branch = ""
        self._right = self._busy = self._hovered = self._held = self._last = False
        self._cut_short = self._unbegun = self._measured = False
        self._index, self._count = 0, 1
        self.setObjectName("statsLine")
        self._back = ActionButton(theme, "left", "Earlier version", "previousBranch", self)
        self._on = ActionButton(theme, "right", "Later version", "nextBranch", self)
        self._go_on = Button(theme, "Continue", small=True, parent=self)
        self._go_on.setObjectName("continueReply")
        self._go_on.setAccessibleDescription("Let the model write on at this reply")
        self._anew = Button(theme, "Regenerate", small=True, parent=self)
        self._anew.setObjectName("writeAnew")
        self._anew.setAccessibleDescription("Let the model write this reply, of which there is nothing yet")
        self._plain = (self._go_on, self._anew)
        self._copy = ActionButton(theme, "copy", "Copy message", "copyMessage", self)
        self._edit = ActionButton(theme, "pencil", "Edit message", "editMessage", self)
        self._again = ActionButton(theme, "redo", "Write another reply", "regenerate", self)
        self._more = ActionButton(theme, "dots", "More", "messageMenuButton", self)
        self._actions = (self._copy, self._edit, self._again, self._more)
        self._fading = Fading(theme, self._actions)
        self._connect()
        theme.changed.connect(self.update)

    def _connect(self) -> None:
        self._back.clicked.connect(lambda: self.branch_pressed.emit(-1))
        self._on.clicked.connect(lambda: self.branch_pressed.emit(1))
        self._go_on.clicked.connect(self.continue_pressed)
        self._anew.clicked.connect(self.regenerate_pressed)
        self._copy.clicked.connect(self.copy_pressed)
        self._edit.clicked.connect(self.edit_pressed)
        self._again.clicked.connect(self.regenerate_pressed)
        self._more.clicked.connect(self.menu_pressed)
        for button in self._actions:
            button.focus_changed.connect(self._fade)

    @property
    def text(self) -> str:
        """What the line says, in one piece."""
        return "  ".join(self._items)

    @property
    def branched(self) -> bool:
        """Whether there are other versions, so that something is always seen here."""
        return bool(self._branch)

    def show_message(self, message: StoredMessage, status: str = "", *, names_model: bool = False) -> None:
        """Say what is known of a message; `status` takes the place of the facts while it is written."""
        written = message.state != "streaming"
        reply = message.role == "assistant"
        self._items = stats(message, names_model=names_model) if written else [status] if status else []
        several = message.sibling_count > 1
        self._cut_short, self._unbegun = written and is_cut(message), written and is_unbegun(message)
        self._measured = message.facts is not None
        self._index, self._count = message.sibling_index, message.sibling_count
        self._branch = f"{message.sibling_index + 1}/{message.sibling_count}" if several else ""
        self._right = not reply
        for button, shown in (
            (self._back, several),
            (self._on, several),
            (self._copy, written and bool(message.text)),
            (self._edit, not reply),
            (self._again, written and reply),
            (self._more, written),
        ):
            button.setVisible(shown)
        self._offer()
        self._enable()
        self._fade()
        self.setAccessibleName(self.text)
        self._arrange()
        self.update()

    def menu_place(self) -> QRect:
        """Return where the button of the menu is, for what it opens."""
        return self._more.geometry()

    def set_busy(self, busy: bool) -> None:
        """Offer nothing that would change which messages are shown while a reply is on its way."""
        self._busy = busy
        self._enable()

    def set_last(self, last: bool) -> None:
        """Keep the actions of the newest reply in sight; only there can a reply go on, or be written that was not begun."""
        if last != self._last:
            self._last = last
            self._offer()
            self._fade()
            self._arrange()
            self.update()

    def set_hovered(self, hovered: bool) -> None:
        """Let the actions come with the pointer."""
        self._hovered = hovered
        self._fade()

    def hold(self, held: bool) -> None:
        """Keep the actions while their menu is open."""
        self._held = held
        self._fade()

    def width_needed(self) -> int:
        """Return how wide a user's line is: its branches and its actions."""
        return self._switcher_width() + sum(24 for button in self._actions if not button.isHidden()) + 2 * BLEED

    def _offer(self) -> None:
        self._go_on.setVisible(self._cut_short and self._last)
        self._anew.setVisible(self._unbegun and self._last)

    def _enable(self) -> None:
        self._back.setEnabled(not self._busy and self._index > 0)
        self._on.setEnabled(not self._busy and self._index < self._count - 1)
        self._again.setEnabled(not self._busy)
        for button in self._plain:
            button.setEnabled(not self._busy)

    def _fade(self) -> None:
        focused = any(button.hasFocus() for button in self._actions)
        self._fading.show(self._hovered or self._held or focused or (self._last and not self._right))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the press, so that its release comes here."""
        event.setAccepted(self._measured)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on the figures asks for all of them."""
        if event.button() == Qt.MouseButton.LeftButton and self._measured and self._items_left() <= event.position().x():
            self.details_pressed.emit()

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

    def _arrange(self) -> None:
        # A user's branches stand beside the bubble: they are always seen, and the actions come and go before them.
        right = self.width() - (self._switcher_width() if self._right else 0)
        for button in reversed(self._actions):
            if not button.isHidden():
                right -= button.width()
                button.move(right, 0)
        if self._branch:
            left = self._branch_left()
            self._back.move(left, 0)
            self._on.move(left + 24 + self._branch_width(), 0)
        for plain in self._plain:
            plain.resize(plain.sizeHint())
            plain.move(self._switcher_width() + (_SPACE if self._branch else BLEED), 0)

    def _branch_width(self) -> int:
        return QFontMetrics(self._theme.font("caption")).horizontalAdvance(self._branch)

    def _switcher_width(self) -> int:
        return 2 * 24 + self._branch_width() if self._branch else 0

    def _branch_left(self) -> int:
        return self.width() - self._switcher_width() if self._right else 0

    def _branch_rect(self) -> QRect:
        return QRect(self._branch_left() + 24, 0, self._branch_width(), HEIGHT)

    def _items_left(self) -> int:
        for plain in self._plain:
            if not plain.isHidden():
                return plain.geometry().right() + 1 + _SPACE
        return self._branch_rect().right() + 1 + 24 + 7 if self._branch and not self._right else BLEED

    def _items_right(self) -> int:
        shown = [button.x() for button in self._actions if not button.isHidden()]
        return min(shown, default=self.width()) - 8


def stats(message: StoredMessage, *, names_model: bool = False) -> list[str]:
    """Return what the line says of a finished message, the most important first; the model where it `names_model`."""
    items = [_ENDINGS[message.state]] if message.state in _ENDINGS else []
    if message.edited:
        items.append("Edited")
    facts = message.facts
    if message.role != "assistant" or facts is None or message.state == "failed":
        return items
    if names_model:
        items.append(facts.model)
    items.append(count_text(facts.output_tokens, "token", short=True))
    if message.state == "complete" and facts.finish_reason in _CUT:
        items.append(_CUT[facts.finish_reason])
    if facts.decode_tps > 0:
        items.append(f"{facts.decode_tps:.1f} tok/s")
    if facts.ttft_s > 0:
        items.append(f"first token {facts.ttft_s:.2f} s")
    if facts.resumed:
        items.append("continued" if len(facts.resumed) == 1 else f"continued {len(facts.resumed):,} times")
    else:
        items.append(_prompt(facts))
    return items


def _prompt(facts: ReplyFacts) -> str:
    if facts.cached_tokens:
        return f"{figure(facts.cached_tokens)} of {figure(facts.prompt_tokens)} prompt tokens cached"
    return f"{figure(facts.prompt_tokens)} prompt tokens"

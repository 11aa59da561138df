"""The line under the composer's text: what can be attached and is, a quiet note, send and stop in one place."""

import itertools

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QWidget

from app.chat.composer.chip_flow import ChipFlow
from app.chat.composer.prompt_button import PromptButton
from app.chat.words import Words
from app.theme import Theme
from app.widgets.icon_button import GoButton, IconButton

LINE = 28
# The icon of the first button stands under the text, its ground reaches over it.
INSET = 6
_APART, _CHIPS_APART, _NOTE_APART, _ABOVE = 4, 8, 12, 8
_LEAST_NOTE = 96


class ComposerFoot(QWidget):
    """Lays itself out: chips go between the buttons and the note, or into lines above where there is no room for them."""

    attach_pressed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tools: list[QWidget] = []
        self.attach = IconButton(theme, "clip", "Attach files", parent=self)
        self.attach.setObjectName("attachButton")
        self.attach.clicked.connect(self.attach_pressed)
        self.prompt = PromptButton(theme, self)
        self.chips = ChipFlow(theme, removable=True, parent=self)
        self.note = Words(theme, "caption", "ink-3", parent=self)
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.send = GoButton(theme, "send", "Send", parent=self)
        self.send.setObjectName("sendButton")
        self.stop = GoButton(theme, "stop", "Stop", parent=self)
        self.stop.setObjectName("stopButton")
        for part in (self.attach, self.chips, self.note, self.send, self.stop):
            part.setCursor(Qt.CursorShape.ArrowCursor)
        self.add_tool(self.attach)
        self.add_tool(self.prompt)

    def add_tool(self, widget: QWidget) -> None:
        """Put a small widget at the left, after those that are there."""
        widget.setParent(self)
        widget.setCursor(Qt.CursorShape.ArrowCursor)
        self._tools.append(widget)

    def chain_focus(self) -> None:
        """Let Tab go from left to right; chips are made as they come."""
        chips = [part for chip in self.chips.chips for part in chip.focus_chain]
        chain = [*self._tools, *chips, self.send, self.stop]
        for one, following in itertools.pairwise(chain):
            QWidget.setTabOrder(one, following)

    def arrange(self, width: int) -> int:
        """Put everything in its place in `width` pixels, and return the height; the widget takes that size."""
        left = 0
        for tool in self._tools:
            if not tool.isHidden():
                left += tool.sizeHint().width() + _APART if tool is not self.attach else LINE + _APART
        left += _CHIPS_APART - _APART
        end = width - LINE
        wanted = QFontMetrics(self.note.font()).horizontalAdvance(self.note.words) + 2 if self.note.words else 0
        chips = self.chips.one_line()
        inline = left + chips + _NOTE_APART + min(wanted, _LEAST_NOTE) <= end - _NOTE_APART
        top = 0
        if not chips:
            self.chips.arrange(0)
        elif inline:
            self.chips.arrange(chips)
        else:
            top = self.chips.arrange(max(1, width - INSET)) + _ABOVE
        self.chips.move(left if inline else INSET, 2 if inline else 0)
        self._place_tools(top)
        note_left = left + (chips + _NOTE_APART if chips and inline else 0)
        room = max(0, end - _NOTE_APART - note_left)
        note = min(wanted, room)
        self.note.setGeometry(end - _NOTE_APART - note, top + (LINE - self.note.height()) // 2, note, self.note.height())
        for button in (self.send, self.stop):
            button.move(end, top)
        self.setFixedSize(QSize(width, top + LINE))
        return top + LINE

    def _place_tools(self, top: int) -> None:
        left = 0
        for tool in self._tools:
            if not tool.isHidden():
                size = tool.size() if tool is self.attach else tool.sizeHint()
                tool.setGeometry(left, top + (LINE - size.height()) // 2, size.width(), size.height())
                left += size.width() + _APART

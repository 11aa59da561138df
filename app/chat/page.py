"""The chat area: the welcome or the transcript, and the composer under both."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.chat.composer.composer import Composer
from app.chat.conversation.transcript import Transcript
from app.chat.file_drop import FileDrop
from app.chat.welcome import Welcome
from app.theme import Theme

if TYPE_CHECKING:
    from app.chat.conversation.finder import Finder

type PageMode = Literal["welcome", "chat"]

_COLUMN, _SIDES, _OVERHANG, _BOTTOM, _GAP = 720, 48, 32, 12, 8


class ChatPage(QWidget):
    """One reading column, centred here; the composer is 32 px wider, so that its text stands under the column's."""

    prompt_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.welcome = Welcome(theme)
        self.transcript = Transcript(theme)
        self.composer = Composer(theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self.transcript)
        self.setObjectName("chatPage")
        self.setAccessibleName("Chat")
        self.setMinimumWidth(320)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # What is written paints nothing that lies under the page.
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, _BOTTOM)
        column.setSpacing(_GAP)
        column.addWidget(self._stack, 1)
        column.addWidget(self.composer, 0, Qt.AlignmentFlag.AlignHCenter)
        self.drop = FileDrop(self)
        self.drop.hovering.connect(self.composer.set_dropping)
        self.drop.dropped.connect(self.composer.attachments.attach_files)
        self.welcome.prompt_chosen.connect(self.prompt_chosen)
        self.transcript.focus.left.connect(self.composer.focus_text)
        theme.changed.connect(self.update)

    @cached_property
    def finder(self) -> "Finder":
        """What looks for words in the chat."""
        from app.chat.conversation.finder import Finder

        return Finder(self._theme, self.transcript)

    @property
    def mode(self) -> PageMode:
        """What stands above the composer."""
        return "welcome" if self._stack.currentWidget() is self.welcome else "chat"

    def set_mode(self, mode: PageMode) -> None:
        """Show the welcome or the transcript above the composer."""
        self._stack.setCurrentWidget(self.welcome if mode == "welcome" else self.transcript)

    def edit_summary(self, text: str, messages: int, keep: Callable[[str], None]) -> None:
        """Show the summary of the first `messages` messages; `keep` gets the text when it was saved."""
        from app.chat.conversation.summary_dialog import SummaryDialog

        dialog = SummaryDialog(self._theme, text, messages, self)
        dialog.accepted.connect(lambda: keep(dialog.text))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the composer to the column."""
        super().resizeEvent(event)
        self.composer.setFixedWidth(column_width(self.width()) + _OVERHANG)
        self.composer.set_window_height(self.window().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape anywhere in the chat stops the reply being written."""
        if event.key() == Qt.Key.Key_Escape and self.composer.phase != "idle":
            self.composer.stop()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground."""
        del event
        QPainter(self).fillRect(self.rect(), self._theme.color("content"))


def column_width(area: int) -> int:
    """Return the width of the reading column in a chat area of `area` pixels."""
    return min(_COLUMN, area - _SIDES)

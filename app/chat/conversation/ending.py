"""What stands in the place of an answer that did not come: why it failed, what would make it fit, or that it has no words."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.chat.conversation.failure_note import FailureNote
from app.chat.conversation.guard_card import GuardCard
from app.theme import Theme
from app.widgets.label import Label
from engine.chats.records import StoredMessage
from engine.core.messages import MemoryRefused


class Ending(QObject):
    """The parts of one message's view that say it. `choice_made` carries the changes that make a refused reply fit, or None."""

    choice_made = Signal(object)

    def __init__(self, theme: Theme, view: QWidget) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view
        self._note = FailureNote(theme, view)
        self._words = Label(theme, style="read", role="ink-2", wrap=True, parent=view)
        self._words.hide()
        self._card: GuardCard | None = None

    @property
    def parts(self) -> tuple[QWidget, ...]:
        """All there are."""
        return (self._note, self._words, self._card) if self._card else (self._note, self._words)

    def forget_refusal(self) -> None:
        """Another message is shown now."""
        if self._card is not None:
            self._card.hide()
            self._card.deleteLater()
            self._card = None

    def show_refusal(self, refused: MemoryRefused) -> None:
        """Offer what would make a refused reply fit, in place of the plain note."""
        if self._card is None:
            self._card = GuardCard(self._theme, self._view)
            self._card.chosen.connect(self.choice_made)
            self._card.ignored.connect(lambda: self.choice_made.emit(None))
        self._card.show_refusal(refused)

    def show_message(self, message: StoredMessage) -> None:
        """Say why the message failed, if it did."""
        self._note.setVisible(message.state == "failed")
        if message.state == "failed":
            self._note.show_error(message.error)

    def hide_words(self) -> None:
        """The answer's tokens stand where the words would."""
        self._words.hide()

    def arrange_words(self, message: StoredMessage | None, left: int, top: int, width: int) -> int:
        """Say that a reply ended without an answer, where nothing else does; None has one. Return how high that is."""
        words = wordless(message) if message is not None else ""
        self._words.setText(words)
        self._words.setVisible(bool(words))
        height = self._words.heightForWidth(width) if words else 0
        self._words.setGeometry(left, top, width, height)
        return height

    def arrange_failure(self, left: int, top: int, width: int) -> int:
        """Put the note, or the card in its stead, in its place; return how high it is."""
        shown = self._card or self._note
        self._note.setVisible(self._card is None)
        shown.setGeometry(left, top, width, shown.height_at(width))
        shown.show()
        return shown.height()


def wordless(message: StoredMessage) -> str:
    """Return what is said in place of the answer of a reply that ended without one; nothing of any other message."""
    if message.role != "assistant" or message.state != "complete" or message.facts is None or message.text.strip():
        return ""
    if message.facts.finish_reason == "stop":
        return f"The model ended its turn without {'an answer' if message.reasoning.strip() else 'a word'}."
    return "" if message.reasoning.strip() else "The reply was cut before its first word."

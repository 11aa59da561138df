"""What a message's view is told besides the message: what was refused, what was opened, whether it names its model."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.chats.records import StoredMessage
from engine.core.messages import MemoryRefused
from engine.core.odds import TokenOdds

if TYPE_CHECKING:
    from app.chat.conversation.message import MessageView


class ViewExtras:
    """Kept for all messages of a list, so that a view which comes back looks as it did."""

    def __init__(self) -> None:
        self._refusals: dict[str, MemoryRefused] = {}
        self._opened: set[str] = set()
        self._several_models = False
        self._shaded: tuple[str, TokenOdds] | None = None

    def shade(self, message_id: str, odds: TokenOdds | None) -> str:
        """Keep which reply is shaded, with None none; return the id of the one that was."""
        before = self._shaded[0] if self._shaded else ""
        self._shaded = (message_id, odds) if odds is not None else None
        return before

    def fill(self, view: "MessageView", message: StoredMessage) -> None:
        """Show a message in a view, and all that is known besides."""
        view.show_message(message, opened=message.id in self._opened)
        view.name_model(self._several_models)
        view.show_odds(self._shaded[1] if self._shaded and self._shaded[0] == message.id else None)
        if message.id in self._refusals:
            view.show_refusal(self._refusals[message.id])

    def refuse(self, message_id: str, refused: MemoryRefused) -> None:
        """Keep why a reply was refused."""
        self._refusals[message_id] = refused

    def keep_opened(self, message_id: str, opened: bool) -> None:
        """Keep whether a person has opened what was thought."""
        (self._opened.add if opened else self._opened.discard)(message_id)

    def is_opened(self, message_id: str) -> bool:
        """Return whether a person has opened what was thought."""
        return message_id in self._opened

    def count_models(self, messages: Iterable[StoredMessage]) -> bool:
        """Look whether several models wrote the replies; return whether that is news. Each reply names its model then."""
        several = len({message.facts.model for message in messages if message.facts}) > 1
        news = several != self._several_models
        self._several_models = several
        return news

    @property
    def several_models(self) -> bool:
        """Whether each reply names its model."""
        return self._several_models

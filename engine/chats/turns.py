"""From a stored conversation to the turns a model is given."""

from collections.abc import Iterable

from engine.chats.attachment import with_attachments
from engine.chats.records import StoredMessage
from engine.core.errors import ContextFull
from engine.core.facts import Message


def turns(messages: Iterable[StoredMessage], system_prompt: str = "") -> tuple[Message, ...]:
    """Return the turns of an active path, the system prompt first where there is one."""
    system = (Message("system", system_prompt),) if system_prompt.strip() else ()
    return (*system, *(turn for turn, _ in stretches(messages)))


def stretches(messages: Iterable[StoredMessage]) -> list[tuple[Message, str]]:
    """Return the turns of an active path, each with the id of the last message in it.

    A reply that never got a word (it failed, or was stopped at once) is left out, and the questions around it become one turn:
    many templates insist that user and assistant take turns. A question that did not fit into the context is left out with its
    reply: nothing behind it would fit either.
    """
    found: list[tuple[Message, str]] = []
    for message in _told(messages):
        if found and found[-1][0].role == message.role == "user":
            found[-1] = (Message("user", f"{found[-1][0].text}\n\n{_words(message)}"), message.id)
        else:
            found.append((Message(message.role, _words(message), *written(message)), message.id))
    return found


def is_unanswered(messages: Iterable[StoredMessage]) -> bool:
    """Return whether an active path ends with a question that a next message would become one turn with."""
    told = _told(messages)
    return bool(told) and told[-1].role == "user"


def written(message: StoredMessage) -> tuple[tuple[int, ...], str]:
    """Return the token ids a reply was written with and the fingerprint of the model; none of another message."""
    facts = message.facts if message.role == "assistant" else None
    return (facts.output_ids, facts.fingerprint) if facts else ((), "")


def _words(message: StoredMessage) -> str:
    """Return what the model reads of a message: what is attached first, then the words."""
    return with_attachments(message.text, message.attachments) if message.attachments else message.text


def _told(messages: Iterable[StoredMessage]) -> list[StoredMessage]:
    """The messages without replies that have no word, and without the questions that did not fit."""
    told: list[StoredMessage] = []
    for message in messages:
        if message.role != "assistant" or message.text.strip():
            told.append(message)
        elif message.error and message.error.code == ContextFull.code and told and told[-1].role == "user":
            told.pop()
    return told

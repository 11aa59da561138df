"""From a stored conversation to the turns a model is given."""

from collections.abc import Iterable

from engine.chats.records import StoredMessage
from engine.core.messages import Message


def turns(messages: Iterable[StoredMessage], system_prompt: str = "") -> tuple[Message, ...]:
    """Return the turns of an active path, the system prompt first where there is one.

    A reply that never got a word (it failed, or was stopped at once) is left out, and the questions around it become one turn:
    many templates insist that user and assistant take turns.
    """
    found: list[Message] = []
    if system_prompt.strip():
        found.append(Message("system", system_prompt))
    for message in messages:
        if message.role == "assistant" and not message.text.strip():
            continue
        if found and found[-1].role == message.role == "user":
            found[-1] = Message("user", f"{found[-1].text}\n\n{message.text}")
        else:
            facts = message.facts if message.role == "assistant" else None
            written = (facts.output_ids, facts.fingerprint) if facts else ((), "")
            found.append(Message(message.role, message.text, *written))
    return tuple(found)

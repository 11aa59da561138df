"""What the inspector says about a prompt: which reply's it is, what was cached and what was read, in words."""

from collections.abc import Sequence

from engine.chats.records import StoredMessage
from engine.core.messages import PromptInspected
from engine.core.record import Record
from engine.core.sizes import count_text

NEXT = "next"
"""In place of a reply's id: the one that would be written next."""

NOTHING_YET = (
    "Nothing yet",
    "Write a message, and this shows exactly what the model is given: every token after its template, and which of them it "
    "has read already.",
)
UNLOADED = (
    "No model is loaded",
    "The prompt is made with the model's own template and tokens. It is shown as soon as a model is loaded, at the latest "
    "with the next message.",
)


class Reading(Record):
    """How a prompt was read: its first `cached` tokens were known; `word` names the others, `note` counts both.

    The tokens in `gone` left the context while the reply was made.
    """

    cached: int
    word: str
    note: str
    remark: str = ""
    gone: range = range(0)


class Given(Record):
    """What is known of the prompt of a reply on its way: its `tokens`, of which `cached` were known as it began.

    `dropped` tokens have left the context since, and with them so many messages.
    """

    tokens: int
    cached: int
    dropped: tuple[int, int] = (0, 0)


def described(target: StoredMessage | None, order: Sequence[str]) -> str:
    """Return what is inspected, in words; `order` holds the ids of the replies and `NEXT`."""
    if target is None:
        return "What would be sent next"
    place, count = order.index(target.id) + 1, len(order) - 1
    words = "The reply" if count == 1 else f"Reply {place:,} of {count:,}"
    return f"{words}, being written" if target.state == "streaming" else words


def reading_of(prompt: PromptInspected, reply: StoredMessage | None, given: Given | None) -> Reading:
    """Return how a prompt was read for `reply`, None for what would be sent; `given` is known where it is on its way."""
    total, remarks = len(prompt.ids), []
    gone = range(0)
    if prompt.left_out:
        what = "oldest message is" if prompt.left_out == 1 else f"{prompt.left_out:,} oldest messages are"
        remarks.append(f"The {what} left out: they would not fit into the context of {prompt.context:,} tokens.")
    facts = reply.facts if reply else None
    if facts is None:
        cached = prompt.cached if given is None or reply is None else min(given.cached, total)
        word = "read now" if reply is not None and reply.state == "streaming" else "to read"
        if given is not None and reply is not None and given.tokens == total:
            gone = _gone(prompt, given.dropped[0])
            remarks += _left("is being written", gone, given.dropped[1] - prompt.left_out)
        return Reading(cached, word, f"{cached:,} cached, {total - cached:,} {word}", " ".join(remarks), gone)
    begun = facts.resumed[-1] if facts.resumed else 0
    tokens = facts.prompt_tokens + begun
    if facts.fingerprint != prompt.fingerprint or tokens != total:
        remarks.append(
            f"The reply was written by {facts.model} from {count_text(tokens, 'token')}. This is the same conversation as "
            f"{prompt.model} and the settings in force now make it."
        )
    else:
        gone = _gone(prompt, facts.dropped_tokens)
        remarks += _left("was made", gone, facts.dropped_messages - prompt.left_out)
    if begun:
        last = "token was" if begun == 1 else f"{begun:,} tokens were"
        remarks.append(f"The reply went on from what was there already: the last {last} its own.")
    note = f"{facts.cached_tokens:,} cached, {max(0, tokens - facts.cached_tokens):,} read"
    if not begun:  # Of a reply that went on, only the sum of its stretches' times may be known.
        note += f" in {facts.prefill_s:.2f} s"
    return Reading(min(facts.cached_tokens, total), "read now", note, " ".join(remarks), gone)


def _gone(prompt: PromptInspected, dropped: int) -> range:
    """Return which of a prompt's tokens have left the context, where `dropped` have in all."""
    return range(prompt.pinned, min(len(prompt.ids), prompt.pinned + max(0, dropped - prompt.left_out_tokens)))


def _left(done: str, gone: range, messages: int) -> list[str]:
    """Say what left the context while what is `done` to the reply was or is, with so many whole messages."""
    if not gone:
        return []
    tokens = "one of these tokens" if len(gone) == 1 else f"{len(gone):,} of these tokens"
    oldest = "the oldest message" if messages == 1 else f"the oldest {messages:,} messages"
    whole = f", {oldest} with them" if messages > 0 else ""
    return [f"While the reply {done}, {tokens} left the context{whole}. They are struck through."]

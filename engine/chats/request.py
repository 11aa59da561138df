"""From a stored chat to the request for its next reply."""

from collections.abc import Mapping, Sequence

from engine.chats.records import StoredMessage
from engine.chats.store import ChatStore
from engine.chats.summary import Summary, read_summary, write_summary
from engine.chats.turns import stretches, turns, written
from engine.core.facts import Message
from engine.core.messages import Generate
from engine.core.sampling import Recommended
from engine.core.setting import Value
from engine.core.settings import Conversation, Engine, Inspection, KeyValueCache, Sampling, build, usable


def compose(
    store: ChatStore,
    chat_id: str | None,
    path: Sequence[StoredMessage],
    *,
    request_id: str,
    model_id: str,
    app: Mapping[str, Value],
    given: Mapping[str, Value] | None = None,
    reply: StoredMessage | None = None,
) -> Generate:
    """Return the request that continues `path`, the messages so far; or a `reply` to it that was cut.

    Without a `chat_id` it is of a chat that is not made yet.

    Settings: those `given` for this run, over the chat's own, over `app`: those set for the model, over those for all chats
    (`Preferences.for_model`). For what none of them sets, the model's own recommendation stands. A summary takes the place of
    what it covers.
    Raises `ChatNotFound` and `SettingsError`.
    """
    values = {**app, **(usable(store.chat_settings(chat_id)) if chat_id else {}), **(given or {})}
    conversation, kept = build(Conversation, values), build(KeyValueCache, values)
    summary = read_summary(store, chat_id) if chat_id else None
    covered = summary.covered(path) if summary else 0
    cut = (cut_reply(reply),) if reply else ()
    return Generate(
        request_id=request_id,
        model_id=model_id,
        messages=(*turns(path[covered:], conversation.system_prompt), *cut),
        sampling=build(Sampling, values),
        context=conversation.context,
        weights=build(Engine, values).weights,
        kv_bits=kept.kv_bits,
        prefill_chunk=kept.prefill_chunk,
        when_full=kept.when_full,
        memory_guard=kept.memory_guard,
        keep_probabilities=build(Inspection, values).keep_probabilities,
        chat_id=chat_id or "",
        summary=summary.text if summary and covered else "",
        unset=tuple(name for name in Recommended.names() if name not in values),
    )


def cut_reply(reply: StoredMessage) -> Message:
    """Return a reply as it is told to the model that goes on with it."""
    return Message("assistant", reply.text, *written(reply), reasoning=reply.reasoning)


def keep_summary(store: ChatStore, chat_id: str, path: Sequence[StoredMessage], text: str, count: int) -> Summary:
    """Keep a summary that the engine made of the first `count` turns of the request composed from `path`; return it."""
    before = read_summary(store, chat_id)
    covered = before.covered(path) if before else 0
    summary = Summary(text, stretches(path[covered:])[count - 1][1])
    write_summary(store, chat_id, summary)
    return summary

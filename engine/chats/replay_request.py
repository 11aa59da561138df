"""From a stored reply to the request that makes it once more exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from engine.chats.continuing import begun_turn
from engine.chats.records import StoredMessage
from engine.chats.request import compose
from engine.chats.store import ChatStore
from engine.core.errors import UsageError
from engine.core.facts import KVBits
from engine.core.messages import Generate
from engine.core.setting import Value


def compose_replay(
    store: ChatStore, reply: StoredMessage, path: Sequence[StoredMessage], *, request_id: str, app: Mapping[str, Value]
) -> Generate:
    """Return the request that makes `reply`, which followed `path`, once more; of one that went on, its last stretch.

    How it was drawn, its context and the cache's precision are those it had. Raises as `compose`, and `UsageError` for a reply
    that nothing was measured of.
    """
    facts = reply.facts
    if facts is None:
        raise UsageError("Nothing was measured of this reply, so it can't be run again exactly.", "Regenerate it instead.")
    request = compose(store, reply.chat_id, path, request_id=request_id, model_id=reply.model_id, app=app)
    begun = begun_turn(facts)
    precisions: dict[str, KVBits] = {bits: bits for bits in get_args(KVBits.__value__)}
    return replace(
        request,
        messages=(*request.messages, begun) if begun else request.messages,
        sampling=facts.sampling,
        unset=(),
        context=facts.context,
        kv_bits=precisions.get(facts.kv_bits, request.kv_bits),
        keep_probabilities="off",
        replay=facts,
    )

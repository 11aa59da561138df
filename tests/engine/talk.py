"""Asking a session, and looking at what came of it."""

from dataclasses import dataclass
from itertools import takewhile

import mlx.core as mx
import numpy as np

from engine.core.facts import Message, ReplyFacts
from engine.core.messages import Event, Generate, TextDelta
from engine.core.settings import Sampling
from engine.inference.prefill import ChunkSize, prefill
from engine.inference.template import render

GREEDY = Sampling(temperature=0.0, max_tokens=65)


class FixedChunk(ChunkSize):
    """A chunk length that no measurement changes."""

    def learn(self, tokens, seconds):
        pass


def user(text):
    return Message("user", text)


def assistant(text):
    return Message("assistant", text)


def request(messages, sampling=GREEDY, context=None, **more):
    return Generate("reply", "model", tuple(messages), sampling, context, **more)


@dataclass
class Answer:
    """One reply: its events, its text, its facts, and the ids that the cache holds of it."""

    events: list[Event]
    text: str
    facts: ReplyFacts
    ids: list[int]
    held_before: list[int]


def ask(session, *messages, sampling=GREEDY, context=None, stop_after=None, **more):
    """Ask for a reply; `stop_after` cancels it with that token, from the second on (0: while the prompt is read)."""
    held = list(session.cache.tokens)
    events = []

    def cancelled():
        return stop_after is not None and sum(isinstance(event, TextDelta) for event in events) >= stop_after - 1

    for event in session.generate(request(messages, sampling, context, **more), cancelled):
        events.append(event)
    facts = events[-1].reply
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    return Answer(events, text, facts, session.cache.tokens[facts.prompt_tokens :], held)


def prompt_ids(session, *messages):
    return render(session.loaded.tokenizer, messages).ids


def reusable(session, answer, *messages):
    """How many tokens the conversation shares with what was held before `answer`: all that need not be read again."""
    pairs = zip(answer.held_before, prompt_ids(session, *messages)[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def next_logits(session, *messages):
    """The logits [V] after a prompt, read by the session's own cache and prefill."""
    ids = prompt_ids(session, *messages)
    known = session.cache.reuse(ids)
    for _ in prefill(session.loaded.model, session.cache, ids[known:], ChunkSize()):
        pass
    logits = session.loaded.model(mx.array([[ids[-1]]]), cache=session.cache.layers)[0, -1]
    session.cache.extend([ids[-1]])
    return np.array(logits.astype(mx.float32))


def agree(holder):
    """Whether every layer of a cache (or a session's) that counts holds as many tokens as the record says."""
    cache = getattr(holder, "cache", holder)
    offsets = {layer.offset for layer in cache.layers if hasattr(layer, "offset")}
    return offsets <= {len(cache.tokens)}

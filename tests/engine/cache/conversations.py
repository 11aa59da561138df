"""Random conversations through a `PrefixCache`, each turn held against a cold run: what it read, what it holds, its logits."""

import random

import mlx.core as mx
import numpy as np

from engine.cache import layers as kinds
from engine.cache.pieces import covers, held_spans, needed_spans
from engine.cache.prefix import PrefixCache
from engine.cache.window import WindowCache
from tests.engine.cache.metric import divergence

VOCABULARY = 96
SYSTEM = 8
CHUNKS = (1, 5, 16, 24)
SLACK = 16
"""Tokens that may be read again though they were seen."""


def feed(model, cache, ids, chunk, marks=()):
    """Read `ids` as `prefill` does, a chunk at a time and up to each mark; return the logits [V] after the last."""
    marks = set(marks) if cache.needs_marks(len(ids)) else set()
    ends = sorted(marks | {len(cache.tokens) + len(ids)})
    left = list(ids)
    while left:
        held = len(cache.tokens)
        count = min(chunk, min(end for end in ends if end > held) - held)
        cache.before(count)
        logits = model(mx.array([left[:count]]), cache=cache.layers)
        mx.eval(logits, [layer.state for layer in cache.layers])
        cache.extend(left[:count])
        if len(cache.tokens) in ends[:-1]:
            mx.eval(cache.mark())
        left = left[count:]
    return np.array(logits[0, -1].astype(mx.float32))


def cold(model, policy, ids, pinned, chunk=64):
    """The logits after `ids` in a cache that knows nothing."""
    cache = PrefixCache(model, policy)
    assert cache.reuse(ids, pinned) == 0
    return feed(model, cache, ids, chunk)


def offsets_agree(cache):
    """Every layer that counts holds as many tokens as the record and the branch's path say."""
    offsets = {layer.offset for layer in kinds.single(cache.layers) if isinstance(layer, WindowCache)}
    path = [
        token for branch, (start, end) in cache.branch.stretches(cache.branch.length) for token in tokens_of(branch, start, end)
    ]
    return offsets <= {len(cache.tokens)} and path == cache.tokens and cache.branch.length == len(cache.tokens)


def tokens_of(branch, start, end):
    return branch.tokens[start - branch.fork : end - branch.fork]


def arrays_kept(cache):
    """Every array that the tree keeps, once."""
    found = {}
    for branch in cache.tree.branches():
        for pieces in branch.pieces.values():
            found.update({id(array): array for piece in pieces for array in piece.arrays})
        for state in branch.states.values():
            found.update({id(array): array for saved in state.values() for array in saved.arrays.values()})
    return list(found.values())


def whole(cache):
    """The live layers hold every row that the next token sees."""
    windows = [layer for layer in kinds.single(cache.layers) if isinstance(layer, WindowCache)]
    needed = ((window, need) for window in windows for need in needed_spans(window, len(cache.tokens)))
    return all(covers(held_spans(window), need) for window, need in needed)


class Talks:
    """Several conversations in one cache. A conversation is a list of token lists: the system's, then user, reply, user, …"""

    def __init__(self, model, policy, seed, *, limit=1 << 30, vocabulary=VOCABULARY):
        self.model, self.policy = model, policy
        self.random = random.Random(seed)
        self.vocabulary = vocabulary
        self.cache = PrefixCache(model, policy, limit)
        self.systems = [self.tokens(SYSTEM) for _ in range(2)]
        self.chats = []
        self.seen = set()
        self.read, self.unseen, self.furthest = [], [], 0.0

    def tokens(self, most, least=None):
        count = self.random.randint(most if least is None else least, most)
        return [self.random.randrange(self.vocabulary) for _ in range(count)]

    def new_chat(self):
        self.chats.append([self.random.choice(self.systems), self.tokens(40, 1)])
        return self.chats[-1]

    def next_prompt(self):
        """Choose what somebody does next; return the conversation, which ends with a user's turn."""
        actions = ["new", "next", "next", "regenerate", "edit", "edit", "first"] if self.chats else ["new"]
        action = self.random.choice(actions)
        if action == "new":
            return self.new_chat()
        chat = self.random.choice(self.chats)
        if action == "next":
            chat.append(self.tokens(30, 1))
        elif action == "regenerate":
            del chat[-1]
        else:  # A branch: what was there before stays a conversation too.
            turns = range(1, len(chat), 2)
            at = turns[0] if action == "first" else self.random.choice(turns)
            self.chats.append([*chat[:at], self.tokens(30, 1)])
            chat = self.chats[-1]
        return chat

    def turn(self, most=300):
        """Do something, answer it with random tokens, and check everything."""
        chat = self.next_prompt()
        if sum(map(len, chat)) > most:
            self.chats.remove(chat)
            chat = self.new_chat()
        self.ask(chat)
        chat.append(self.reply(self.random.randint(1, 30)))

    def ask(self, chat):
        """Read the prompt of a conversation; check what was read, what is held, and the logits after it."""
        ids = [token for message in chat for token in message]
        ends = list(np.cumsum([len(message) for message in chat]))
        marks = [SYSTEM, *ends[1:-1:2], len(ids) - 1]
        return self.prompt(ids, [int(mark) for mark in marks])

    def prompt(self, ids, marks=(), pinned=SYSTEM):
        cache = self.cache
        known = cache.reuse(ids, pinned)
        assert cache.tokens == list(ids[:known])
        assert offsets_agree(cache)
        assert whole(cache)
        self.read.append(len(ids) - known)
        self.unseen.append(len(ids) - self.longest_seen(ids))
        logits = feed(self.model, cache, ids[known:], self.random.choice(CHUNKS), marks)
        self.remember()
        assert offsets_agree(cache)
        expected = cold(self.model, self.policy, ids, pinned)
        self.furthest = max(self.furthest, float(np.abs(logits - expected).max()))
        if self.policy.kv_bits == "off":
            np.testing.assert_allclose(logits, expected, atol=1e-3)
        else:
            assert divergence(expected, logits) < 0.05
        return known

    def reply(self, count):
        """Write `count` random tokens one by one; the last is not read, as at a reply's limit."""
        written = self.tokens(count)
        if written[:-1]:
            feed(self.model, self.cache, written[:-1], 1)
        self.remember()
        return written

    def remember(self):
        self.seen.add(tuple(self.cache.tokens))

    def longest_seen(self, ids):
        """How many leading ids were ever in the cache; the last is not counted, since its logits are needed."""
        return max((_shared(ids[:-1], seen) for seen in self.seen), default=0)

    @property
    def excess(self):
        """Tokens that were read though they had been seen, turn by turn."""
        return [read - unseen for read, unseen in zip(self.read, self.unseen, strict=True)]


def _shared(left, right):
    pairs = zip(left, right, strict=False)
    return next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))

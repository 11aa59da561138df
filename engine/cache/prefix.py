"""A model's KV cache, and what it remembers of other conversations and branches: only tokens never seen are read again.

The live layers hold one conversation. What leaves them (a branch that is left, rows that roll out of a window, another chat)
is kept as rows by position, in a tree of branches, as long as the memory given to it lasts. A prompt is answered from the
longest prefix that can be put together again exactly, for every kind of layer: attention layers from rows, recurrent layers
from the states kept at marks.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import mlx.core as mx

from engine.cache import layers as kinds
from engine.cache.branches import Branch, BranchTree, common_prefix
from engine.cache.fetching import Fetched, Fetching, NotThere, to_fetch
from engine.cache.forwards import Run
from engine.cache.likeness import Likeness
from engine.cache.make import make_cache
from engine.cache.pieces import Span, covers, cut, held_spans, needed_spans, rebuild, without
from engine.cache.policy import CachePolicy
from engine.cache.saving import Live, Saving
from engine.cache.shelf import Shelf
from engine.cache.stored import StoredPiece, StoredState
from engine.cache.window import WindowCache

logger = logging.getLogger("flint.engine")

LEAST_KEPT = 16
"""Tokens of a branch from which on it is worth keeping: reading fewer again costs less than their rows' memory."""


class PrefixCache:
    """The caches of one model's layers, as mlx-lm's models take them in `layers`, and the ids they hold in `tokens`.

    `limit` bounds the bytes kept in memory of what is not live; 0 keeps nothing. `attach` adds what is on disk. `chat_id` is
    the chat that the next prompt is of. It must be used on the engine thread.
    """

    def __init__(self, model: Any, policy: CachePolicy | None = None, limit: int = 0) -> None:
        self._model = model
        self.policy = policy or CachePolicy()
        self.limit = limit
        self.tree = BranchTree()
        self.tokens: list[int] = []
        self.layers: list[Any] = []
        self._windows: dict[int, WindowCache] = {}
        self._others: dict[int, Any] = {}
        self._spill_at = 0
        self.chat_id = ""
        self._live_chat = ""
        self._unsaved = False
        self._saving: Saving | None = None
        self._fetching: Fetching | None = None
        self.branch = self.tree.root()
        self.drop()

    # -- what a request does ----------------------------------------------------------------------------------------

    def reuse(self, ids: Sequence[int], pinned: int = 0) -> int:
        """Make the layers hold the longest prefix of `ids` that can be restored, and return its length.

        At least the last id is always left to be read, since its logits are needed. The first `pinned` tokens stay in the
        context however long the conversation gets.
        """
        wanted = list(ids[:-1])
        blank = self._blank(pinned)
        pinned = pinned if self.policy.context is None else min(pinned, self.policy.context - 1)
        shared = self.branch.alike(common_prefix(self.tokens, wanted), pinned, self.policy.context)
        self._own_live()
        self.discover()
        position, branch, fetched = self._fetched_best(wanted, shared, pinned, blank)
        if branch is self.branch and self._can_step_back(position, blank):
            self._step_back(position, fetched)
        else:
            self._park()
            self._begin(blank, self.tree.grow(branch, position) if position else self.tree.root())
            self._restore(branch, position, fetched)
            self.tokens = wanted[:position]
        self._live_chat = self.chat_id
        self.branch.pinned = pinned
        for window in self._policy_windows():
            window.pinned = pinned
        if len(self.tokens) not in self.branch.state_positions(len(self.tokens)):
            mx.eval(self.mark())  # Where a reply ended the next one goes on; so does an edit of the turn after it.
        self.tree.evict(self.limit, self.branch)
        return position

    def known(self, ids: Sequence[int], pinned: int = 0) -> int:
        """Return how many leading ids `reuse` would find now. Nothing is changed, read from disk or evaluated."""
        wanted = list(ids[:-1])
        shared = self.branch.alike(common_prefix(self.tokens, wanted), pinned, self.policy.context)
        return self._best(wanted, shared, pinned, self._blank(pinned))[0]

    def discover(self) -> None:
        """Find out what came to the disk, for `known`. Not while a reply is written."""
        if self._fetching:
            self._fetching.discover(self.tree, self.branch, self.policy.context)

    def before(self, count: int) -> None:
        """Keep the rows that a forward of `count` tokens would push out of a window. Call it before each forward."""
        if len(self.tokens) + count <= self._spill_at:
            return
        if self.limit:
            leaving = [(index, window, window.leaving(count)) for index, window in self._windows.items()]
            mx.eval([array for index, window, span in leaving if span for array in self._keep(index, window, span)])
            self.tree.evict(self.limit, self.branch)
        self._spill_at = len(self.tokens) + min((window.room for window in self._windows.values()), default=0)

    def extend(self, ids: Sequence[int]) -> None:
        """Record that the layers now hold `ids` too."""
        self._unsaved = True
        self.tokens.extend(ids)
        self.branch.add(ids)

    def forwards(self, stop: int) -> list[Run]:
        """Return in which forwards the first `stop` tokens held now were computed."""
        return self.branch.runs(stop)

    def take_back(self, count: int) -> None:
        """Forget the newest `count` tokens and keep nothing of them. `needs_marks` says where that can't be."""
        for window in self._windows.values():
            window.trim(count)
        del self.tokens[len(self.tokens) - count :]
        self._spill_at = 0
        self.branch.cut_off(len(self.tokens))

    def mark(self) -> list[mx.array]:
        """Keep the recurrent layers' state after the tokens held now, so that a later prompt can go on from here.

        Returns the arrays to evaluate before the next forward.
        """
        made = self._mark()
        self.tree.evict(self.limit, self.branch)
        return made

    def drop(self) -> None:
        """Forget the live conversation, as after an exception that may have left layers at different offsets.

        What was kept before stays. A branch that it shared its beginning with misses that beginning now.
        """
        self._begin(self._blank(0), self.tree.root())

    def forget(self) -> None:
        """Forget everything, but for what is on disk, and give its memory back."""
        self.drop()
        self.tree.clear()
        self.drop()
        if self._fetching:
            self._fetching.shelf.forget()

    # -- on disk ----------------------------------------------------------------------------------------------------

    def attach(self, shelf: Shelf) -> None:
        """Go on from what is on a shelf, too, and `save` to it."""
        try:
            likeness = Likeness(self._model, self.policy)
        except Exception:  # It is the model's own code; without the disk it may still work.
            logger.exception("what is on disk can't be used with this model")
            return
        self._saving, self._fetching = Saving(shelf, likeness), Fetching(shelf, likeness)

    def save(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Write a file of what is not yet on disk; return whether one was written, so that there may be more.

        `stop` is asked while it is written, and gives it up.
        """
        counted = {window.offset for window in self._windows.values() if window.offset}
        if self._saving is None or not self._unsaved or not counted <= {len(self.tokens)}:
            return False  # Layers that do not hold what the record says are never written.
        self._own_live()
        live = Live(self.branch, len(self.tokens), self._windows, self._others)
        written = self._saving.save(self.tree, live, self.policy.context, stop)
        self._unsaved = written or stop() or not self._saving.shelf.writable
        return written

    def forget_chats(self, chat_ids: Collection[str]) -> None:
        """Forget what belongs to none but these chats. What is on disk is looked at anew with the next prompt."""
        self._own_live()
        if self._live_chat in chat_ids:
            self.drop()
        self.tree.forget_chats(chat_ids, self.branch)
        if self._fetching:
            self.tree.unshelve_all()
            self._fetching.shelf.forget()

    # -- figures ----------------------------------------------------------------------------------------------------

    def needs_marks(self, count: int) -> bool:
        """Return whether, once `count` more tokens are read, some layer can be gone back to only where a chunk ended.

        So it is for a recurrent one, and for one that drops rows: those inside of a chunk are never held.
        """
        return bool(self._others) or any(window.room < count for window in self._windows.values())

    @property
    def nbytes(self) -> int:
        """Bytes of the live layers."""
        return kinds.nbytes(self.layers)

    @property
    def kept_bytes(self) -> int:
        """Bytes kept of what is not live."""
        return self.tree.nbytes

    @property
    def dropped(self) -> int:
        """Tokens of the live conversation that its next token does not see."""
        return max((window.hidden for window in self._windows.values() if not window.sliding), default=0)

    def shrink(self, limit: int) -> int:
        """Give memory back until at most `limit` bytes are kept; return the bytes given back."""
        given = self.tree.evict(limit, self.branch)
        if given:
            mx.clear_cache()
        return given

    # -- how it works -----------------------------------------------------------------------------------------------

    def _blank(self, pinned: int) -> list[Any]:
        policy = self.policy
        if policy.context is not None:
            pinned = min(pinned, policy.context - 1)
        return make_cache(self._model, replace(policy, pinned=pinned))

    def _own_live(self) -> None:
        """Note whose the live conversation is."""
        if self.tokens:
            self.branch.own(self._live_chat, len(self.tokens))

    def _begin(self, layers: list[Any], branch: Branch) -> None:
        """Go on with other layers, which are empty."""
        self._go_to(branch)
        self.tokens = []
        self.layers = layers
        self._windows, self._others = _by_kind(layers)
        self._spill_at = 0

    def _go_to(self, branch: Branch) -> None:
        left, self.branch = self.branch, branch
        self.tree.leave(left, branch, states_alone=not self._windows)

    def _policy_windows(self) -> Iterator[WindowCache]:
        """Yield the windows that the policy bounds and whose pinned rows can still be chosen."""
        for window in self._windows.values():
            if not window.sliding and window.window is not None and not window.lost and not window.hidden:
                yield window

    def _fetched_best(self, wanted: list[int], shared: int, pinned: int, blank: list[Any]) -> tuple[int, Branch, Fetched]:
        """Return `_best`, and what was read from disk for it; what can't be read is forgotten and counts as never kept."""
        while True:
            position, branch = self._best(wanted, shared, pinned, blank)
            try:
                return position, branch, self._fetch(branch, position, shared, blank)
            except NotThere:
                continue

    def _fetch(self, branch: Branch, position: int, shared: int, blank: list[Any]) -> Fetched:
        if self._fetching is None or not position:
            return Fetched()
        state = branch.state_positions(position).get(position) if self._others else None
        wanted = state if isinstance(state, StoredState) else None
        if branch is self.branch and self._can_step_back(position, blank):
            return self._fetching.fetch(self.tree, [], wanted if position < len(self.tokens) else None)
        pieces = []
        for index, window in _by_kind(blank)[0].items():
            live = self._live_spans(index, min(shared, position, branch.shared_path(self.branch)))
            pieces += to_fetch(branch.kept(index, position), live, needed_spans(window, position))
        return self._fetching.fetch(self.tree, pieces, wanted)

    def _live_spans(self, index: int, stop: int) -> list[Span]:
        """Return the spans of positions below `stop` that a live layer holds and that will be kept when it is left."""
        if not self._worth_parking(0):
            return []
        return [(start, min(end, stop)) for start, end in held_spans(self._windows[index]) if start < stop]

    def _best(self, wanted: list[int], shared: int, pinned: int, blank: list[Any]) -> tuple[int, Branch]:
        """Return the most tokens of `wanted` that can be had, and the branch that leads there."""
        windows, _ = _by_kind(blank)
        best = (shared, self.branch) if self._can_step_back(shared, blank) else (0, self.branch)
        for match in self.tree.matches(wanted):
            if match.length <= best[0]:
                break
            length = match.branch.alike(match.length, pinned, self.policy.context)
            position = self._restorable(match.branch, length, min(shared, length), windows)
            if position > best[0]:
                best = (position, match.branch)
        return best

    def _restorable(self, branch: Branch, length: int, shared: int, windows: Mapping[int, WindowCache]) -> int:
        """Return the last position up to `length` along the branch's path where every layer can be restored, else 0."""
        live = min(shared, branch.shared_path(self.branch))
        spans = {}
        for index in windows:
            kept = [(piece.start, piece.stop) for piece in branch.kept(index, length)]
            spans[index] = kept + self._live_spans(index, live)
        if self._others:
            candidates = set(branch.state_positions(length))
        else:
            candidates = {length, *(min(stop, length) for each in spans.values() for _, stop in each)}
        for position in sorted(candidates, reverse=True):
            needs = ((index, need) for index, window in windows.items() for need in needed_spans(window, position))
            if all(covers(spans[index], need) for index, need in needs):
                return position
        return 0

    def _can_step_back(self, position: int, blank: list[Any]) -> bool:
        """Return whether the live layers can be taken back to `position` exactly."""
        back = len(self.tokens) - position
        blanks, _ = _by_kind(blank)
        for index, window in self._windows.items():
            if not window.can_trim(back):
                return False
            if window.lost and window.pinned != blanks[index].pinned:
                return False  # Another system prompt is pinned there.
        return not back or not self._others or position in self.branch.state_positions(position)

    def _mark(self) -> list[mx.array]:
        """As `mark`, but forgetting nothing."""
        if not self._others or not self.tokens or not self.limit:
            return []
        state = {index: kinds.snapshot(layer) for index, layer in self._others.items()}
        self.branch.keep_state(len(self.tokens), state)
        return [array for saved in state.values() for array in saved.arrays.values()]

    def _step_back(self, position: int, fetched: Fetched) -> None:
        """Take back the newest tokens, keeping them as a branch where that is worth it."""
        back = len(self.tokens) - position
        if not back:
            self.tree.touch(self.branch)
            return
        kept = self._park(position)
        for window in self._windows.values():
            window.trim(back)
        if self._others:
            self._restore_states(self.branch, position, fetched)
        del self.tokens[position:]
        self._spill_at = 0
        if kept or not self.branch.cut_off(position):
            self._go_to(self.tree.grow(self.branch, position) if position else self.tree.root())

    def _park(self, start: int = 0) -> bool:
        """Keep what is live from position `start` on, as far as it is not kept already; return whether it was worth it."""
        if not self._worth_parking(start):
            return False
        made: list[mx.array] = []
        for index, window in self._windows.items():
            for first, stop in held_spans(window):
                made += self._keep(index, window, (max(first, start), stop), also=True)
        made += self._mark()
        mx.eval(made)
        return True

    def _worth_parking(self, start: int) -> bool:
        return len(self.tokens) - start >= LEAST_KEPT and self.limit >= kinds.nbytes(self.layers)

    def _keep(self, index: int, window: WindowCache, span: Span, *, also: bool = False) -> list[mx.array]:
        """Keep the rows of a layer in `span`, but for those that are kept; return their arrays, not yet evaluated.

        Those on disk are kept in memory `also`, or left at that.
        """
        pieces = self.branch.kept(index, span[1])
        kept = [(piece.start, piece.stop) for piece in pieces if not (also and isinstance(piece, StoredPiece))]
        arrays = []
        for start, stop in without(span, kept):
            for piece in cut(window, start, stop):
                for part in self.branch.keep(index, piece):
                    arrays += part.arrays
        return arrays

    def _restore(self, branch: Branch, position: int, fetched: Fetched) -> None:
        """Put the empty layers together as they were after the first `position` tokens of a branch's path."""
        if not position:
            return
        for index, window in self._windows.items():
            rebuild(window, position, fetched.rows(branch.kept(index, position)))
            mx.eval(window.state)
            fetched.release(index)  # One layer after the other: never all of them twice.
        if self._others:
            self._restore_states(branch, position, fetched)
        mx.eval([layer.state for layer in self.layers])

    def _restore_states(self, branch: Branch, position: int, fetched: Fetched) -> None:
        state = branch.state_positions(position)[position]
        if isinstance(state, StoredState):
            state = fetched.state or {}
        for index, layer in self._others.items():
            kinds.restore(layer, state[index])


def _by_kind(layers: Sequence[Any]) -> tuple[dict[int, WindowCache], dict[int, Any]]:
    """Return the attention windows and the other caches by their place among the single caches of all layers."""
    singles = dict(enumerate(kinds.single(layers)))
    windows = {index: layer for index, layer in singles.items() if isinstance(layer, WindowCache)}
    return windows, {index: layer for index, layer in singles.items() if index not in windows}

"""Every conversation's tokens as a tree of branches, and what is kept of each: rows by layer, and states at some positions.

Two branches share what is before their fork; a position belongs to the branch whose tokens go over it.
"""

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from engine.cache.forwards import Run, add, after, first, joined
from engine.cache.pieces import Piece, Span, covers
from engine.cache.stored import State, StoredFile, StoredPiece, StoredState


@dataclass(eq=False)
class Branch:
    """Tokens from `fork` on, those before it being the parent's; `forwards` tells in which forwards they were computed.

    `pieces` holds rows by layer, `states` the state of every recurrent layer at a position: after that many tokens; `stored`
    and `stored_states` stand for those on disk, which may be the same ones. `used` is a tick of the tree's clock; `owners` are
    the chats that went over it, each with the position up to which it did. `pinned` tokens stayed in the context when others
    left it.
    """

    parent: "Branch | None"
    fork: int
    tokens: list[int] = field(default_factory=list)
    forwards: list[Run] = field(default_factory=list)
    pieces: dict[int, list[Piece]] = field(default_factory=dict)
    states: dict[int, State] = field(default_factory=dict)
    stored: dict[int, list[StoredPiece]] = field(default_factory=dict)
    stored_states: dict[int, StoredState] = field(default_factory=dict)
    children: list["Branch"] = field(default_factory=list)
    owners: dict[str, int] = field(default_factory=dict)
    used: int = 0
    pinned: int = 0

    @property
    def length(self) -> int:
        """Tokens of the whole path to the branch's end."""
        return self.fork + len(self.tokens)

    @property
    def nbytes(self) -> int:
        """Bytes kept in memory for the branch's own positions."""
        rows = sum(piece.nbytes for pieces in self.pieces.values() for piece in pieces)
        return rows + sum(saved.nbytes for state in self.states.values() for saved in state.values())

    def path(self) -> list["Branch"]:
        """Return the branches from the root to this one."""
        found: list[Branch] = []
        branch: Branch | None = self
        while branch is not None:
            found.append(branch)
            branch = branch.parent
        return found[::-1]

    def stretches(self, stop: int) -> Iterator[tuple["Branch", Span]]:
        """Yield the branches of the path with the positions below `stop` that belong to each."""
        path = self.path()
        for branch, following in itertools.zip_longest(path, path[1:]):
            end = min(stop, branch.length if following is None else following.fork)
            if branch.fork < end:
                yield branch, (branch.fork, end)

    def shared_path(self, other: "Branch") -> int:
        """Return up to which position this branch's path and another's go over the same branches."""
        position = 0
        for (mine, span), (theirs, span_of_theirs) in zip(
            self.stretches(self.length), other.stretches(other.length), strict=False
        ):
            if mine is not theirs:
                break
            position = min(span[1], span_of_theirs[1])
        return position

    def alike(self, length: int, pinned: int, context: int | None) -> int:
        """Return how many of the path's first `length` tokens saw what they would have with `pinned` tokens pinned.

        Until the context is full, that is all that were before them.
        """
        return length if context is None or pinned == self.pinned else min(length, context)

    def cut_off(self, position: int) -> bool:
        """Drop the branch's own tokens from `position` on, unless rows are kept of them or another branch stands on them.

        Return whether it was done. States alone are of no use.
        """
        kept = [piece for shelf in (self.pieces, self.stored) for pieces in shelf.values() for piece in pieces]
        rows = any(piece.stop > position for piece in kept)
        stored = any(at > position for at in self.stored_states)
        if position < self.fork or rows or stored or any(child.fork > position for child in self.children):
            return False
        self.states = {at: state for at, state in self.states.items() if at <= position}
        self.cut_tokens(position)
        return True

    def grow(self, ids: Sequence[int], runs: Sequence[Run]) -> None:
        """Put tokens behind the branch's own, and in which forwards they were computed."""
        self.tokens.extend(ids)
        self.forwards = joined((self.forwards, runs))

    def add(self, ids: Sequence[int]) -> None:
        """Put the tokens of one forward behind the branch's own."""
        self.tokens.extend(ids)
        add(self.forwards, len(ids), len(ids))

    def runs(self, stop: int) -> list[Run]:
        """Return in which forwards the path's tokens below position `stop` were computed."""
        return joined(first(branch.forwards, end - start) for branch, (start, end) in self.stretches(stop))

    def cut_tokens(self, position: int) -> None:
        """Forget the branch's own tokens from `position` on."""
        del self.tokens[position - self.fork :]
        self.forwards = first(self.forwards, len(self.tokens))

    def drop_middle_state(self) -> int:
        """Forget a state kept in memory between the branch's first and its last two; return the bytes given back."""
        middle = sorted(self.states)[1:-2]
        return sum(saved.nbytes for saved in self.states.pop(middle[0]).values()) if middle else 0

    def drop_oldest(self) -> int:
        """Forget the first state kept in memory, else all rows, and return the bytes given back; 0 where there is neither."""
        before = self.nbytes
        if self.states:
            del self.states[min(self.states)]
        else:
            self.pieces.clear()
        return before - self.nbytes

    @property
    def holds_nothing(self) -> bool:
        """Whether nothing is kept of it, in memory or on disk, and no other branch stands on it."""
        rows = any(map(any, (self.pieces.values(), self.stored.values())))
        return not (rows or self.states or self.stored_states or self.children)

    def kept(self, layer: int, stop: int) -> list[Piece | StoredPiece]:
        """Return what is kept of a layer at positions below `stop` along the path, in memory or on disk."""
        found: list[Piece | StoredPiece] = []
        for branch, (_, end) in self.stretches(stop):
            pieces = (*branch.pieces.get(layer, ()), *branch.stored.get(layer, ()))
            found.extend(piece.part(piece.start, end) for piece in pieces if piece.start < end)
        return found

    def on_disk(self, layer: int, stop: int) -> list[Span]:
        """Return the spans of positions below `stop` whose rows are on disk."""
        return [(piece.start, piece.stop) for piece in self.kept(layer, stop) if isinstance(piece, StoredPiece)]

    def state_positions(self, stop: int) -> dict[int, State | StoredState]:
        """Return the states kept along the path after at most `stop` tokens, by position; memory goes before the disk."""
        found: dict[int, State | StoredState] = {}
        for branch, (start, end) in self.stretches(stop):
            for states in (branch.stored_states, branch.states):
                found.update({at: state for at, state in states.items() if start < at <= end})
        return found

    def shelve(self, pieces: Sequence[StoredPiece]) -> None:
        """Note rows that are on disk, each with the branch of the path that its positions belong to."""
        for branch, (start, end) in self.stretches(max((piece.stop for piece in pieces), default=0)):
            for piece in pieces:
                if piece.start < end and start < piece.stop:
                    there = branch.stored.setdefault(piece.layer, [])
                    part = piece.part(start, end)
                    if not covers([(each.start, each.stop) for each in there], (part.start, part.stop)):
                        there.append(part)

    def shelve_state(self, state: StoredState) -> None:
        """Note a state that is on disk."""
        for branch, (start, end) in self.stretches(state.position):
            if start < state.position <= end:
                branch.stored_states.setdefault(state.position, state)

    def ids(self, stop: int) -> list[int]:
        """Return the path's tokens below position `stop`."""
        found: list[int] = []
        for branch, (start, end) in self.stretches(stop):
            found += branch.tokens[: end - start]
        return found

    def own(self, chat_id: str, stop: int) -> None:
        """Note that a chat went over the path up to position `stop`."""
        for branch, (_, end) in self.stretches(stop):
            branch.owners[chat_id] = max(branch.owners.get(chat_id, 0), end)

    def keep(self, layer: int, piece: Piece) -> list[Piece]:
        """Keep rows, each with the branch of the path that its positions belong to; return the parts."""
        parts = []
        for branch, (start, end) in self.stretches(piece.stop):
            if piece.start < end and start < piece.stop:
                part = piece.part(start, end)
                branch.pieces.setdefault(layer, []).append(part)
                parts.append(part)
        return parts

    def keep_state(self, position: int, state: State) -> None:
        """Keep the recurrent layers' state after `position` tokens of the path."""
        for branch, (start, end) in self.stretches(position):
            if start < position <= end:
                branch.states[position] = state


@dataclass(frozen=True)
class Match:
    """A branch and how many tokens its path shares with a prompt."""

    branch: Branch
    length: int


class BranchTree:
    """All branches, and how recently each was used."""

    def __init__(self) -> None:
        self.roots: list[Branch] = []
        self._clock = itertools.count(1)

    def root(self) -> Branch:
        """Return a new branch that shares nothing with others."""
        branch = Branch(None, 0)
        self.roots.append(branch)
        self.touch(branch)
        return branch

    def grow(self, branch: Branch, position: int) -> Branch:
        """Return a branch whose path is that of `branch` up to `position`, to be continued there."""
        for owner, (_, end) in branch.stretches(position):
            if end == position:
                branch = owner
        if position == branch.length:
            self.touch(branch)
            return branch
        child = Branch(branch, position)
        branch.children.append(child)
        self.touch(child)
        return child

    def touch(self, branch: Branch) -> None:
        """Note that a branch and those it stands on were used now."""
        tick = next(self._clock)
        for each in branch.path():
            each.used = tick

    def matches(self, ids: Sequence[int]) -> list[Match]:
        """Return every branch whose own tokens go along with `ids` for at least one, the longest match first."""
        found: list[Match] = []
        waiting = list(self.roots)
        while waiting:
            branch = waiting.pop()
            own = 0
            if branch.tokens and branch.fork < len(ids) and branch.tokens[0] == ids[branch.fork]:
                own = common_prefix(branch.tokens, ids[branch.fork :])
            if own == 0 and branch.tokens:
                continue
            found.append(Match(branch, branch.fork + own))
            waiting.extend(child for child in branch.children if child.fork <= branch.fork + own)
        return sorted(found, key=lambda match: (match.length, match.branch.used), reverse=True)

    def branches(self) -> list[Branch]:
        """Return all branches."""
        found: list[Branch] = []
        waiting = list(self.roots)
        while waiting:
            branch = waiting.pop()
            found.append(branch)
            waiting.extend(branch.children)
        return found

    @property
    def nbytes(self) -> int:
        """Bytes kept in all."""
        return sum(branch.nbytes for branch in self.branches())

    def follow(
        self,
        tokens: list[int],
        live: Branch,
        pinned: int = 0,
        context: int | None = None,
        forwards: Sequence[Run] = (),
    ) -> Branch:
        """Return a branch whose path begins with `tokens`, read with `pinned` ones pinned, made where there is none.

        The `live` one is not added to.
        """
        found = [(match.branch.alike(match.length, pinned, context), match.branch) for match in self.matches(tokens)]
        length, known = max(found, key=lambda each: each[0], default=(0, None))
        if known and length == len(tokens):
            return known
        branch = self.grow(known, length) if known and length else self.root()
        if branch is live:
            branch = Branch(live, length)
            live.children.append(branch)
        branch.grow(tokens[length:], after(first(forwards, len(tokens)), length))
        branch.pinned = pinned
        return branch

    def unshelve(self, files: Collection[StoredFile]) -> None:
        """Forget that anything is in `files`."""
        for branch in self.branches():
            for layer, pieces in branch.stored.items():
                branch.stored[layer] = [piece for piece in pieces if piece.file not in files]
            states = branch.stored_states.items()
            branch.stored_states = {at: state for at, state in states if state.file not in files}

    def unshelve_all(self) -> None:
        """Forget that anything is on disk, and the branches of which nothing else is kept."""
        for branch in self.branches()[::-1]:  # Those that stand on others go first.
            branch.stored.clear()
            branch.stored_states.clear()

    def forget_chats(self, chat_ids: Collection[str], live: Branch) -> None:
        """Forget everything, tokens included, that no other chat went over. The `live` branch, which another owns, stays."""
        path = live.path()
        for branch in self.branches()[::-1]:  # Those that stand on others go first.
            left = {chat: position for chat, position in branch.owners.items() if chat not in chat_ids}
            if len(left) < len(branch.owners):
                branch.owners = left
                self._cut(branch, max((branch.fork, *left.values())), stays=branch in path)

    def _cut(self, branch: Branch, position: int, *, stays: bool) -> None:
        """Forget what is kept of a branch from `position` on, and its tokens there, and an empty branch unless it `stays`."""
        for layer, pieces in branch.pieces.items():
            branch.pieces[layer] = [piece.part(piece.start, position) for piece in pieces if piece.start < position]
        branch.states = {at: state for at, state in branch.states.items() if at <= position}
        for layer, stored in branch.stored.items():
            branch.stored[layer] = [piece.part(piece.start, position) for piece in stored if piece.start < position]
        branch.stored_states = {at: state for at, state in branch.stored_states.items() if at <= position}
        end = max([position, *(child.fork for child in branch.children)])
        branch.cut_tokens(end)
        if not (branch.tokens or branch.children or stays):
            self.remove(branch)

    def remove(self, branch: Branch) -> None:
        """Forget what memory keeps of a branch; the branch too, where nothing of it is on disk and no other stands on it."""
        branch.pieces.clear()
        branch.states.clear()
        if branch.holds_nothing:
            (self.roots if branch.parent is None else branch.parent.children).remove(branch)

    def leave(self, branch: Branch, live: Branch, *, states_alone: bool) -> None:
        """Forget a branch that was live, and those it stood on, where nothing is kept of them and `live` needs them not.

        Without its rows a state is of use only to a model that has `states_alone`.
        """
        path = live.path()
        if branch not in path and not states_alone and not any(map(any, (branch.pieces.values(), branch.stored.values()))):
            branch.states.clear()
        left: Branch | None = branch
        while left is not None and left.holds_nothing and left not in path:
            siblings = self.roots if left.parent is None else left.parent.children
            if left in siblings:
                siblings.remove(left)
            left = left.parent

    def clear(self) -> None:
        """Forget everything; the memory is given back at once, though branches refer to each other."""
        for branch in self.branches():
            branch.pieces.clear()
            branch.states.clear()
        self.roots.clear()

    def evict(self, limit: int, live: Branch) -> int:
        """Forget what was used longest ago until at most `limit` bytes are kept; return the bytes given back.

        States in the middle of a branch go first: without one an edit there reads some turns again, without rows everything.
        Then whole branches go. What the live conversation stands on is last, its beginning first: the newest is what it may
        have to go back to.
        """
        over = self.nbytes - limit
        path = live.path()
        given = 0
        ordered = sorted(self.branches(), key=lambda each: (each in path, each.used, -each.fork))
        for branch in ordered:
            while given < over and (freed := branch.drop_middle_state()):
                given += freed
        for branch in ordered:
            if given >= over:
                return given
            if branch not in path:
                given += branch.nbytes
                self.remove(branch)
        for branch in path:
            while given < over and (freed := branch.drop_oldest()):
                given += freed
        return given


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many leading ids two sequences share."""
    length = min(len(left), len(right))
    if not length or left[0] != right[0]:
        return 0
    left, right = list(left), list(right)
    low = 1
    while low < length:  # Halving compares slices, at the speed of C.
        middle = (low + length + 1) // 2
        low, length = (middle, length) if left[low:middle] == right[low:middle] else (low, middle - 1)
    return low

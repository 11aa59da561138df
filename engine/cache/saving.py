"""What goes to disk next: rows in files of a bounded size, a conversation's beginning first; then states worth their bytes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.cache import layers as kinds
from engine.cache.branches import Branch, BranchTree
from engine.cache.likeness import Likeness
from engine.cache.pieces import Piece, Span, cut, held_spans, without
from engine.cache.shelf import Shelf, files_of
from engine.cache.stored import Contents, StoredFile, StoredPiece, StoredState
from engine.cache.window import WindowCache

FILE_BYTES = 64 << 20
"""Rows that go into one file: a write that is given up loses no more, and a long conversation loses its end first."""
NEWEST_STATES = 2
"""States that are saved of every branch, whatever they cost: at its end, and at the last mark before."""
LEAST_GAP = 16
"""Tokens between two states from which on both are saved, where they are small."""


@dataclass(frozen=True)
class Live:
    """The live conversation: its branch, how many tokens it has, and its layers by their place."""

    branch: Branch
    length: int
    windows: Mapping[int, WindowCache]
    others: Mapping[int, Any]


class Saving:
    """Writes what a tree keeps, and what is live, to a shelf."""

    def __init__(self, shelf: Shelf, likeness: Likeness) -> None:
        self.shelf = shelf
        self._file_tokens = max(64, FILE_BYTES // max(1, likeness.row_bytes))
        self._gap = max(LEAST_GAP, likeness.state_bytes // likeness.row_bytes if likeness.row_bytes else 256)

    def save(self, tree: BranchTree, live: Live, context: int | None, stop: Callable[[], bool]) -> bool:
        """Write the next file; return whether one was written, so that there may be more."""
        if not self.shelf.writable:
            return False
        for branch in [live.branch, *sorted(tree.branches(), key=lambda each: each.used, reverse=True)]:
            here = live if branch is live.branch else None
            if here is None and not branch.pieces and not branch.states:
                continue
            length = live.length if here else branch.length
            if contents := self._rows(branch, length, here) or self._state(branch, length, here):
                return self._write(branch, contents, context, stop)
        return False

    def _rows(self, branch: Branch, length: int, live: Live | None) -> Contents | None:
        """Return the unsaved rows of a branch nearest to its beginning."""
        layers = set(branch.pieces) | (set(live.windows) if live else set())
        unsaved = {layer: _unsaved(branch, layer, length, live) for layer in layers}
        spans = [span for each in unsaved.values() for span in each]
        if not spans:
            return None
        first = min(start for start, _ in spans)
        end = first + self._file_tokens
        pieces = [
            (layer, piece)
            for layer, each in sorted(unsaved.items())
            for start, stop in each
            if start < end
            for piece in _found(branch, layer, (start, min(stop, end)), live)
        ]
        return Contents(pieces, {})

    def _state(self, branch: Branch, length: int, live: Live | None) -> Contents | None:
        """Return an unsaved state of a branch that is worth it, the newest first."""
        known = branch.state_positions(length)
        positions = {*known, length} if live and live.others and length else set(known)
        worth = worth_keeping(sorted(positions), self._gap)
        for at in sorted(worth, reverse=True):
            if at not in known:
                return Contents(
                    [], {at: {index: kinds.snapshot(layer) for index, layer in live.others.items()} if live else {}}
                )
            state = known[at]
            if at > branch.fork and not isinstance(state, StoredState) and at not in branch.stored_states:
                return Contents([], {at: state})
        self._forget_states(branch, worth)
        return None

    def _forget_states(self, branch: Branch, worth: Iterable[int]) -> None:
        """Remove states from disk that later ones have made needless; where another branch begins they are not."""
        needed = {*worth, *(child.fork for child in branch.children)}
        going = [branch.stored_states.pop(at).file for at in list(branch.stored_states) if at not in needed]
        self.shelf.remove(going)

    def _write(self, branch: Branch, contents: Contents, context: int | None, stop: Callable[[], bool]) -> bool:
        end = max((*(piece.stop for _, piece in contents.pieces), *contents.states))
        owners = [chat for chat, position in branch.owners.items() if position >= end]
        file = self.shelf.write(
            branch.ids(end), contents, owners, context, files_on(branch, end), stop, branch.pinned, branch.runs(end)
        )
        if file is None:
            return False
        spans = [(layer, piece.start, piece.stop) for layer, piece in contents.pieces]
        branch.shelve([StoredPiece(file, layer, start, stop, start, stop) for layer, start, stop in spans])
        for at in contents.states:
            branch.shelve_state(StoredState(file, at))
        self.shelf.used(files_on(branch, end))
        return True


def worth_keeping(positions: Sequence[int], gap: int) -> set[int]:
    """Return those of ascending `positions` whose state is worth its bytes: at least `gap` tokens are between two of them.

    The newest are kept in any case.
    """
    worth, last = set(positions[-NEWEST_STATES:]), 0
    for at in positions:
        if at - last >= gap:
            worth.add(at)
            last = at
    return worth


def files_on(branch: Branch, stop: int) -> list[StoredFile]:
    """Return the files that hold something of a path below position `stop`, those of its beginning first."""
    stood: list[StoredPiece | StoredState] = []
    for each, (_, end) in branch.stretches(stop):
        stood += [piece for pieces in each.stored.values() for piece in pieces if piece.start < end]
        stood += [state for state in each.stored_states.values() if state.position <= end]
    return files_of(sorted(stood, key=lambda one: one.start if isinstance(one, StoredPiece) else one.position))


def _unsaved(branch: Branch, layer: int, length: int, live: Live | None) -> list[Span]:
    """Return the spans of a layer's rows that are at hand and not on disk."""
    kept = [piece for piece in branch.pieces.get(layer, ()) if piece.start < length]
    spans = [(piece.start, min(piece.stop, length)) for piece in kept]
    if live:
        spans += [(piece.start, piece.stop) for piece in branch.kept(layer, length) if isinstance(piece, Piece)]
        spans += held_spans(live.windows[layer]) if layer in live.windows else []
    stored = branch.on_disk(layer, length)
    found: list[Span] = []
    for span in spans:
        found += without(span, [*stored, *found])
    return found


def _found(branch: Branch, layer: int, span: Span, live: Live | None) -> list[Piece]:
    """Return the pieces of a layer that make up `span`, from what is kept, else cut out of the live layer."""
    kept = branch.kept(layer, span[1]) if live else branch.pieces.get(layer, ())
    pieces: list[Piece] = []
    for piece in kept:
        if isinstance(piece, Piece):
            left = without(span, [(each.start, each.stop) for each in pieces])
            pieces += [piece.part(*part) for part in left if piece.start < part[1] and part[0] < piece.stop]
    if live:
        for start, stop in without(span, [(each.start, each.stop) for each in pieces]):
            pieces += cut(live.windows[layer], start, stop)
    return pieces

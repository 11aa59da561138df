"""From the files on disk to the tree: what they hold is noted when they are found, and read when a prompt wants it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.cache.branches import Branch, BranchTree
from engine.cache.likeness import Likeness
from engine.cache.pieces import Piece, Span, without
from engine.cache.shelf import Arrival, Shelf
from engine.cache.stored import State, StoredFile, StoredPiece, StoredState
from engine.cache.stored_file import StoredBroken


class NotThere(Exception):
    """Something that a branch counted on can't be had; the file it was in is forgotten."""


@dataclass
class Fetched:
    """What was read from disk to restore one position: pieces by file and run, and the state."""

    pieces: dict[tuple[StoredFile, tuple[int, int, int]], Piece] = field(default_factory=dict)
    state: State | None = None

    def rows(self, kept: Iterable[Piece | StoredPiece]) -> list[Piece]:
        """Return the pieces of `kept` that are at hand."""
        found = []
        for piece in kept:
            if isinstance(piece, Piece):
                found.append(piece)
            elif whole := self.pieces.get((piece.file, piece.run)):
                found.append(whole.part(piece.start, piece.stop))
        return found

    def release(self, layer: int) -> None:
        """Let go of a layer's pieces."""
        for file, run in list(self.pieces):
            if run[0] == layer:
                del self.pieces[file, run]


class Fetching:
    """Finds out what is on a shelf, and reads from it."""

    def __init__(self, shelf: Shelf, likeness: Likeness) -> None:
        self.shelf = shelf
        self._likeness = likeness

    def discover(self, tree: BranchTree, live: Branch, context: int | None) -> None:
        """Note in the tree what came to the shelf and what went; the `live` branch is not added to.

        Rows that were computed within another context length than `context` are the same only up to the smaller one.
        """
        arrivals, went = self.shelf.look()
        if went:
            tree.unshelve(went)
        for arrival in arrivals:
            _note(tree, live, arrival, context)

    def fetch(self, tree: BranchTree, pieces: Sequence[StoredPiece], state: StoredState | None) -> Fetched:
        """Read what `pieces` and `state` stand for.

        Raises `NotThere` where some of it is gone, damaged or of another make: the tree has forgotten that file by then.
        """
        fetched = Fetched()
        runs: dict[StoredFile, list[tuple[int, int, int]]] = {}
        for piece in sorted(pieces, key=lambda piece: piece.start):
            runs.setdefault(piece.file, []).append(piece.run)
        if state:
            runs.setdefault(state.file, [])
        for file, wanted in runs.items():
            try:
                self._read(fetched, file, wanted, state)
            except (StoredBroken, KeyError, TypeError, ValueError) as why:
                self.shelf.discard(file, why)
                tree.unshelve([file])
                raise NotThere from why
        self.shelf.used(runs)
        return fetched

    def _read(
        self, fetched: Fetched, file: StoredFile, runs: Iterable[tuple[int, int, int]], state: StoredState | None
    ) -> None:
        opened = self.shelf.open(file)
        for run in dict.fromkeys(runs):
            piece = opened.piece(run)
            if not self._likeness.of_rows(run[0], piece):
                raise StoredBroken(f"{file.path.name} holds rows of another make.")
            fetched.pieces[file, run] = piece
        if state and state.file is file:
            fetched.state = opened.state(state.position)
            if not self._likeness.of_state(fetched.state):
                raise StoredBroken(f"{file.path.name} holds a state of another make.")


def to_fetch(kept: Iterable[Piece | StoredPiece], live: Sequence[Span], needed: Iterable[Span]) -> list[StoredPiece]:
    """Return what must be read so that `needed` is at hand, where the live layer's spans and pieces in memory go first."""
    kept = list(kept)
    at_hand = [*live, *((piece.start, piece.stop) for piece in kept if isinstance(piece, Piece))]
    missing = [left for span in needed for left in without(span, at_hand)]
    stored = [piece for piece in kept if isinstance(piece, StoredPiece)]
    return [piece for piece in stored if any(piece.start < stop and start < piece.stop for start, stop in missing)]


def _note(tree: BranchTree, live: Branch, arrival: Arrival, context: int | None) -> None:
    bound = len(arrival.tokens)
    if arrival.context != context:
        bound = min([bound, *(each for each in (arrival.context, context) if each is not None)])
    if not bound:
        return
    branch = tree.follow(arrival.tokens[:bound], live, arrival.pinned, context, arrival.forwards)
    for owner in arrival.owners:
        branch.own(owner, bound)
    branch.shelve([piece.part(piece.start, bound) for piece in arrival.pieces if piece.start < bound])
    for state in arrival.states:
        if state.position <= bound:
            branch.shelve_state(state)

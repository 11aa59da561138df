"""The tree of branches: whose tokens a position belongs to, what matches, what is forgotten first."""

import random

import mlx.core as mx
import pytest

from engine.cache.branches import Branch, BranchTree, common_prefix
from engine.cache.pieces import Piece
from engine.cache.snapshot import Snapshot


def piece(start, stop):
    """Rows of 4 bytes each."""
    return Piece(start, stop, ((mx.zeros((1, 1, stop - start, 1)),),), (None,), mx.float32)


def state(size=1):
    """A state of `size` times 4 bytes."""
    return {0: Snapshot({"a": mx.zeros(size)}, {})}


def spans(branch, layer=0, stop=1000):
    return sorted((each.start, each.stop) for each in branch.kept(layer, stop))


@pytest.fixture
def forked():
    """A trunk of ten tokens and two branches at its fourth and eighth: [0…9], [0…3, 20…25], [0…7, 30…31]."""
    tree = BranchTree()
    trunk = tree.root()
    trunk.tokens.extend(range(10))
    early, late = tree.grow(trunk, 4), tree.grow(trunk, 8)
    early.tokens.extend(range(20, 26))
    late.tokens.extend((30, 31))
    return tree, trunk, early, late


def test_a_position_belongs_to_the_branch_whose_tokens_go_over_it(forked):
    _, trunk, early, late = forked
    assert (trunk.length, early.length, late.length) == (10, 10, 10)
    assert list(early.stretches(10)) == [(trunk, (0, 4)), (early, (4, 10))]
    assert list(early.stretches(3)) == [(trunk, (0, 3))]
    assert early.ids(7) == [0, 1, 2, 3, 20, 21, 22]
    assert (early.shared_path(late), late.shared_path(trunk), late.shared_path(late)) == (4, 8, 10)


def test_rows_are_kept_where_their_positions_belong_and_found_along_every_path_over_them(forked):
    _, trunk, early, late = forked
    early.keep(0, piece(2, 7))
    assert [(one.start, one.stop) for one in trunk.pieces[0]] == [(2, 4)]
    assert [(one.start, one.stop) for one in early.pieces[0]] == [(4, 7)]
    assert (spans(early), spans(trunk), spans(late)) == ([(2, 4), (4, 7)], [(2, 4)], [(2, 4)])
    trunk.keep(0, piece(3, 10))
    assert (3, 8) in spans(late)
    assert spans(late, stop=6)[-1] == (3, 6)
    assert spans(late, layer=1) == []


def test_states_are_kept_where_they_belong_too(forked):
    _, trunk, early, late = forked
    late.keep_state(8, state())
    late.keep_state(9, state())
    early.keep_state(4, state())
    assert sorted(trunk.states) == [4, 8]
    assert (sorted(late.state_positions(10)), sorted(late.state_positions(8))) == ([4, 8, 9], [4, 8])
    assert sorted(early.state_positions(10)) == [4]
    assert sorted(trunk.state_positions(10)) == [4, 8]


def test_growing_where_a_branch_ends_goes_on_with_it_and_elsewhere_makes_another(forked):
    tree, trunk, early, late = forked
    assert tree.grow(early, 10) is early
    child = tree.grow(early, 2)
    assert (child.parent, child.fork) == (trunk, 2)
    other = tree.grow(late, 4)
    assert (other.parent, other.fork, other is early) == (trunk, 4, False)
    lonely = tree.grow(tree.grow(trunk, 10), 10)
    assert lonely is trunk


def test_the_longest_match_comes_first_and_of_equal_ones_the_newest(forked):
    tree, trunk, early, _ = forked
    matches = tree.matches([*range(4), 20, 21, 9])
    assert [(match.branch, match.length) for match in matches] == [(early, 6), (trunk, 4)]
    tree.touch(trunk)
    assert [match.branch for match in tree.matches(list(range(8)))][:1] == [trunk]
    assert tree.matches([99]) == []
    assert tree.matches([]) == []
    twin = tree.root()
    twin.tokens.extend(range(10))
    assert tree.matches(list(range(10)))[0].branch is twin


def test_common_prefixes_of_any_length():
    generator = random.Random(1)
    for _ in range(300):
        left = [generator.randrange(2) for _ in range(generator.randrange(9))]
        right = [generator.randrange(2) for _ in range(generator.randrange(9))]
        pairs = [one == other for one, other in zip(left, right, strict=False)]
        assert common_prefix(left, tuple(right)) == ([*pairs, False].index(False))


def test_tokens_that_nothing_is_kept_of_are_cut_off():
    tree = BranchTree()
    branch = tree.root()
    branch.tokens.extend(range(20))
    branch.keep(0, piece(0, 8))
    branch.keep_state(15, state())
    assert branch.cut_off(12)
    assert (branch.length, branch.states) == (12, {}), "a state without its rows is of no use"
    assert not branch.cut_off(6)
    child = tree.grow(branch, 10)
    assert not branch.cut_off(9)
    assert not child.cut_off(5), "those are another branch's"
    assert branch.cut_off(10)
    assert branch.length == 10


def test_a_branch_that_was_left_with_nothing_kept_is_forgotten_and_so_is_what_it_stood_on():
    tree = BranchTree()
    trunk = tree.root()
    trunk.tokens.extend(range(10))
    child = tree.grow(trunk, 5)
    child.tokens.extend(range(5))
    grandchild = tree.grow(child, 7)
    tree.leave(grandchild, child, states_alone=False)
    assert tree.branches() == [trunk, child]
    trunk.keep(0, piece(0, 3))
    child.keep_state(8, state())
    tree.leave(child, tree.root(), states_alone=True)
    assert child in tree.branches()
    tree.leave(child, tree.root(), states_alone=False)
    assert child not in tree.branches()
    assert trunk in tree.branches()


def test_the_bytes_are_those_of_rows_and_states(forked):
    tree, trunk, early, _ = forked
    early.keep(0, piece(2, 7))
    early.keep(1, piece(0, 10))
    early.keep_state(9, state(100))
    assert (trunk.nbytes, early.nbytes, tree.nbytes) == (4 * 6, 4 * 9 + 400, 4 * 15 + 400)


def test_the_branch_used_longest_ago_goes_first_and_a_trunk_after_those_that_stand_on_it(forked):
    tree, trunk, early, late = forked
    for branch in (trunk, early, late):
        branch.keep(0, piece(branch.fork, branch.length))
    live = tree.root()
    tree.touch(early)
    assert tree.evict(4 * 18, live) == 0
    assert tree.evict(4 * 17, live) == 4 * 2
    assert late not in tree.branches()
    assert tree.evict(4 * 10, live) == 4 * 6
    assert tree.branches().count(early) == 0
    assert tree.evict(0, live) == 4 * 10
    assert tree.branches() == [live]


def test_what_the_live_conversation_stands_on_goes_last_its_oldest_states_first(forked):
    tree, trunk, early, late = forked
    for branch in (trunk, early, late):
        branch.keep(0, piece(branch.fork, branch.length))
    for position in (2, 6, 9):
        late.keep_state(position, state(10))
    early.keep_state(10, state(10))
    assert tree.evict(4 * 12 + 3 * 40, late) == 4 * 6 + 40
    assert early not in tree.branches()
    tree.evict(tree.nbytes - 1, late)
    assert sorted(late.state_positions(10)) == [6, 9]
    tree.evict(tree.nbytes - 41, late)
    assert (sorted(late.state_positions(10)), trunk.pieces) == ([9], {})
    tree.evict(0, late)
    assert tree.nbytes == 0
    assert (trunk.length, late.length) == (10, 10), "its tokens are still needed"
    assert late in tree.branches()


def test_states_in_the_middle_of_a_branch_go_before_any_rows(forked):
    tree, trunk, early, late = forked
    for branch in (trunk, early, late):
        branch.keep(0, piece(branch.fork, branch.length))
        for position in range(branch.fork + 1, branch.length + 1):
            branch.keep_state(position, state())
    rows = 4 * 18
    for branch in (trunk, early):
        tree.touch(branch)
    tree.evict(rows + 4 * (10 + 6 + 2 - 4), late)
    assert (sorted(early.states), len(trunk.states)) == ([5, 9, 10], 9)
    tree.evict(rows + 4 * (3 + 3 + 2), late)
    assert (sorted(early.states), sorted(trunk.states), sorted(late.states)) == ([5, 9, 10], [1, 9, 10], [9, 10])
    assert tree.nbytes == rows + 4 * 8


def test_rows_read_with_other_tokens_pinned_are_alike_until_the_context_was_full():
    branch = Branch(None, 0, pinned=5)
    assert branch.alike(100, 5, 40) == branch.alike(100, 7, None) == 100
    assert branch.alike(100, 7, 40) == 40
    assert branch.alike(30, 7, 40) == 30


def test_a_path_is_followed_as_far_as_it_goes_and_made_from_there(forked):
    tree, trunk, early, late = forked
    assert tree.follow([0, 1, 2, 3, 20], trunk) is early
    made = tree.follow([0, 1, 2, 3, 20, 21, 5], trunk)
    assert (made.parent, made.fork, made.tokens) == (early, 6, [5])
    live = tree.follow([*late.ids(10), 7], late)
    assert (live.parent, live.fork, live.tokens, late.length) == (late, 10, [7], 10)
    assert tree.follow([50, 51], trunk).parent is None
    pinned = tree.follow([*early.ids(10), 7], trunk, pinned=3, context=5)
    assert (pinned.fork, pinned.pinned, pinned.ids(11)) == (5, 3, [*early.ids(10), 7])


def test_clearing_forgets_everything_at_once(forked):
    tree, _, early, _ = forked
    early.keep(0, piece(2, 7))
    tree.clear()
    assert (tree.branches(), tree.nbytes, early.nbytes) == ([], 0, 0)

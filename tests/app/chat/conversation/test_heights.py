"""Heights of a list: sums and positions, against adding them up."""

from hypothesis import given
from hypothesis import strategies as st

from app.chat.conversation.heights import Heights


@given(
    st.lists(st.integers(0, 500)), st.lists(st.tuples(st.integers(0, 50), st.integers(0, 500))), st.lists(st.integers(1, 500))
)
def test_sums_are_those_of_a_plain_list(heights, changes, more):
    plain, kept = list(heights), Heights(heights)
    for index, height in changes:
        if index < len(plain):
            plain[index] = height
            kept.set(index, height)
    for height in more:
        plain.append(height)
        kept.append(height)
    assert [kept[index] for index in range(len(kept))] == plain
    assert [kept.top(index) for index in range(len(plain) + 1)] == [sum(plain[:index]) for index in range(len(plain) + 1)]
    assert kept.total == sum(plain)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(-20, 2_000))
def test_a_position_finds_what_covers_it(heights, position):
    covering = [index for index in range(len(heights)) if sum(heights[:index]) <= position < sum(heights[: index + 1])]
    outside = 0 if position < 0 else len(heights) - 1
    assert Heights(heights).at(position) == (covering[0] if covering else outside)


def test_an_empty_list_has_nothing():
    assert Heights().total == 0
    assert len(Heights()) == 0

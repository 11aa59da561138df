"""The current match among all of them: where it starts, what comes next, what happens when the text changes."""

from app.chat.conversation.found import Found, Places


def matches(*counts):
    found = Found(len(counts))
    for index, count in enumerate(counts):
        found.put(index, Places(answer=[(n, n + 1) for n in range(count)]))
    return found


def test_nothing_found_has_no_current_match():
    found = matches(0, 0)
    found.choose_from(1)
    found.step(1)
    assert (found.total, found.rank, found.current) == (0, None, None)


def test_the_first_match_from_a_place_on_is_the_current_one():
    found = matches(2, 0, 3)
    found.choose_from(1)
    assert (found.current, found.rank, found.total) == ((2, 0), 3, 5)
    found.choose_from(0, 1)
    assert (found.current, found.rank) == ((0, 1), 2)
    found.choose_from(2, 3)
    assert found.rank == 1


def test_steps_go_through_all_of_them_and_around():
    found = matches(2, 0, 3)
    found.choose_from(0)
    seen = []
    for _ in range(6):
        seen.append(found.current)
        found.step(1)
    assert seen == [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2), (0, 0)]
    found.choose_from(0)
    found.step(-1)
    assert found.current == (2, 2)


def test_what_was_thought_comes_before_the_answer():
    found = Found(1)
    found.put(0, Places(thought=[(5, 6)], answer=[(1, 2), (3, 4)]))
    assert (found.total, len(found[0])) == (3, 3)


def test_a_text_that_changes_keeps_the_current_match_or_the_nearest():
    found = matches(2, 4)
    found.choose_from(1, 3)
    found.put(1, Places(answer=[(0, 1), (1, 2)]))
    assert (found.current, found.rank) == ((1, 1), 4)
    found.put(0, Places())
    assert (found.current, found.rank) == ((1, 1), 2)
    found.put(1, Places())
    assert found.current is None


def test_messages_that_come_later_are_counted_too():
    found = matches(1)
    found.put(3, Places(answer=[(0, 1)]))
    assert found.total == 2
    assert len(found[7]) == 0

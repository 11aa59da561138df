"""What is left out of a conversation that outgrew the trained length: deterministic, stable, and enough."""

import random

import pytest

from engine.core.facts import Message
from engine.inference.rolling import left_out

PINNED = 10


def conversation(lengths, system=True):
    """Messages and their ends, in tokens: user and assistant in turn, the last a user's."""
    messages = [Message("system", "s")] if system else []
    ends = [PINNED - 2] if system else []
    position = PINNED
    for index, length in enumerate(lengths):
        messages.append(Message("user" if index % 2 == 0 else "assistant", "x"))
        position += length
        ends.append(position)
    return messages, ends


def gone(lengths, context=100, positions=100, system=True):
    messages, ends = conversation(lengths, system)
    return left_out(messages, ends, PINNED, context, positions)


def size_of_the_rest(lengths, count):
    return PINNED + sum(lengths[count:])


def test_nothing_is_left_out_while_everything_fits():
    assert gone([30, 30, 29]) == 0
    assert gone([30, 30, 29], system=False) == 0


def test_the_oldest_go_until_half_of_the_context_is_free():
    lengths = [20, 20, 20, 20, 20]
    assert gone(lengths) == 4
    assert gone([30, 30, 10, 5, 5, 5, 15]) == 2
    assert gone([30, 30, 10, 5, 5, 5, 15], system=False) == 2


def test_the_rest_begins_with_a_users_message():
    generator = random.Random(1)
    for _ in range(300):
        lengths = [generator.randint(1, 40) for _ in range(generator.randrange(1, 40, 2))]
        assert gone(lengths) % 2 == 0


def test_the_answer_is_the_same_until_something_must_go_and_the_rest_fits():
    generator = random.Random(2)
    for _ in range(100):
        lengths, before, changes = [], 0, 0
        for _ in range(40):
            lengths += [generator.randint(1, 20)] if not lengths else [generator.randint(1, 20) for _ in range(2)]
            now = gone(lengths)
            assert now == gone(lengths), "it depends on nothing else"
            assert size_of_the_rest(lengths, now) < 100
            if now != before:
                assert size_of_the_rest(lengths, before) >= 100, "something had to go"
                assert size_of_the_rest(lengths, now) <= 50 or now == len(lengths) - 1
                changes += 1
            before = now
        assert 5 <= changes <= 30


def test_a_last_message_that_is_too_long_alone_is_what_is_left():
    assert gone([20, 20, 20, 20, 200]) == 4
    assert gone([200]) == 0
    assert gone([20, 20, 95, 5, 3]) == 4


def test_a_window_smaller_than_the_trained_length_leaves_nothing_out_before_that():
    assert gone([20, 20, 20, 20, 20], context=40, positions=200) == 0
    lengths = [20] * 11
    assert size_of_the_rest(lengths, gone(lengths, context=60, positions=200)) <= 30


@pytest.mark.parametrize("pinned", [60, 99])
def test_a_system_prompt_that_takes_most_of_the_context_leaves_the_last_message(pinned):
    messages, ends = conversation([20, 20, 20, 20, 5])
    ends = [end + pinned - PINNED for end in ends]
    assert left_out(messages, ends, pinned, 100, 100) == 4


def test_messages_of_one_kind_in_a_row_are_counted_too():
    messages = [
        Message("system", "s"),
        Message("user", "a"),
        Message("user", "b"),
        Message("assistant", "c"),
        Message("user", "d"),
    ]
    assert left_out(messages, [8, 50, 90, 120, 130], PINNED, 100, 100) == 3
    assert left_out([Message("assistant", "a"), Message("user", "b")], [90, 120], PINNED, 100, 100) == 1
    assert left_out([Message("system", "s")], [8], PINNED, 100, 100) == 0

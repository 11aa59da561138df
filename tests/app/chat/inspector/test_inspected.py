"""What the inspector says of a prompt in words and figures."""

import pytest

from app.chat.inspector.inspected import Given, reading_of
from engine.core.messages import PromptInspected
from tests.app.chat.stored import facts, replied, writing


def prompt(tokens, cached=0, **changes):
    values = {
        "request_id": "i",
        "model": "m",
        "fingerprint": "f",
        "template_hash": "t",
        "context": 512,
        "ids": tuple(range(tokens)),
        "cached": cached,
        "left_out": 0,
        "text": "",
        "known_ids": (),
        "texts": (),
        "bytes_hex": (),
        "special": (),
        "section_roles": ("user",),
        "section_ends": (tokens,),
    }
    return PromptInspected(**{**values, **changes})


@pytest.mark.parametrize("resumed", [(5,), (3, 5), (5, 600)])
@pytest.mark.parametrize("unknown", [0, 1, 7])
def test_a_reply_that_went_on_is_counted_with_what_it_had(resumed, unknown):
    whole = 22 + resumed[-1]
    made = facts(prompt_tokens=22, cached_tokens=whole - unknown, resumed=resumed)
    reading = reading_of(prompt(whole), replied("r", facts=made), None)
    assert (reading.cached, reading.note) == (whole - unknown, f"{whole - unknown} cached, {unknown} read")
    assert "written by" not in reading.remark
    assert f"the last {resumed[-1]} tokens were its own" in reading.remark


def test_no_figure_is_negative_whatever_is_known_of_a_reply():
    made = facts(prompt_tokens=22, cached_tokens=621)
    reading = reading_of(prompt(22), replied("r", facts=made), None)
    assert "-" not in reading.note
    assert reading.cached == 22


@pytest.mark.parametrize(
    ("dropped", "messages", "gone", "says"),
    [
        (0, 0, range(0), ""),
        (5, 0, range(0), ""),  # Left out before it was read: said by its own words.
        (6, 2, range(3, 4), "While the reply was made, one of these tokens left the context."),
        (9, 3, range(3, 7), "4 of these tokens left the context, the oldest message with them."),
        (999, 6, range(3, 22), "19 of these tokens left the context, the oldest 4 messages with them."),
    ],
)
def test_what_left_the_context_while_the_reply_was_made_is_marked(dropped, messages, gone, says):
    made = facts(prompt_tokens=22, cached_tokens=0, dropped_tokens=dropped, dropped_messages=messages)
    shown = prompt(22, pinned=3, left_out=2, left_out_tokens=5)
    reading = reading_of(shown, replied("r", facts=made), None)
    assert reading.gone == gone
    assert says in reading.remark
    assert ("struck through" in reading.remark) == bool(gone)


@pytest.mark.parametrize(("dropped", "messages", "gone"), [(5, 2, range(3, 3)), (6, 2, range(3, 4)), (99, 6, range(3, 22))])
def test_what_has_left_is_marked_while_the_reply_is_written_as_it_is_afterwards(dropped, messages, gone):
    shown = prompt(22, pinned=3, left_out=2, left_out_tokens=5)
    now = reading_of(shown, writing("w"), Given(22, 0, (dropped, messages)))
    made = facts(prompt_tokens=22, cached_tokens=0, dropped_tokens=dropped, dropped_messages=messages)
    then = reading_of(shown, replied("r", facts=made), None)
    assert now.gone == then.gone == gone
    assert now.remark == then.remark.replace("was made", "is being written")
    assert not reading_of(prompt(21, pinned=3), writing("w"), Given(22, 0, (dropped, messages))).gone


def test_nothing_is_marked_in_a_prompt_that_is_not_the_one_the_reply_had():
    made = facts(prompt_tokens=22, cached_tokens=0, dropped_tokens=9, dropped_messages=1)
    for other in (prompt(21, pinned=3), prompt(22, pinned=3, fingerprint="g")):
        reading = reading_of(other, replied("r", facts=made), None)
        assert not reading.gone
        assert "struck" not in reading.remark
    assert not reading_of(prompt(22, pinned=3), None, None).gone


@pytest.mark.parametrize(("known", "note"), [(0, "0 cached, 23 read now"), (9, "9 cached, 14 read now")])
def test_while_it_is_written_its_own_cached_tokens_count_not_todays(known, note):
    assert reading_of(prompt(23, cached=22), writing("w"), Given(23, known)).note == note

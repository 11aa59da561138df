import dataclasses
import json
import types
import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.codec import from_json, restore, to_json
from engine.core.facts import Message, ReplyFacts
from engine.core.messages import COMMANDS, EVENTS, TERMINALS, Cancel, Failed, Generate, TextDelta
from engine.core.settings import Sampling

any_text = st.text(st.characters(), max_size=12)  # Half surrogate pairs too: a model's or a terminal's text may hold them.


def values_of(kind):
    """A strategy for any value of a message field's type."""
    if isinstance(kind, typing.TypeAliasType):
        return values_of(kind.__value__)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return st.builds(kind, **{entry.name: values_of(hints[entry.name]) for entry in dataclasses.fields(kind)})
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return st.sampled_from(inner)
    if origin is tuple:
        return st.lists(values_of(inner[0]), max_size=3).map(tuple)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*(st.none() if part is type(None) else values_of(part) for part in inner))
    return {
        str: any_text,
        int: st.integers(-(2**64), 2**64),
        float: st.floats(allow_nan=False),
        bool: st.booleans(),
    }[kind]


@pytest.mark.parametrize("kind", [*COMMANDS, *EVENTS], ids=lambda kind: kind.__name__)
@settings(max_examples=25)
@given(data=st.data())
def test_every_message_survives_the_trip_through_json(kind, data):
    message = data.draw(values_of(kind))
    line = to_json(message)
    back = from_json(line)
    assert back == message
    assert type(back) is kind
    assert types_in(back) == types_in(message)
    assert line.isascii()
    assert len(line.splitlines()) == 1


def types_in(value):
    """The types of a value and of everything in it: 1 == 1.0 == True, but they are not the same."""
    if dataclasses.is_dataclass(value):
        return type(value), [types_in(getattr(value, entry.name)) for entry in dataclasses.fields(value)]
    return (tuple, [types_in(item) for item in value]) if isinstance(value, tuple) else type(value)


def test_every_message_is_frozen_and_carries_its_request():
    for kind in (*COMMANDS, *EVENTS):
        assert dataclasses.fields(kind)[0].name == "request_id"
        with pytest.raises(dataclasses.FrozenInstanceError):
            kind.__new__(kind).request_id = "another"
        assert kind.__doc__


def test_names_are_unique_and_the_ends_are_events():
    names = [kind.__name__ for kind in (*COMMANDS, *EVENTS)]
    assert len(set(names)) == len(names)
    assert set(TERMINALS) <= set(EVENTS)
    assert {kind.__name__ for kind in TERMINALS} == {"Finished", "Cancelled", "Failed"}


def test_the_type_stands_in_the_line():
    assert json.loads(to_json(Cancel("1", "2"))) == {"type": "Cancel", "request_id": "1", "target": "2"}


def test_fields_left_out_take_their_defaults_and_unknown_ones_are_ignored():
    line = '{"type": "Generate", "request_id": "1", "model_id": "m", "messages": [{"role": "user", "text": "hi"}], "new": 1}'
    assert from_json(line) == Generate("1", "m", (Message("user", "hi"),))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "null",
        "7",
        '"Cancel"',
        "[]",
        "{}",
        '{"type": "NoSuch", "request_id": "1"}',
        '{"type": ["Cancel"], "request_id": "1"}',
        '{"type": "Cancel", "request_id": "1"}',
        '{"type": "Cancel", "request_id": 1, "target": "2"}',
        '{"type": "Cancel", "request_id": null, "target": "2"}',
        '{"type": "Generate", "request_id": "1", "model_id": "m", "messages": "hi"}',
        '{"type": "Generate", "request_id": "1", "model_id": "m", "messages": ["hi"]}',
        '{"type": "Generate", "request_id": "1", "model_id": "m", "messages": [{"role": "robot", "text": "hi"}]}',
        '{"type": "Generate", "request_id": "1", "model_id": "m", "messages": [], "context": "big"}',
        '{"type": "Generate", "request_id": "1", "model_id": "m", "messages": [], "sampling": {"top_k": true}}',
        '{"type": "Generate", "request_id": "1", "model_id": "m", "messages": [], "sampling": {"temperature": true}}',
        '{"type": "ModelUnloaded", "request_id": "1", "idle": 1}',
        '{"type": "SetUnloadAfter", "request_id": "1", "seconds": ' + "9" * 400 + "}",
        "[" * 200_000,
    ],
)
def test_what_is_no_message_is_refused(line):
    with pytest.raises(ValueError):
        from_json(line)


def test_whole_numbers_stand_for_floats():
    line = to_json(TextDelta("1", "a", "", 1, 2.0, 3, 4.0)).replace("2.0", "2")
    assert type(from_json(line).rate) is float


def test_facts_of_an_older_flint_know_no_time_of_thinking():
    facts = ReplyFacts("m", "stop", 1, 2, 0, 3, 0.1, 0.1, 0.1, 1.0, 1.0, 1, 1, 1, 64, "f", "t", Sampling(), reasoning_s=4.2)
    raw = json.loads(json.dumps(dataclasses.asdict(facts)))
    assert restore(ReplyFacts, raw) == facts
    del raw["reasoning_s"]
    assert restore(ReplyFacts, raw).reasoning_s == 0.0


def test_restore_rebuilds_nested_settings():
    assert restore(Sampling, json.loads(json.dumps(dataclasses.asdict(Sampling(seed=2**64 - 1))))) == Sampling(seed=2**64 - 1)


def test_an_error_travels_whole():
    from engine.core.errors import ContextFull

    error = ContextFull("The conversation does not fit.").info()
    assert from_json(to_json(Failed("1", error))) == Failed("1", error)

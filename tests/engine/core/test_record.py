"""Frozen dataclasses that share what a dataclass would generate."""

from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from engine.core.record import Record


@dataclass(frozen=True)
class Generated:
    name: str
    counts: tuple[int, ...] = ()
    hidden: str = field(default="", repr=False)


@dataclass(frozen=True, repr=False, eq=False)
class Shared(Record):
    name: str
    counts: tuple[int, ...] = ()
    hidden: str = field(default="", repr=False)


@dataclass(frozen=True, repr=False, eq=False)
class Other(Shared):
    pass


def test_records_are_equal_by_their_fields_and_their_class():
    assert Shared("a", (1, 2)) == Shared("a", (1, 2))
    assert Shared("a", (1, 2)) != Shared("a", (1, 3))
    assert Shared("a") != Other("a")
    assert Shared("a") != "a"
    assert len({Shared("a"), Shared("a"), replace(Shared("a"), name="b")}) == 2


def test_a_record_reads_as_a_dataclass_does():
    assert repr(Shared("a", (1,), "secret")) == repr(Generated("a", (1,), "secret")).replace("Generated", "Shared")


def test_a_record_stays_as_it_was_made():
    with pytest.raises(FrozenInstanceError):
        Shared("a").name = "b"

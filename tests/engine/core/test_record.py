"""Frozen dataclasses that share what a dataclass would generate."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace

import pytest

from engine.core.record import Record


@dataclass(frozen=True)
class Generated:
    name: str
    counts: tuple[int, ...] = ()
    hidden: str = field(default="", repr=False)


class Shared(Record):
    name: str
    counts: tuple[int, ...] = ()
    hidden: str = field(default="", repr=False)


class Other(Shared):
    pass


class Longer(Shared):
    notes: list[str] = field(default_factory=list)


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
    with pytest.raises(FrozenInstanceError):
        del Shared("a").name


def test_a_record_is_made_by_place_and_by_name_alike():
    by_name = Shared(hidden="h", counts=(1,), name="a")
    assert by_name == Shared("a", (1,), "h") == Shared("a", hidden="h", counts=(1,))
    assert hash(by_name) == hash(Shared("a", (1,), "h"))
    assert asdict(by_name) == {"name": "a", "counts": (1,), "hidden": "h"}
    assert copy.deepcopy(by_name) == pickle.loads(pickle.dumps(by_name)) == by_name


def test_what_is_not_given_is_the_default_and_each_has_its_own():
    first, second = Longer("a"), Longer("a")
    assert (first.counts, first.hidden, first.notes) == ((), "", [])
    first.notes.append("mine")
    assert second.notes == []


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Shared(), "name"),
        (lambda: Shared(counts=(1,)), "name"),
        (lambda: Shared("a", (), "", "surplus"), "surplus"),
        (lambda: Shared("a", name="b"), "name"),
        (lambda: Shared("a", size=3), "size"),
    ],
)
def test_a_record_of_other_fields_than_its_class_has_is_refused(make, named):
    with pytest.raises(TypeError, match=named):
        make()

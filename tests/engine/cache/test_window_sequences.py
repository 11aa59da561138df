"""Random sequences of everything a cache is asked, against a plain full cache with an explicit mask, for every kind of layer."""

import tempfile
from pathlib import Path

import mlx.core as mx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from engine.cache.snapshot import Snapshot
from tests.engine.cache.attended import LONGEST, STAMPS, Layer, Tables
from tests.engine.cache.kinds import KINDS

LENGTHS = st.one_of(st.just(1), st.integers(2, 12), st.integers(13, 70), st.integers(100, 260))


def sequences(kind):
    """The state machine of one kind."""
    tables = Tables(kind)

    class Sequences(RuleBasedStateMachine):
        marks = Bundle("marks")

        def __init__(self):
            super().__init__()
            self.layer = Layer(kind, tables)
            self.trimmable = 0  # Tokens that must be trimmable: those since the last restore or trim, up to the slack.

        @rule(length=LENGTHS, stamp=st.integers(0, STAMPS - 1))
        def append(self, length, stamp):
            length = min(length, LONGEST - len(self.layer.stamps))
            if length:
                self.layer.append([stamp] * length)
                self.trimmable = min(32, self.trimmable + length)

        @rule(count=st.integers(1, 30), stamp=st.integers(0, STAMPS - 1))
        def append_singly(self, count, stamp):
            for _ in range(min(count, LONGEST - len(self.layer.stamps))):
                self.append(1, stamp)

        @rule(count=st.one_of(st.integers(0, 40), st.integers(0, 400)))
        def trim(self, count):
            cache, held = self.layer.cache, len(self.layer.stamps)
            possible = cache.can_trim(min(count, held))
            if cache.lost == 0 or count <= self.trimmable or held - count <= self.layer.pinned:
                assert possible
            trimmed = cache.trim(count)
            assert trimmed == (min(count, held) if possible else 0)
            if trimmed:
                del self.layer.stamps[held - trimmed :]
                self.trimmable = max(0, self.trimmable - trimmed)

        @rule(count=st.integers(0, 12))
        @precondition(lambda self: kind.pinned and not self.layer.cache.hidden and not self.layer.cache.lost)
        def pin(self, count):
            self.layer.cache.pinned = count
            self.layer.pinned = count

        @rule(target=marks)
        def mark(self):
            return self.layer.cache.snapshot(), list(self.layer.stamps), self.layer.pinned

        @rule(mark=marks, anew=st.booleans())
        def restore(self, mark, anew):
            snapshot, stamps, pinned = mark
            if anew:
                self.layer.cache = kind.make()
            self.layer.cache.restore(snapshot)
            self.layer.stamps, self.layer.pinned = list(stamps), pinned
            self.trimmable = 0

        @rule(mark=marks)
        def save_and_load(self, mark):
            snapshot, stamps, pinned = mark
            with tempfile.TemporaryDirectory() as folder:
                path = str(Path(folder) / "layer.safetensors")
                mx.save_safetensors(path, {**snapshot.arrays, "-": mx.zeros(1)})
                arrays = dict(mx.load(path))
                mx.eval(arrays)
            del arrays["-"]
            self.restore((Snapshot(arrays, dict(snapshot.numbers)), stamps, pinned), True)

        @invariant()
        def rows_are_where_they_are_said_to_be(self):
            cache, length = self.layer.cache, len(self.layer.stamps)
            positions = cache.positions()
            assert len(positions) == cache.size() == length - cache.lost
            pinned = min(self.layer.pinned, length)
            assert positions == [*range(pinned), *range(pinned + cache.lost, length)]

        @invariant()
        def bytes_are_bounded(self):
            cache = self.layer.cache
            if cache.most_rows is not None:
                assert cache.size() <= cache.most_rows
                assert all(array.shape[2] <= cache.most_rows for array in cache.state)

    return Sequences


def run(name, examples, steps):
    """Run the machine of one kind."""
    run_state_machine_as_test(
        sequences(KINDS[name]),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("name", KINDS)
def test_attention_sees_what_a_full_cache_with_a_mask_shows(name):
    run(name, examples=7, steps=14)


@pytest.mark.heavy
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", KINDS)
def test_attention_sees_it_in_many_long_sequences(name):
    run(name, examples=150, steps=30)

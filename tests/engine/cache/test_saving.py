"""What goes to disk and in which order: rows from the beginning on in bounded files, states that are worth their bytes."""

import functools

import pytest

from engine.cache import saving
from engine.cache.saving import NEWEST_STATES, worth_keeping
from tests.engine.cache.conversations import SYSTEM
from tests.engine.cache.shelves import files, opened, read, save, tokens
from tests.models.tiny_kinds import tiny

model_of = functools.cache(tiny)


@pytest.mark.parametrize(
    ("positions", "gap", "worth"),
    [
        ([], 10, set()),
        ([5], 10, {5}),
        ([3, 5, 8], 10, {5, 8}),
        ([10, 12, 19, 20, 50, 51, 52], 10, {10, 20, 50, 51, 52}),
        ([100, 200, 300, 400], 10, {100, 200, 300, 400}),
        ([100, 200, 300, 400], 250, {300, 400}),
    ],
)
def test_a_state_is_worth_its_bytes_some_tokens_after_the_one_before_and_the_newest_always_are(positions, gap, worth):
    assert worth_keeping(positions, gap) == worth


def test_a_long_conversation_goes_into_files_of_a_bounded_size_its_beginning_first(tmp_path, monkeypatch):
    model = model_of("llama")
    monkeypatch.setattr(saving, "FILE_BYTES", 1)  # As many bytes as 64 tokens have is the least.
    cache = opened(model, tmp_path)
    ids = tokens(200, 1)
    read(model, cache, ids)
    for count in (1, 2, 3, 4):
        assert cache.save()
        assert len(files(tmp_path)) == count
        assert opened(model, tmp_path).reuse([*ids, 1], SYSTEM) == min(64 * count, 200)
    assert not cache.save()


def states(folder):
    return [path for path in files(folder) if b'"state.' in path.read_bytes()]


def test_states_that_newer_ones_made_needless_leave_the_disk(tmp_path):
    model = model_of("falcon_h1")
    cache = opened(model, tmp_path)
    cache._saving._gap = 1000
    ids = tokens(200, 1)
    for count in (50, 90, 130, 170):
        read(model, cache, ids[:count], marks=(count - 10,))
        save(cache)
        assert len(states(tmp_path)) == NEWEST_STATES
    assert opened(model, tmp_path).reuse([*ids[:170], 1], SYSTEM) == 170
    assert opened(model, tmp_path).reuse(ids[:165], SYSTEM) == 160


def test_a_state_where_another_branch_begins_stays(tmp_path):
    model = model_of("falcon_h1")
    cache = opened(model, tmp_path)
    cache._saving._gap = 1000
    ids = tokens(200, 1)
    read(model, cache, ids[:60], marks=(40,))
    save(cache)
    read(model, cache, [*ids[:40], *tokens(60, 2)])
    for count in (90, 150):
        read(model, cache, ids[:count], marks=(count - 10,))
        save(cache)
    assert opened(model, tmp_path).reuse([*ids[:40], 1, 2], SYSTEM) == 40

"""What belonged to deleted chats leaves memory and disk, for every model; what other chats share with them stays."""

import functools

import numpy as np
import pytest

from engine.cache.disk import DiskCache
from engine.cache.forgetting import forget_chats
from engine.cache.upkeep import Upkeep
from tests.engine.cache.conversations import SYSTEM, cold
from tests.engine.cache.shelves import ROOMY, files, opened, read, save, saved, tokens
from tests.models.tiny_kinds import tiny

model_of = functools.cache(tiny)
SHARED = tokens(40, 1)
MINE = [*SHARED, *tokens(60, 2)]
YOURS = [*SHARED, *tokens(60, 3)]
MARKS = (SYSTEM, 40, 99)


def packed(ids):
    """The bytes by which a file holds tokens."""
    return np.array(ids, dtype="<u4").tobytes()


def on_disk(folder, ids):
    return any(packed(ids) in path.read_bytes() for path in files(folder))


def known(model, folder, ids):
    cache = opened(model, folder)
    count, logits = read(model, cache, [*ids, 1])
    np.testing.assert_allclose(logits, cold(model, cache.policy, [*ids, 1], SYSTEM), atol=1e-3)
    return count


@pytest.mark.parametrize("kind", ["llama", "gemma3", "qwen3_next"])
def test_a_deleted_chat_leaves_the_disk_and_what_another_shares_with_it_stays(tmp_path, kind):
    model = model_of(kind)
    cache = opened(model, tmp_path)
    read(model, cache, MINE, chat="mine", marks=MARKS)
    save(cache)
    read(model, cache, YOURS, chat="yours", marks=MARKS)
    save(cache)
    forget_chats(DiskCache(tmp_path, ROOMY), ["mine"])
    assert not on_disk(tmp_path, MINE[40:44])
    assert on_disk(tmp_path, YOURS)
    assert known(model, tmp_path, YOURS) == len(YOURS)
    assert known(model, tmp_path, MINE) == 40


def test_nothing_stays_of_the_only_chat(tmp_path):
    saved(model_of("llama"), tmp_path, MINE, chat="mine")
    forget_chats(DiskCache(tmp_path, ROOMY), ["yours"])
    assert len(files(tmp_path)) == 1
    forget_chats(DiskCache(tmp_path, ROOMY), ["mine"])
    assert files(tmp_path) == []


def test_what_is_of_no_chat_stays(tmp_path):
    saved(model_of("llama"), tmp_path, MINE)
    forget_chats(DiskCache(tmp_path, ROOMY), ["mine", "yours"])
    assert known(model_of("llama"), tmp_path, MINE) == len(MINE)


def test_chats_leave_the_files_of_every_model_and_files_that_nobody_can_read_go_too(tmp_path):
    llama = model_of("llama")
    for fingerprint in ("one", "two"):
        saved(llama, tmp_path, MINE, chat="mine", fingerprint=fingerprint)
        saved(llama, tmp_path, YOURS, chat="yours", fingerprint=fingerprint)
    broken = next(path for path in files(tmp_path) if packed(YOURS) in path.read_bytes())
    broken.write_bytes(broken.read_bytes()[:-1])
    forget_chats(DiskCache(tmp_path, ROOMY), ["mine"])
    assert not broken.exists()
    assert not on_disk(tmp_path, MINE[40:44])
    assert on_disk(tmp_path, YOURS)


def test_a_conversation_that_two_chats_went_over_stays_until_both_are_deleted(tmp_path):
    llama = model_of("llama")
    cache = opened(llama, tmp_path)
    for chat in ("mine", "copy"):
        read(llama, cache, MINE, chat=chat)
    read(llama, cache, YOURS, chat="yours")
    save(cache)
    disk = DiskCache(tmp_path, ROOMY)
    forget_chats(disk, ["mine"])
    assert known(llama, tmp_path, MINE) >= len(MINE) - 1
    forget_chats(disk, ["copy"])
    assert known(llama, tmp_path, MINE) == 40


@pytest.mark.parametrize("kind", ["llama", "qwen3_next"])
@pytest.mark.parametrize("live", ["mine", "yours"])
def test_memory_forgets_too_and_the_other_chat_goes_on(tmp_path, kind, live):
    model = model_of(kind)
    cache = opened(model, tmp_path)
    order = [("mine", MINE), ("yours", YOURS)] if live == "yours" else [("yours", YOURS), ("mine", MINE)]
    for chat, ids in order:
        read(model, cache, ids, chat=chat, marks=MARKS)
    Upkeep(DiskCache(tmp_path, ROOMY)).forget_chats(cache, ["mine"])
    remembered = [token for branch in cache.tree.branches() for token in branch.tokens]
    assert len(remembered) < len(SHARED) + 2 * 60
    assert not on_disk(tmp_path, MINE[40:44])
    assert read(model, cache, [*YOURS, 1], chat="yours")[0] == len(YOURS)
    count, logits = read(model, cache, [*MINE, 1], chat="again")
    assert count == 40
    np.testing.assert_allclose(logits, cold(model, cache.policy, [*MINE, 1], SYSTEM), atol=1e-3)


def test_memory_alone_forgets_what_no_other_chat_went_over():
    model = model_of("llama")
    cache = opened(model, "/nowhere", disk=0)
    for chat, ids in (("mine", MINE), ("yours", YOURS), ("mine", tokens(50, 7))):
        read(model, cache, ids, chat=chat)
    Upkeep().forget_chats(cache, ["mine"])
    assert [read(model, cache, [*ids, 1], chat="yours")[0] for ids in (YOURS, MINE, tokens(50, 7))] == [len(YOURS), 40, 0]


def test_clearing_forgets_the_live_conversation_too_so_that_it_is_not_saved_again(tmp_path):
    model = model_of("llama")
    cache = saved(model, tmp_path, MINE)
    upkeep = Upkeep(DiskCache(tmp_path, ROOMY))
    upkeep.clear(cache)
    upkeep.idle(cache, lambda: False)
    assert files(tmp_path) == []
    assert read(model, cache, MINE)[0] == 0

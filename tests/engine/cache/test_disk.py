"""What was read is known again after a restart, whatever the kind of layer; a file that can't be trusted is as if it weren't there."""

import fcntl
import functools
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from engine.cache.disk import DiskCache
from engine.cache.policy import CachePolicy
from engine.cache.stored_file import UNFINISHED
from tests.disks import small_disk
from tests.engine.cache.conversations import SLACK, SYSTEM, cold, offsets_agree
from tests.engine.cache.metric import divergence
from tests.engine.cache.shelves import ROOMY, files, opened, read, save, saved, size, tokens
from tests.models.tiny_kinds import CONFIGS, tiny

model_of = functools.cache(tiny)
ONE_OF_EACH = ("llama", "gemma3", "qwen3_next", "deepseek_v3", "llama4")
QUANTIZED = ("gemma3", "qwen3_next", "deepseek_v3")
"""Kinds with rows wide enough to be quantized."""

CHAT = tokens(120, 1)
LONGER = [*CHAT, *tokens(40, 99)]
MARKS = (SYSTEM, 60, len(CHAT) - 1)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache" / "prefix"


@pytest.fixture
def llama():
    return model_of("llama")


def run(task, *arguments):
    command = [sys.executable, "-m", "tests.engine.cache.shelves", task, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


# -- a restart ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("context", [None, 64])
@pytest.mark.parametrize("kind", CONFIGS)
def test_after_a_restart_as_much_is_known_as_in_memory_and_the_logits_are_a_cold_runs(folder, kind, context):
    model = model_of(kind)
    held = saved(model, folder, CHAT, marks=MARKS, context=context)
    fresh = opened(model, folder, context=context)
    in_memory, warm = read(model, held, LONGER)
    known, logits = read(model, fresh, LONGER)
    assert known == in_memory >= len(CHAT) - SLACK
    # Not bit by bit: a matrix library may add in another order where the same numbers lie elsewhere in memory.
    np.testing.assert_allclose(logits, warm, atol=1e-4)
    np.testing.assert_allclose(logits, cold(model, fresh.policy, LONGER, SYSTEM), atol=1e-3)


@pytest.mark.parametrize("kind", QUANTIZED)
def test_quantized_rows_come_back_as_they_were(folder, kind):
    model = model_of(kind)
    saved(model, folder, CHAT, marks=MARKS, bits="8/4")
    stored = [opened(model, folder, bits="8/4") for _ in range(2)]
    (known, logits), (_, again) = (read(model, cache, LONGER) for cache in stored)
    assert known >= len(CHAT) - SLACK
    np.testing.assert_allclose(logits, again, atol=1e-4)
    assert divergence(cold(model, stored[0].policy, LONGER, SYSTEM), logits) < 0.004
    assert any(layer.rows.aged and not layer.rows.plain for layer in stored[0].layers if hasattr(layer, "rows"))


def test_a_new_process_goes_on_where_another_stopped(folder):
    held = saved(model_of("qwen3_next"), folder, CHAT, marks=MARKS)
    with run("read", folder, "qwen3_next", 1) as other:
        said = json.loads(other.stdout.read())
    known, logits = read(model_of("qwen3_next"), held, LONGER)
    assert said["known"] == known >= len(CHAT) - 1
    np.testing.assert_allclose(said["logits"], logits, atol=1e-3)


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_branches_and_what_is_shared_are_known_again_at_any_depth(folder, kind):
    model = model_of(kind)
    held = opened(model, folder)
    prompts = [
        CHAT,
        [*CHAT[:60], *tokens(50, 2)],
        [*CHAT[:60], *tokens(50, 3)],
        [*CHAT[:SYSTEM], *tokens(50, 4)],
        tokens(50, 5),
    ]
    for ids in prompts:
        read(model, held, ids, marks=[mark for mark in MARKS if mark < len(ids)])
    save(held)
    fresh = opened(model, folder)
    for ids in prompts:
        known, logits = read(model, fresh, [*ids, 7, 8])
        assert known >= len(ids) - 1
        np.testing.assert_allclose(logits, cold(model, fresh.policy, [*ids, 7, 8], SYSTEM), atol=1e-3)


def test_only_what_is_new_is_written(folder, llama):
    cache = saved(llama, folder, CHAT)
    first = size(folder)
    assert save(cache) == 0
    read(llama, cache, LONGER)
    assert save(cache) == 1
    assert size(folder) - first < 0.6 * first
    fresh = opened(llama, folder)
    assert read(llama, fresh, [*LONGER, 1])[0] == len(LONGER)
    assert save(fresh) == 1, "the one token that was read now"


def test_what_was_evicted_from_memory_comes_back_from_disk(folder, llama):
    cache = saved(llama, folder, CHAT)
    read(llama, cache, tokens(30, 9))
    cache.shrink(0)
    assert cache.kept_bytes == 0
    assert read(llama, cache, LONGER)[0] == len(CHAT)


def test_without_memory_for_other_chats_the_disk_still_remembers_them(folder, llama):
    cache = opened(llama, folder, memory=0)
    for ids in (CHAT, tokens(50, 5), LONGER):
        known, logits = read(llama, cache, ids)
        save(cache)
    assert known == len(CHAT)
    assert cache.kept_bytes == 0
    np.testing.assert_allclose(logits, cold(llama, cache.policy, LONGER, SYSTEM), atol=1e-3)


def test_a_file_that_another_process_wrote_meanwhile_is_found(folder, llama):
    mine = opened(llama, folder)
    read(llama, mine, tokens(30, 9))
    saved(llama, folder, CHAT)
    assert read(llama, mine, LONGER)[0] == len(CHAT)


def test_what_another_process_wrote_after_the_same_beginning_stays_apart_from_the_live_conversation(folder, llama):
    mine = opened(llama, folder)
    read(llama, mine, CHAT)
    saved(llama, folder, LONGER)
    other = [*CHAT, *tokens(20, 5)]
    known, logits = read(llama, mine, other)
    assert known == len(CHAT)
    assert offsets_agree(mine)
    np.testing.assert_allclose(logits, cold(llama, mine.policy, other, SYSTEM), atol=1e-3)
    assert read(llama, mine, [*LONGER, 1])[0] == len(LONGER)
    assert offsets_agree(mine)


@pytest.mark.parametrize("length", [190, 200, 210])
def test_without_memory_nothing_counts_on_live_rows_that_are_not_kept(folder, length):
    model = model_of("gemma3")
    cache = opened(model, folder, memory=0)
    ids = tokens(220, 3)
    read(model, cache, ids[:150])
    save(cache)
    read(model, cache, ids[:length])
    known, logits = read(model, cache, [*ids[:155], 1, 2])
    assert known >= 150
    np.testing.assert_allclose(logits, cold(model, cache.policy, [*ids[:155], 1, 2], SYSTEM), atol=1e-3)


def test_nothing_is_reused_of_what_was_read_within_another_context_once_it_was_full(folder, llama):
    saved(llama, folder, LONGER, context=64)
    assert read(llama, opened(llama, folder), [*LONGER, 1])[0] == 64
    shutil.rmtree(folder)
    saved(llama, folder, LONGER)
    fresh = opened(llama, folder, context=64)
    known, logits = read(llama, fresh, [*LONGER, 1])
    assert known == 64
    np.testing.assert_allclose(logits, cold(llama, fresh.policy, [*LONGER, 1], SYSTEM), atol=1e-3)


@pytest.mark.parametrize("other", [{"fingerprint": "g"}, {"template": "u"}, {"bits": "8"}])
def test_another_model_template_or_precision_knows_nothing_of_it(folder, llama, other):
    saved(llama, folder, CHAT)
    assert read(llama, opened(llama, folder, **other), LONGER)[0] == 0
    assert read(llama, opened(llama, folder), LONGER)[0] == len(CHAT)


# -- files that can't be trusted --------------------------------------------------------------------------------------------


def known_and_right(model, folder):
    """How much of `LONGER` a new cache knows; its logits must be a cold run's, and the next save must make all well."""
    cache = opened(model, folder)
    known, logits = read(model, cache, LONGER)
    np.testing.assert_allclose(logits, cold(model, cache.policy, LONGER, SYSTEM), atol=1e-3)
    save(cache)
    assert read(model, opened(model, folder), [*LONGER, 1])[0] == len(LONGER)
    return known


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-1])


def emptied(path):
    path.write_bytes(b"")


def grown(path):
    path.write_bytes(path.read_bytes() + b"\0")


def renamed(path):
    path.rename(path.with_name("0" * 32 + path.suffix))


def unreadable(path):
    path.unlink()
    path.mkdir()


def endless_header(path):
    path.write_bytes(b"\xff" * 8 + path.read_bytes()[8:])


@pytest.mark.parametrize("harm", [cut_short, emptied, grown, renamed, unreadable, endless_header, os.unlink])
@pytest.mark.parametrize("kind", ["llama", "falcon_h1"])
def test_a_harmed_file_is_a_miss_and_never_wrong(folder, kind, harm):
    saved(model_of(kind), folder, CHAT, marks=MARKS)
    for path in files(folder):
        harm(path)
    assert known_and_right(model_of(kind), folder) == 0


@pytest.mark.parametrize("place", [0.0001, 0.01, 0.05, 0.3, 0.999])
def test_one_flipped_bit_anywhere_is_a_miss(folder, llama, place):
    saved(llama, folder, CHAT)
    (path,) = files(folder)
    data = bytearray(path.read_bytes())
    data[int(len(data) * place)] ^= 4
    path.write_bytes(data)
    assert known_and_right(llama, folder) == 0


def test_a_file_that_goes_or_breaks_after_it_was_found_is_a_miss(folder, llama):
    cache = saved(llama, folder, CHAT)
    read(llama, cache, LONGER)
    save(cache)
    first, second = sorted(files(folder), key=lambda path: path.stat().st_size, reverse=True)
    fresh = opened(llama, folder)
    read(llama, fresh, tokens(30, 9))
    data = bytearray(second.read_bytes())
    data[-1] ^= 1
    second.write_bytes(data)
    known, logits = read(llama, fresh, [*LONGER, 1])
    assert known == len(CHAT)
    np.testing.assert_allclose(logits, cold(llama, fresh.policy, [*LONGER, 1], SYSTEM), atol=1e-3)
    assert not second.exists()
    third = opened(llama, folder)
    read(llama, third, tokens(30, 9))
    first.unlink()
    assert read(llama, third, LONGER)[0] == 0


def test_a_file_of_another_model_put_in_its_place_is_a_miss(folder, llama):
    saved(llama, folder, CHAT)
    mine, (path,) = files(folder)[0].parent, files(folder)
    path.unlink()
    saved(llama, folder, CHAT, fingerprint="other")
    (foreign,) = files(folder)
    shutil.copy(foreign, mine / foreign.name)
    assert known_and_right(llama, folder) == 0


def test_rows_of_another_make_under_the_same_name_are_a_miss(folder, llama):
    saved(model_of("gemma3"), folder, CHAT)
    cache = opened(llama, folder)
    known, logits = read(llama, cache, LONGER)
    assert known == 0
    np.testing.assert_allclose(logits, cold(llama, cache.policy, LONGER, SYSTEM), atol=1e-3)


# -- bounds -----------------------------------------------------------------------------------------------------------------


def test_the_bound_holds_after_every_write_and_the_chat_used_longest_ago_goes_first(folder, llama):
    chats = [tokens(60, seed) for seed in range(5)]
    saved(llama, folder, chats[0])
    bound = int(3.5 * size(folder))
    for ids in chats[1:3]:
        saved(llama, folder, ids, disk=bound)
    read(llama, opened(llama, folder, disk=bound), [*chats[0], 1])
    for ids in chats[3:]:
        saved(llama, folder, ids, disk=bound)
        assert size(folder) <= bound
    known = [read(llama, opened(llama, folder), [*ids, 1])[0] for ids in chats]
    assert known == [60, 0, 0, 60, 60]


def test_the_bound_is_for_all_models_together(folder, llama):
    saved(llama, folder, tokens(60, 1), fingerprint="one")
    bound = int(1.5 * size(folder))
    saved(llama, folder, tokens(60, 2), fingerprint="two", disk=bound)
    assert size(folder) <= bound
    assert len(files(folder)) == 1


def test_a_chat_larger_than_the_bound_keeps_its_beginning(folder, llama):
    cache = saved(llama, folder, CHAT)
    cache = opened(llama, folder, disk=size(folder) + 1000)
    read(llama, cache, LONGER)
    assert save(cache) == 0
    assert not cache._saving.shelf.writable, "it is not tried again at every turn"
    assert read(llama, opened(llama, folder), LONGER)[0] == len(CHAT)


def test_nothing_is_written_where_the_disk_is_turned_off(folder, llama):
    saved(llama, folder, CHAT, disk=0)
    assert not folder.exists()


def test_turning_it_off_removes_what_is_there(folder, llama):
    saved(llama, folder, CHAT)
    DiskCache(folder, 0).tidy()
    assert files(folder) == []


def test_clearing_removes_everything_and_counting_finds_all(folder, llama):
    saved(llama, folder, CHAT)
    saved(llama, folder, CHAT, template="other")
    disk = DiskCache(folder, ROOMY)
    assert (disk.use().files, disk.use().size_bytes) == (2, size(folder))
    disk.clear()
    assert list(folder.iterdir()) == []
    assert disk.use().files == 0


def test_the_folder_is_its_owners_alone(folder, llama):
    folder.mkdir(parents=True, mode=0o755)
    saved(llama, folder, CHAT)
    for path in (folder, *folder.iterdir()):
        assert path.stat().st_mode & 0o777 == 0o700
    for path in files(folder):
        assert path.stat().st_mode & 0o777 == 0o600


# -- disks and other processes ------------------------------------------------------------------------------------------------


def test_a_full_disk_is_a_logged_miss_that_leaves_nothing_half_written(tmp_path, llama, caplog):
    with small_disk(tmp_path / "disk", "128k") as disk:
        cache = saved(llama, disk / "prefix", tokens(300, 1))
        assert files(disk) == []
        assert "disk is full" in caplog.text
        assert save(cache) == 0
        assert len([record for record in caplog.records if "disk is full" in record.message]) == 1
        assert read(llama, cache, [*tokens(300, 1), 1])[0] == 300, "it goes on from memory"


def test_a_folder_that_can_not_be_made_is_a_logged_miss(tmp_path, llama, caplog):
    (tmp_path / "file").write_text("in the way")
    cache = saved(llama, tmp_path / "file" / "prefix", CHAT)
    assert "could not be written" in caplog.text
    assert read(llama, cache, LONGER)[0] == len(CHAT)


def test_two_processes_use_the_folder_at_once(folder, llama):
    saved(llama, folder, tokens(60, 0))
    bound = int(3.5 * size(folder))
    shutil.rmtree(folder)
    ids = [*tokens(60, 104), 1]
    right = cold(llama, CachePolicy(), ids, SYSTEM)
    with run("write", folder, "llama", 100, 30) as other:
        while other.poll() is None:
            cache = opened(llama, folder, disk=bound)
            known, logits = read(llama, cache, ids)
            assert known in (0, 60)
            np.testing.assert_allclose(logits, right, atol=1e-3)
            save(cache)
    assert other.returncode == 0
    assert read(llama, opened(llama, folder), [*tokens(60, 129), 1])[0] == 60
    assert not [path for path in files(folder) if path.suffix == UNFINISHED]


def test_a_process_killed_while_it_writes_leaves_nothing_that_is_read(folder, llama):
    with run("write", folder, "llama", 300, 10_000) as writer:
        assert writer.stdout.readline()
        while not any(path.suffix == UNFINISHED for path in files(folder)):
            time.sleep(0.001)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    cache = opened(llama, folder)
    known, logits = read(llama, cache, [*tokens(60, 300), 1])
    assert known == 60
    np.testing.assert_allclose(logits, cold(llama, cache.policy, [*tokens(60, 300), 1], SYSTEM), atol=1e-3)
    for left in files(folder):
        if left.suffix == UNFINISHED:
            os.utime(left, (0, 0))
    DiskCache(folder, ROOMY).tidy()
    assert all(path.suffix != UNFINISHED for path in files(folder))


def test_a_write_is_given_up_when_somebody_waits(folder, llama):
    cache = opened(llama, folder)
    read(llama, cache, CHAT)
    answers = itertools.chain([False, False], itertools.repeat(True))
    assert not cache.save(lambda: next(answers))
    assert files(folder) == []
    assert save(cache) == 1


def test_what_another_process_is_still_writing_is_left_alone_however_long_it_takes(folder, llama):
    saved(llama, folder, CHAT)
    unfinished = files(folder)[0].with_suffix(UNFINISHED)
    with unfinished.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.utime(unfinished, (0, 0))
        for disk in (DiskCache(folder, ROOMY), DiskCache(folder, 0)):
            disk.tidy()
            assert unfinished.exists()
    DiskCache(folder, ROOMY).tidy()
    assert not unfinished.exists()

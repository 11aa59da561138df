"""A reply saved while it streams, with a clock that only moves when told."""

from itertools import pairwise

import pytest

from engine.chats.reply_writer import ReplyWriter
from engine.core.errors import DiskFull, GenerationFailed, ReadOnly
from engine.core.messages import Cancelled, Failed, Finished, LoadProgress, TextDelta
from tests.engine.chats.samples import FACTS

ERROR = GenerationFailed("It failed.").info()


def delta(text, reasoning=""):
    return TextDelta("r", text, reasoning, 1, 0.0, 1, 0.0)


@pytest.fixture
def reply(store):
    chat = store.create_chat()
    question = store.add_message(chat.id, "user", "hello")
    return store.begin_reply(chat.id, question.id, "m")


@pytest.fixture
def writer(store, reply, clock):
    return ReplyWriter(store, reply, clock)


def test_what_is_on_screen_is_at_most_a_second_ahead_of_what_is_stored(store, writer, clock):
    told = ""
    history = []
    for number in range(60):
        clock.now += 0.13
        text = f"{number} "
        told += text
        writer.take(delta(text, reasoning="."))
        history.append((clock.now, told))
        stored = store.message(writer.message.id)
        newest = max((text for time, text in history if time <= clock.now - 1.0), default="", key=len)
        assert stored.text.startswith(newest)
        assert told.startswith(stored.text)
        assert stored.state == "streaming"


def test_it_is_saved_about_once_a_second_and_not_at_each_token(writer, clock, monkeypatch, store):
    saves = []
    save = store.save_reply
    monkeypatch.setattr(store, "save_reply", lambda *arguments: saves.append(clock.now) or save(*arguments))
    start = clock.now
    for _ in range(1000):
        clock.now += 0.01
        writer.take(delta("x"))
    assert all(0.5 <= later - earlier <= 1.0 for earlier, later in pairwise([start, *saves]))
    assert len(saves) >= 9


def test_a_pause_does_not_keep_the_last_words_from_being_saved(store, writer, clock):
    writer.take(delta("said"))
    clock.now += 5
    writer.save_if_due()
    assert store.message(writer.message.id).text == "said"


def test_nothing_new_is_not_saved_again(writer, clock, monkeypatch, store):
    writer.take(delta("x"))
    clock.now += 2
    writer.save_if_due()
    monkeypatch.setattr(store, "save_reply", lambda *_: pytest.fail("saved again"))
    clock.now += 2
    writer.save_if_due()
    writer.take(delta(""))
    writer.take(LoadProgress("r", "m", 0.5, "Reading"))


def test_what_waits_is_saved_with_any_event(store, writer, clock):
    writer.take(delta("x"))
    clock.now += 2
    writer.take(LoadProgress("r", "m", 0.5, "Reading"))
    assert store.message(writer.message.id).text == "x"


@pytest.mark.parametrize(
    ("end", "state", "facts", "error"),
    [
        (Finished("r", FACTS), "complete", FACTS, None),
        (Cancelled("r", FACTS), "cancelled", FACTS, None),
        (Cancelled("r"), "cancelled", None, None),
        (Failed("r", ERROR), "failed", None, ERROR),
    ],
)
def test_the_end_is_stored_at_once_with_its_reason(store, writer, end, state, facts, error):
    writer.take(delta("an answer", reasoning="a thought"))
    writer.take(end)
    stored = store.message(writer.message.id)
    assert (stored.text, stored.reasoning, stored.state) == ("an answer", "a thought", state)
    assert (stored.facts, stored.error) == (facts, error)
    assert writer.message == stored
    assert (writer.state, writer.facts, writer.error) == (state, facts, error)


def full(*_, **__):
    raise DiskFull("The disk is full.")


def test_a_save_that_fails_loses_no_text_and_is_tried_again(store, writer, clock, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(store, "save_reply", full)
        writer.take(delta("one "))
        clock.now += 2
        with pytest.raises(DiskFull):
            writer.take(delta("two "))
        writer.take(delta("three "))
        clock.now += 2
        with pytest.raises(DiskFull):
            writer.save_if_due()
    assert writer.text == "one two three "
    clock.now += 2
    writer.save_if_due()
    assert store.message(writer.message.id).text == "one two three "


def test_an_end_that_cannot_be_stored_is_still_known_and_can_be_stored_later(store, writer, monkeypatch):
    writer.take(delta("all of it"))
    with monkeypatch.context() as patched:
        patched.setattr(store, "finish_reply", full)
        with pytest.raises(DiskFull):
            writer.take(Finished("r", FACTS))
    assert (writer.state, writer.text, writer.facts) == ("complete", "all of it", FACTS)
    writer.take(Finished("r", FACTS))
    assert store.message(writer.message.id).text == "all of it"


def test_only_real_time_is_used_without_a_clock(store, reply):
    writer = ReplyWriter(store, reply)
    writer.take(delta("x"))
    writer.take(Finished("r", FACTS))
    assert store.message(reply.id).state == "complete"


def test_uneven_text_is_on_disk_within_a_second_where_the_caller_looks_five_times_a_second(store, writer, clock):
    shown = []
    for wait in (0.0, 0.01, 0.4, 0.02, 1.7, 0.3, 0.3, 0.3, 0.05, 2.5, 0.7):
        while wait > 0.2:
            wait -= 0.2
            clock.now += 0.2
            writer.save_if_due()
        clock.now += wait
        writer.take(delta("x"))
        shown.append((clock.now, len(writer.text)))
        old = [length for when, length in shown if when <= clock.now - 1]
        assert len(store.message(writer.message.id).text) >= max(old, default=0)


def refuse(store, refused=True):
    """Have SQLite itself turn every change down, as on a disk that became read-only."""
    with store._database.reading() as connection:
        connection.execute(f"PRAGMA query_only = {int(refused)}")


def test_end_that_cannot_be_stored_is_stored_by_a_later_look(store, writer, clock):
    writer.take(delta("whole"))
    refuse(store)
    with pytest.raises(ReadOnly):
        writer.take(Finished("r", FACTS))
    assert not writer.settled
    assert (writer.message.text, writer.message.state, writer.message.facts) == ("whole", "complete", FACTS)
    writer.save_if_due()  # Nothing is tried before its time.
    clock.now += 1
    with pytest.raises(ReadOnly):
        writer.save_if_due()
    refuse(store, False)
    clock.now += 1
    writer.save_if_due()
    assert writer.settled
    assert store.message(writer.message.id).state == "complete"


def test_settling_too_early_or_twice_changes_nothing(store, writer):
    writer.settle()
    assert store.message(writer.message.id).state == "streaming"
    writer.take(Finished("r", FACTS))
    refuse(store)
    writer.settle()


@pytest.mark.parametrize("end", [Finished("r"), Cancelled("r"), Failed("r", ERROR)])
def test_reply_whose_chat_is_removed_for_good_ends_without_complaint(store, writer, clock, end):
    writer.take(delta("said"))
    store.delete_chat(writer.message.chat_id)
    store.empty_trash()
    clock.now += 2
    writer.take(delta(" and more"))
    writer.take(end)
    assert writer.settled
    assert writer.text == "said and more"
    clock.now += 2
    writer.save_if_due()
    assert store.chats() == []

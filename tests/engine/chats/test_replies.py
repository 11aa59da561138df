"""A reply on its way into the store: saved as it streams, kept through every death."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from engine.chats.owner import Owner, this_process
from engine.chats.store import ACTIVE_LEAF, ChatStore
from engine.core.errors import UsageError
from tests.engine.chats.samples import ERROR, FACTS

WRITER = """
import sys
from pathlib import Path
from engine.chats.store import ChatStore, ACTIVE_LEAF
store = ChatStore(Path(sys.argv[1]))
chat = store.create_chat()
store.add_message(chat.id, "user", "tell me something long")
reply = store.begin_reply(chat.id, ACTIVE_LEAF, "m")
store.set_draft(chat.id, "next question")
print(chat.id, reply.id, flush=True)
text = ""
for number in range(1_000_000):
    text += f"word{number} "
    store.save_reply(reply.id, text, "thinking")
    print(number, flush=True)
"""


@pytest.fixture
def question(store):
    return store.add_message(store.create_chat().id, "user", "question")


def start_writer(path):
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    return process, *process.stdout.readline().split()


def test_reply_streams_then_finishes(store, clock, question):
    reply = store.begin_reply(question.chat_id, question.id, "model-a")
    assert (reply.role, reply.state, reply.text, reply.model_id, reply.parent_id) == (
        "assistant",
        "streaming",
        "",
        "model-a",
        question.id,
    )
    store.save_reply(reply.id, "The ans", "Let me")
    saved = store.message(reply.id)
    assert (saved.text, saved.reasoning, saved.state) == ("The ans", "Let me", "streaming")
    clock.now += 5
    finished = store.finish_reply(reply.id, "The answer.", "complete", FACTS, reasoning="Let me think.")
    assert finished == store.messages(question.chat_id)[-1]
    assert (finished.text, finished.reasoning, finished.state) == ("The answer.", "Let me think.", "complete")
    assert (finished.facts, finished.error) == (FACTS, None)
    assert finished.created_at == clock.now - 5


def test_failed_reply_keeps_its_error_and_what_was_written(store, question):
    reply = store.begin_reply(question.chat_id, question.id, "m")
    failed = store.finish_reply(reply.id, "half", "failed", error=ERROR)
    assert (failed.text, failed.state, failed.error, failed.facts) == ("half", "failed", ERROR, None)


def test_reply_becomes_searchable_when_it_is_finished(store, question):
    reply = store.begin_reply(question.chat_id, question.id, "m")
    store.save_reply(reply.id, "platypus")
    assert store.search("platypus") == []
    store.finish_reply(reply.id, "platypus", "cancelled")
    assert [hit.message_id for hit in store.search("platypus")] == [reply.id]


def test_late_save_and_second_finish_change_nothing(store, question):
    reply = store.begin_reply(question.chat_id, question.id, "m")
    finished = store.finish_reply(reply.id, "whole", "complete", FACTS)
    store.save_reply(reply.id, "half")
    assert store.finish_reply(reply.id, "other", "failed", error=ERROR) == finished
    assert store.message(reply.id) == finished
    assert store.search("other") == []


def test_saving_never_touches_a_message_that_is_no_reply(store, question):
    store.save_reply(question.id, "overwritten")
    assert store.message(question.id).text == "question"


def test_reply_cannot_end_as_streaming(store, question):
    reply = store.begin_reply(question.chat_id, question.id, "m")
    with pytest.raises(UsageError, match="streaming"):
        store.finish_reply(reply.id, "x", "streaming")


def test_own_reply_is_not_taken_for_dead(store, question, path):
    reply = store.begin_reply(question.chat_id, question.id, "m")
    with ChatStore(path) as second:
        assert second.recover() == 0
    assert store.recover() == 0
    assert store.message(reply.id).state == "streaming"


@pytest.mark.parametrize("after", [random.Random(seed).uniform(0.0, 0.25) for seed in range(4)])
def test_reply_survives_kill_9_at_any_moment(path, after):
    process, chat_id, reply_id = start_writer(path)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    reported = process.communicate()[0].split("\n")[:-1]  # The last line may be half a number.
    saves = len(reported)
    with ChatStore(path) as store:
        assert store.recover() == 1
        assert store.recover() == 0
        question, reply = store.messages(chat_id)
        assert (question.text, reply.id, reply.state) == ("tell me something long", reply_id, "interrupted")
        words = reply.text.split()
        assert words == [f"word{number}" for number in range(len(words))]
        assert len(words) >= saves
        assert reply.reasoning == ("thinking" if words else "")
        assert store.draft(chat_id) == "next question"
        if words:
            assert store.search("word0")[0].message_id == reply_id


def test_reply_of_another_live_process_is_left_alone(path):
    process, _chat_id, reply_id = start_writer(path)
    try:
        with ChatStore(path) as store:
            assert store.recover() == 0
            assert store.message(reply_id).state == "streaming"
            store.save_reply(reply_id, "not mine to write")
            assert store.message(reply_id).text != "not mine to write"
            store.add_message(store.create_chat().id, "user", "the command line works beside it")
            process.kill()
            # Not collected yet: a process that ended still has an entry, and is no writer any more.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            assert store.recover() == 1
    finally:
        process.kill()
        process.communicate()


def test_writer_wins_where_another_process_took_it_for_dead(store, question, path):
    import sqlite3

    reply = store.begin_reply(question.chat_id, question.id, "m")
    other = sqlite3.connect(path)
    other.execute("UPDATE messages SET state = 'interrupted' WHERE id = ?", (reply.id,))
    other.commit()
    other.close()
    store.save_reply(reply.id, "still here")
    assert store.message(reply.id).state == "streaming"
    assert store.finish_reply(reply.id, "done", "complete").state == "complete"


def test_process_id_used_again_is_another_owner():
    own = this_process()
    assert own.is_alive()
    assert not Owner(own.pid, own.started - 3600).is_alive()
    assert not Owner(2**22 + 1, own.started).is_alive()


def test_reply_without_a_parent_is_a_first_message(store):
    chat = store.create_chat()
    reply = store.begin_reply(chat.id, ACTIVE_LEAF, "m")
    assert reply.parent_id is None
    assert store.chat(chat.id).title == ""

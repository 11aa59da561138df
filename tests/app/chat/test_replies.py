"""Replies on their way: what is asked of the engine, how it is saved, and what becomes of it."""

import sqlite3
from contextlib import closing

import pytest
from PySide6.QtCore import Qt

from app.bridge import Bridge
from app.chat.replies import Replies
from engine.chats.store import ChatStore
from engine.core.errors import SettingsError
from engine.core.messages import Cancel, Cancelled, Finished, Generate, PrefillProgress, TextDelta
from engine.core.paths import locate
from engine.core.preferences import Preferences
from tests.app.window_driver import give_model, open_window, refuse_writes, remember, set_settings
from tests.models.speaking import FOX


class Recorder:
    """A host whose engine is never started: it keeps what was sent, and events are put in by hand."""

    def __init__(self):
        self.sent = []

    def connect(self, wake):
        from engine.core.connection import Connection

        self.connection = Connection(lambda command, _: self.sent.append(command), wake)
        return self.connection

    def start(self):
        pass

    def close(self):
        pass


@pytest.fixture
def store():
    with ChatStore(locate().chats) as store:
        yield store


@pytest.fixture
def host():
    return Recorder()


@pytest.fixture
def bridge(qtbot, host):
    bridge = Bridge(lambda: host)
    bridge.start()
    yield bridge
    bridge.close()


@pytest.fixture
def replies(store, bridge):
    return Replies(store, bridge, Preferences(locate().settings))


def asked(store, *, settings=None, text="Hello"):
    chat = store.create_chat(settings=settings or {})
    message = store.add_message(chat.id, "user", text)
    return store.begin_reply(chat.id, message.id, "fox")


def delta(pending, text, count=1):
    return TextDelta(pending.request_id, text, "", count, 20.0, 30, 0.1, 8192)


def put(host, bridge, *events):
    for event in events:
        host.connection.put(event)
    bridge.drain()


# -- what is asked -------------------------------------------------------------------------------------------------------


def test_request_carries_the_conversation_up_to_the_reply(store, replies, host):
    first = asked(store)
    store.finish_reply(first.id, "Hello you", "complete")
    question = store.add_message(first.chat_id, "user", "And now?")
    replies.request(store.begin_reply(first.chat_id, question.id, "fox"))
    (command,) = host.sent
    assert isinstance(command, Generate)
    assert [(turn.role, turn.text) for turn in command.messages] == [
        ("user", "Hello"),
        ("assistant", "Hello you"),
        ("user", "And now?"),
    ]
    assert command.model_id == "fox"


def test_chat_goes_before_app_and_app_before_default(store, bridge, host):
    set_settings(temperature=1.5, top_k=7, system_prompt="Be brief.", weights="as-stored")
    replies = Replies(store, bridge, Preferences(locate().settings))
    replies.request(asked(store, settings={"temperature": 0.25, "context": 512, "from a newer Flint": 1, "top_p": 77}))
    (command,) = host.sent
    assert (command.sampling.temperature, command.sampling.top_k, command.sampling.top_p) == (0.25, 7, 0.95)
    assert (command.context, command.weights) == (512, "as-stored")
    assert (command.messages[0].role, command.messages[0].text) == ("system", "Be brief.")


def test_one_reply_a_chat_and_many_chats_at_a_time(store, replies):
    one, two = replies.request(asked(store)), replies.request(asked(store))
    assert replies.of_chat(one.chat_id) is one
    assert replies.of_chat(two.chat_id) is two
    assert replies.of_chat("another") is None
    assert replies.of_chat(None) is None
    assert replies.writing_chat() == one.chat_id  # The engine takes them in turn.


# -- what becomes of it --------------------------------------------------------------------------------------------------


def test_phase_follows_the_engine(store, replies, host, bridge):
    pending = replies.request(asked(store))
    assert (pending.phase, pending.status) == ("queued", "Waiting for the model")
    put(host, bridge, PrefillProgress(pending.request_id, 50, 200, 0, 100.0, 8192))
    assert (pending.phase, pending.fraction) == ("reading", 0.25)
    assert pending.status == "Reading 50 of 200 new tokens, about 2 s left"
    put(host, bridge, delta(pending, "Hi"))
    assert (pending.phase, pending.status) == ("writing", "")
    put(host, bridge, Finished(pending.request_id))
    assert replies.of_chat(pending.chat_id) is None
    assert replies.writing_chat() is None


def test_stopping_lasts_until_the_end_whatever_still_comes(store, replies, host, bridge):
    pending = replies.request(asked(store))
    replies.stop(pending)
    assert isinstance(host.sent[-1], Cancel)
    assert host.sent[-1].target == pending.request_id
    put(host, bridge, delta(pending, "one more"))
    assert pending.phase == "stopping"
    put(host, bridge, Cancelled(pending.request_id))
    assert store.messages(pending.chat_id)[-1].state == "cancelled"
    assert store.messages(pending.chat_id)[-1].text == "one more"


def test_events_of_other_requests_change_nothing(store, replies, host, bridge, qtbot):
    pending = replies.request(asked(store))
    with qtbot.assertNotEmitted(replies.progressed), qtbot.assertNotEmitted(replies.ended):
        put(host, bridge, TextDelta("reply-999", "not mine", "", 1, 1.0, 1, 0.1), Finished("load-3"))
    assert pending.writer.text == ""


def test_end_is_told_after_it_is_stored(store, replies, host, bridge):
    seen = []
    replies.ended.connect(lambda pending: seen.append(store.messages(pending.chat_id)[-1].state))
    pending = replies.request(asked(store))
    put(host, bridge, delta(pending, "Hi"), Finished(pending.request_id))
    assert seen == ["complete"]


def test_reply_whose_request_can_not_be_made_has_failed_at_once(store, replies, host, qtbot):
    reply = asked(store)
    with qtbot.waitSignal(replies.ended) as ended, pytest.raises(SettingsError) as refused:
        replies.request(reply, given={"temperature": -1.0})
    assert host.sent == []
    assert replies.of_chat(reply.chat_id) is None
    stored = store.message(reply.id)
    assert (stored.state, stored.error) == ("failed", refused.value.info())
    assert ended.args[0].writer.message == stored


def test_reply_that_could_not_go_on_stays_as_it_was(store, replies, host, qtbot):
    reply = asked(store)
    cut = store.finish_reply(reply.id, "Hello", "cancelled")
    with qtbot.assertNotEmitted(replies.ended), pytest.raises(SettingsError):
        replies.request(cut, before=cut, given={"temperature": -1.0})
    assert store.message(reply.id) == cut


# -- saving --------------------------------------------------------------------------------------------------------------


def on_disk(pending):
    with closing(sqlite3.connect(locate().chats)) as connection:
        return connection.execute("SELECT text FROM messages WHERE id = ?", (pending.message_id,)).fetchone()[0]


def test_what_was_shown_is_on_disk_soon_also_when_no_more_comes(store, replies, host, bridge, qtbot):
    pending = replies.request(asked(store))
    put(host, bridge, delta(pending, "first "))
    put(host, bridge, delta(pending, "second"))  # Right after a save: only the timer can save it.
    qtbot.waitUntil(lambda: on_disk(pending) == "first second")
    assert replies.of_chat(pending.chat_id) is pending


def test_streaming_reply_is_saved_many_times_before_its_end(qtbot, endless):
    remember(model=give_model(endless))
    set_settings(max_tokens=30_000)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        pending = flint.send("Go")
        lengths = set()
        flint.wait(lambda: lengths.add(len(on_disk(pending))) or len(lengths) > 2)
        assert not flint.ends(pending.request_id)
        flint.key(Qt.Key.Key_Escape)


def test_nothing_is_looked_at_once_everything_is_stored(store, replies, host, bridge):
    pending = replies.request(asked(store))
    assert replies._saver.isActive()
    put(host, bridge, Finished(pending.request_id))
    assert not replies._saver.isActive()


def test_save_that_fails_is_told_once_and_the_reply_goes_on(writing):
    flint, pending = writing
    with refuse_writes(flint):
        told = []
        flint.window.replies.failed.connect(told.append)
        written = len(flint.deltas(pending.request_id))
        flint.wait(lambda: len(flint.deltas(pending.request_id)) > written + 50)  # Time for two saves, at 33 ms a piece.
        assert [error.code for error in told] == ["read-only"]
        assert flint.phase == "writing"
    flint.key(Qt.Key.Key_Escape)
    flint.wait(lambda: flint.idle)
    assert flint.stored()[-1].text == "".join(piece.text for piece in flint.deltas(pending.request_id))


def test_stored_messages_are_shown_as_they_stand_now(store, replies, host, bridge):
    pending = replies.request(asked(store))
    put(host, bridge, delta(pending, "Half"))
    put(host, bridge, delta(pending, " a word"))
    question, reply = replies.as_they_stand(store.messages(pending.chat_id))
    assert (question.text, reply.text, reply.state) == ("Hello", "Half a word", "streaming")
    put(host, bridge, Finished(pending.request_id))
    assert replies.as_they_stand(store.messages(pending.chat_id)) == store.messages(pending.chat_id)


def test_reply_without_a_word_of_a_stopped_question_is_asked_with_the_next_one(flint):
    pending = flint.send("First")
    flint.window.replies.stop(pending)
    flint.wait(lambda: flint.idle)
    reply = flint.ask("Second")
    assert reply.text == FOX

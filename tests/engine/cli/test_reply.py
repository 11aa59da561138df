"""One question and its reply in a terminal, when the person, the disk or the reader of the output gets in the way."""

import os
import signal

import pytest

from engine.chats.store import ChatStore
from engine.cli.reply import Asker
from engine.core.errors import DiskFull
from engine.core.paths import locate
from tests.engine.engines import make_host

LONG = {"temperature": 0.0, "max_tokens": 300}


class Echo:
    """An output that calls `react` with each piece of text it is given."""

    def __init__(self, react):
        self.text = ""
        self.pieces = 0
        self.react = react

    def isatty(self):
        return False

    def write(self, text):
        self.text += text
        if text:
            self.pieces += 1
            self.react(self)

    def flush(self):
        pass


@pytest.fixture
def asker(models):
    host = make_host()
    host.start()
    with ChatStore(locate().chats) as store:
        made = Asker(host.connect(), store, {}, LONG)
        made.begin("one", None)
        yield made
        host.close()


def interrupt_at(*pieces):
    def react(echo):
        if echo.pieces in pieces:
            os.kill(os.getpid(), signal.SIGINT)

    return react


def stored(asker):
    return asker._store.messages(asker.chat_id)[-1]


def test_ctrl_c_stops_the_reply_and_keeps_what_was_written(asker):
    echo = Echo(interrupt_at(5))
    reply = asker.ask("hello", echo)
    assert reply.state == "cancelled"
    assert 5 <= reply.facts.output_tokens < 300
    assert stored(asker).state == "cancelled"
    assert echo.text == stored(asker).text + "\n"


def test_ctrl_c_is_itself_again_after_the_reply(asker):
    before = signal.getsignal(signal.SIGINT)
    asker.ask("hello", Echo(interrupt_at(5)))
    assert signal.getsignal(signal.SIGINT) is before
    asker.ask("more", Echo(lambda echo: None))
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_interrupts_and_the_reply_is_kept_all_the_same(asker):
    with pytest.raises(KeyboardInterrupt):
        asker.ask("hello", Echo(lambda echo: interrupt_at(5)(echo) or interrupt_at(5)(echo)))
    assert stored(asker).state == "cancelled"
    assert stored(asker).text


def test_a_reader_that_went_away_ends_the_reply_and_it_is_kept(asker):
    def react(echo):
        if echo.pieces == 4:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        asker.ask("hello", Echo(react))
    assert stored(asker).state == "cancelled"
    assert stored(asker).text


def test_a_disk_that_is_full_for_a_while_costs_nothing(asker, monkeypatch):
    def full(*_, **__):
        raise DiskFull("The disk is full.")

    monkeypatch.setattr(asker._store, "save_reply", full)
    monkeypatch.setattr("engine.chats.reply_writer.SAVE_EVERY_S", 0.0)
    reply = asker.ask("hello", Echo(lambda echo: None))
    assert reply.state == "complete"
    assert asker.unsaved is None
    assert stored(asker).text == reply.text


def test_a_reply_that_cannot_be_stored_goes_on_and_says_why(asker, monkeypatch):
    def full(*_, **__):
        raise DiskFull("The disk is full.")

    monkeypatch.setattr(asker._store, "finish_reply", full)
    echo = Echo(lambda echo: None)
    reply = asker.ask("hello", echo)
    assert echo.text == reply.text + "\n"
    assert isinstance(asker.unsaved, DiskFull)


def test_the_second_question_of_a_conversation_reads_only_what_is_new(asker):
    first = asker.ask("hello", None)
    second = asker.ask("and then?", None)
    assert second.facts.cached_tokens >= first.facts.prompt_tokens
    assert second.message.chat_id == first.message.chat_id
    asker.begin("one", None)
    assert asker.ask("hello", None).message.chat_id != first.message.chat_id

"""Probabilities in the store: as they were, with the reply they belong to, and gone with it."""

import dataclasses
import json
import sqlite3
import threading
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chats.odds import read, stored, write
from engine.chats.reply_writer import ReplyWriter
from engine.chats.request import compose
from engine.chats.store import ChatStore
from engine.core.errors import ChatNotFound
from engine.core.messages import Cancelled, Finished, ReplyOdds, TextDelta
from engine.core.odds import TokenOdds

ODDS = TokenOdds(
    2, (7, 9), ("He", "llo 😀"), (-0.25, -1.5), (7, 8, 5, 9), (-0.25, -2.0, -0.5, -1.5), (5, 7, 8, 9), ("a", "He", "b", "c")
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "chats.db"


def written(store, *events):
    chat = store.create_chat()
    question = store.add_message(chat.id, "user", "Hello")
    writer = ReplyWriter(store, store.begin_reply(chat.id, question.id, "model"))
    for event in events:
        writer.take(event)
    return chat.id, writer.message.id


@pytest.mark.parametrize("end", [Finished, Cancelled])
def test_odds_of_a_reply_survive_a_restart(path, end):
    with ChatStore(path) as store:
        delta = TextDelta("1", "Hello 😀", "", 2, 0.0, 0, 0.0)
        _, reply = written(store, delta, ReplyOdds("1", ODDS), end("1"))
    with ChatStore(path) as store:
        assert store.odds(reply) == ODDS


def test_reply_without_odds_has_none(path):
    with ChatStore(path) as store:
        _, reply = written(store, Finished("1"))
        assert store.odds(reply) is None
        with pytest.raises(ChatNotFound):
            store.odds("nobody")


def test_odds_go_with_their_message(path):
    with ChatStore(path) as store:
        chat_id, _ = written(store, ReplyOdds("1", ODDS), Finished("1"))
        store.delete_chat(chat_id)
        store.empty_trash()
        with store._database.reading() as connection:
            assert connection.execute("SELECT COUNT(*) FROM odds").fetchone() == (0,)


def test_long_reply_takes_little_room(path):
    tokens = 2_000
    many = TokenOdds(
        5,
        tuple(range(tokens)),
        ("word ",) * tokens,
        tuple(-index / 7 for index in range(tokens)),
        tuple(range(5 * tokens)),
        tuple(-index / 70_000 for index in range(5 * tokens)),
        tuple(range(5 * tokens)),
        tuple(f"word{index}" for index in range(5 * tokens)),
    )
    with ChatStore(path) as store:
        _, reply = written(store, ReplyOdds("1", many), Finished("1"))
        with store._database.reading() as connection:
            size = connection.execute("SELECT LENGTH(data) FROM odds").fetchone()[0]
        assert size < 50 * tokens
        assert store.odds(reply).other_logprobs == pytest.approx(many.other_logprobs, abs=1e-4)


def test_what_a_newer_flint_or_a_broken_disk_left_counts_as_nothing(path):
    bad = [b"no zlib", zlib.compress(b"[]"), zlib.compress(b'{"count": 2}'), zlib.compress(b'{"count": 2, "ids": [1]}')]
    values = dataclasses.asdict(ODDS) | {"pieces": ["one too few"]}
    with ChatStore(path) as store:
        _, reply = written(store, ReplyOdds("1", ODDS), Finished("1"))
        for data in (*bad, zlib.compress(json.dumps(values).encode())):
            with store._database.writing() as connection:
                connection.execute("UPDATE odds SET data = ?", (data,))
            assert store.odds(reply) is None


@pytest.mark.parametrize("value", ["off", "on"])
def test_chat_that_keeps_probabilities_asks_for_them(path, value):
    with ChatStore(path) as store:
        chat = store.create_chat(settings={"keep_probabilities": value})
        message = store.add_message(chat.id, "user", "Hello")
        request = compose(store, chat.id, [message], request_id="1", model_id="m", app={})
    assert request.keep_probabilities == value


def test_odds_of_a_reply_that_went_on_are_those_of_both_stretches(path):
    more = TokenOdds(2, (4,), ("!",), (-0.5,), (4, 9), (-0.5, -3.0), (4, 9), ("!", "c"))
    with ChatStore(path) as store:
        _, reply = written(store, TextDelta("1", "Hello 😀", "", 2, 0.0, 0, 0.0), ReplyOdds("1", ODDS), Finished("1"))
        before = store.message(reply)
        going = store.resume_reply(reply)
        writer = ReplyWriter(store, going, before=before, odds=store.odds(reply))
        for event in (TextDelta("2", "!", "", 1, 0.0, 0, 0.0), ReplyOdds("2", more), Finished("2")):
            writer.take(event)
        found = store.odds(reply)
        assert (found.ids, found.pieces) == ((7, 9, 4), ("He", "llo 😀", "!"))
        assert found.others(2) == [(4, -0.5), (9, -3.0)]
        assert dict(zip(found.known_ids, found.texts, strict=True)) == {5: "a", 7: "He", 8: "b", 9: "c", 4: "!"}


def test_branch_holds_what_was_before_and_the_other_token():
    branched = ODDS.branched(1, 5)
    assert (branched.ids, branched.pieces, branched.logprobs) == ((7, 5), ("He", "a"), (-0.25, -0.5))
    assert branched.others(1) == ODDS.others(1)
    with pytest.raises(KeyError):
        ODDS.branched(1, 8)


@given(st.lists(st.tuples(st.text('ab",:[]{}\\\n\u2028😀'), st.floats(-50, 0), st.integers(0, 2**17)), max_size=8))
def test_whatever_the_tokens_are_they_come_back(tokens):
    pieces, logprobs, ids = tuple(zip(*tokens, strict=True)) if tokens else ((), (), ())
    logprobs = tuple(round(figure, 4) for figure in logprobs)
    odds = TokenOdds(1, ids, pieces, logprobs, ids, logprobs, ids, pieces)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE odds (message INTEGER PRIMARY KEY, data BLOB)")
        write(connection, 1, odds)
        assert read(stored(connection, 1)) == odds


def test_database_is_free_while_what_was_kept_is_worked_out(path, monkeypatch):
    found = []

    def read_beside(data):
        other = threading.Thread(target=lambda: found.append(store.chats()))
        other.start()
        other.join(timeout=30)
        return read(data)

    with ChatStore(path) as store:
        chat_id, reply = written(store, ReplyOdds("1", ODDS), Finished("1"))
        monkeypatch.setattr("engine.chats.odds.read", read_beside)
        assert store.odds(reply) == ODDS
        assert [chat.id for chat in found[0]] == [chat_id]

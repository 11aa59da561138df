"""Flint as a process: how it opens, closes, dies and comes back, beside others and where it can't."""

import hashlib
import json
import os
import signal
import sqlite3
import threading
from contextlib import closing

import pytest

from app.__main__ import build
from engine.chats.store import ChatStore
from engine.core.errors import ReadOnly, StoreBroken, StoreTooNew
from engine.core.paths import locate
from tests.app.processes import LONG_S, flint, flint_window, next_fact, run_window
from tests.app.window_driver import give_model, open_window, remember, set_settings
from tests.disks import read_only
from tests.hub.server import Hub
from tests.models.speaking import FOX

NO_RAISE = "This plugin does not support raise()\n"
"""Qt's, on a screen that is none."""


NOT_FOR_THE_FIRST_PAINT = (
    "app.background",
    "app.chat.composer.attachment_dialog",
    "app.chat.composer.file_reader",
    "app.chat.composer.prompt_dialog",
    "app.chat.composer.prompt_list",
    "app.chat.composer.prompt_popover",
    "app.chat.conversation.finder",
    "app.chat.conversation.message",
    "app.chat.conversation.replay_dialog",
    "app.chat.conversation.selection_copy",
    "app.chat.conversation.stats_line",
    "app.chat.conversation.summary_dialog",
    "app.chat.conversation.thought",
    "app.chat.text",
    "app.models.dialog",
    "app.models.hub_controller",
    "app.models.hub_place",
    "app.models.keep_controller",
    "app.models.template_controller",
    "app.settings.editor",
    "app.settings.field",
    "app.settings.group",
    "app.settings.preset_bar",
    "app.settings.storage",
    "concurrent",
    "html",
)
"""What an empty window does not show: a module, or a package with all that is in it."""


@pytest.fixture
def endless_here(endless):
    """The data folder has a model that never ends by itself."""
    remember(model=give_model(endless))
    set_settings(max_tokens=30_000)


def stored(chat_id):
    with ChatStore(locate().chats) as store:
        return store.messages(chat_id)


# -- opening and closing -------------------------------------------------------------------------------------------------


def test_window_opens_and_closes_with_status_0_and_nothing_to_say(fox):
    remember(model=give_model(fox))
    assert run_window("close") == (0, [{"shown": True}], "")


def test_window_is_painted_before_what_it_does_not_show_is_loaded():
    status, said, _ = run_window("name-modules")
    assert status == 0
    loaded = said[0]["modules"]
    assert "app.window" in loaded
    assert [
        name for name in loaded if any(name == late or name.startswith(f"{late}.") for late in NOT_FOR_THE_FIRST_PAINT)
    ] == []


def test_window_without_a_download_under_way_loads_nothing_of_the_hubs():
    data = locate().data
    data.mkdir(parents=True, exist_ok=True)
    paused = {"model_id": "org/model", "name": "Model", "state": "paused", "done_bytes": 1, "total_bytes": 2}
    (data / "downloads.json").write_text(json.dumps([paused]))
    status, said, _ = run_window("name-modules-at-rest")
    assert (status, said[0]["toasts"]) == (0, [])
    assert not {"huggingface_hub", "httpx", "keyring"} & set(said[0]["modules"])


@pytest.mark.parametrize("_time", [*range(3), *(pytest.param(time, marks=pytest.mark.heavy) for time in range(3, 20))])
def test_closing_while_a_reply_streams_ends_cleanly_and_keeps_it(endless_here, _time):
    status, said, err = run_window("close-while-writing")
    assert (status, err) == (0, "")
    assert said[0]["phase"] == "writing"
    reply = stored(said[0]["chat"])[-1]
    assert reply.state == "cancelled"
    assert FOX.startswith(reply.text[:20])


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.heavy)])
def test_ctrl_c_and_the_systems_request_close_the_window_and_keep_the_reply(endless_here, number):
    with flint_window("write-on") as process:
        chat = next_fact(process)["chat"]
        while not next_fact(process).get("text"):
            pass
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
    assert stored(chat)[-1].state == "cancelled"


def test_closing_a_built_window_joins_the_engine_without_an_event_loop(qapp, qtbot):
    _, window = build(["flint"])
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: any(thread.name == "flint-engine" for thread in threading.enumerate()))
    window.close()
    names = {thread.name for thread in threading.enumerate()}
    assert "flint-engine" not in names
    qtbot.waitUntil(lambda: not any(thread.name.startswith("flint-") for thread in threading.enumerate()))
    qapp.setStyleSheet("")


def test_window_that_was_never_shown_can_be_closed(qapp, qtbot):
    _, window = build(["flint"])
    qtbot.addWidget(window)
    window.close()
    assert not any(thread.name == "flint-engine" for thread in threading.enumerate())
    qapp.setStyleSheet("")


# -- kill -9 -------------------------------------------------------------------------------------------------------------


def test_after_kill_9_in_mid_reply_the_chat_shows_what_had_been_on_screen(qtbot, endless_here):
    with flint_window("write-on") as process:
        chat = next_fact(process)["chat"]
        seen = [next_fact(process)]
        while seen[-1]["at"] - seen[0]["at"] < 2.5:
            seen.append(next_fact(process))
        process.kill()
        rest = process.communicate()[0].splitlines()
    # What came through the pipe after that was on screen too; the first and the last line may be half of one.
    seen += [json.loads(line) for line in rest if line[:1] + line[-1:] == "{}"]
    assert stored(chat)[-1].state == "streaming"
    with open_window(qtbot) as again:
        assert again.window.chat.chat_id == chat
        reply = again.stored()[-1]
        assert reply.state == "interrupted"
        assert again.shown()[-1] == reply.text.strip()
        assert "Interrupted" in again.stats(reply)
    # The last one was looked at for saving at some time after the one before it was shown.
    older = [fact["text"] for fact in seen if fact["at"] <= seen[-2]["at"] - 1]
    assert older[-1]
    assert reply.text.startswith(older[-1])
    assert seen[-1]["text"].startswith(reply.text) or reply.text.startswith(seen[-1]["text"])


# -- a second start ------------------------------------------------------------------------------------------------------


def test_second_start_raises_the_window_and_ends_with_0(fox):
    remember(model=give_model(fox))
    with flint_window("wait-for-raise") as first:
        assert next_fact(first) == {"minimized": True}
        second = flint()
        assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
        assert next_fact(first) == {"raised": True}
        _, err = first.communicate(timeout=60)
        assert (first.returncode, err.replace(NO_RAISE, "")) == (0, "")


def test_killed_window_does_not_keep_the_next_one_from_opening():
    with flint_window("wait-for-raise") as killed:
        next_fact(killed)
        killed.kill()
        killed.communicate()
    assert run_window("close") == (0, [{"shown": True}], "")


def test_quitting_ends_the_process_while_the_hub_does_not_answer(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.base)
        asked = threading.Event()
        server.fault("/api/", hang=True, times=None, change=asked.set)
        with flint_window("search-until-told") as window:
            assert asked.wait(LONG_S), "nothing was asked"
            _, err = window.communicate("enough\n", timeout=LONG_S)
            assert (window.returncode, err) == (0, "")


def test_command_line_works_beside_a_window_that_writes(endless_here, fox):
    give_model(fox)
    with flint_window("write-until-told") as window:
        chat = next_fact(window)["chat"]
        done = flint("chat", "Hello", "--model", "fox", "--json")
        assert done.returncode == 0, done.stderr
        reply = json.loads(done.stdout)
        assert reply["text"] == FOX
        out, err = window.communicate("enough\n", timeout=60)
        assert json.loads(out.splitlines()[-1]) == {"still": "writing"}
        assert (window.returncode, err) == (0, "")
    assert stored(chat)[-1].state == "cancelled"
    assert [message.text for message in stored(reply["chat"])] == ["Hello", FOX]


# -- where it can't start ------------------------------------------------------------------------------------------------


def newer_schema():
    with ChatStore(locate().chats) as store:
        store.add_message(store.create_chat().id, "user", "Precious")
    with closing(sqlite3.connect(locate().chats)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def fingerprint(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.glob("chats*")
        if not path.name.endswith("-shm")
    }


def test_chats_of_a_newer_flint_are_left_alone_and_told():
    newer_schema()
    before = fingerprint(locate().data)
    status, said, _ = run_window("read-failure")
    assert status == StoreTooNew.exit_code
    assert "newer" in said[0]["failureText"]
    assert said[0]["failureHint"] == StoreTooNew.default_hint
    assert fingerprint(locate().data) == before


def test_damaged_chats_are_left_alone_and_told():
    locate().data.mkdir(parents=True)
    locate().chats.write_bytes(b"This is no database, but somebody may want it back. " * 20)
    before = fingerprint(locate().data)
    status, said, _ = run_window("read-failure")
    assert status == StoreBroken.exit_code
    assert "chats.sqlite3" in said[0]["failureText"]
    assert said[0]["failureHint"]
    assert fingerprint(locate().data) == before


def test_try_again_opens_the_window_once_it_is_mended():
    newer_schema()
    status, said, _ = run_window("mend-and-try-again")
    assert (status, said) == (0, [{"shown": True}])


def test_second_start_raises_the_failures_window_too():
    newer_schema()
    with flint_window("wait-at-failure") as first:
        assert next_fact(first) == {"minimized": True}
        assert flint().returncode == 0
        assert next_fact(first) == {"raised": True}
        first.communicate(timeout=60)
        assert first.returncode == StoreTooNew.exit_code


def test_read_only_data_folder_is_told():
    locate().data.mkdir(parents=True)
    with read_only(locate().data):
        status, said, _ = run_window("read-failure")
    assert status == ReadOnly.exit_code
    assert str(locate().data) in said[0]["failureText"]
    assert said[0]["failureHint"] == ReadOnly.default_hint


def test_file_where_the_data_folder_should_be_is_told():
    locate().data.write_text("in the way")
    status, said, _ = run_window("read-failure")
    assert status == ReadOnly.exit_code
    assert str(locate().data) in said[0]["failureText"]
    assert locate().data.read_text() == "in the way"


@pytest.mark.skipif("sys.platform != 'linux'", reason="only Linux may be without a screen")
def test_without_a_screen_it_says_what_works_instead():
    environment = {
        name: value for name, value in os.environ.items() if name not in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    }
    done = flint(env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: There is no screen to open a window on.\nIn a terminal, “flint chat” works without one.\n"

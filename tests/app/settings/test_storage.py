"""Throwing away in the real window: the trash, and what models have read."""

import re
import sqlite3
import threading
import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QMessageBox, QWidget

from app.chat.words import Words
from engine.cache.disk import DiskCache, prefix_folder
from engine.chats.store import ChatStore
from engine.core.messages import Cancelled, ClearPrefixCache, Finished, ForgetChats
from engine.core.paths import locate
from tests.app.window_driver import give_model, open_window, refuse_writes, remember
from tests.models.speaking import FOX

DAY_S = 24 * 60 * 60


def fill_trash(count, days_ago=0.0):
    """Put chats into the trash as a window before this one did; return their ids."""
    with ChatStore(locate().chats, clock=lambda: time.time() - days_ago * DAY_S) as store:
        chats = [store.create_chat(f"Chat {number}") for number in range(count)]
        for chat in chats:
            store.add_message(chat.id, "user", "Hello")
            store.delete_chat(chat.id)
    return [chat.id for chat in chats]


def trash():
    with ChatStore(locate().chats) as store:
        return [chat.id for chat in store.trash()]


def removed():
    """The chats that are gone for good and of which the engine was not told yet."""
    with ChatStore(locate().chats) as store:
        return store.removed_chats()


def sent(flint, kind):
    """Collect the commands of a kind that the window sends from here on."""
    commands, bridge = [], flint.window.bridge
    send = bridge.send
    bridge.send = lambda command: (commands.append(command) if isinstance(command, kind) else None, send(command))
    return commands


def show_storage(flint):
    """Open the panel at its rows for all chats, the last ones in view."""
    flint.click("settingsButton")
    flint.press(flint.part("settingsScope"), "segment.app")
    bar = flint.window.settings_panel._scroll.verticalScrollBar()
    flint.wait(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())


def note(flint):
    return flint.part("note.emptyTrash", QLabel).text()


def question(flint):
    return flint.window.findChild(QMessageBox, "emptyTrashQuestion")


def answer(flint, name):
    box = question(flint)
    button = box.findChild(QAbstractButton, name) if name else box.button(QMessageBox.StandardButton.Cancel)
    button.click()
    flint.wait(lambda: question(flint) is None)


def delete_shown(flint):
    flint.part("chatList").setFocus()
    flint.key(Qt.Key.Key_Delete, name="chatList")


def kept_files():
    return DiskCache(prefix_folder(locate()), 0).use().files


@pytest.fixture
def kept(flint):
    """The window, with what its model read of a chat on disk; returns the chat's id."""
    chat_id = flint.ask("Tell me about the fox").chat_id
    flint.wait(kept_files)
    return chat_id


# -- the trash -----------------------------------------------------------------------------------------------------------


def test_rows_are_named_for_tools_and_people_and_shown_under_all_chats_only(flint):
    show_storage(flint)
    for name, spoken in (("emptyTrashButton", "Empty trash"), ("clearCacheButton", "Clear")):
        assert flint.part(name).isVisible()
        assert flint.part(name).accessibleName() == spoken
    flint.press(flint.part("settingsScope"), "segment.chat")
    assert not flint.part("emptyTrashButton").isVisible()
    assert not flint.part("clearCacheButton").isVisible()


def test_row_says_how_many_chats_are_in_the_trash_as_they_come_and_go(flint):
    show_storage(flint)
    button = flint.part("emptyTrashButton")
    assert (note(flint), button.isEnabled(), button.accessibleDescription()) == ("none", False, "no deleted chats")
    flint.ask("One")
    delete_shown(flint)
    assert (note(flint), button.isEnabled(), button.accessibleDescription()) == ("1 in the trash", True, "1 deleted chat")
    flint.press(flint.window, "toastAction")
    assert (note(flint), button.isEnabled()) == ("none", False)


def test_trash_is_counted_anew_whenever_the_panel_is_opened(flint):
    show_storage(flint)
    flint.click("settingsButton")
    fill_trash(3)
    flint.click("settingsButton")
    assert note(flint) == "3 in the trash"
    assert flint.part("emptyTrashButton").accessibleDescription() == "3 deleted chats"


@pytest.mark.drives("emptyTrashButton")
@pytest.mark.drives("emptyTrashQuestion")
def test_no_single_slip_deletes_anything(flint):
    chats = fill_trash(2)
    show_storage(flint)
    QTest.mouseClick(flint.part("emptyTrashButton"), Qt.MouseButton.LeftButton)
    QTest.mouseDClick(flint.part("emptyTrashButton"), Qt.MouseButton.LeftButton)
    assert question(flint).text() == "Delete 2 chats for good?"
    assert question(flint).defaultButton() == question(flint).button(QMessageBox.StandardButton.Cancel)
    QTest.keyClick(question(flint), Qt.Key.Key_Return)
    flint.wait(lambda: question(flint) is None)
    assert sorted(trash()) == sorted(chats)
    flint.click("emptyTrashButton")
    QTest.keyClick(question(flint), Qt.Key.Key_Escape)
    flint.wait(lambda: question(flint) is None)
    assert sorted(trash()) == sorted(chats)
    assert note(flint) == "2 in the trash"


def test_confirmed_the_chats_are_gone_and_the_engine_is_told_which(flint):
    chats = fill_trash(3)
    kept = flint.ask("Hello").chat_id
    commands = sent(flint, ForgetChats)
    show_storage(flint)
    flint.click("emptyTrashButton")
    assert question(flint).text() == "Delete 3 chats for good?"
    answer(flint, "emptyTrashConfirm")
    assert trash() == []
    flint.wait(lambda: note(flint) == "none")
    assert not flint.part("emptyTrashButton").isEnabled()
    (command,) = commands
    assert sorted(command.chat_ids) == sorted(chats)
    flint.wait(lambda: flint.ends(command.request_id))
    assert flint.ends(command.request_id) == [Finished(command.request_id)]
    assert removed() == []
    assert flint.stored(kept)
    assert flint.toasts() == []


def test_what_was_read_of_the_removed_chats_leaves_the_disk(flint, kept):
    delete_shown(flint)
    show_storage(flint)
    flint.click("emptyTrashButton")
    assert question(flint).text() == "Delete 1 chat for good?"
    answer(flint, "emptyTrashConfirm")
    flint.wait(lambda: not kept_files())
    assert trash() == []


def test_the_offer_to_undo_goes_with_the_chat(flint):
    flint.ask("One")
    delete_shown(flint)
    assert flint.window.findChild(QWidget, "toastAction").isVisible()
    show_storage(flint)
    flint.click("emptyTrashButton")
    answer(flint, "emptyTrashConfirm")
    assert flint.window.toaster.toasts == ()
    assert flint.ask("Another").state == "complete"


def test_chat_deleted_while_it_was_written_can_be_removed_at_once(writing):
    flint, pending = writing
    commands = sent(flint, ForgetChats)
    show_storage(flint)
    flint.window.sidebar.wishes.delete_requested.emit((pending.chat_id,))
    flint.window.storage._empty()  # No answer of the engine's has come in between.
    assert not flint.idle
    assert trash() == []
    flint.wait(lambda: flint.idle)
    assert [type(event) for event in flint.ends(pending.request_id)] == [Cancelled]
    flint.wait(lambda: flint.ends(commands[0].request_id))
    assert not flint.window.replies._saver.isActive()
    assert flint.window.toaster.toasts == ()


def test_trash_that_can_not_be_emptied_is_told_and_stays(flint):
    chats = fill_trash(2)
    show_storage(flint)
    flint.click("emptyTrashButton")
    with refuse_writes(flint):
        answer(flint, "emptyTrashConfirm")
    assert len(flint.toasts()) == 1
    assert sorted(trash()) == sorted(chats)
    assert note(flint) == "2 in the trash"
    flint.click("emptyTrashButton")
    answer(flint, "emptyTrashConfirm")
    assert trash() == []


@pytest.fixture
def many(flint, monkeypatch):
    """The window with 600 chats in the trash, and what lets their removal go on, slice by slice; threads that remove."""
    fill_trash(600)
    gate, threads, tell = threading.Semaphore(0), set(), ChatStore.sweep
    stopped = flint.window.storage._work._stop.is_set

    def sweep(store, told):
        threads.add(threading.current_thread())
        tell(store, lambda done, total: (told(done, total), wait()))

    def wait():
        while not (stopped() or gate.acquire(timeout=0.01)):
            pass

    monkeypatch.setattr(ChatStore, "sweep", sweep)
    flint.window.chats.refresh()
    show_storage(flint)
    flint.click("trashButton")
    flint.click("emptyTrashButton")
    answer(flint, "emptyTrashConfirm")
    yield flint, gate, threads
    gate.release(100_000)


def progress(flint):
    """How many chats are removed, and that panel and sidebar say so alike."""
    shown = re.fullmatch(r"emptying… (\d+) of 600", note(flint))
    bar = flint.part("trashBar").findChild(Words).words
    return int(shown[1]) if shown and bar == f"Emptying… {shown[1]} of 600" else None


def test_large_trash_is_emptied_beside_the_window_which_says_how_far_it_is(many):
    flint, gate, threads = many
    assert trash() == []  # At once: what follows is only what is left in the file.
    for least in (1, 20, 120):
        flint.wait(lambda least=least: gate.release() or (progress(flint) or 0) >= least)
    assert not flint.part("emptyTrashButton").isEnabled()
    assert flint.ask("Hello meanwhile").state == "complete"
    gate.release(100_000)
    flint.wait(lambda: note(flint) == "none")
    assert threading.main_thread() not in threads
    assert flint.part("trashBar").findChild(Words).words == "Kept for 30 days"
    flint.wait(lambda: flint.window._store.is_swept())
    with sqlite3.connect(locate().chats) as rows:
        assert rows.execute("SELECT COUNT(*) FROM chats").fetchone() == (1,)


def test_window_closes_while_a_large_trash_is_emptied_and_the_next_one_goes_on(many, qtbot):
    flint, gate, _ = many
    flint.wait(lambda: gate.release() or progress(flint))
    flint.window.close()
    assert trash() == []
    with ChatStore(locate().chats) as store:
        assert not store.is_swept()
    with open_window(qtbot) as again:
        again.wait(lambda: again.window._store.is_swept() and not removed())
        assert again.toasts() == []
    with sqlite3.connect(locate().chats) as rows:
        assert rows.execute("SELECT COUNT(*) FROM chats").fetchone() == (0,)


def test_trash_that_can_not_be_removed_on_the_way_is_told_and_is_there_again(flint, monkeypatch):
    chats = fill_trash(3)
    flint.window.chats.refresh()
    with sqlite3.connect(locate().chats) as rows:
        rows.execute("CREATE TRIGGER refuse BEFORE DELETE ON chats BEGIN SELECT RAISE(ABORT, 'no'); END")
    show_storage(flint)
    flint.click("emptyTrashButton")
    answer(flint, "emptyTrashConfirm")
    flint.wait(lambda: flint.toasts())
    flint.wait(lambda: note(flint) == "3 in the trash")
    assert sorted(trash()) == sorted(chats)
    assert flint.part("trashButton").isVisible()
    with sqlite3.connect(locate().chats) as rows:
        rows.execute("DROP TRIGGER refuse")
    flint.click("emptyTrashButton")
    answer(flint, "emptyTrashConfirm")
    flint.wait(lambda: flint.window._store.is_swept())
    assert trash() == []


# -- at the start --------------------------------------------------------------------------------------------------------


def test_after_thirty_days_a_deleted_chat_is_removed_once_the_window_is_there(qtbot, fox):
    remember(model=give_model(fox))
    old, young = fill_trash(2, days_ago=30.5), fill_trash(1, days_ago=29.5)
    with open_window(qtbot) as flint:
        flint.wait(lambda: trash() == young)
        flint.wait(lambda: flint.window.bridge._host is not None and not removed())
        (told,) = [event for event in flint.events if event.request_id.startswith("forget-chats")]
        assert isinstance(told, Finished)
        assert flint.toasts() == []
    with sqlite3.connect(locate().chats) as rows:
        assert rows.execute("SELECT COUNT(*) FROM chats WHERE id IN (?, ?)", old).fetchone() == (0,)


def test_window_closed_before_the_engine_could_forget_has_it_forget_at_the_next_start(qtbot, writing):
    flint, _ = writing
    chats = fill_trash(2)
    flint.window.storage._empty()
    flint.window.close()
    assert trash() == []
    assert sorted(removed()) == sorted(chats)
    with open_window(qtbot) as again:
        again.wait(lambda: not removed())
        assert again.toasts() == []


def test_nobody_is_disturbed_where_the_trash_can_not_be_tidied(flint):
    chats = fill_trash(1, days_ago=31)
    with refuse_writes(flint):
        flint.window.storage.tidy()
    assert trash() == chats
    assert flint.toasts() == []


# -- what was read -------------------------------------------------------------------------------------------------------


@pytest.mark.drives("clearCacheButton")
def test_clearing_forgets_what_was_read_and_says_so(flint, kept):
    commands = sent(flint, ClearPrefixCache)
    show_storage(flint)
    flint.click("clearCacheButton")
    assert not flint.part("clearCacheButton").isEnabled()
    flint.wait(lambda: flint.toasts())
    assert [text for text, _ in flint.toasts()] == ["Cleared"]
    assert flint.part("clearCacheButton").isEnabled()
    assert len(commands) == 1
    assert kept_files() == 0
    assert flint.stored(kept)


def test_clearing_that_fails_is_told(flint, monkeypatch):
    def refuse(_cache):
        raise RuntimeError("no")

    monkeypatch.setattr(flint.window.bridge._host._worker.upkeep, "clear", refuse)
    show_storage(flint)
    flint.click("clearCacheButton")
    flint.wait(lambda: flint.toasts())
    assert "Cleared" not in [text for text, _ in flint.toasts()]
    assert flint.window.toaster.toasts[0].kind == "error"
    assert "Traceback" not in flint.said()
    assert flint.part("clearCacheButton").isEnabled()


def test_clearing_waits_for_the_reply_that_is_written(writing):
    flint, _ = writing
    show_storage(flint)
    flint.click("clearCacheButton")
    QTest.qWait(100)
    assert flint.part("note.clearCache", QLabel).text() == "clearing…"
    assert flint.toasts() == []
    flint.window.chat.stop()
    flint.wait(lambda: [text for text, _ in flint.toasts()] == ["Cleared"])
    assert flint.part("note.clearCache", QLabel).text() == ""


def test_deleted_messages_are_emptied_with_the_trash_and_their_chat_stays(flint):
    reply = flint.ask("A secret")
    flint.ask("More")
    flint.window.message_actions.delete(flint.stored()[2].id)
    flint.click("settingsButton")
    flint.wait(lambda: note(flint) == "2 messages in the trash")
    assert flint.part("emptyTrashButton").accessibleDescription() == "deleted: 2 messages"
    flint.click("emptyTrashButton")
    assert question(flint).text() == "Delete 2 messages for good?"
    answer(flint, "emptyTrashConfirm")
    flint.wait(lambda: note(flint) == "none")
    assert flint.shown() == ["A secret", FOX]
    assert flint.stored()[-1].id == reply.id
    flint.wait(lambda: not flint.toasts())
    flint.wait(lambda: not flint.window._store.removed_chats())

"""The trash in the real window: looked into, restored from, emptied; in agreement with the settings panel."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget

from engine.chats.store import ChatStore
from engine.core.errors import ReadOnly
from engine.core.messages import ForgetChats
from engine.core.paths import locate
from tests.app.window_driver import row_center

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def deleted(flint):
    """Three deleted chats and one that is not, the trash on show."""
    with ChatStore(locate().chats) as store:
        made = [store.create_chat(f"Chat {number}") for number in range(4)]
        for chat in made:
            store.add_message(chat.id, "user", f"About {chat.title}")
        store.delete_chats([chat.id for chat in made[:3]])
    flint.window.chats.refresh()
    flint.click("trashButton")
    return [chat.id for chat in made[:3]]


def titles(flint, kind="trashed"):
    return sorted(row.title for row in flint.part("chatList").rows if row.kind == kind)


def pick(flint, chat_id, keys=Qt.KeyboardModifier.NoModifier):
    view = flint.part("chatList")
    QTest.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, keys, row_center(view, view.model().row_of(chat_id)) - QPoint(40, 0)
    )


def answer(flint, question, name):
    """Press a button of the question that is asked; None is Escape."""
    flint.wait(lambda: flint.window.findChild(QMessageBox, question))
    box = flint.window.findChild(QMessageBox, question)
    if name is None:
        QTest.keyClick(box, Qt.Key.Key_Escape)
    else:
        QTest.mouseClick(box.findChild(QWidget, name), Qt.MouseButton.LeftButton)
    flint.wait(lambda: not flint.window.findChild(QMessageBox, question))


def in_trash():
    with ChatStore(locate().chats) as store:
        return sorted(chat.title for chat in store.trash())


@pytest.mark.drives("trashButton", "chatList")
def test_a_click_selects_a_deleted_chat_and_return_brings_it_back_and_opens_it(flint, deleted):
    assert titles(flint) == ["Chat 0", "Chat 1", "Chat 2"]
    pick(flint, deleted[1])
    assert flint.window.chat.chat_id is None
    flint.key(Qt.Key.Key_Return, name="chatList")
    assert flint.window.chat.chat_id == deleted[1]
    assert flint.shown() == ["About Chat 1"]
    assert titles(flint, "chat") == ["Chat 1", "Chat 3"]
    assert in_trash() == ["Chat 0", "Chat 2"]


@pytest.mark.drives("chatList")
def test_many_are_restored_at_once(flint, deleted):
    pick(flint, deleted[0])
    flint.key(Qt.Key.Key_A, CTRL, name="chatList")
    flint.key(Qt.Key.Key_Return, name="chatList")
    assert in_trash() == []
    assert [text for text, _ in flint.toasts()] == ["3 chats were restored."]
    flint.key(Qt.Key.Key_Escape, name="chatList")
    assert titles(flint, "chat") == ["Chat 0", "Chat 1", "Chat 2", "Chat 3"]
    assert not flint.part("trashButton").isVisible()


@pytest.mark.drives("removeChatsQuestion", "removeChatsConfirm", "removeChatsCancel", "chatList")
def test_deleting_for_good_is_asked_and_the_engine_forgets(flint, deleted):
    sent = []
    send = flint.window.bridge.send
    flint.window.bridge.send = lambda command: (sent.append(command), send(command))
    pick(flint, deleted[0])
    flint.key(Qt.Key.Key_Delete, name="chatList")
    box = flint.window.findChild(QMessageBox, "removeChatsQuestion")
    assert box.text() == "Delete “Chat 0” for good?"
    answer(flint, "removeChatsQuestion", "removeChatsCancel")
    flint.key(Qt.Key.Key_Delete, name="chatList")
    answer(flint, "removeChatsQuestion", None)
    assert in_trash() == ["Chat 0", "Chat 1", "Chat 2"]
    pick(flint, deleted[1], CTRL)
    flint.key(Qt.Key.Key_Delete, name="chatList")
    answer(flint, "removeChatsQuestion", "removeChatsConfirm")
    assert in_trash() == ["Chat 2"]
    assert titles(flint) == ["Chat 2"]
    (forget,) = [command for command in sent if isinstance(command, ForgetChats)]
    assert set(forget.chat_ids) == set(deleted[:2])
    with ChatStore(locate().chats) as store:
        flint.wait(lambda: store.removed_chats() == [])


@pytest.mark.drives("chatList")
def test_a_trash_that_cannot_be_read_is_told_and_nothing_is_asked(flint, deleted, monkeypatch):
    def refuse():
        raise ReadOnly("The chats can't be read.")

    pick(flint, deleted[0])
    monkeypatch.setattr(flint.window._store, "trash", refuse)
    flint.key(Qt.Key.Key_Delete, name="chatList")
    (toast,) = flint.window.toaster.toasts
    assert "The chats can't be read." in [label.text() for label in toast.findChildren(QLabel)]
    assert flint.window.findChild(QMessageBox, "removeChatsQuestion") is None


@pytest.mark.drives("trashEmpty", "emptyTrashConfirm", "emptyTrashCancel")
def test_emptying_is_asked_and_the_settings_panel_agrees(flint, deleted):
    flint.click("settingsButton")
    note = flint.part("note.emptyTrash")
    flint.wait(lambda: note.text() == "3 in the trash")
    flint.click("trashEmpty")
    answer(flint, "emptyTrashQuestion", "emptyTrashCancel")
    assert in_trash() == ["Chat 0", "Chat 1", "Chat 2"]
    flint.click("trashEmpty")
    answer(flint, "emptyTrashQuestion", "emptyTrashConfirm")
    assert in_trash() == []
    assert titles(flint) == []
    flint.wait(lambda: note.text() == "none")
    assert flint.part("chatList").accessibleDescription() == "The trash is empty."


def test_emptying_in_the_settings_panel_empties_the_list(flint, deleted):
    flint.click("settingsButton")
    flint.click("emptyTrashButton")
    answer(flint, "emptyTrashQuestion", "emptyTrashConfirm")
    assert titles(flint) == []
    assert flint.part("trashButton").note == ""


def test_restoring_takes_back_the_offer_to_undo(flint, deleted):
    with ChatStore(locate().chats) as store:
        (kept,) = store.chats()
    flint.window.sidebar.wishes.delete_requested.emit((kept.id,))
    assert len(flint.toasts()) == 1
    flint.window.sidebar.wishes.restore_requested.emit((kept.id,))
    flint.wait(lambda: flint.toasts() == [])
    assert flint.window.chat.chat_id == kept.id


@pytest.mark.drives("trashBack")
def test_the_way_back_shows_the_chats(flint, deleted):
    flint.click("trashBack")
    assert titles(flint, "chat") == ["Chat 3"]
    flint.click("trashButton")
    flint.click("newChatButton")
    assert titles(flint, "chat") == ["Chat 3"]


def test_search_leaves_the_trash_out_and_comes_back_to_it(flint, deleted):
    flint.type("About", name="chatSearch")
    flint.wait(lambda: titles(flint, "hit") == ["Chat 3"])
    flint.key(Qt.Key.Key_Escape, name="chatSearch")
    assert titles(flint) == ["Chat 0", "Chat 1", "Chat 2"]

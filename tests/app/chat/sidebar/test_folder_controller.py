"""Folders, pins and many chats at once in the real window."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu

from engine.chats.store import ChatStore
from engine.core.paths import locate
from tests.app.window_driver import row_center

NONE, CTRL, SHIFT, ALT = (getattr(Qt.KeyboardModifier, f"{name}Modifier") for name in ("No", "Control", "Shift", "Alt"))


@pytest.fixture
def chats(flint):
    """Five chats, newest last, none of them open."""
    with ChatStore(locate().chats) as store:
        made = [store.create_chat(f"Chat {number}") for number in range(5)]
        for chat in made:
            store.add_message(chat.id, "user", f"About {chat.title}")
    flint.window.chats.refresh()
    return [chat.id for chat in made]


def rows(flint):
    return [row.title for row in flint.part("chatList").rows if row.kind != "heading"]


def headings(flint):
    return [row.title for row in flint.part("chatList").rows if row.kind == "heading"]


def stored(flint):
    with ChatStore(locate().chats) as store:
        names = {folder.id: folder.name for folder in store.folders.all()}
        return {chat.title: (names.get(chat.folder_id or ""), chat.pinned) for chat in store.chats()}


def click(flint, row_id, keys=NONE):
    view = flint.part("chatList")
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, keys, row_center(view, view.model().row_of(row_id)))


def folder(flint, name="Work", chat_ids=()):
    made = flint.window._store.folders.create(name)
    if chat_ids:
        flint.window._store.folders.move(chat_ids, made.id)
    flint.window.chats.refresh()
    return made.id


def undo(flint):
    flint.press(flint.window, "toastAction")


@pytest.mark.drives("newFolder", "chatTitle")
def test_a_new_folder_is_named_at_once(flint, chats):
    flint.key(Qt.Key.Key_N, CTRL | SHIFT)
    editor = flint.part("chatTitle", QLineEdit)
    assert editor.text() == "New Folder"
    QTest.keyClicks(editor, "Thesis")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    flint.wait(lambda: rows(flint)[0] == "Thesis")
    with ChatStore(locate().chats) as store:
        assert [made.name for made in store.folders.all()] == ["Thesis"]


@pytest.mark.drives("moveChat", "chatMenu")
def test_the_open_chat_is_moved_by_keys_alone_and_seen_to_arrive(flint, chats):
    made = folder(flint)
    flint.window._store.folders.expand(made, False)
    flint.open_chat(chats[2])
    flint.key(Qt.Key.Key_F, CTRL | ALT)
    flint.wait(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    QTest.keyClick(QApplication.activePopupWidget(), Qt.Key.Key_Return)
    assert stored(flint)["Chat 2"] == ("Work", False)
    assert rows(flint)[:2] == ["Work", "Chat 2"]
    assert flint.window.chat.chat_id == chats[2]
    flint.key(Qt.Key.Key_F, CTRL | ALT)
    menu = QApplication.activePopupWidget()
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert "Chat 2" in stored(flint)
    flint.wait(lambda: len(stored(flint)) == 5)


@pytest.mark.drives("chatList")
def test_a_folder_stays_open_or_closed_across_a_restart(flint, chats):
    made = folder(flint, chat_ids=chats[:2])
    assert rows(flint)[:3] == ["Work", "Chat 1", "Chat 0"]
    click(flint, made)
    assert rows(flint)[:2] == ["Work", "Chat 4"]
    with ChatStore(locate().chats) as store:
        assert [one.expanded for one in store.folders.all()] == [False]
    click(flint, made)
    assert rows(flint)[:3] == ["Work", "Chat 1", "Chat 0"]


def test_a_deleted_folder_leaves_its_chats_and_comes_back_with_them(flint, chats):
    made = folder(flint, chat_ids=chats[:2])
    flint.window.sidebar.wishes.folder_deleted.emit(made)
    assert "Folders" not in headings(flint)
    assert sorted(rows(flint)) == [f"Chat {number}" for number in range(5)]
    assert flint.toasts() == [("The folder “Work” was deleted.", "Its 2 chats are kept.")]
    undo(flint)
    assert {name for name, place in stored(flint).items() if place[0] == "Work"} == {"Chat 0", "Chat 1"}


@pytest.mark.drives("pinChat", "chatList")
def test_pinning_by_keys_and_letting_go_again(flint, chats):
    made = folder(flint, chat_ids=chats[:1])
    click(flint, chats[0])
    click(flint, chats[3], CTRL)
    flint.key(Qt.Key.Key_P, CTRL | ALT)
    assert headings(flint)[0] == "Pinned"
    assert stored(flint)["Chat 0"] == ("Work", True)
    assert stored(flint)["Chat 3"] == (None, True)
    flint.window._store.pin_chats([chats[3]], False)
    flint.window.chats.refresh()
    flint.key(Qt.Key.Key_P, CTRL | ALT)
    assert stored(flint)["Chat 3"][1]
    flint.key(Qt.Key.Key_P, CTRL | ALT)
    assert not any(pinned for _, pinned in stored(flint).values())
    assert flint.part("chatList").rows[flint.part("chatList").model().row_of(chats[0])].folder_id == made


def test_a_pinned_chat_that_is_moved_is_pinned_no_more(flint, chats):
    made = folder(flint)
    flint.window._store.pin_chats([chats[1]], True)
    flint.window.sidebar.wishes.move_requested.emit((chats[1],), made)
    assert stored(flint)["Chat 1"] == ("Work", False)
    flint.window.sidebar.wishes.move_requested.emit((chats[1],), "")
    assert stored(flint)["Chat 1"] == (None, False)


@pytest.mark.drives("chatList", "toastAction")
def test_many_are_deleted_with_one_message_and_come_back_together(flint, chats):
    click(flint, chats[4])
    click(flint, chats[1], SHIFT)
    flint.key(Qt.Key.Key_Delete, name="chatList")
    assert rows(flint) == ["Chat 0"]
    assert flint.toasts() == [("4 chats were deleted.", "")]
    assert flint.window.chat.chat_id is None
    undo(flint)
    assert sorted(rows(flint)) == [f"Chat {number}" for number in range(5)]
    assert flint.window.chat.chat_id == chats[4]


def test_what_is_selected_outlives_a_reply_in_another_chat(flint, chats):
    flint.ask("Hello")
    shown = flint.window.chat.chat_id
    click(flint, chats[1], CTRL)
    click(flint, chats[2], CTRL)
    flint.ask("More")
    assert set(flint.window.sidebar.picked()) == {shown, chats[1], chats[2]}


def test_a_folder_that_is_gone_is_told_and_the_list_is_right_again(flint, chats):
    made = folder(flint)
    with ChatStore(locate().chats) as other:
        other.folders.remove(made)
    flint.window.sidebar.wishes.move_requested.emit((chats[0],), made)
    assert [text for text, _ in flint.toasts()] == ["This folder does not exist any more."]
    assert "Work" not in rows(flint)

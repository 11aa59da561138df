"""Which chat a command is for, whatever the sidebar shows: the selected ones, else the one on screen."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu

from engine.chats.store import ChatStore
from engine.core.paths import locate

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def after_a_new_folder(flint):
    """The folder's row is selected, and has the keyboard."""
    flint.key(Qt.Key.Key_N, CTRL | SHIFT)
    QTest.keyClick(flint.part("chatTitle", QLineEdit), Qt.Key.Key_Return)
    view = flint.part("chatList")
    flint.wait(lambda: [row.kind for row in view.picked()] == ["folder"] and view.hasFocus())


def in_a_closed_folder(flint):
    """The chat that is shown has no row."""
    folders = flint.window._store.folders
    made = folders.create("Closed")
    folders.move([flint.window.chat.chat_id], made.id)
    folders.expand(made.id, False)
    flint.window.chats.refresh()
    assert flint.part("chatList").place_of(flint.window.chat.chat_id) < 0


def beside_a_search(flint):
    """What is found is another chat."""
    flint.type("Other", name="chatSearch")
    view = flint.part("chatList")
    flint.wait(lambda: view.rows and view.rows[0].kind == "hit")
    view.clearSelection()


def beside_the_trash(flint):
    """The list shows deleted chats, one of them selected."""
    flint.window.chats._delete((flint.window._store.create_chat("Deleted").id,))
    flint.window.sidebar.trash_toggled.emit(True)
    view = flint.part("chatList")
    view.setFocus()
    view.choose_first()
    assert [row.kind for row in view.picked()] == ["trashed"]


STATES = (after_a_new_folder, in_a_closed_folder, beside_a_search, beside_the_trash)


@pytest.fixture(params=STATES, ids=lambda state: state.__name__)
def shown(flint, request):
    """A chat on screen that the list does not have selected."""
    with ChatStore(locate().chats) as store:
        chat, other = store.create_chat("Mine").id, store.create_chat("Other").id
        for one in (chat, other):
            store.add_message(one, "user", f"About {store.chat(one).title}")
    flint.window.chats.refresh()
    flint.open_chat(chat)
    request.param(flint)
    assert flint.window.chat.chat_id == chat
    return chat


def do(flint, name):
    flint.window.commands.find(name).trigger()


def test_rename_edits_the_title_of_the_chat_on_screen(flint, shown):
    do(flint, "renameChat")
    editor = flint.part("chatTitle", QLineEdit)
    assert editor.text() == "Mine"
    editor.selectAll()
    QTest.keyClicks(editor, "Renamed")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    flint.wait(lambda: flint.window._store.chat(shown).title == "Renamed")


def test_pin_pins_the_chat_on_screen(flint, shown):
    do(flint, "pinChat")
    assert [chat.id for chat in flint.window._store.chats() if chat.pinned] == [shown]


def test_move_moves_the_chat_on_screen(flint, shown):
    before = flint.window._store.chat(shown).folder_id
    do(flint, "moveChat")
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == "New Folder…").trigger()
    menu.close()
    assert flint.window._store.chat(shown).folder_id not in (None, before)
    assert flint.part("chatTitle", QLineEdit).text().startswith("New Folder")


def test_export_offers_the_chat_on_screen(flint, shown):
    do(flint, "exportChat")
    assert flint.window.findChild(QFileDialog, "exportDialog").selectedFiles()[0].endswith("Mine.md")


def test_a_new_folder_is_named_whatever_the_list_shows(flint, shown):
    do(flint, "newFolder")
    editor = flint.part("chatTitle", QLineEdit)
    assert editor.text().startswith("New Folder")
    editor.selectAll()
    QTest.keyClicks(editor, "Named")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    flint.wait(lambda: "Named" in [row.title for row in flint.part("chatList").rows if row.kind == "folder"])

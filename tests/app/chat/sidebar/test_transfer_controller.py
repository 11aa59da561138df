"""Chats into files and out of them, in the real window with the system's own dialogs."""

import json
import zipfile
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDrag, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLineEdit, QMenu

from app.chat.sidebar.chat_drag import dragged_chats
from app.chat.sidebar.drag_view import MOST_FILES
from engine.chats.import_files import import_files
from engine.chats.store import ChatStore
from engine.core.paths import locate
from tests.app.file_picking import file_dialog, pick_file
from tests.app.patience import LONG_MS
from tests.engine.chats.foreign import branching, lmstudio, said, with_tools

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def made(*titles):
    with ChatStore(locate().chats) as store:
        chats = [store.create_chat(title) for title in titles]
        for chat in chats:
            store.add_message(chat.id, "user", f"About {chat.title}")
    return [chat.id for chat in chats]


def titles(flint):
    return {row.title for row in flint.part("chatList").rows if row.kind == "chat"}


def listed(flint, *names):
    ids = made(*names)
    flint.window.chats.refresh()
    return ids


def choose(flint, text):
    """Take a line of the menu that is open, by keyboard."""
    flint.wait(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    while menu.activeAction() is None or menu.activeAction().text() != text:
        flint.qtbot.keyClick(menu, Qt.Key.Key_Down)
    flint.qtbot.keyClick(menu, Qt.Key.Key_Return)


def told(flint, words):
    flint.wait(lambda: any(words in text for text, _ in flint.toasts()))
    return next(hint for text, hint in flint.toasts() if words in text)


@pytest.mark.drives("exportDialog", "exportChat")
@pytest.mark.parametrize("name", ["mine.md", "mine.json"])
def test_the_open_chat_is_exported_by_its_shortcut(flint, tmp_path, name):
    (chat,) = listed(flint, "Tea: or/coffee?")
    flint.open_chat(chat)
    flint.key(Qt.Key.Key_E, CTRL | SHIFT)
    dialog = flint.window.findChild(QFileDialog, "exportDialog")
    assert dialog.selectedFiles()[0].endswith("/Tea or coffee.md")
    pick_file(flint.qtbot, flint.window, "exportDialog", tmp_path / name)
    told(flint, f"“{name}” was written")
    text = (tmp_path / name).read_text("utf-8")
    assert "About Tea: or/coffee?" in text
    assert name.endswith(".md") or json.loads(text)["chats"][0]["id"] == chat


@pytest.mark.drives("exportDialog")
@pytest.mark.parametrize(("typed", "written"), [("", "Tea or coffee.json"), ("mine", "mine.json"), ("mine.md", "mine.json")])
def test_another_form_leaves_the_name_that_was_typed(flint, tmp_path, typed, written):
    (chat,) = listed(flint, "Tea: or/coffee?")
    flint.open_chat(chat)
    flint.key(Qt.Key.Key_E, CTRL | SHIFT)
    dialog = file_dialog(flint.qtbot, flint.window, "exportDialog")
    dialog.setDirectory(str(tmp_path))
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    if typed:
        field.selectAll()
        flint.qtbot.keyClicks(field, typed)
    forms = dialog.findChild(QComboBox, "fileTypeCombo")
    flint.qtbot.keyClick(forms, Qt.Key.Key_Down)
    flint.qtbot.keyClick(field, Qt.Key.Key_Return)
    told(flint, f"“{written}” was written")
    assert [path.name for path in tmp_path.glob("*.*")] == [written]


@pytest.mark.drives("chatMenu", "exportDialog", "chatList")
def test_many_are_exported_as_files_into_a_folder(flint, tmp_path):
    listed(flint, "One", "Two", "Three")
    flint.part("chatList").setFocus()
    flint.key(Qt.Key.Key_A, CTRL, name="chatList")
    flint.key(Qt.Key.Key_E, CTRL | SHIFT)
    choose(flint, "Markdown, a File Each…")
    pick_file(flint.qtbot, flint.window, "exportDialog", tmp_path)
    assert str(tmp_path) in told(flint, "3 chats were exported")
    assert {path.name for path in tmp_path.glob("*.md")} == {"One.md", "Two.md", "Three.md"}


@pytest.mark.drives("exportDialog", "exportAllChats")
def test_all_chats_leave_and_come_back_with_everything(flint, tmp_path):
    ids = listed(flint, "One", "Two")
    with ChatStore(locate().chats) as store:
        folder = store.folders.create("Work")
        store.folders.move(ids[:1], folder.id)
        store.pin_chats(ids[1:], True)
        before = [store.read_chat(chat) for chat in ids]
    flint.key(Qt.Key.Key_E, CTRL | Qt.KeyboardModifier.AltModifier)
    pick_file(flint.qtbot, flint.window, "exportDialog", tmp_path / "all.json")
    told(flint, "“all.json” was written")
    with ChatStore(locate().chats) as store:
        store.delete_chats(ids)
        store.empty_trash()
        store.folders.remove(folder.id)
    flint.window.sidebar.wishes.import_requested.emit((str(tmp_path / "all.json"),))
    told(flint, "2 chats were imported")
    with ChatStore(locate().chats) as store:
        assert [store.read_chat(chat) for chat in ids] == before
    assert titles(flint) == {"One", "Two"}


def test_without_a_chat_there_is_nothing_to_export(flint):
    flint.key(Qt.Key.Key_E, CTRL | SHIFT)
    assert "There is no chat to export." in [text for text, _ in flint.toasts()]
    assert flint.window.findChild(QFileDialog) is None


@pytest.mark.drives("importDialog", "importChats")
def test_chatgpts_archive_is_imported_from_the_dialog_and_can_be_taken_back(flint, tmp_path):
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("conversations.json", json.dumps([branching(), with_tools(), {"mapping": 3}]))
    flint.key(Qt.Key.Key_I, CTRL | SHIFT)
    pick_file(flint.qtbot, flint.window, "importDialog", archive)
    hint = told(flint, "2 chats were imported")
    assert "1 chat could not be read" in hint
    assert "2 steps" in hint
    assert titles(flint) == {"Coffee at night"}
    flint.press(flint.window, "toastAction")
    assert titles(flint) == set()
    with ChatStore(locate().chats) as store:
        assert len(store.trash()) == 2


def drop(flint, *paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    list_ = flint.part("chatList").viewport()  # Where most drops land; what it does not take is the sidebar's around it.
    where, action = QPointF(20, 200), Qt.DropAction.CopyAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(where.toPoint(), action, data, buttons, keys)
    QApplication.sendEvent(list_, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(list_, QDropEvent(where, action, data, buttons, keys))


@pytest.mark.drives("sidebar")
def test_a_file_dropped_on_the_sidebar_is_imported_and_opened(flint, tmp_path):
    path = tmp_path / "1727.conversation.json"
    path.write_text(json.dumps(lmstudio([said("user", "Two cups?")])))
    drop(flint, path)
    told(flint, "1 chat was imported")
    assert flint.shown() == ["Two cups?"]
    drop(flint, path)
    told(flint, "nothing new: 1 chat is here already")


def test_a_file_without_chats_is_told_with_what_to_do(flint, tmp_path):
    path = tmp_path / "notes.json"
    path.write_text("{}")
    drop(flint, path)
    assert "ChatGPT" in told(flint, "no chats")
    assert not flint.part("transferRow").isVisible()


@pytest.fixture
def endless_import(flint, tmp_path, monkeypatch):
    """A file of many chats, whose import goes on from its first step only once it is told to stop."""
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{**branching(), "conversation_id": f"c{number}"} for number in range(40)]))
    monkeypatch.setattr("engine.chats.json_stream.READ_BYTES", 1024)
    stop = flint.window.transfers._work._stop

    def held(store, paths, told):
        return import_files(store, paths, lambda *step: stop.wait(LONG_MS / 1000) and told(*step))

    monkeypatch.setattr("engine.chats.import_files.import_files", held)
    return path


@pytest.mark.drives("transferStop", "transferRow", "transferProgress")
def test_an_import_on_its_way_is_shown_and_can_be_stopped(flint, endless_import):
    path, ids = endless_import, made("Kept")
    drop(flint, path)
    assert flint.part("transferRow").isVisible()
    drop(flint, path)
    told(flint, "still on their way")
    flint.click("transferProgress")  # It is only looked at.
    flint.click("transferStop")
    flint.wait(lambda: not flint.part("transferRow").isVisible())
    with ChatStore(locate().chats) as store:
        assert [chat.id for chat in store.chats()] == ids
        assert store.trash() == []


def test_closing_the_window_ends_an_import_and_leaves_nothing_of_it(flint, endless_import):
    drop(flint, endless_import)
    flint.window.close()
    with ChatStore(locate().chats) as store:
        assert store.chats() == []


@pytest.mark.drives("chatList")
def test_a_dragged_chat_carries_itself_as_a_file(flint, monkeypatch):
    one, _ = listed(flint, "Tea: or/coffee?", "Two")
    seen = []

    def exec_(drag, actions, first):
        seen.extend(Path(url.toLocalFile()) for url in drag.mimeData().urls())
        return Qt.DropAction.CopyAction

    monkeypatch.setattr(QDrag, "exec", exec_)
    flint.open_chat(one)
    flint.part("chatList").startDrag(Qt.DropAction.MoveAction)
    (path,) = seen
    assert path.name == "Tea or coffee.md"
    assert "About Tea: or/coffee?" in path.read_text("utf-8")
    flint.key(Qt.Key.Key_A, CTRL, name="chatList")
    flint.part("chatList").startDrag(Qt.DropAction.MoveAction)
    assert sorted(path.name for path in seen[1:]) == ["Tea or coffee.md", "Two.md"]
    flint.window.close()
    assert not path.exists()


@pytest.mark.drives("chatList")
def test_files_of_dragged_chats_are_made_once_and_only_for_who_asks(flint, monkeypatch):
    ids = listed(flint, *(f"Chat {number}" for number in range(MOST_FILES + 1)))
    made, seen = [], []
    make = flint.part("chatList").files_of
    flint.window.sidebar.drag_files(lambda chats: made.append(chats) or make(chats))

    def ignored(drag, actions, first):
        data = drag.mimeData()
        assert data.hasUrls()
        seen.append((dragged_chats(data), data.text()))

    def dropped(drag, actions, first):
        ignored(drag, actions, first)
        assert made == []
        assert drag.mimeData().urls() == drag.mimeData().urls()
        assert bytes(drag.mimeData().data("text/uri-list").data()).startswith(b"file:///")

    def of_many(drag, actions, first):
        assert not drag.mimeData().hasUrls()

    flint.open_chat(ids[0])
    for what, files in ((ignored, 0), (dropped, 1)):
        monkeypatch.setattr(QDrag, "exec", what)
        flint.part("chatList").startDrag(Qt.DropAction.MoveAction)
        assert len(made) == files
    assert seen == [((ids[0],), "Chat 0")] * 2
    monkeypatch.setattr(QDrag, "exec", of_many)
    flint.key(Qt.Key.Key_A, CTRL, name="chatList")
    flint.part("chatList").startDrag(Qt.DropAction.MoveAction)

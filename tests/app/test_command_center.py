"""The command palette and the sheet of shortcuts in the real window."""

import inspect
import re

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListView, QWidget
from shiboken6 import isValid

from app.menu_bar import make_menu_bar
from app.palette import Palette
from app.shortcuts_sheet import PART_KEYS, ShortcutsSheet, native, rows
from app.window import MainWindow
from engine.chats.store import ChatStore
from engine.core.paths import locate
from tests.app.window_driver import open_window, row_center

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(qtbot):
    """An open window without a model, with three chats."""
    with ChatStore(locate().chats) as store:
        for title in ("Coffee", "Lisbon", "Regex"):
            chat = store.create_chat(model_id="")
            store.add_message(chat.id, "user", title)
            store.rename_chat(chat.id, title)
    with open_window(qtbot) as driver:
        yield driver


def palette(driver):
    """The palette, opened by its keys where it is not open."""
    if driver.window.findChild(Palette) is None or driver.part("palette").isHidden():
        driver.key(Qt.Key.Key_K, CTRL)
    return driver.part("palette", Palette)


@pytest.mark.drives("paletteField", "composer")
def test_palette_finds_a_chat_by_keyboard_and_gives_the_focus_back(window):
    composer = window.part("composer")
    composer.setFocus()
    opened = palette(window)
    assert opened.isVisible()
    window.type("lis", "paletteField")
    window.key(Qt.Key.Key_Return, name="paletteField")
    assert opened.isHidden()
    assert window.window.chat.chat_id == next(chat.id for chat in window.window._store.chats() if chat.title == "Lisbon")
    assert QApplication.focusWidget() is composer


@pytest.mark.drives("paletteList")
def test_palette_runs_an_action_with_a_click(window):
    opened = palette(window)
    window.type("settings", "paletteField")
    view = window.part("paletteList", QListView)
    assert [item.title for item in opened.shown] == ["Settings"]
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=row_center(view, 0))
    assert opened.isHidden()
    assert window.part("settingsPanel").isVisible()


def test_arrows_move_through_the_palette_and_stop_at_its_ends(window):
    palette(window)
    view = window.part("paletteList", QListView)
    last = view.model().rowCount() - 1
    for key, row in ((Qt.Key.Key_Up, 0), (Qt.Key.Key_Down, 1), (Qt.Key.Key_PageDown, 11), (Qt.Key.Key_PageUp, 1)):
        window.key(key, name="paletteField")
        assert view.currentIndex().row() == min(row, last)


@pytest.mark.parametrize(("key", "modifier"), [(Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_K, CTRL)])
def test_escape_and_its_own_keys_close_the_palette_and_do_nothing(window, key, modifier):
    opened = palette(window)
    window.key(key, modifier, name="paletteField")
    assert opened.isHidden()
    assert window.window.chat.chat_id is None


def test_the_palette_gives_the_focus_to_what_is_left_of_where_it_was(window):
    window.window.chat.open(window.window._store.chats()[0].id)
    window.window.commands.find("renameChat").trigger()
    field = QApplication.focusWidget()
    opened = palette(window)
    chats = window.part("chatList")
    window.wait(lambda: not isValid(field))
    QTest.keyClick(window.part("paletteField"), Qt.Key.Key_Escape)
    assert opened.isHidden()
    assert QApplication.focusWidget() is chats


def test_the_palette_gives_no_focus_to_what_was_hidden_meanwhile(window):
    window.window.commands.find("searchChats").trigger()
    opened = palette(window)
    window.part("sidebar").hide()
    QTest.keyClick(window.part("paletteField"), Qt.Key.Key_Escape)
    assert opened.isHidden()
    focus = QApplication.focusWidget()
    assert focus is None or focus.isVisible()


def action_names():
    """The names of the window's actions, as `MainWindow._add_actions` declares them, without those that close it."""
    source = inspect.getsource(MainWindow._add_actions)
    return [name for name in re.findall(r'\("[A-Z][a-z]+", "([A-Za-z]+)"', source) if name not in ("closeWindow", "quit")]


@pytest.mark.parametrize("how", ["hidden", "narrow"])
@pytest.mark.parametrize("name", action_names())
def test_no_action_leaves_the_keyboard_out_of_sight(window, name, how):
    window.window.chat.open(window.window._store.chats()[0].id)
    if how == "hidden":
        window.window.toggle_sidebar()
    else:
        window.window.resize(640, 600)
    QTest.qWait(0)
    assert not window.part("sidebar").isVisible()
    window.window.commands.find(name).trigger()
    for _ in range(3):
        QTest.qWait(0)
        focus = QApplication.focusWidget()
        assert focus is None or (focus.isVisible() and not focus.visibleRegion().isEmpty()), focus
    for widget in QApplication.topLevelWidgets():
        if widget is not window.window and widget.isVisible():
            widget.close()


@pytest.mark.parametrize("keys", [(Qt.Key.Key_R, CTRL), (Qt.Key.Key_N, CTRL | SHIFT), (Qt.Key.Key_F, CTRL | SHIFT)])
@pytest.mark.parametrize("width", [640, 1280])
def test_what_the_sidebar_is_needed_for_shows_it_first(window, keys, width):
    window.window.chat.open(window.window._store.chats()[0].id)
    window.window.resize(width, 600)
    if width == 1280:
        window.window.toggle_sidebar()
    QTest.qWait(0)
    QTest.keyClick(window.window, *keys)
    QTest.qWait(0)
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    assert window.part("sidebar").isAncestorOf(field)
    assert field.visibleRegion().boundingRect() == field.rect()


@pytest.mark.drives("palette")
def test_a_press_beside_the_card_closes_the_palette_and_does_nothing_else(window):
    opened = palette(window)
    QTest.mouseClick(opened, Qt.MouseButton.LeftButton, pos=QPoint(5, opened.height() - 5))
    assert opened.isHidden()
    assert window.window.chat.chat_id is None


def test_words_that_match_nothing_say_so(window):
    opened = palette(window)
    window.type("qqqq", "paletteField")
    assert not opened.shown
    assert window.part("paletteField").accessibleDescription() == "Nothing matches"
    window.key(Qt.Key.Key_Return, name="paletteField")
    assert opened.isVisible()


def test_every_action_has_a_name_and_no_two_share_keys(window):
    entries = window.window.commands.entries
    names = [entry.action.objectName() for entry in entries]
    keys = [native(entry.action.shortcut()) for entry in entries if not entry.action.shortcut().isEmpty()]
    assert all(names)
    assert len(set(names)) == len(names)
    assert len(set(keys)) == len(keys)
    assert {native(QKeySequence(keys)) for keys in ("Ctrl+N", "Ctrl+K", "Ctrl+,", "Ctrl+/")} <= set(keys)


@pytest.mark.drives("shortcutsSheet")
@pytest.mark.drives("shortcutsClose", "shortcutsList")
def test_the_sheet_lists_every_shortcut_and_closes_by_mouse_and_keyboard(window):
    for close in ("mouse", "keyboard"):
        QTest.qWait(0)
        window.key(Qt.Key.Key_Slash, CTRL)
        sheet = window.part("shortcutsSheet", ShortcutsSheet)
        said = {label.text() for label in sheet.findChildren(QLabel)}
        listed = rows(window.window.commands.entries)
        assert {text for group in listed.values() for row in group for text in row} <= said
        assert {what for _, what, _ in PART_KEYS} <= said
        QTest.mouseClick(sheet.findChild(QWidget, "shortcutsList").viewport(), Qt.MouseButton.LeftButton)
        if close == "mouse":
            QTest.mouseClick(sheet.findChild(QWidget, "shortcutsClose"), Qt.MouseButton.LeftButton)
        else:
            QTest.keyClick(sheet, Qt.Key.Key_Escape)
        assert not sheet.isVisible()
        window.window.activateWindow()
        window.qtbot.waitActive(window.window)


def test_a_menu_bar_has_every_action_under_its_group(window):
    bar = make_menu_bar(window.window.commands.entries)
    titles = [action.text() for action in bar.actions()]
    assert titles == list(dict.fromkeys(entry.group for entry in window.window.commands.entries))
    shown = [action for menu in bar.actions() for action in menu.menu().actions()]
    assert {action.objectName() for action in shown} == {entry.action.objectName() for entry in window.window.commands.entries}


def test_next_and_previous_chat_go_through_the_list_and_stop_at_its_ends(window):
    listed = list(window.window.sidebar.listed())
    assert len(listed) == 3
    for step, expected in ((1, 0), (1, 1), (1, 2), (1, 2), (-1, 1), (-1, 0), (-1, 0)):
        window.key(Qt.Key.Key_Down if step > 0 else Qt.Key.Key_Up, CTRL | Qt.KeyboardModifier.AltModifier)
        assert window.window.chat.chat_id == listed[expected]


def test_larger_smaller_and_normal_text_are_kept_and_bounded(window):
    theme, read = window.window._theme, window.part("composer")
    height = read.height()
    for _ in range(12):
        window.key(Qt.Key.Key_Equal, CTRL)
    assert theme.text_size == 200
    assert theme.font("read").pixelSize() == 30
    assert theme.font("ui").pixelSize() == 13
    assert read.height() > height
    window.key(Qt.Key.Key_Minus, CTRL)
    assert theme.text_size == 190
    window.key(Qt.Key.Key_0, CTRL)
    assert theme.text_size == 100
    assert read.height() == height


def test_in_a_narrow_window_sidebar_and_settings_take_turns(window):
    window.window.resize(700, 600)
    QTest.qWait(0)
    assert not window.part("sidebar").isVisible()
    window.click("settingsButton")
    assert window.part("settingsPanel").isVisible()
    window.click("sidebarButton")
    assert window.part("sidebar").isVisible()
    assert not window.part("settingsPanel").isVisible()
    window.click("settingsButton")
    assert not window.part("sidebar").isVisible()
    assert window.part("chatPage").width() >= 320

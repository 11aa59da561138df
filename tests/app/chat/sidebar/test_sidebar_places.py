"""Folders, pinned chats, many at once and the trash in the sidebar, driven by mouse and keyboard."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QMimeData, QPersistentModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QDrag, QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QMouseEvent
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QListView, QMenu

from app.chat.sidebar.chat_drag import Target, target_of
from app.chat.sidebar.chat_list import CHATS_MIME, ROW_ROLE, ChatListModel, Row
from app.chat.sidebar.chat_rows import found_words, hit_row
from app.chat.sidebar.sidebar import Sidebar
from app.chat.sidebar.wishes import Wishes
from engine.chats.records import ChatSummary, Folder, SearchHit
from tests.app.chat.sidebar.noon import NOON

NONE, CTRL, SHIFT = (getattr(Qt.KeyboardModifier, f"{name}Modifier") for name in ("No", "Control", "Shift"))
LEFT = Qt.MouseButton.LeftButton
WISHES = [name for name in vars(Wishes) if name.endswith(("requested", "renamed", "deleted", "expanded"))]

WORK, THESIS = Folder("work", "Work", 1.0, False), Folder("thesis", "Thesis & co", 2.0, True)


def chat(number, age_days=0.0, **changes):
    moment = NOON - 86400 * age_days - number
    values = {"pinned": False, "model_id": "", **changes}
    return ChatSummary(str(number), f"Chat {number}", moment, moment, **values)


CHATS = [
    chat(1, pinned=True),
    chat(2, folder_id="work"),
    chat(3, folder_id="work"),
    chat(4, folder_id="thesis"),
    chat(5, folder_id="thesis"),
    chat(6),
    chat(7),
    chat(8, 1),
    chat(9, 1),
]
DELETED = [chat(20, 9, deleted_at=NOON - 2 * 86400), chat(21, 9, deleted_at=NOON - 86400 * 29.2)]


@pytest.fixture
def sidebar(theme, qtbot, at_noon):
    sidebar = Sidebar(theme)
    sidebar.resize(260, 700)
    qtbot.addWidget(sidebar)
    sidebar.said = []
    for name in ("chat_selected", "hit_selected", "more_requested", "trash_toggled"):
        getattr(sidebar, name).connect(lambda *data, name=name: sidebar.said.append((name, *data)))
    for name in WISHES:
        getattr(sidebar.wishes, name).connect(lambda *data, name=name: sidebar.said.append((name, *data)))
    sidebar.set_chats(CHATS, [THESIS, WORK], 2)
    sidebar.show()
    qtbot.waitExposed(sidebar)
    sidebar.activateWindow()
    yield sidebar
    menu = QApplication.activePopupWidget()
    if menu is not None:
        menu.close()


def view(sidebar):
    return sidebar.findChild(QListView, "chatList")


def button(sidebar, name):
    return sidebar.findChild(QAbstractButton, name)


def spot(sidebar, row_id):
    """Where to click a row, by its chat, folder or heading."""
    place = next(n for n, row in enumerate(view(sidebar).rows) if row_id in (row.chat_id or row.folder_id or row.title,))
    return view(sidebar).visualRect(view(sidebar).model().index(place, 0)).topLeft() + QPoint(60, 14)


def click(sidebar, row_id, keys=NONE):
    QTest.mouseClick(view(sidebar).viewport(), LEFT, keys, spot(sidebar, row_id))


def key(sidebar, which, keys=NONE):
    QTest.keyClick(view(sidebar), which, keys)


def picked(sidebar):
    return [row.chat_id or row.folder_id for row in view(sidebar).picked()]


def titles(sidebar):
    return [row.title for row in view(sidebar).rows]


def menu_of(sidebar, row_id):
    where = spot(sidebar, row_id)
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, where, view(sidebar).viewport().mapToGlobal(where))
    QApplication.sendEvent(view(sidebar).viewport(), asked)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def lines(menu):
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def take(menu, text):
    action = next(action for action in menu.actions() if action.text() == text)
    QTest.mouseClick(menu, LEFT, NONE, menu.actionGeometry(action).center())


# -- folders ---------------------------------------------------------------------------------------------------------------


def test_pinned_chats_folders_and_dates_stand_in_this_order(sidebar):
    assert titles(sidebar) == [
        *("Pinned", "Chat 1", "Folders", "Thesis & co", "Chat 4", "Chat 5", "Work"),
        *("Today", "Chat 6", "Chat 7", "Yesterday", "Chat 8", "Chat 9"),
    ]
    work = view(sidebar).rows[6]
    assert (work.note, work.expanded) == ("2", False)


def test_chats_of_a_folder_are_set_in_to_40(sidebar, theme):
    image = view(sidebar).grab().toImage()
    ratio = image.devicePixelRatio()

    def first_ink(row_id):
        y = spot(sidebar, row_id).y()
        ground = image.pixelColor(2, round(y * ratio))
        for x in range(12, 200):
            column = [image.pixelColor(round(x * ratio), round((y + dy) * ratio)) for dy in range(-6, 7)]
            if any(color != ground for color in column):
                return x
        return -1

    assert 40 <= first_ink("4") <= 43
    assert 16 <= first_ink("6") <= 19


def test_a_chat_whose_folder_is_gone_stands_under_its_date(sidebar):
    sidebar.set_chats(CHATS, [WORK])
    assert {"Chat 4", "Chat 5"} < set(titles(sidebar))
    assert "Folders" in titles(sidebar)


@pytest.mark.drives("chatList")
def test_a_click_on_a_folder_opens_or_closes_it_and_nothing_else(sidebar):
    click(sidebar, "6")
    click(sidebar, "work")
    click(sidebar, "thesis")
    assert sidebar.said == [("chat_selected", "6"), ("folder_expanded", "work", True), ("folder_expanded", "thesis", False)]
    assert picked(sidebar) == ["6"]


@pytest.mark.drives("chatList")
def test_a_folder_is_opened_closed_and_left_by_keys(sidebar):
    click(sidebar, "5")
    key(sidebar, Qt.Key.Key_Down)
    assert picked(sidebar) == ["work"]
    key(sidebar, Qt.Key.Key_Right)
    key(sidebar, Qt.Key.Key_Left)
    key(sidebar, Qt.Key.Key_Return)
    click(sidebar, "5")
    key(sidebar, Qt.Key.Key_Left)
    assert picked(sidebar) == ["thesis"]
    key(sidebar, Qt.Key.Key_Right)
    key(sidebar, Qt.Key.Key_Left)
    assert [said for said in sidebar.said if said[0] == "folder_expanded"] == [
        ("folder_expanded", "work", True),
        ("folder_expanded", "work", True),
        ("folder_expanded", "thesis", False),
    ]


def test_moving_over_a_folder_opens_no_chat_and_leaving_the_list_marks_the_shown_one_again(sidebar):
    click(sidebar, "5")
    key(sidebar, Qt.Key.Key_Down)
    sidebar.select("5")
    sidebar.set_chats(CHATS, [THESIS, WORK], 2)
    assert picked(sidebar) == ["work"]
    assert sidebar.said == [("chat_selected", "5")]
    button(sidebar, "modelsButton").setFocus(Qt.FocusReason.TabFocusReason)
    assert picked(sidebar) == ["5"]


@pytest.mark.drives("chatTitle", "chatList")
@pytest.mark.parametrize("way", ["menu", "f2"])
def test_a_folder_is_renamed_in_place(sidebar, qtbot, way):
    if way == "menu":
        take(menu_of(sidebar, "work"), "Rename")
    else:
        click(sidebar, "5")
        key(sidebar, Qt.Key.Key_Down)
        key(sidebar, Qt.Key.Key_F2)
    editor = view(sidebar).findChild(QLineEdit, "chatTitle")
    assert (editor.text(), editor.accessibleName()) == ("Work", "Folder name")
    QTest.keyClicks(editor, "Paid work")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: view(sidebar).findChild(QLineEdit, "chatTitle") is None)
    assert sidebar.said[-1] == ("folder_renamed", "work", "Paid work")


@pytest.mark.drives("chatMenu")
def test_a_folders_menu_says_what_can_be_done_with_it(sidebar):
    menu = menu_of(sidebar, "thesis")
    assert lines(menu) == ["Rename", "Close", "New Folder", "Delete Folder"]
    take(menu, "Delete Folder")
    assert sidebar.said == [("folder_deleted", "thesis")]


@pytest.mark.drives("chatMenu")
def test_the_lists_own_menu_makes_a_folder_and_imports(sidebar):
    take(menu_of(sidebar, "Today"), "New Folder")
    take(menu_of(sidebar, "Pinned"), "Import Chats…")
    assert sidebar.said == [("folder_requested", ()), ("import_requested", ())]


def test_delete_with_the_keyboard_on_a_folder_asks_for_that_folder(sidebar):
    click(sidebar, "5")
    key(sidebar, Qt.Key.Key_Down)
    key(sidebar, Qt.Key.Key_Delete)
    assert sidebar.said[-1] == ("folder_deleted", "work")


# -- many at once ----------------------------------------------------------------------------------------------------------


@pytest.mark.drives("chatList")
def test_ctrl_and_shift_clicks_select_without_opening(sidebar):
    click(sidebar, "6")
    click(sidebar, "8", CTRL)
    assert picked(sidebar) == ["6", "8"]
    click(sidebar, "9", SHIFT)
    assert picked(sidebar) == ["6", "8", "9"]
    click(sidebar, "8", CTRL)
    assert picked(sidebar) == ["6", "9"]
    assert sidebar.said == [("chat_selected", "6")]


@pytest.mark.drives("chatList")
def test_shift_and_arrows_select_without_opening_and_an_arrow_alone_opens_again(sidebar):
    click(sidebar, "6")
    key(sidebar, Qt.Key.Key_Down, SHIFT)
    key(sidebar, Qt.Key.Key_Down, SHIFT)
    assert picked(sidebar) == ["6", "7", "8"]
    key(sidebar, Qt.Key.Key_Up, SHIFT)
    assert picked(sidebar) == ["6", "7"]
    assert sidebar.said == [("chat_selected", "6")]
    key(sidebar, Qt.Key.Key_Down)
    assert picked(sidebar) == ["8"]
    assert sidebar.said[-1] == ("chat_selected", "8")


def test_select_all_takes_every_listed_chat_but_no_folder(sidebar):
    key(sidebar, Qt.Key.Key_A, CTRL)
    assert picked(sidebar) == ["1", "4", "5", "6", "7", "8", "9"]
    assert sidebar.picked() == ("1", "4", "5", "6", "7", "8", "9")


def test_delete_asks_for_all_that_are_selected(sidebar):
    click(sidebar, "6")
    click(sidebar, "8", CTRL)
    key(sidebar, Qt.Key.Key_Delete)
    assert sidebar.said[-1] == ("delete_requested", ("6", "8"))


def test_a_click_on_one_of_several_opens_it_alone_when_the_button_is_let_go(sidebar):
    click(sidebar, "6")
    click(sidebar, "9", SHIFT)
    QTest.mousePress(view(sidebar).viewport(), LEFT, NONE, spot(sidebar, "8"))
    assert picked(sidebar) == ["6", "7", "8", "9"]
    assert sidebar.said == [("chat_selected", "6")]
    QTest.mouseRelease(view(sidebar).viewport(), LEFT, NONE, spot(sidebar, "8"))
    assert picked(sidebar) == ["8"]
    assert sidebar.said[-1] == ("chat_selected", "8")


@pytest.mark.drives("chatMenu")
def test_the_menu_acts_on_all_selected_or_on_the_row_it_was_opened_on(sidebar):
    click(sidebar, "6")
    click(sidebar, "1", CTRL)
    menu = menu_of(sidebar, "6")
    assert lines(menu) == ["Pin 2 Chats", "Unpin 2 Chats", "Move 2 Chats to", "Export 2 Chats", "Delete 2 Chats"]
    take(menu, "Pin 2 Chats")
    assert sidebar.said[-1] == ("pin_requested", ("1", "6"), True)
    menu = menu_of(sidebar, "8")
    assert lines(menu) == ["Rename", "Pin", "Move to", "Export", "Delete"]
    take(menu, "Delete")
    assert sidebar.said[-1] == ("delete_requested", ("8",))


def test_what_is_selected_stays_so_while_chats_come_go_and_move(sidebar):
    click(sidebar, "7")
    click(sidebar, "9", CTRL)
    sidebar.select("7")
    moved = [chat(9, -1), *[one for one in CHATS if one.id not in ("9", "6")], chat(30, -2)]
    sidebar.set_chats(moved, [THESIS, WORK], 2)
    sidebar.select("7")
    assert sorted(picked(sidebar)) == ["7", "9"]
    sidebar.select("8")
    assert picked(sidebar) == ["8"]


def test_when_another_selected_chat_is_deleted_its_neighbour_is_not_selected_for_it(sidebar):
    click(sidebar, "6")
    click(sidebar, "8", CTRL)
    click(sidebar, "6", CTRL)
    assert picked(sidebar) == ["8"]
    sidebar.select("6")
    sidebar.set_chats([one for one in CHATS if one.id != "8"], [THESIS, WORK], 3)
    sidebar.select("6")
    assert picked(sidebar) == ["6"]


# -- moving ----------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("chatMenu")
def test_chats_are_moved_by_the_menu_under_the_keyboard(sidebar):
    click(sidebar, "6")
    click(sidebar, "4", CTRL)
    sidebar.offer_places()
    menu = QApplication.activePopupWidget()
    assert lines(menu) == ["Thesis && co", "Work", "Out of Their Folders", "New Folder…"]
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert sidebar.said[-1] == ("move_requested", ("4", "6"), "work")
    sidebar.offer_places()
    take(QApplication.activePopupWidget(), "New Folder…")
    assert sidebar.said[-1] == ("folder_requested", ("4", "6"))


def test_where_a_chat_is_already_it_can_not_be_moved(sidebar):
    click(sidebar, "4")
    sidebar.offer_places()
    usable = {action.text(): action.isEnabled() for action in QApplication.activePopupWidget().actions() if action.text()}
    assert usable == {"Thesis && co": False, "Work": True, "Out of Its Folder": True, "New Folder…": True}


def dragged(*ids):
    data = QMimeData()
    data.setData(CHATS_MIME, "\n".join(ids).encode())
    return data


def drop(sidebar, row_id, data):
    """Drag over a row and let go there; return whether it was taken."""
    viewport = view(sidebar).viewport()
    where = QPointF(spot(sidebar, row_id)) if row_id else QPointF(60, viewport.height() - 30)
    action, buttons = Qt.DropAction.MoveAction, LEFT
    enter = QDragEnterEvent(where.toPoint(), action, data, buttons, NONE)
    QApplication.sendEvent(viewport, enter)
    QApplication.sendEvent(viewport, QDragMoveEvent(where.toPoint(), action, data, buttons, NONE))
    marked = view(sidebar)._look.target
    event = QDropEvent(where, action, data, buttons, NONE)
    QApplication.sendEvent(viewport, event)
    assert view(sidebar)._look.target == -1
    return enter.isAccepted() and event.isAccepted(), view(sidebar).rows[marked].title if marked >= 0 else ""


@pytest.mark.drives("chatList")
@pytest.mark.parametrize(
    ("target", "marked", "wish"),
    [
        ("work", "Work", ("move_requested", ("6", "8"), "work")),
        ("4", "Thesis & co", ("move_requested", ("6", "8"), "thesis")),
        ("Pinned", "Pinned", ("pin_requested", ("6", "8"), True)),
        ("1", "Pinned", ("pin_requested", ("6", "8"), True)),
        ("7", "Today", ("move_requested", ("6", "8"), "")),
        ("Yesterday", "Yesterday", ("move_requested", ("6", "8"), "")),
        ("", "Yesterday", ("move_requested", ("6", "8"), "")),
    ],
)
def test_chats_dropped_on_a_place_are_wished_there(sidebar, target, marked, wish):
    assert drop(sidebar, target, dragged("6", "8")) == (True, marked)
    assert sidebar.said == [wish]


def test_nothing_is_dropped_on_the_heading_of_the_folders_nor_anything_but_chats(sidebar):
    taken, _ = drop(sidebar, "Folders", dragged("6"))
    assert not taken
    text = QMimeData()
    text.setText("words")
    taken, _ = drop(sidebar, "work", text)
    assert not taken
    assert sidebar.said == []


def test_a_drag_that_leaves_marks_nothing(sidebar):
    where = spot(sidebar, "work")
    view(sidebar).dragMoveEvent(QDragMoveEvent(where, Qt.DropAction.MoveAction, dragged("6"), LEFT, NONE))
    assert view(sidebar)._look.target >= 0
    QApplication.sendEvent(view(sidebar).viewport(), QDragLeaveEvent())
    assert view(sidebar)._look.target == -1


@pytest.mark.drives("chatList")
def test_a_drag_takes_all_selected_chats_and_shows_where_pins_go(sidebar, qtbot, monkeypatch):
    sidebar.set_chats([one for one in CHATS if not one.pinned], [THESIS, WORK], 0)
    click(sidebar, "6")
    click(sidebar, "8", CTRL)
    seen = []

    def exec_(drag, actions, first):
        seen.append((drag.mimeData().data(CHATS_MIME).data(), drag.mimeData().text(), titles(sidebar)[0]))
        return Qt.DropAction.MoveAction

    monkeypatch.setattr(QDrag, "exec", exec_)
    QTest.mousePress(view(sidebar).viewport(), LEFT, NONE, spot(sidebar, "6"))
    for step in (10, 30, 60):
        move = spot(sidebar, "6") + QPoint(0, step)
        where = QPointF(move)
        moved = QMouseEvent(QEvent.Type.MouseMove, where, view(sidebar).viewport().mapToGlobal(where), LEFT, LEFT, NONE)
        QApplication.sendEvent(view(sidebar).viewport(), moved)
    QTest.mouseRelease(view(sidebar).viewport(), LEFT, NONE, spot(sidebar, "9"))
    assert seen[0] == (b"6\n8", "Chat 6\nChat 8", "Pinned")
    assert titles(sidebar)[0] == "Folders"
    assert sidebar.said == [("chat_selected", "6")]


def test_targets_are_found_for_any_row():
    rows = [Row("heading", "Today"), Row("chat", "a", "a")]
    assert target_of([], -1) is None
    assert target_of(rows, 1) == Target(0)
    assert target_of(rows, -1) == Target(0)


# -- search ----------------------------------------------------------------------------------------------------------------

HIT = SearchHit("3", "m1", "Chat 3", "two cups of coffee a day", ((12, 18),), NOON - 86400)


def test_a_hit_says_its_day(sidebar):
    assert hit_row(HIT, NOON).note == "Yesterday"
    old = SearchHit("3", "m1", "Chat 3", "x", (), 1_000_000_000.0)
    assert hit_row(old, NOON).note in ("8 Sep 2001", "9 Sep 2001")


@pytest.mark.drives("chatList")
@pytest.mark.parametrize("way", ["click", "return"])
def test_more_hits_are_asked_for_by_the_last_row(sidebar, way):
    sidebar.set_hits([HIT], more=True)
    assert titles(sidebar) == ["Chat 3", "More results"]
    if way == "click":
        click(sidebar, "More results")
    else:
        click(sidebar, "3")
        key(sidebar, Qt.Key.Key_Down)
        key(sidebar, Qt.Key.Key_Return)
    assert sidebar.said[-1] == ("more_requested",)
    sidebar.set_hits([HIT], more=False)
    assert titles(sidebar) == ["Chat 3"]


def test_the_words_found_are_those_of_the_first_match_and_what_follows_it():
    row = Row("hit", "T", "c", "m", "a quick brown fox", ((2, 7), (8, 13), (14, 17)))
    assert found_words(row) == "quick brown fox"
    assert found_words(row._replace(spans=((2, 7), (14, 17)))) == "quick"
    assert found_words(row._replace(spans=())) == ""


# -- the trash -------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("trashButton")
def test_the_trash_has_a_row_while_there_is_something_in_it(sidebar):
    trash = button(sidebar, "trashButton")
    assert (trash.isVisible(), trash.note, trash.accessibleDescription()) == (True, "2", "2 deleted")
    QTest.mouseClick(trash, LEFT)
    assert sidebar.said == [("trash_toggled", True)]
    sidebar.set_trash(DELETED)
    assert trash.isChecked()
    assert [(row.title, row.snippet.partition(", ")[2]) for row in view(sidebar).rows] == [
        ("Chat 20", "28 days left"),
        ("Chat 21", "1 day left"),
    ]
    QTest.keyClick(trash, Qt.Key.Key_Space)
    assert sidebar.said[-1] == ("trash_toggled", False)
    sidebar.set_trash(None)
    sidebar.set_chats(CHATS, [], 0)
    assert not trash.isVisible()


@pytest.mark.drives("trashBack", "trashEmpty", "trashBar")
def test_the_line_over_the_trash_leads_back_and_empties(sidebar):
    sidebar.set_trash(DELETED)
    QTest.mouseClick(button(sidebar, "trashEmpty"), LEFT)
    QTest.keyClick(button(sidebar, "trashEmpty"), Qt.Key.Key_Space)
    QTest.mouseClick(button(sidebar, "trashBack"), LEFT)
    assert sidebar.said == [("emptying_requested",), ("emptying_requested",), ("trash_toggled", False)]
    sidebar.set_trash([])
    assert not button(sidebar, "trashEmpty").isEnabled()
    assert view(sidebar).accessibleDescription() == "The trash is empty."


@pytest.mark.drives("chatList", "chatMenu")
def test_deleted_chats_are_restored_and_removed_but_never_opened(sidebar):
    sidebar.set_trash(DELETED)
    click(sidebar, "20")
    key(sidebar, Qt.Key.Key_Down, SHIFT)
    key(sidebar, Qt.Key.Key_Return)
    key(sidebar, Qt.Key.Key_Delete)
    QTest.mouseDClick(view(sidebar).viewport(), LEFT, NONE, spot(sidebar, "21"))
    menu = menu_of(sidebar, "20")
    assert lines(menu) == ["Restore 2 Chats", "Delete 2 Chats for Good…"]
    take(menu, "Restore 2 Chats")
    key(sidebar, Qt.Key.Key_Escape)
    assert sidebar.said == [
        ("restore_requested", ("20", "21")),
        ("removal_requested", ("20", "21")),
        ("restore_requested", ("21",)),
        ("restore_requested", ("20", "21")),
        ("trash_toggled", False),
    ]
    assert sidebar.listed() == []


# -- the model -------------------------------------------------------------------------------------------------------------

ROWS = st.lists(
    st.builds(Row, st.sampled_from(["chat", "folder", "heading"]), st.sampled_from("ab"), st.sampled_from("123456")),
    max_size=12,
    unique_by=lambda row: row.chat_id,
)


@pytest.mark.heavy
@settings(max_examples=200)
@given(before=ROWS, after=ROWS)
def test_any_list_becomes_any_other_and_views_hear_of_it_rightly(before, after):
    model = ChatListModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.replace(before)
    kept = {row.key: QPersistentModelIndex(model.index(place, 0)) for place, row in enumerate(before)}
    model.replace(after)
    assert list(model.rows) == after
    assert model.rowCount() == len(after)
    for place, row in enumerate(after):
        assert model.index(place, 0).data(ROW_ROLE) == row
        there = kept.get(row.key)
        assert there is None or not there.isValid() or there.row() == place
    tester.deleteLater()


def test_a_chat_that_goes_to_the_top_is_moved_not_made_anew(qtbot):
    model = ChatListModel()
    rows = [Row("chat", str(number), str(number)) for number in range(6)]
    model.replace(rows)
    index = QPersistentModelIndex(model.index(4, 0))
    with qtbot.waitSignal(model.rowsMoved):
        model.replace([rows[4], *rows[:4], rows[5]])
    assert index.row() == 0

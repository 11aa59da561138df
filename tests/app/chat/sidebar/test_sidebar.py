"""The sidebar, driven by mouse and keyboard."""

import collections
import sys
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetricsF, QKeySequence, QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QListView, QMenu

from app.chat.sidebar.chat_delegate import ChatDelegate, units
from app.chat.sidebar.chat_list import ROW_ROLE, ChatListModel, Row
from app.chat.sidebar.chat_rows import hit_row
from app.chat.sidebar.sidebar import NEW_KEYS, Sidebar
from app.chat.sidebar.wishes import Wishes
from engine.chats.records import ChatSummary, SearchHit
from tests.app.chat.sidebar.noon import NOON
from tests.app.pointer import move

NONE = Qt.KeyboardModifier.NoModifier
LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


def chat(number, age_days=0.0, pinned=False, title=None):
    moment = NOON - 86400 * age_days - number
    return ChatSummary(str(number), title if title is not None else f"Chat {number}", moment, moment, pinned, "")


CHATS = [chat(1), chat(2), chat(3, 1), chat(4, 1), chat(5, 4), chat(6, 20), chat(7, 700)]
MANY = [chat(number, number / 20) for number in range(200)]


WISHES = [name for name, kind in vars(Wishes).items() if isinstance(kind, Signal)]


class Heard:
    """What the sidebar said, in order."""

    def __init__(self, sidebar):
        self.said = []
        for name in (
            "new_requested",
            "models_requested",
            "chat_selected",
            "hit_selected",
            "more_requested",
            "trash_toggled",
            "search_changed",
            "search_left",
            "collapse_requested",
        ):
            getattr(sidebar, name).connect(lambda *data, name=name: self.said.append((name, *data)))
        for name in WISHES:
            getattr(sidebar.wishes, name).connect(lambda *data, name=name: self.said.append((name, *data)))


@pytest.fixture
def sidebar(theme, qtbot, at_noon):
    sidebar = Sidebar(theme, QLabel("footer"))
    sidebar.resize(260, 600)
    qtbot.addWidget(sidebar)
    sidebar.show()
    qtbot.waitExposed(sidebar)
    sidebar.activateWindow()
    sidebar.heard = Heard(sidebar)
    yield sidebar
    menu = QApplication.activePopupWidget()
    if menu is not None:
        menu.close()


def view(sidebar):
    return sidebar.findChild(QListView, "chatList")


def search(sidebar):
    return sidebar.findChild(QLineEdit, "chatSearch")


def button(sidebar, name):
    return sidebar.findChild(QAbstractButton, name)


def rows(sidebar):
    model = view(sidebar).model()
    return [model.index(place, 0).data(ROW_ROLE) for place in range(model.rowCount())]


def titles(sidebar):
    return [row.title for row in rows(sidebar)]


def index_of(sidebar, chat_id):
    model = view(sidebar).model()
    place = next(place for place, row in enumerate(rows(sidebar)) if row.chat_id == chat_id)
    return model.index(place, 0)


def rect_of(sidebar, chat_id):
    return view(sidebar).visualRect(index_of(sidebar, chat_id))


def click(sidebar, qtbot, chat_id, mouse=LEFT):
    qtbot.mouseClick(view(sidebar).viewport(), mouse, NONE, rect_of(sidebar, chat_id).topLeft() + QPoint(40, 14))


def current(sidebar):
    index = view(sidebar).currentIndex()
    return index.data(ROW_ROLE).chat_id if index.isValid() else None


def picked(sidebar):
    return [row.chat_id for row in (index.data(ROW_ROLE) for index in view(sidebar).selectedIndexes())]


def editor(sidebar):
    return view(sidebar).findChild(QLineEdit, "chatTitle")


def end_rename(sidebar, qtbot, key):
    qtbot.keyClick(editor(sidebar), key)
    qtbot.waitUntil(lambda: editor(sidebar) is None)


def menu_of(sidebar, qtbot):
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    return QApplication.activePopupWidget()


def trigger(sidebar, qtbot, text):
    menu = menu_of(sidebar, qtbot)
    action = next(action for action in menu.actions() if action.text() == text)
    qtbot.mouseClick(menu, LEFT, NONE, menu.actionGeometry(action).center())


# -- the list --------------------------------------------------------------------------------------------------------------


def test_chats_stand_under_the_day_of_their_last_message(sidebar):
    sidebar.set_chats(CHATS)
    found = [row.title for row in rows(sidebar) if row.kind == "heading"]
    assert found[0] == "Today"
    assert found[1:4] == ["Yesterday", "Previous 7 days", "Previous 30 days"]
    assert found[4].split()[1].isdigit()
    assert [row.chat_id for row in rows(sidebar) if row.kind == "chat"] == ["1", "2", "3", "4", "5", "6", "7"]


def test_pinned_chats_come_first_and_once(sidebar):
    sidebar.set_chats([*CHATS, chat(8, 100, pinned=True)])
    assert titles(sidebar)[:3] == ["Pinned", "Chat 8", "Today"]
    assert titles(sidebar).count("Chat 8") == 1


def test_a_click_picks_a_chat(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    click(sidebar, qtbot, "3")
    assert sidebar.heard.said == [("chat_selected", "3")]
    assert picked(sidebar) == ["3"]


def test_headings_can_not_be_picked(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    sidebar.select("1")
    heading = view(sidebar).visualRect(view(sidebar).model().index(3, 0))
    assert rows(sidebar)[3].kind == "heading"
    qtbot.mouseClick(view(sidebar).viewport(), LEFT, NONE, heading.center())
    assert sidebar.heard.said == []
    assert picked(sidebar) == ["1"]


def test_arrow_keys_pick_and_step_over_headings(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    click(sidebar, qtbot, "2")
    qtbot.keyClick(view(sidebar), Qt.Key.Key_Down)
    qtbot.keyClick(view(sidebar), Qt.Key.Key_Up)
    qtbot.keyClick(view(sidebar), Qt.Key.Key_Up)
    assert [said[1] for said in sidebar.heard.said] == ["2", "3", "2", "1"]


def test_selecting_by_program_is_not_told_as_a_wish(sidebar):
    sidebar.set_chats(CHATS)
    sidebar.select("5")
    sidebar.set_chats(CHATS[:-1])
    sidebar.set_writing("5")
    sidebar.select(None)
    assert sidebar.heard.said == []


def test_a_chat_can_be_selected_before_it_is_listed(sidebar):
    sidebar.select("4")
    sidebar.set_chats(CHATS)
    assert picked(sidebar) == ["4"]


def test_selection_and_scroll_position_stay_when_the_list_changes(sidebar, qtbot):
    sidebar.set_chats(MANY)
    click(sidebar, qtbot, "3")
    bar = view(sidebar).verticalScrollBar()
    bar.setValue(bar.maximum() // 2 + 5)
    seen = view(sidebar).indexAt(QPoint(30, 100)).data(ROW_ROLE)
    top = view(sidebar).visualRect(view(sidebar).indexAt(QPoint(30, 100))).top()
    newest = [chat(number, -1, title="New") for number in range(1000, 1007)]
    sidebar.set_chats([*newest, *MANY])
    assert picked(sidebar) == ["3"]
    assert rect_of(sidebar, seen.chat_id).top() == top
    assert len(sidebar.heard.said) == 1


def written_in(chats, chat_id):
    """The same chats after something was said in one of them."""
    moved = replace(next(chat for chat in chats if chat.id == chat_id), updated_at=NOON + 1)
    return [moved, *(chat for chat in chats if chat.id != chat_id)]


def in_sight(sidebar, chat_id):
    row = rect_of(sidebar, chat_id)
    return 0 <= row.top() <= row.bottom() < view(sidebar).viewport().height()


def turn_wheel(sidebar):
    nowhere = QPointF(30, 100)
    turned = QWheelEvent(
        nowhere, nowhere, QPoint(), QPoint(0, -240), Qt.MouseButton.NoButton, NONE, Qt.ScrollPhase.NoScrollPhase, False
    )
    QApplication.sendEvent(view(sidebar).viewport(), turned)


@pytest.mark.parametrize("chat_id", ["1", "60", "199"])
def test_the_shown_chat_is_followed_to_where_it_goes_when_something_is_said_in_it(sidebar, chat_id):
    sidebar.set_chats(MANY)
    sidebar.select(chat_id)
    assert in_sight(sidebar, chat_id)
    sidebar.set_chats(written_in(MANY, chat_id))
    assert in_sight(sidebar, chat_id)
    assert view(sidebar).verticalScrollBar().value() == 0, "the heading is seen too"


@pytest.mark.drives("chatList")
def test_the_list_is_left_to_whoever_scrolls_it(sidebar, qtbot):
    sidebar.set_chats(MANY)
    sidebar.select("100")
    bar = view(sidebar).verticalScrollBar()
    before = bar.value()
    turn_wheel(sidebar)
    assert bar.value() > before
    seen = view(sidebar).indexAt(QPoint(30, 10)).data(ROW_ROLE).chat_id
    top = rect_of(sidebar, seen).top()
    sidebar.set_chats(written_in(MANY, "100"))
    assert rect_of(sidebar, seen).top() == top
    assert not in_sight(sidebar, "100")


def test_the_list_stays_where_only_others_or_other_things_of_the_shown_chat_change(sidebar):
    sidebar.set_chats(MANY)
    sidebar.select("100")
    bar = view(sidebar).verticalScrollBar()
    bar.setValue(0)
    pinned = [replace(chat, pinned=chat.id == "100") for chat in MANY]
    named = [replace(chat, title="Other" if chat.id == "100" else chat.title) for chat in MANY]
    for chats in (written_in(MANY, "150"), MANY[20:], named, MANY):
        sidebar.set_chats(chats)
        assert bar.value() == 0
    bar.setValue(bar.maximum())
    sidebar.set_chats(pinned)
    assert bar.value() > bar.maximum() - 100


def test_at_the_top_new_chats_push_the_others_down(sidebar):
    sidebar.set_chats(MANY)
    sidebar.set_chats([chat(1000, -1), *MANY])
    assert view(sidebar).verticalScrollBar().value() == 0
    assert rows(sidebar)[1].chat_id == "1000"


def test_a_new_title_alone_does_not_reset_the_list(sidebar):
    sidebar.set_chats(CHATS)
    resets = []
    view(sidebar).model().modelReset.connect(lambda: resets.append(1))
    sidebar.set_chats([*CHATS[:2], chat(3, 1, title="Better"), *CHATS[3:]])
    assert "Better" in titles(sidebar)
    assert resets == []


@pytest.mark.parametrize(("chat_id", "at_top"), [("0", True), ("199", False)])
def test_a_chat_selected_before_the_first_paint_is_in_view_then_with_its_heading(theme, qtbot, chat_id, at_top):
    early = Sidebar(theme)
    qtbot.addWidget(early)
    early.set_chats(MANY)
    early.select(chat_id)
    early.resize(260, 500)
    early.show()
    qtbot.waitExposed(early)
    assert view(early).viewport().rect().contains(rect_of(early, chat_id))
    assert (view(early).verticalScrollBar().value() == 0) == at_top


def test_selecting_the_first_chat_of_a_group_shows_the_heading_too(sidebar):
    sidebar.set_chats(MANY)
    sidebar.select("199")
    sidebar.select("0")
    assert view(sidebar).verticalScrollBar().value() == 0


def test_a_deleted_chat_that_was_selected_leaves_nothing_selected(sidebar):
    sidebar.set_chats(CHATS)
    sidebar.select("3")
    sidebar.set_chats([entry for entry in CHATS if entry.id != "3"])
    assert picked(sidebar) == []


def test_of_five_thousand_chats_only_the_rows_in_view_are_asked_for(sidebar):
    model = view(sidebar).model()
    calls = collections.Counter()
    sys.setprofile(lambda frame, event, _: calls.update([frame.f_code] if event == "call" else []))
    try:
        sidebar.set_chats([chat(number, number / 50) for number in range(5000)])
        QApplication.processEvents()
    finally:
        sys.setprofile(None)
    assert 0 < calls[ChatListModel.data.__code__] < 500
    assert 0 < calls[ChatDelegate.sizeHint.__code__] < 500
    assert model.rowCount() > 5000
    sidebar.select("4999")
    assert picked(sidebar) == ["4999"]
    assert view(sidebar).viewport().rect().intersects(rect_of(sidebar, "4999"))


def test_the_chat_being_written_has_a_dot(sidebar, theme):
    sidebar.set_chats(CHATS)
    sidebar.set_writing("2")

    def accented():
        image = view(sidebar).viewport().grab(rect_of(sidebar, "2")).toImage()
        accent = theme.color("accent")
        return sum(image.pixelColor(x, y) == accent for x in range(image.width()) for y in range(image.height()))

    assert 16 <= accented() <= 36
    sidebar.set_writing(None)
    assert accented() == 0


def test_without_chats_the_list_says_what_will_be_there(sidebar):
    sidebar.set_chats([])
    assert view(sidebar).accessibleDescription() == "The chats you start are listed here."
    empty = view(sidebar).viewport().grab().toImage()
    ground = empty.pixelColor(2, empty.height() - 2)
    assert any(empty.pixelColor(x, y) != ground for x in range(200) for y in range(60))


def test_rows_are_28_high_and_inset_by_8(sidebar, theme):
    sidebar.set_chats(CHATS)
    sidebar.select("1")
    rect = rect_of(sidebar, "1")
    assert rect.height() == 28
    image = view(sidebar).viewport().grab(rect).toImage()
    ground = image.pixelColor(3, 14)
    assert image.pixelColor(10, 14) != ground
    assert view(sidebar).mapTo(sidebar, QPoint(0, 0)).x() == 0


# -- rename ----------------------------------------------------------------------------------------------------------------


def begin_rename(sidebar, qtbot, way):
    sidebar.set_chats(CHATS)
    click(sidebar, qtbot, "3")
    if way == "f2":
        qtbot.keyClick(view(sidebar), Qt.Key.Key_F2)
    elif way == "double click":
        spot = rect_of(sidebar, "3").topLeft() + QPoint(40, 14)
        qtbot.mouseDClick(view(sidebar).viewport(), LEFT, NONE, spot)
    elif way == "menu":
        move(view(sidebar).viewport(), rect_of(sidebar, "3").center())
        qtbot.mouseClick(view(sidebar).viewport(), LEFT, NONE, view(sidebar).dots_of("3").center())
        trigger(sidebar, qtbot, "Rename")
    else:
        sidebar.rename_selected()
    assert editor(sidebar) is not None
    assert editor(sidebar).text() == "Chat 3"
    sidebar.heard.said.clear()


@pytest.mark.parametrize("way", ["f2", "double click", "menu", "call"])
def test_a_chat_is_renamed_in_place_and_return_keeps_it(sidebar, qtbot, way):
    begin_rename(sidebar, qtbot, way)
    qtbot.keyClicks(editor(sidebar), "  Two   words ")
    end_rename(sidebar, qtbot, Qt.Key.Key_Return)
    assert sidebar.heard.said == [("rename_requested", "3", "Two words")]
    assert "Two words" in titles(sidebar)


def test_escape_leaves_the_title_as_it_was(sidebar, qtbot):
    begin_rename(sidebar, qtbot, "f2")
    qtbot.keyClicks(editor(sidebar), "Something else")
    end_rename(sidebar, qtbot, Qt.Key.Key_Escape)
    assert sidebar.heard.said == []
    assert "Chat 3" in titles(sidebar)


@pytest.mark.parametrize("title", [" ", "Chat 3"])
def test_an_empty_title_is_refused_and_the_same_one_changes_nothing(sidebar, qtbot, title):
    begin_rename(sidebar, qtbot, "f2")
    qtbot.keyClicks(editor(sidebar), title)
    end_rename(sidebar, qtbot, Qt.Key.Key_Return)
    assert sidebar.heard.said == []
    assert "Chat 3" in titles(sidebar)


def test_a_list_that_changes_meanwhile_does_not_end_the_rename(sidebar, qtbot):
    begin_rename(sidebar, qtbot, "f2")
    qtbot.keyClicks(editor(sidebar), "Still")
    sidebar.set_chats([chat(1000, -1), *CHATS])
    qtbot.keyClicks(editor(sidebar), " mine")
    end_rename(sidebar, qtbot, Qt.Key.Key_Return)
    assert sidebar.heard.said == [("rename_requested", "3", "Still mine")]
    qtbot.waitUntil(lambda: "1000" in [row.chat_id for row in rows(sidebar)])
    assert picked(sidebar) == ["3"]


# -- menu, delete ------------------------------------------------------------------------------------------------------------


def test_the_more_button_appears_under_the_pointer_and_opens_the_menu(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    plain = view(sidebar).viewport().grab(view(sidebar).dots_of("2")).toImage()
    move(view(sidebar).viewport(), rect_of(sidebar, "2").center())
    assert view(sidebar).viewport().grab(view(sidebar).dots_of("2")).toImage() != plain
    qtbot.mouseClick(view(sidebar).viewport(), LEFT, NONE, view(sidebar).dots_of("2").center())
    assert [action.text() for action in menu_of(sidebar, qtbot).actions()] == [
        "Rename",
        "Pin",
        "Move to",
        "Export",
        "",
        "Delete",
    ]
    trigger(sidebar, qtbot, "Delete")
    assert sidebar.heard.said == [("delete_requested", ("2",))]


def test_a_right_click_opens_the_menu_without_leaving_the_chat(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    sidebar.select("1")
    spot = rect_of(sidebar, "4").center()
    click(sidebar, qtbot, "4", RIGHT)
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, spot, view(sidebar).viewport().mapToGlobal(spot))
    QApplication.sendEvent(view(sidebar).viewport(), asked)
    trigger(sidebar, qtbot, "Delete")
    assert sidebar.heard.said == [("delete_requested", ("4",))]
    assert picked(sidebar) == ["1"]


def test_the_menu_key_opens_the_menu_of_the_selected_chat(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    click(sidebar, qtbot, "4")
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
    QApplication.sendEvent(view(sidebar).viewport(), asked)
    trigger(sidebar, qtbot, "Delete")
    assert sidebar.heard.said[-1] == ("delete_requested", ("4",))


@pytest.mark.drives("modelsButton")
def test_focus_alone_picks_no_chat(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    button(sidebar, "modelsButton").setFocus()
    qtbot.keyClick(button(sidebar, "modelsButton"), Qt.Key.Key_Tab)
    assert view(sidebar).hasFocus()
    assert sidebar.heard.said == []
    assert current(sidebar) is None
    qtbot.keyClick(view(sidebar), Qt.Key.Key_Down)
    assert sidebar.heard.said == [("chat_selected", "1")]


@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_Backspace])
def test_delete_asks_for_the_selected_chat(sidebar, qtbot, key):
    sidebar.set_chats(CHATS)
    click(sidebar, qtbot, "5")
    qtbot.keyClick(view(sidebar), key)
    assert sidebar.heard.said[-1] == ("delete_requested", ("5",))
    assert "Chat 5" in titles(sidebar)


def test_delete_without_a_selection_asks_for_nothing(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    view(sidebar).setFocus()
    qtbot.keyClick(view(sidebar), Qt.Key.Key_Delete)
    assert sidebar.heard.said == []


# -- search ------------------------------------------------------------------------------------------------------------------

HITS = [
    SearchHit("3", "m1", "Chat 3", "two cups of coffee a day", ((12, 18),)),
    SearchHit("3", "m2", "Chat 3", "no more coffee", ((8, 14),)),
    SearchHit("5", None, "Coffee", "Coffee", ((0, 6),)),
]


def test_typing_is_told_and_hits_take_the_chats_place(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    sidebar.select("1")
    qtbot.keyClicks(search(sidebar), "cof")
    assert sidebar.heard.said == [("search_changed", "c"), ("search_changed", "co"), ("search_changed", "cof")]
    sidebar.set_hits(HITS)
    assert [row.kind for row in rows(sidebar)] == ["hit"] * 3
    assert rect_of(sidebar, "5").height() == 48
    sidebar.set_chats(CHATS)
    assert [row.kind for row in rows(sidebar)] == ["hit"] * 3
    sidebar.set_hits(None)
    assert len(rows(sidebar)) > len(CHATS)
    assert picked(sidebar) == ["1"]


def test_a_hit_leads_to_its_chat_and_message(sidebar, qtbot):
    sidebar.set_hits(HITS)
    second = view(sidebar).visualRect(view(sidebar).model().index(1, 0))
    qtbot.mouseClick(view(sidebar).viewport(), LEFT, NONE, second.topLeft() + QPoint(40, 14))
    assert sidebar.heard.said == [("chat_selected", "3"), ("hit_selected", "3", "m2", "coffee")]


def test_return_and_the_arrow_go_from_the_field_to_the_hits(sidebar, qtbot):
    sidebar.set_hits(HITS)
    qtbot.keyClick(search(sidebar), Qt.Key.Key_Return)
    assert sidebar.heard.said[-1] == ("hit_selected", "3", "m1", "coffee")
    qtbot.keyClick(search(sidebar), Qt.Key.Key_Down)
    assert view(sidebar).hasFocus()
    qtbot.keyClick(view(sidebar), Qt.Key.Key_Down)
    assert sidebar.heard.said[-1] == ("hit_selected", "3", "m2", "coffee")


def test_nothing_found_is_said_with_the_words(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    qtbot.keyClicks(search(sidebar), "zebra")
    sidebar.set_hits([])
    assert view(sidebar).accessibleDescription() == "Nothing found for “zebra”"


@pytest.mark.parametrize("way", ["escape", pytest.param("button", marks=pytest.mark.drives("clearSearchButton"))])
def test_an_emptied_search_shows_the_chats_again(sidebar, qtbot, way):
    sidebar.set_chats(CHATS)
    qtbot.keyClicks(search(sidebar), "x")
    sidebar.set_hits([])
    if way == "escape":
        qtbot.keyClick(search(sidebar), Qt.Key.Key_Escape)
    else:
        qtbot.mouseClick(button(sidebar, "clearSearchButton"), LEFT)
    assert sidebar.heard.said[-1] == ("search_changed", "")
    assert "Chat 1" in titles(sidebar)
    qtbot.keyClick(search(sidebar), Qt.Key.Key_Escape)
    assert sidebar.heard.said[-1] == ("search_left",)


def test_a_hits_snippet_begins_near_its_match_and_keeps_the_spans_on_the_words():
    text = "I drink about two cups of coffee a day,\nand the last coffee comes after three"
    first, second = text.index("coffee"), text.rindex("coffee")
    row = hit_row(SearchHit("1", "m", "", text, ((first, first + 6), (second, second + 6))), NOON)
    assert [row.snippet[start:end] for start, end in row.spans] == ["coffee", "coffee"]
    assert row.snippet.startswith("…")
    assert row.spans[0][0] <= 20
    assert "\n" not in row.snippet
    assert row.title == "New chat"


def test_matched_words_are_emphasised_also_behind_an_emoji(sidebar, theme):
    assert units("😀a") == 3
    sidebar.set_hits([SearchHit("1", "m", "T", "😀 iiii", ((2, 6),))])

    def dark(spans):
        sidebar.set_hits([SearchHit("1", "m", "T", "😀 iiii", spans)])
        rect = rect_of(sidebar, "1")
        image = view(sidebar).viewport().grab(rect.adjusted(0, 24, 0, 0)).toImage()
        ink = theme.color("ink")
        return sum(image.pixelColor(x, y) == ink for x in range(image.width()) for y in range(image.height()))

    assert dark(((2, 6),)) > 0
    assert dark(()) == 0


def test_focus_search_makes_the_next_words_replace_the_old(sidebar, qtbot):
    qtbot.keyClicks(search(sidebar), "old")
    sidebar.focus_search()
    assert search(sidebar).hasFocus()
    qtbot.keyClicks(search(sidebar), "new")
    assert search(sidebar).text() == "new"


# -- the rest ----------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("newChatButton")
def test_the_rows_above_the_list_say_where_they_lead(sidebar, qtbot):
    qtbot.mouseClick(button(sidebar, "newChatButton"), LEFT)
    qtbot.mouseClick(button(sidebar, "modelsButton"), LEFT)
    qtbot.keyClick(button(sidebar, "modelsButton"), Qt.Key.Key_Space)
    assert sidebar.heard.said == [("new_requested",), ("models_requested",), ("models_requested",)]


def test_new_chat_is_marked_while_no_chat_is_shown(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    sidebar.select(None)
    assert button(sidebar, "newChatButton").isChecked()
    qtbot.mouseClick(button(sidebar, "newChatButton"), LEFT)
    assert button(sidebar, "newChatButton").isChecked()
    click(sidebar, qtbot, "1")
    assert not button(sidebar, "newChatButton").isChecked()
    qtbot.mouseClick(button(sidebar, "newChatButton"), LEFT)
    assert not button(sidebar, "newChatButton").isChecked()


def test_shortcuts_are_named_as_the_platform_names_them(sidebar):
    named = QKeySequence(NEW_KEYS).toString(QKeySequence.SequenceFormat.NativeText)
    assert button(sidebar, "newChatButton").accessibleDescription() == named


@pytest.mark.parametrize(
    ("lights", "height"), [pytest.param(True, 52, marks=pytest.mark.drives("collapseButton")), (False, 12)]
)
def test_the_strip_leaves_room_for_the_traffic_lights_where_there_are_any(theme, qtbot, lights, height):
    sidebar = Sidebar(theme, traffic_lights=lights)
    qtbot.addWidget(sidebar)
    sidebar.resize(260, 600)
    sidebar.show()
    assert search(sidebar).mapTo(sidebar, QPoint(0, 0)).y() == height
    collapse = button(sidebar, "collapseButton")
    assert collapse.isVisible() == lights
    if lights:
        with qtbot.waitSignal(sidebar.collapse_requested):
            qtbot.mouseClick(collapse, LEFT)


def test_the_width_stays_within_its_bounds_and_the_footer_at_the_bottom(sidebar):
    assert (sidebar.minimumWidth(), sidebar.maximumWidth(), sidebar.sizeHint().width()) == (200, 360, 260)
    footer = next(label for label in sidebar.findChildren(QLabel) if label.text() == "footer")
    bottom = footer.mapTo(sidebar, QPoint(0, footer.height())).y()
    assert bottom == sidebar.height() - 12


def test_tab_walks_through_search_places_and_list(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    search(sidebar).setFocus()
    walked = []
    for _ in range(3):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        walked.append(QApplication.focusWidget().objectName())
    assert walked == ["newChatButton", "modelsButton", "chatList"]


def test_a_keyboard_focus_is_shown_inside_the_row_and_a_clicked_one_is_not(sidebar, qtbot, theme):
    sidebar.set_chats(CHATS)

    def ringed():
        image = view(sidebar).viewport().grab(rect_of(sidebar, "2")).toImage()
        return image.pixelColor(image.width() // 2, 1) == theme.color("accent")

    click(sidebar, qtbot, "2")
    assert not ringed()
    qtbot.keyClick(view(sidebar), Qt.Key.Key_Up)
    qtbot.keyClick(view(sidebar), Qt.Key.Key_Down)
    assert ringed()


@pytest.mark.parametrize("word", ["a" * 300, "two " + "b" * 200, "語" * 80])
def test_what_was_not_found_is_never_cut_at_the_edge(sidebar, theme, qtbot, word):
    sidebar.set_chats([])
    search(sidebar).setText(word)
    sidebar.set_hits([])
    said = view(sidebar).accessibleDescription()
    assert said == f"Nothing found for “{word}”"
    picture = view(sidebar).viewport().grab().toImage()
    ratio = picture.devicePixelRatio()
    ground = picture.pixelColor(picture.width() - 1, picture.height() - 1)
    inked = [y for y in range(picture.height()) for x in range(picture.width()) if picture.pixelColor(x, y) != ground]
    metrics = QFontMetricsF(theme.font("small"))
    lines = metrics.horizontalAdvance(said) / (picture.width() / ratio)
    assert (max(inked) - min(inked)) / ratio > (lines - 0.5) * metrics.lineSpacing()


def test_what_all_selected_rows_cost_when_others_come_for_them_grows_with_their_number_alone(sidebar, qtbot, monkeypatch):
    key, asked = Row.key, []

    def counted(row):
        asked.append(row)
        return key.fget(row)

    def cost(count):
        sidebar.set_trash([replace(chat(number), deleted_at=NOON) for number in range(10_000, 10_000 + count)])
        qtbot.keyClick(view(sidebar), Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        assert len(view(sidebar).picked()) == count
        asked.clear()
        sidebar.set_trash([replace(chat(number), deleted_at=NOON) for number in range(20_000, 20_000 + count)])
        return len(asked)

    monkeypatch.setattr(Row, "key", property(counted))
    few = cost(100)
    assert cost(400) <= 5 * few


def test_a_heading_in_a_range_is_not_picked(sidebar, qtbot):
    sidebar.set_chats(CHATS)
    sidebar.select("1")
    view(sidebar).setFocus()
    qtbot.keyClick(view(sidebar), Qt.Key.Key_End, Qt.KeyboardModifier.ShiftModifier)
    assert [row.chat_id for row in view(sidebar).picked()] == [one.id for one in CHATS]

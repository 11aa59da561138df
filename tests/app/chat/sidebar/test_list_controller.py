"""The chat list in the real window: finding, renaming, deleting, and taking it back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.chats.store import ChatStore
from engine.core.paths import locate
from tests.models.speaking import FOX

RETURN = Qt.Key.Key_Return
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def titles(flint):
    return [row.title for row in flint.part("chatList").model().rows if row.kind == "chat"]


def hits(flint):
    return [(row.title, row.snippet) for row in flint.part("chatList").model().rows if row.kind == "hit"]


def undo(flint):
    flint.press(flint.window, "toastAction")


# -- the list ------------------------------------------------------------------------------------------------------------


def test_first_message_makes_the_chat_and_its_title(flint):
    assert titles(flint) == []
    flint.send("What is flint?")
    assert titles(flint) == ["What is flint?"]
    flint.wait(lambda: flint.idle)


def many_chats(count=40):
    with ChatStore(locate().chats) as store:
        for number in range(count):
            chat = store.create_chat()
            store.add_message(chat.id, "user", f"Chat {number}")


def in_sight(flint, chat_id):
    chats = flint.part("chatList")
    row = chats.visualRect(chats.model().index(chats.model().row_of(chat_id), 0))
    return chats.viewport().rect().contains(row)


def test_a_new_chat_is_brought_into_view_in_a_list_that_was_scrolled(flint):
    many_chats()
    flint.window.chats.refresh()
    bar = flint.part("chatList").verticalScrollBar()
    for place in (bar.maximum(), 40):
        bar.setValue(place)
        flint.click("newChatButton")
        assert bar.value() == place
        flint.send(f"What is new at {place}?")
        assert in_sight(flint, flint.window.chat.chat_id)
        flint.wait(lambda: flint.idle)
        assert in_sight(flint, flint.window.chat.chat_id)


@pytest.mark.parametrize("place", ["top", "middle", "bottom"])
def test_a_chat_that_is_written_in_stays_in_view_when_it_moves_to_the_top(flint, place):
    many_chats()
    flint.window.chats.refresh()
    chats = flint.part("chatList")
    bar = chats.verticalScrollBar()
    listed = flint.window.sidebar.listed()
    chat_id = {"top": listed[1], "middle": listed[20], "bottom": listed[-1]}[place]
    flint.window.chat.open(chat_id)
    chats.doItemsLayout()  # The scroll bar took some of the rows' width.
    assert in_sight(flint, chat_id)
    flint.send("And now?")
    assert flint.window.sidebar.listed()[0] == chat_id
    assert in_sight(flint, chat_id)
    bar.setValue(bar.maximum())
    flint.wait(lambda: flint.idle)
    assert bar.value() == bar.maximum(), "its end moves nothing"


def test_chat_that_was_written_in_last_comes_first(flint):
    first = flint.ask("One").chat_id
    flint.click("newChatButton")
    flint.ask("Two")
    assert titles(flint) == ["Two", "One"]
    flint.open_chat(first)
    flint.ask("One again")
    assert titles(flint) == ["One", "Two"]


def test_chat_of_another_process_appears_with_the_next_change(flint):
    with ChatStore(locate().chats) as other:
        chat = other.create_chat()
        other.add_message(chat.id, "user", "From a terminal")
    flint.ask("From the window")
    assert titles(flint) == ["From the window", "From a terminal"]


def test_writing_chat_is_marked_until_it_ends(writing):
    flint, pending = writing
    chats = flint.part("chatList")
    assert chats._look.writing == pending.chat_id
    flint.key(Qt.Key.Key_Escape)
    flint.wait(lambda: flint.idle)
    assert chats._look.writing is None


@pytest.mark.drives("chatList")
def test_arrow_keys_go_on_in_the_list_and_return_leads_to_the_composer(flint):
    with ChatStore(locate().chats) as store:
        chats = [store.create_chat(f"Chat {number}").id for number in range(3)]
    flint.window.chats.refresh()
    flint.part("chatList").setFocus(Qt.FocusReason.TabFocusReason)
    for chat_id in reversed(chats):
        flint.key(Qt.Key.Key_Down, name="chatList")
        assert flint.window.chat.chat_id == chat_id
        assert flint.part("chatList").hasFocus()
    flint.key(RETURN, name="chatList")
    assert flint.part("composer").hasFocus()


# -- renaming ------------------------------------------------------------------------------------------------------------


def test_rename_in_place_is_kept(flint):
    reply = flint.ask("Hello")
    flint.key(Qt.Key.Key_R, CTRL)
    editor = flint.part("chatList").findChild(QLineEdit)
    editor.selectAll()
    flint.qtbot.keyClicks(editor, "About foxes")
    flint.qtbot.keyClick(editor, RETURN)
    flint.wait(lambda: titles(flint) == ["About foxes"])
    with ChatStore(locate().chats) as store:
        assert store.chat(reply.chat_id).title == "About foxes"
    flint.ask("More")
    assert titles(flint) == ["About foxes"]


@pytest.mark.drives("chatTitle")
@pytest.mark.parametrize("what", ["the chat that is written in", "a new folder"])
def test_a_reply_that_ends_meanwhile_takes_nothing_of_a_name_that_is_typed(writing, what):
    flint, _ = writing
    folder = what == "a new folder"
    flint.key(Qt.Key.Key_N if folder else Qt.Key.Key_R, CTRL | SHIFT if folder else CTRL)
    editor = flint.part("chatTitle", QLineEdit)
    flint.qtbot.keyClicks(editor, "Half a")
    flint.window.chat.stop()
    flint.wait(lambda: flint.idle)
    flint.qtbot.keyClicks(editor, " name")
    flint.qtbot.keyClick(editor, RETURN)
    flint.wait(lambda: flint.part("chatList").findChild(QLineEdit) is None)
    assert "Half a name" in [row.title for row in flint.part("chatList").model().rows]


# -- deleting ------------------------------------------------------------------------------------------------------------


def delete_shown(flint):
    flint.part("chatList").setFocus()
    flint.key(Qt.Key.Key_Delete, name="chatList")


def test_deleted_chat_leaves_an_empty_page_and_undo_brings_it_back(flint):
    reply = flint.ask("Hello")
    delete_shown(flint)
    assert titles(flint) == []
    assert flint.window.chat.chat_id is None
    assert flint.window.page.mode == "welcome"
    assert flint.toasts() == [("“Hello” was deleted.", "")]
    undo(flint)
    assert titles(flint) == ["Hello"]
    assert flint.window.chat.chat_id == reply.chat_id
    assert flint.shown() == ["Hello", FOX]


def test_another_chat_can_be_deleted_while_one_is_read(flint):
    other = flint.ask("One").chat_id
    flint.click("newChatButton")
    flint.ask("Two")
    flint.window.sidebar.wishes.delete_requested.emit((other,))
    assert titles(flint) == ["Two"]
    assert flint.shown() == ["Two", FOX]


def test_deleting_while_the_reply_streams_stops_it_and_undo_shows_what_there_was(writing):
    flint, pending = writing
    delete_shown(flint)
    flint.wait(lambda: flint.idle)
    assert flint.window.page.mode == "welcome"
    with ChatStore(locate().chats) as store:
        assert store.chats() == []
    undo(flint)
    reply = flint.stored(pending.chat_id)[-1]
    assert reply.state == "cancelled"
    assert reply.text
    assert flint.shown()[-1] == reply.text.strip()


def test_undo_before_the_reply_has_stopped_shows_how_it_ends(writing):
    flint, pending = writing
    delete_shown(flint)
    undo(flint)
    assert flint.window.chat.chat_id == pending.chat_id
    flint.wait(lambda: flint.idle)
    assert flint.phase == "idle"
    assert "Stopped" in flint.stats(flint.stored()[-1])


def test_deleting_a_chat_that_is_gone_already_is_told(flint):
    flint.window.sidebar.wishes.delete_requested.emit(("no such chat",))
    assert len(flint.toasts()) == 1
    assert "was deleted" not in flint.toasts()[0][0]


# -- searching -----------------------------------------------------------------------------------------------------------


def search(flint, text):
    flint.key(Qt.Key.Key_F, CTRL | SHIFT)
    flint.part("chatSearch").selectAll()
    flint.qtbot.keyClicks(flint.part("chatSearch"), text)


def test_search_finds_words_of_answers_and_leads_to_the_message(flint):
    found = flint.ask("Hello").chat_id
    flint.click("newChatButton")
    flint.ask("zebra crossing")
    flint.click("newChatButton")
    search(flint, "brown fo")
    flint.wait(lambda: len(hits(flint)) == 2)
    assert all("quick brown fox" in snippet for _, snippet in hits(flint))
    search(flint, "zeb")
    flint.wait(lambda: {title for title, _ in hits(flint)} == {"zebra crossing"})
    search(flint, "hello")
    flint.wait(lambda: "Hello" in {title for title, _ in hits(flint)})
    flint.open_chat(found)
    assert flint.shown()[0] == "Hello"


@pytest.mark.drives("chatSearch", "chatList")
def test_hit_shows_its_words_marked_and_leaves_the_keyboard_in_the_list(flint):
    flint.ask("needle in a haystack")
    for number in range(6):
        flint.ask(f"hay {number}")
    first = flint.stored()[0]
    flint.click("newChatButton")
    search(flint, "haystack needle")
    flint.wait(lambda: len(hits(flint)) == 2)
    flint.key(RETURN, name="chatSearch")
    flint.key(Qt.Key.Key_Down, name="chatSearch")
    flint.key(Qt.Key.Key_Down, name="chatList")
    assert flint.part("chatList").hasFocus()
    assert flint.view(first).isVisible()
    assert flint.part("findField", QLineEdit).text() == "needle"
    flint.wait(lambda: "1 of " in flint.window.page.finder._bar.count)


@pytest.mark.drives("chatSearch")
def test_return_at_once_opens_the_first_hit_of_what_was_typed(flint):
    wanted = flint.ask("zebra").chat_id
    flint.click("newChatButton")
    flint.ask("Another")
    search(flint, "zebra")
    flint.key(RETURN, name="chatSearch")
    assert flint.window.chat.chat_id == wanted


@pytest.mark.drives("chatSearch", "chatList")
def test_more_hits_come_with_the_last_row(flint):
    with ChatStore(locate().chats) as store:
        for number in range(60):
            store.add_message(store.create_chat(f"Chat {number}").id, "user", "A needle")
    search(flint, "needle")
    flint.wait(lambda: len(hits(flint)) == 50)
    flint.key(Qt.Key.Key_Down, name="chatSearch")
    flint.key(Qt.Key.Key_End, name="chatList")
    flint.key(RETURN, name="chatList")
    assert len(hits(flint)) == 60
    assert [row.kind for row in flint.part("chatList").rows].count("more") == 0


def test_hits_of_a_chat_that_is_deleted_go_with_it(flint):
    with ChatStore(locate().chats) as store:
        kept, gone = (store.create_chat(title).id for title in ("Kept needle", "Gone needle"))
    search(flint, "needle")
    flint.wait(lambda: len(hits(flint)) == 2)
    flint.window.sidebar.wishes.delete_requested.emit((gone,))
    assert [title for title, _ in hits(flint)] == ["Kept needle"]
    assert kept


def test_hit_far_up_is_scrolled_into_view(flint):
    flint.ask("needle")
    for number in range(9):
        flint.ask(f"hay {number}")
    first = flint.stored()[0]
    assert "needle" not in flint.shown()
    flint.click("newChatButton")
    flint.window.sidebar.hit_selected.emit(first.chat_id, first.id, "needle")
    assert flint.view(first).isVisible()
    assert flint.shown()[0] == "needle"


def test_search_that_finds_nothing_says_so_and_escape_brings_the_chats_back(flint):
    flint.ask("Hello")
    search(flint, "nothing like that")
    chats = flint.part("chatList")
    flint.wait(lambda: chats.model().rowCount() == 0)
    assert chats.accessibleDescription() == "Nothing found for “nothing like that”"
    flint.key(Qt.Key.Key_Escape, name="chatSearch")
    assert titles(flint) == ["Hello"]
    flint.qtbot.wait(200)  # The search that waited must not come after all.
    assert titles(flint) == ["Hello"]


def test_chat_picked_that_is_gone_leaves_the_shown_one_marked(flint):
    reply = flint.ask("Hello")
    flint.window.sidebar.chat_selected.emit("no such chat")
    assert flint.window.chat.chat_id == reply.chat_id
    assert flint.window.sidebar._selected == reply.chat_id
    assert len(flint.toasts()) == 1


def test_toast_of_a_deleted_chat_without_a_title_names_it_all_the_same(flint):
    with ChatStore(locate().chats) as store:
        chat = store.create_chat()
    flint.window.sidebar.wishes.delete_requested.emit((chat.id,))
    assert flint.toasts() == [("“New chat” was deleted.", "")]
    assert flint.window.findChild(QWidget, "toastAction").isVisible()

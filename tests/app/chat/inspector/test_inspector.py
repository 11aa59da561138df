"""The inspector in the real window: the prompt of each reply and of what would be sent, followed as the chat goes on."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from app.chat.inspector.token_sheet import READ
from engine.core.messages import TERMINALS, InspectPrompt, PrefillProgress, PromptInspected
from tests.app.chat.inspecting import card, open_inspector, point_at, texts
from tests.app.pointer import move
from tests.app.window_driver import give_model, open_window, remember, set_settings

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.mark.drives("inspectorButton", "inspectorTabs", "segment.prompt", "inspectorPanel")
def test_prompt_of_the_last_reply_is_shown_with_what_was_cached_and_read(flint):
    flint.ask("Hello")
    second = flint.ask("And now?")
    panel = open_inspector(flint)
    flint.wait(lambda: len(panel.tokens.sheet.ids) == second.facts.prompt_tokens)
    facts = second.facts
    read = facts.prompt_tokens - facts.cached_tokens
    assert panel.head.text.startswith(f"{facts.prompt_tokens} tokens; {facts.cached_tokens} cached, {read} read in ")
    assert panel.tokens.sheet.grounds == bytes(facts.cached_tokens) + b"\1" * read
    assert [section.title for section in panel.tokens.sheet.sections] == ["You", "Assistant", "You", "Assistant"]
    last = panel.tokens.sheet.sections
    assert last[-1].note == f"{last[-1].stop - last[-2].stop} read now"
    assert panel.target == "Reply 2 of 2"


@pytest.mark.drives("inspectEarlier", "inspectLater")
def test_an_earlier_reply_and_what_would_be_sent_next_are_a_step_away(flint):
    first = flint.ask("Hello")
    flint.ask("And now?")
    panel = open_inspector(flint)
    flint.click("inspectEarlier")
    flint.wait(lambda: len(panel.tokens.sheet.ids) == first.facts.prompt_tokens)
    assert panel.target == "Reply 1 of 2"
    assert "0 cached" in panel.head.text
    flint.click("inspectLater")
    flint.click("inspectLater")
    flint.wait(lambda: panel.target == "What would be sent next" and len(panel.tokens.sheet.sections) == 6)
    assert "to read" in panel.head.text
    assert not flint.part("inspectLater").isEnabled()


def test_menu_of_a_reply_opens_the_inspector_on_it(flint):
    first = flint.ask("Hello")
    flint.ask("And now?")
    menu = QMenu()
    flint.window.message_actions.fill_menu(first.id, menu)
    next(action for action in menu.actions() if action.text() == "What the Model Saw").trigger()
    panel = flint.part("inspectorPanel")
    assert panel.isVisible()
    assert panel.target == "Reply 1 of 2"
    flint.wait(lambda: panel.tokens.sheet is not None and len(panel.tokens.sheet.ids) == first.facts.prompt_tokens)


def test_what_is_typed_is_shown_as_it_would_be_sent_and_then_as_it_was_read(flint):
    panel = open_inspector(flint)
    assert "Nothing yet" in panel.note.text
    flint.type("Hello there")
    flint.wait(lambda: panel.page == "prompt" and "Hello there" in "".join(texts(panel.tokens)))
    shown = list(panel.tokens.sheet.ids)
    assert "0 cached" in panel.head.text
    flint.key(Qt.Key.Key_Return)
    flint.wait(lambda: flint.idle and "read in" in panel.head.text)
    assert list(panel.tokens.sheet.ids) == shown
    assert panel.target == "The reply"


def test_panel_follows_to_another_chat_and_a_new_one(flint):
    flint.ask("Hello")
    chat = flint.window.chat.chat_id
    panel = open_inspector(flint)
    flint.window.chat.open(None)
    flint.wait(lambda: "Nothing yet" in panel.note.text and panel.page == "note")
    flint.open_chat(chat)
    flint.wait(lambda: panel.page == "prompt")
    assert "Hello" in "".join(texts(panel.tokens))


def test_what_was_asked_of_another_chat_does_not_come_into_an_empty_one(flint, monkeypatch):
    flint.ask("Hello")
    panel = open_inspector(flint)
    held, heard, send = [], [], flint.window.bridge.send  # An engine at work answers later.
    flint.window.bridge.received.connect(heard.append)
    monkeypatch.setattr(
        flint.window.bridge, "send", lambda each: held.append(each) if isinstance(each, InspectPrompt) else send(each)
    )
    flint.window.inspector._controller.refresh()
    flint.click("newChatButton")
    flint.wait(lambda: panel.page == "note")
    send(held[-1])
    asked = held[-1].request_id
    flint.wait(lambda: any(isinstance(event, TERMINALS) and event.request_id == asked for event in heard))
    assert panel.page == "note"


def test_without_a_model_the_panel_says_so_and_shows_the_prompt_once_there_is_one(flint):
    flint.ask("Hello")
    panel = open_inspector(flint)
    flint.window.models.unload()
    flint.wait(lambda: panel.page == "note")
    assert "No model is loaded" in panel.note.text
    flint.window.models.choose("fox")
    flint.wait(lambda: panel.page == "prompt")


@pytest.mark.drives("copyPrompt", "promptHead")
def test_prompt_is_copied_as_the_text_that_was_encoded(flint):
    flint.ask("Hello")
    panel = open_inspector(flint)
    flint.wait(lambda: panel.page == "prompt")
    flint.click("copyPrompt")
    expected = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
    assert QGuiApplication.clipboard().text() == expected
    QGuiApplication.clipboard().clear()
    flint.key(Qt.Key.Key_Space, name="copyPrompt")
    assert QGuiApplication.clipboard().text() == expected


@pytest.mark.drives("promptTokens")
def test_a_token_is_explained_under_the_pointer_and_at_the_keyboard(flint):
    flint.ask("Hello")
    panel = open_inspector(flint)
    flint.wait(lambda: panel.page == "prompt")
    view = panel.tokens
    index = len(view.sheet.ids) - 1
    point_at(view, index)
    token = view.sheet.ids[index]
    expected = [("Token", "↵"), ("Id", str(token)), ("Bytes", "0a"), ("Position", f"{index}, read now")]
    assert list(card(flint).rows) == expected
    move(flint.part("composer"))
    flint.wait(lambda: card(flint) is None)
    view.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(index):
        QTest.keyClick(view, Qt.Key.Key_Right)
    assert list(card(flint).rows) == expected
    assert view.accessibleDescription() == f"Token {index} of {len(view.sheet.ids)}: ↵, id {token}, Assistant"
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert card(flint) is None


@pytest.mark.drives("showInspector")
def test_inspector_and_settings_take_turns_and_the_shortcut_opens_it(flint):
    flint.click("settingsButton")
    QTest.keyClick(flint.window, Qt.Key.Key_I, CONTROL)
    assert flint.part("inspectorPanel").isVisible()
    assert not flint.part("settingsPanel").isVisible()
    flint.click("settingsButton")
    assert not flint.part("inspectorPanel").isVisible()
    assert not flint.part("inspectorButton").isChecked()


def test_sidebar_makes_room_for_the_inspector_where_the_chat_would_get_too_narrow(flint):
    flint.window.resize(1100, 700)
    assert flint.part("inspectorButton").isVisible()
    assert flint.window.sidebar.isVisible()
    flint.click("inspectorButton")
    assert not flint.window.sidebar.isVisible()
    flint.click("inspectorButton")
    assert flint.window.sidebar.isVisible()


def test_prompt_is_shown_while_its_reply_is_written_with_what_was_cached_as_it_began(writing):
    flint, pending = writing
    panel = open_inspector(flint)
    flint.wait(lambda: panel.page == "prompt" and "read now" in panel.head.text)
    assert "0 cached" in panel.head.text
    assert panel.target == "The reply, being written"
    assert flint.window.replies.of_chat(pending.chat_id) is not None


def test_a_panel_opened_while_a_reply_is_written_shows_what_was_cached_as_it_began(writing):
    flint, pending = writing
    event = next(event for event in flint.events if isinstance(event, PrefillProgress))
    panel = open_inspector(flint)
    flint.wait(lambda: panel.page == "prompt" and panel.target == "The reply, being written")
    flint.wait(lambda: panel.head.text.endswith(f"{event.cached} cached, {event.total} read now"))
    assert event.total > 1
    assert flint.window.replies.of_chat(pending.chat_id) is not None


def test_a_reply_that_went_on_shows_what_it_had_and_counts_what_was_read(qtbot, fox):
    remember(model=give_model(fox))
    set_settings(max_tokens=5)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        reply = flint.ask("Hello")
        panel = open_inspector(flint)
        flint.wait(lambda: panel.page == "prompt" and "read in" in panel.head.text)
        for had in (5, 10):
            flint.press(flint.view(reply), "continueReply")
            flint.wait(lambda had=had: flint.idle and len(flint.stored()[-1].facts.output_ids) > had)
            went_on = flint.stored()[-1].facts
            whole = went_on.prompt_tokens + had
            flint.wait(lambda whole=whole: len(panel.tokens.sheet.ids) == whole and "read now" not in panel.head.text)
            assert tuple(panel.tokens.sheet.ids[-had:]) == went_on.output_ids[:had]
            assert f"{went_on.cached_tokens} cached, {whole - went_on.cached_tokens} read" in panel.head.text
            assert "-" not in panel.head.text
            assert panel.tokens.sheet.grounds.count(READ) == whole - went_on.cached_tokens


@pytest.mark.parametrize("tab", ["prompt", "reply"])
def test_who_types_while_a_reply_is_written_stays_with_it_also_when_it_ends(writing, tab):
    flint, pending = writing
    panel = open_inspector(flint, tab)
    flint.type("What comes next")
    QTest.qWait(300)
    assert panel.target == "The reply, being written"
    flint.window.replies.stop(pending)
    flint.wait(lambda: flint.idle and panel.target == "The reply")
    flint.type(" and then")
    QTest.qWait(300)
    assert panel.target == "The reply"
    flint.click("inspectLater")
    assert panel.target == "What would be sent next"


def test_a_draft_begun_after_the_reply_is_shown_as_what_would_be_sent_next(flint):
    flint.ask("Hello")
    panel = open_inspector(flint)
    flint.wait(lambda: panel.target == "The reply")
    flint.type("And now?")
    flint.wait(lambda: panel.target == "What would be sent next")


def test_other_settings_than_the_reply_had_are_said(flint):
    flint.ask("Hello")
    flint.window.chat.set_setting("system_prompt", "Be brief.")
    panel = open_inspector(flint)
    flint.wait(lambda: panel.page == "prompt" and panel.tokens.sheet.sections[0].title == "System")
    assert "The reply was written by fox from" in panel.head.text


def test_what_rolled_out_while_the_last_reply_was_made_is_marked_in_its_prompt(flint):
    flint.window.chat.set_setting("context", 256)
    for words in ("First", "Second", "word " * 100):
        reply = flint.ask(words)
    marker = flint.part("contextMarker")
    assert marker.isVisible()
    gone = reply.facts.dropped_messages
    assert marker.text == f"Left the context: {gone} messages"
    panel = open_inspector(flint)
    flint.wait(lambda: panel.page == "prompt" and len(panel.tokens.sheet.ids) == reply.facts.prompt_tokens)
    assert f"left the context, the oldest {gone} messages with them." in panel.head.text
    assert len(panel.tokens.sheet.gone) == reply.facts.dropped_tokens
    assert sum(section.note.endswith("all left") for section in panel.tokens.sheet.sections) >= gone - 1
    index = panel.tokens.sheet.gone.start
    point_at(panel.tokens, index)
    flint.wait(lambda: card(flint) is not None)
    assert dict(card(flint).rows)["Position"].endswith(", left the context")


def test_what_rolls_out_is_struck_through_while_the_reply_is_written(qtbot, endless):
    remember(model=give_model(endless))
    set_settings(max_tokens=30_000, context=256)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        panel = open_inspector(flint)
        pending = flint.send("word " * 30)
        flint.wait(lambda: panel.page == "prompt" and panel.tokens.sheet.gone)
        assert panel.target == "The reply, being written"
        assert "While the reply is being written, " in panel.head.text
        assert any(section.note.endswith(" left") for section in panel.tokens.sheet.sections)
        asked = [event for event in flint.events if isinstance(event, PromptInspected)]
        first = flint.deltas(pending.request_id)[-1].dropped_tokens
        flint.wait(lambda: flint.deltas(pending.request_id)[-1].dropped_tokens > first)
        assert [event for event in flint.events if isinstance(event, PromptInspected)] == asked  # Nothing is worked out anew.
        flint.window.replies.stop(pending)
        flint.wait(lambda: flint.idle and "While the reply was made, " in panel.head.text)
        left = flint.stored()[-1].facts.dropped_tokens
        assert len(panel.tokens.sheet.gone) == min(left, len(panel.tokens.sheet.ids) - panel.tokens.sheet.gone.start)


def test_closed_panel_asks_for_nothing(flint, monkeypatch):
    sent = []
    send = flint.window.bridge.send
    monkeypatch.setattr(flint.window.bridge, "send", lambda command: (sent.append(command), send(command)))
    panel = open_inspector(flint)
    flint.click("inspectorButton")
    sent.clear()
    flint.ask("Hello")
    QTest.qWait(300)
    assert not [command for command in sent if isinstance(command, InspectPrompt)]
    flint.click("inspectorButton")
    flint.wait(lambda: panel.page == "prompt" and panel.tokens.sheet is not None)


def test_window_opens_without_the_inspectors_code(qtbot, fox):
    with open_window(qtbot) as flint:
        assert flint.window.inspector.panel is None
        flint.click("inspectorButton")
        assert flint.window.inspector.panel is not None
        assert not [event for event in flint.events if isinstance(event, PromptInspected)]


def test_in_a_narrow_window_the_panel_gets_narrower_and_nothing_is_cut(flint):
    flint.ask("Hello")
    panel = open_inspector(flint)
    flint.window.resize(1200, 700)
    flint.wait(lambda: panel.width() == 400)
    flint.window.resize(640, 600)
    flint.wait(lambda: panel.width() == 320)
    flint.wait(lambda: panel.mapTo(flint.window, panel.rect().topRight()).x() < flint.window.width())
    assert panel.head._copy.text() == "Copy"
    assert flint.part("copyPrompt").accessibleName() == "Copy as text"
    places = [panel.tokens.chip_rect(index) for index in range(len(panel.tokens.sheet.ids))]
    assert max(place.right() for place in places) < panel.tokens.width()

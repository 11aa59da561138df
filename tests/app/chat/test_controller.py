"""The open chat in the real window: what people do in it, and what is shown of it while it is not open."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from engine.core.errors import NoModelLoaded
from engine.core.messages import PromptCounted
from tests.app.window_driver import give_model, open_window, refuse_writes, remember, set_settings
from tests.models.speaking import FOX, GREETING

ESCAPE = Qt.Key.Key_Escape


# -- a reply and another chat --------------------------------------------------------------------------------------------


def test_reply_goes_on_while_another_chat_is_shown_and_is_there_on_coming_back(writing):
    flint, pending = writing
    streaming = flint.window.chat.chat_id
    before = flint.shown()[-1]
    flint.click("newChatButton")
    assert flint.phase == "idle"
    flint.type("A thought for later")
    written = len(flint.deltas(pending.request_id))
    flint.wait(lambda: len(flint.deltas(pending.request_id)) > written + 3)
    flint.open_chat(streaming)
    assert flint.phase == "writing"
    assert flint.window.page.transcript.messages[0].text == "Tell me about the fox"
    assert flint.shown()[-1].startswith(before)
    assert len(flint.shown()[-1]) > len(before)
    assert flint.part("composer").text == ""
    flint.key(ESCAPE)
    flint.wait(lambda: flint.idle)
    assert flint.shown()[-1] == flint.stored()[-1].text.strip()


def test_reply_that_ends_out_of_sight_is_whole_on_coming_back(flint):
    flint.send("Hello")
    asked = flint.window.chat.chat_id
    flint.click("newChatButton")
    flint.wait(lambda: flint.idle)
    assert flint.shown() == []
    flint.open_chat(asked)
    assert flint.shown() == ["Hello", FOX]
    assert flint.phase == "idle"


def test_message_in_a_second_chat_waits_for_the_reply_in_the_first(writing):
    flint, running = writing
    flint.click("newChatButton")
    waiting = flint.send("And you?")
    assert flint.phase == "queued"
    assert "Waiting for the model" in flint.said()
    flint.window.replies.stop(running)
    flint.wait(lambda: flint.deltas(waiting.request_id))
    assert flint.phase == "writing"


def test_progress_of_another_chat_changes_nothing_here(writing):
    flint, pending = writing
    flint.click("newChatButton")
    count = len(flint.deltas(pending.request_id))
    flint.wait(lambda: len(flint.deltas(pending.request_id)) > count + 3)
    assert flint.phase == "idle"
    assert not flint.part("contextGauge").isVisible()
    assert flint.window.page.mode == "welcome"


def test_what_left_the_context_is_marked_while_the_reply_is_written(qtbot, endless):
    remember(model=give_model(endless))
    set_settings(max_tokens=30_000, context=256)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        flint.send("word " * 30)
        marker = flint.part("contextMarker")
        flint.wait(marker.isVisible)
        assert (flint.phase, marker.text) == ("writing", "Left the context: 1 message")
        flint.key(ESCAPE)
        flint.wait(lambda: flint.idle)
        assert flint.stored()[-1].facts.dropped_messages == 1
        assert marker.isVisible()
        flint.click("newChatButton")
        assert not marker.isVisible()


# -- other tries and branches --------------------------------------------------------------------------------------------


def test_another_try_stands_beside_the_first_and_the_switcher_goes_between_them(flint, greeting):
    give_model(greeting)
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("greeting"))
    first = flint.ask("Hello")
    flint.choose_model("greeting")
    flint.wait_ready()
    flint.press(flint.view(first), "regenerate")
    flint.wait(lambda: flint.idle and len(flint.shown()) == 2 and flint.shown()[1] == GREETING)
    second = flint.stored()[-1]
    assert (second.parent_id, second.sibling_index, second.sibling_count) == (first.parent_id, 1, 2)
    assert second.model_id == "greeting"
    flint.press(flint.view(second), "previousBranch")
    assert flint.shown() == ["Hello", FOX]
    assert flint.stored()[-1].id == first.id
    flint.press(flint.view(first), "nextBranch")
    assert flint.shown() == ["Hello", GREETING]


def test_another_try_of_an_earlier_reply_leads_a_branch_of_its_own(flint):
    first = flint.ask("Hello")
    flint.ask("And now?")
    flint.press(flint.view(first), "regenerate")
    flint.wait(lambda: flint.idle)
    assert flint.shown() == ["Hello", FOX]
    second = flint.stored()[-1]
    flint.press(flint.view(second), "previousBranch")
    assert flint.shown() == ["Hello", FOX, "And now?", FOX]


def test_branches_stay_while_a_reply_is_being_written(writing):
    flint, _ = writing
    flint.key(ESCAPE)
    flint.wait(lambda: flint.idle)
    first = flint.stored()[-1]
    flint.press(flint.view(first), "regenerate")
    flint.wait(lambda: flint.phase == "writing")
    second = flint.window.replies.of_chat(flint.window.chat.chat_id).message_id
    flint.window.message_actions.switch_branch(second, -1)
    flint.window.message_actions.regenerate(second)
    assert flint.stored()[-1].id == second
    assert len(flint.window.replies._pending) == 1


def test_without_a_model_another_try_says_what_is_missing(qtbot, fox):
    remember(model=give_model(fox))
    with open_window(qtbot) as flint:
        flint.wait_ready()
        reply = flint.ask("Hello")
        flint.window.models.model_id = ""
        flint.press(flint.view(reply), "regenerate")
        text, hint = flint.toasts()[0]
        assert text == "There is no model to write another reply."
        assert hint == "Choose a model at the top of the window."
        assert NoModelLoaded.default_hint not in flint.said()
        assert len(flint.stored()) == 2


# -- what else people do -------------------------------------------------------------------------------------------------


def test_copy_takes_the_text_as_the_model_wrote_it(flint):
    reply = flint.ask("*Hello*")
    flint.press(flint.view(reply), "copyMessage")
    assert QGuiApplication.clipboard().text() == FOX
    flint.window.message_actions.copy(flint.stored()[0].id)
    assert QGuiApplication.clipboard().text() == "*Hello*"


def test_copy_of_a_reply_on_its_way_takes_what_is_shown(writing):
    flint, pending = writing
    flint.window.message_actions.copy(pending.message_id)
    copied = QGuiApplication.clipboard().text()
    assert copied
    assert copied == flint.window.replies.of_chat(pending.chat_id).writer.text


def counted_tokens(flint):
    """The tokens of the engine's newest count, 0 before the first."""
    return next((event.tokens for event in reversed(flint.events) if isinstance(event, PromptCounted)), 0)


def test_context_gauge_follows_the_open_chat(flint):
    reply = flint.ask("Hello")
    context = flint.window.toolbar.context
    least = reply.facts.prompt_tokens + reply.facts.output_tokens
    flint.wait(lambda: counted_tokens(flint) >= least and context.text == f"{counted_tokens(flint)} / 32k")
    used = counted_tokens(flint)
    flint.click("newChatButton")
    flint.wait(lambda: not context.isVisible())
    flint.open_chat(reply.chat_id)
    flint.wait(lambda: context.isVisible() and context.text == f"{used} / 32k")


def test_hit_on_another_branch_is_brought_to_light(flint, greeting):
    give_model(greeting)
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("greeting"))
    first = flint.ask("Hello")
    flint.choose_model("greeting")
    flint.wait_ready()
    flint.press(flint.view(first), "regenerate")
    flint.wait(lambda: flint.idle)
    flint.window.chat.reveal(first.id)
    assert flint.shown() == ["Hello", FOX]
    assert flint.view(first).isVisible()


def test_chat_that_is_gone_leaves_the_open_one_as_it_is(flint):
    reply = flint.ask("Hello")
    flint.window.chat.open("no such chat")
    assert flint.window.chat.chat_id == reply.chat_id
    assert flint.shown() == ["Hello", FOX]
    assert any("chat" in text.lower() for text, _ in flint.toasts())


def test_reply_that_can_not_be_asked_for_is_shown_as_failed(flint):
    reply = flint.ask("Hello")
    flint.window.chat.answer(reply.parent_id, given={"temperature": -1.0})
    assert flint.idle
    shown, stored = flint.window.page.transcript.messages[-1], flint.stored()[-1]
    assert shown == stored
    assert (stored.state, stored.sibling_count) == ("failed", 2)
    assert stored.error.text in flint.said()
    assert flint.toasts()[0][0] == stored.error.text


# -- a store that refuses ------------------------------------------------------------------------------------------------


def test_message_that_can_not_be_stored_goes_back_into_the_composer(flint):
    with refuse_writes(flint):
        flint.type("Precious words")
        flint.key(Qt.Key.Key_Return)
        assert flint.part("composer").text == "Precious words"
        text, hint = flint.toasts()[0]
        assert "may not write" in text
        assert hint
        assert flint.idle
    flint.key(Qt.Key.Key_Return)
    flint.wait(lambda: flint.idle)
    assert flint.shown() == ["Precious words", FOX]
    assert [message.text for message in flint.stored()] == ["Precious words", FOX]


def test_question_of_a_card_that_can_not_be_stored_spares_the_draft(flint):
    flint.type("My draft")
    with refuse_writes(flint):
        flint.window.page.prompt_chosen.emit("The card's question")
    assert flint.part("composer").text == "The card's question\n\nMy draft"


def test_end_of_a_reply_that_can_not_be_stored_stays_on_screen_and_is_stored_later(writing):
    flint, pending = writing
    with refuse_writes(flint):
        flint.key(ESCAPE)
        flint.wait(lambda: flint.idle)
        shown = flint.shown()[-1]
        assert shown
        assert "Stopped" in flint.stats(flint.window.page.transcript.messages[-1])
        assert len(flint.toasts()) == 1
        flint.click("newChatButton")
        flint.open_chat(pending.chat_id)
        assert flint.shown()[-1] == shown
        assert flint.stored()[-1].state == "streaming"
    flint.wait(lambda: flint.stored()[-1].state == "cancelled")
    assert flint.stored()[-1].text.strip() == shown


def test_end_that_could_not_be_stored_is_stored_when_the_window_closes(writing):
    flint, pending = writing
    with refuse_writes(flint):
        flint.key(ESCAPE)
        flint.wait(lambda: flint.idle)
    flint.window.close()
    assert flint.stored(pending.chat_id)[-1].state == "cancelled"


@pytest.mark.parametrize("what", ["activate", "rename"])
def test_change_that_can_not_be_stored_is_told(flint, what):
    reply = flint.ask("Hello")
    flint.press(flint.view(reply), "regenerate")
    flint.wait(lambda: flint.idle)
    second = flint.stored()[-1]
    with refuse_writes(flint):
        if what == "activate":
            flint.press(flint.view(second), "previousBranch")
        else:
            flint.window.sidebar.wishes.rename_requested.emit(reply.chat_id, "Another title")
        assert "may not write" in flint.toasts()[0][0]
    assert flint.stored()[-1].id == second.id

"""The window as a whole: first launch, asking and stopping, what it looks like and what every part is called."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QScrollBar,
    QTextEdit,
    QWidget,
)

from engine.core.messages import Cancelled, SetUnloadAfter, TextDelta
from tests.app.window_driver import give_model, open_window, remember, set_settings
from tests.models.speaking import FOX, GREETING

LEFT = Qt.MouseButton.LeftButton


# -- the first launch ----------------------------------------------------------------------------------------------------


def test_first_launch_needs_no_choice_and_answers_what_was_asked_meanwhile(qtbot, starter_gguf):
    set_settings(temperature=0.0)
    with open_window(qtbot) as flint:
        seen = []

        def look(state):
            welcome, bar = flint.window.page.welcome, flint.part("loadProgress")
            shown = "" if flint.window.page.mode != "welcome" else welcome.title if welcome.state == "progress" else ""
            seen.append((state.state, state.fraction, bar.isVisible(), shown, flint.window.toolbar.picker.line))
            if state.state == "importing" and "sent" not in seen:
                seen.append("sent")
                flint.send("What is the capital of France?")
                seen.append(flint.phase)

        flint.window.models.changed.connect(look)
        assert flint.window.page.welcome.isVisible()
        flint.wait(flint.part("composer").hasFocus)
        flint.wait(lambda: "sent" in seen and flint.idle)
        assert "Paris" in flint.shown()[-1]
        assert flint.shown()[0] == "What is the capital of France?"
        states = [entry for entry in seen if isinstance(entry, tuple)]
        importing = [entry for entry in states if entry[0] == "importing"]
        assert len({fraction for _, fraction, *_ in importing}) > 2
        assert all(bar for _, _, bar, *_ in importing)
        assert importing[0][3] == "Getting the first model ready"
        assert importing[-1][4].startswith("Importing, ")
        assert any(entry[0] == "loading" and entry[2] for entry in states)
        assert "queued" in seen  # The phase when it was sent.
        flint.wait_ready()
        assert not flint.part("loadProgress").isVisible()
        assert_gauges_moved(flint)


def assert_gauges_moved(flint):
    gauges = flint.window.gauges
    flint.wait(lambda: gauges.speed.text.startswith("last "))  # Idle again, with the last reply's figure on show.
    assert "first token" in gauges.speed.note
    weights = next(part for part in flint.part("memoryGauge").accessibleDescription().split(", ") if part.startswith("Weights"))
    assert float(weights.split()[1]) > 0
    assert flint.part("contextGauge").isVisible()
    used, limit = flint.window.toolbar.context.text.split(" / ")
    assert int(used) > 30
    assert limit == "8k"


def test_message_sent_before_the_list_of_models_is_there_is_answered(qtbot, fox):
    remember(model=give_model(fox))
    with open_window(qtbot) as flint:
        flint.send("Hello")
        assert flint.phase == "queued"
        assert "Waiting for the model" in flint.said()
        flint.wait(lambda: flint.idle)
        assert flint.shown() == ["Hello", FOX]


# -- asking and stopping -------------------------------------------------------------------------------------------------


def test_answer_appears_piece_by_piece_and_is_stored_with_its_figures(flint):
    reply = flint.ask("Hello")
    assert flint.shown() == ["Hello", FOX]
    assert (reply.role, reply.state, reply.text, reply.model_id) == ("assistant", "complete", FOX, "fox")
    assert reply.facts.output_tokens == 20  # Without the one that ends the turn.
    stats = flint.stats(reply)
    assert stats.startswith("20 tokens  ")
    assert f"{reply.facts.prompt_tokens} prompt tokens" in stats


def test_second_question_reads_only_what_is_new_and_says_so(flint):
    first = flint.ask("Hello")
    second = flint.ask("And now?")
    assert first.facts.cached_tokens == 0
    assert second.facts.cached_tokens == first.facts.prompt_tokens + first.facts.output_tokens + 1  # Its end, too.
    expected = f"{second.facts.cached_tokens} of {second.facts.prompt_tokens} prompt tokens cached"
    assert expected in flint.stats(second)


def press_stop(flint):
    flint.click("stopButton")


def press_escape(flint):
    flint.key(Qt.Key.Key_Escape)


def press_shortcut(flint):
    flint.key(Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)


@pytest.mark.parametrize("press", [press_stop, press_escape, press_shortcut])
def test_stop_ends_the_reply_and_keeps_what_was_shown(writing, press):
    flint, pending = writing
    press(flint)
    assert flint.phase == "stopping"
    flint.wait(lambda: flint.idle)
    (end,) = flint.ends(pending.request_id)
    assert isinstance(end, Cancelled)
    flint.qtbot.wait(100)
    assert not any(isinstance(event, TextDelta) for event in flint.events[flint.events.index(end) :])
    assert end.reply.output_tokens == flint.deltas(pending.request_id)[-1].output_tokens
    reply = flint.stored()[-1]
    written = "".join(delta.text for delta in flint.deltas(pending.request_id))
    assert (reply.state, reply.text) == ("cancelled", written)
    assert flint.shown()[-1] == written.strip()
    assert "Stopped" in flint.stats(reply)
    assert flint.phase == "idle"


def test_stop_takes_effect_at_once_on_a_message_that_waits(writing):
    flint, running = writing
    flint.click("newChatButton")
    waiting = flint.send("And I?")
    assert flint.phase == "queued"
    flint.key(Qt.Key.Key_Escape)
    flint.wait(lambda: flint.ends(waiting.request_id))
    assert isinstance(flint.ends(waiting.request_id)[0], Cancelled)
    assert not flint.ends(running.request_id)
    assert flint.stored()[-1].state == "cancelled"


def test_next_question_goes_on_where_a_stopped_reply_ended(writing):
    flint, _ = writing
    press_escape(flint)
    flint.wait(lambda: flint.idle)
    stopped = flint.stored()[-1]
    pending = flint.send("Go on")
    flint.wait(lambda: flint.deltas(pending.request_id))
    press_escape(flint)
    flint.wait(lambda: flint.idle)
    cached = flint.stored()[-1].facts.cached_tokens
    assert cached >= stopped.facts.prompt_tokens + stopped.facts.output_tokens - 2


def test_prompt_card_asks_its_question(flint):
    card = next(
        button for button in flint.window.page.welcome.findChildren(QAbstractButton) if "haiku" in button.accessibleName()
    )
    flint.qtbot.mouseClick(card, LEFT)
    flint.wait(lambda: flint.idle)
    question, reply = flint.stored()
    assert "haiku about flint" in question.text
    assert reply.text == FOX


# -- models --------------------------------------------------------------------------------------------------------------


def test_two_chats_are_answered_by_the_models_that_were_chosen_for_them(flint, greeting):
    give_model(greeting)
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("greeting"))
    flint.ask("First chat")
    first = flint.window.chat.chat_id
    flint.choose_model("greeting")
    flint.wait_ready()
    flint.key(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert flint.window.chat.chat_id is None
    reply = flint.ask("Second chat")
    assert (reply.text, reply.model_id, reply.facts.model) == (GREETING, "greeting", "greeting")
    flint.open_chat(first)
    assert flint.shown() == ["First chat", FOX]
    assert [message.model_id for message in flint.stored(first)] == ["", "fox"]


def test_model_chosen_while_another_reply_waits_stays_the_choice(writing, greeting):
    flint, running = writing
    give_model(greeting)
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("greeting"))
    flint.click("newChatButton")
    waiting = flint.send("For the first model")
    flint.choose_model("greeting")
    flint.window.replies.stop(running_of(flint, running))
    flint.wait(lambda: flint.deltas(waiting.request_id))
    assert flint.window.models.model_id == "greeting"
    flint.key(Qt.Key.Key_Escape)
    flint.wait_ready()
    assert flint.window.toolbar.picker.accessibleName() == "Model: greeting"
    assert flint.ask("For the second model").model_id == "greeting"


def running_of(flint, pending):
    return flint.window.replies.of_chat(pending.chat_id)


def test_idle_model_is_unloaded_visibly_and_loaded_again_by_the_next_message(flint):
    flint.ask("Hello")
    flint.window.bridge.send(SetUnloadAfter("soon", 0.05))
    flint.wait(lambda: flint.window.models.state.state == "unloaded")
    picker = flint.window.toolbar.picker
    assert (picker.line, picker.accessibleName()) == ("Unloaded to free memory", "Model: fox")
    flint.window.bridge.send(SetUnloadAfter("never", 0))
    assert flint.ask("Still there?").text == FOX
    flint.wait(lambda: picker.line == "Ready")


def test_unload_in_the_picker_frees_the_model_until_it_is_needed(flint):
    flint.window.toolbar.picker.open_list()
    flint.window.toolbar.picker.popover.card.unload.click()
    flint.wait(lambda: flint.window.models.state.state == "unloaded")
    assert flint.window.toolbar.picker.line == "Unloaded"
    assert flint.ask("Hello").text == FOX


# -- looks and names -----------------------------------------------------------------------------------------------------


def test_appearance_changes_at_once(flint):
    grounds = {}
    for mode in ("light", "dark"):
        flint.choose_setting("theme", mode)
        grounds[mode] = flint.window.page.grab().toImage().pixelColor(4, 4).lightness()
    assert grounds["light"] > 230
    assert grounds["dark"] < 50


CONTROLS = (QAbstractButton, QAbstractItemView, QAbstractSpinBox, QComboBox, QLineEdit, QTextEdit)


def test_every_control_has_a_handle_and_a_name(writing):
    flint, _ = writing
    press_escape(flint)
    flint.wait(lambda: flint.idle)
    flint.click("settingsButton")
    flint.window.place.show()
    flint.window.toolbar.picker.open_list()
    nameless = []
    for widget in flint.window.findChildren(QWidget):
        wanted = isinstance(widget, CONTROLS) or bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if wanted and not isinstance(widget, QScrollBar) and not (widget.objectName() and widget.accessibleName()):
            nameless.append(f"{type(widget).__name__} {widget.objectName()!r} in {widget.parent()}")
    assert nameless == []


def test_fixed_handles_are_where_the_design_says(flint):
    flint.click("settingsButton")
    flint.window.place.show()
    for name in (
        *("composer", "sendButton", "stopButton", "transcript", "newChatButton", "chatList", "chatSearch", "modelPicker"),
        *("loadProgress", "prefillProgress", "memoryGauge", "speedGauge", "contextGauge", "settingsPanel", "modelsDialog"),
        *("setting.temperature", "setting.system_prompt", "setting.theme"),
    ):
        assert flint.window.findChild(QWidget, name), name
    reply = flint.ask("Hello")
    assert flint.part(f"message.{reply.id}").isVisible()

"""What the engine is doing, where people look for it: picker, gauges, the empty chat's card."""

import pytest
from PySide6.QtCore import Qt

from app.activity import PLACEHOLDER, QUEUED_PLACEHOLDER
from engine.core.messages import PrefillProgress, PromptCounted
from tests.app.window_driver import give_model, open_window, remember
from tests.models.speaking import FOX, speaking_model


def placeholder(flint):
    return flint.part("composer").accessibleDescription()


def test_picker_says_what_a_reply_is_doing_and_rests_when_it_ends(flint):
    lines = []
    flint.window.replies.progressed.connect(lambda *_: lines.append(flint.window.toolbar.picker.line))
    flint.ask("Hello")
    reading = [index for index, line in enumerate(lines) if line.startswith("Reading the prompt, ")]
    assert reading
    assert reading[-1] < lines.index("Writing a reply")
    assert flint.window.toolbar.picker.line == "Ready"


def test_picker_goes_on_saying_so_while_another_reply_waits(writing):
    flint, running = writing
    flint.click("newChatButton")
    waiting = flint.send("And you?")
    flint.window.replies.stop(running)
    flint.wait(lambda: flint.deltas(waiting.request_id))
    assert flint.window.toolbar.picker.line == "Writing a reply"
    flint.key(Qt.Key.Key_Escape)
    flint.wait(lambda: flint.window.toolbar.picker.line == "Ready")


def test_speed_is_shown_while_writing_and_stays_as_the_last_one(writing):
    flint, _ = writing
    speed = flint.window.gauges.speed
    flint.wait(lambda: speed.text.endswith("tok/s") and speed.text[0].isdigit())
    assert "first token" in speed.note
    flint.key(Qt.Key.Key_Escape)
    flint.wait(lambda: speed.text.startswith("last "))
    rate = flint.stored()[-1].facts.decode_tps
    assert speed.text == f"last {rate:,.0f} tok/s"


def test_sparkline_keeps_the_last_minute_through_further_replies(flint):
    flint.ask("Hello")
    before = len(flint.window.gauges.speed.sparkline.points)
    assert before
    flint.ask("Again")
    assert len(flint.window.gauges.speed.sparkline.points) > before


def test_another_model_starts_with_no_figures(flint, greeting):
    give_model(greeting)
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("greeting"))
    flint.ask("Hello")
    flint.wait(lambda: flint.window.gauges.speed.text.startswith("last "))
    flint.choose_model("greeting")
    flint.wait_ready()
    flint.wait(lambda: flint.window.gauges.speed.text == "Speed")


def test_memory_gauge_shows_the_weights_and_gives_them_back(flint):
    gauge = flint.window.gauges.memory
    flint.wait(lambda: gauge._reading.weights > 0)
    assert gauge.text.endswith(" GB")
    assert " of " in gauge.text
    flint.window.models.unload()
    flint.wait(lambda: gauge._reading.weights == 0)


def ring(flint):
    return flint.window.toolbar.context


def counted(flint):
    """The tokens the engine counts of the conversation at rest, which the composer's note speaks of."""
    counts = flint.window.counts
    flint.wait(lambda: not counts._timer.isActive() and flint.ends(counts._asked))
    return newest(flint)


def newest(flint):
    """The tokens of the engine's newest count, 0 before the first."""
    return next((event.tokens for event in reversed(flint.events) if isinstance(event, PromptCounted)), 0)


@pytest.fixture
def short(tmp_path_factory):
    """The folder of a model that was trained for 512 tokens."""
    return speaking_model(tmp_path_factory.mktemp("models") / "short", context=512)


@pytest.mark.parametrize("scope", ["chat", "model", "app"])
def test_context_ring_follows_the_context_length_that_is_set_for(flint, scope):
    flint.ask("Hello")
    used = counted(flint)
    flint.wait(lambda: ring(flint).text == f"{used} / 32k")
    flint.choose_setting("context", 4096, scope)
    flint.key(Qt.Key.Key_Return, name="setting.context")
    flint.wait(lambda: ring(flint).text == f"{used} / 4k")
    assert flint.ask("And now?").facts.context == 4096
    assert ring(flint).text.endswith(" / 4k")


def test_context_ring_follows_the_model_that_is_chosen_and_is_full_where_it_sees_less(flint, short):
    give_model(short)
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("short"))
    flint.ask("word " * 600)
    assert counted(flint) > 512
    flint.choose_model("short")
    flint.wait(lambda: ring(flint).text == "512 / 512")
    flint.wait_ready()
    assert ring(flint).text == "512 / 512"
    flint.choose_model("fox")
    flint.wait(lambda: ring(flint).text.endswith(" / 32k"))


def test_context_ring_of_a_chat_opened_later_is_of_the_model_that_answers_next(flint, short):
    give_model(short)
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("short"))
    reply = flint.ask("Hello")
    flint.click("newChatButton")
    flint.choose_model("short")
    flint.wait_ready()
    flint.open_chat(reply.chat_id)
    flint.wait(lambda: ring(flint).text.endswith(" / 512"))


def test_context_ring_at_rest_tells_what_the_composer_tells_of_the_conversation(flint):
    def agree(fits):
        """Wait until the composer, the ring and the engine tell one figure that fits what was done."""
        hover = flint.window.page.composer.foot.note
        flint.wait(
            lambda: (
                fits(used := newest(flint))
                and f" has {used:,} tokens" in hover.toolTip()
                and ring(flint).text.startswith(f"{used:,} / ")
            )
        )
        return newest(flint)

    flint.ask("Hello")
    reply = flint.ask("More")
    whole = agree(lambda used: used >= reply.facts.prompt_tokens + reply.facts.output_tokens)
    flint.window.message_actions.keep_edit(reply.id, "The fox " * 150)
    longest = agree(lambda used: used > whole + 200)
    flint.window.message_actions.delete(flint.stored()[-2].id)
    agree(lambda used: used < whole)
    flint.window.message_actions.trash.restore_last()
    agree(lambda used: used == longest)
    flint.window.chat.set_setting("system_prompt", "Be brief and friendly.")
    flint.window.chat.settings_changed.emit()
    prompted = agree(lambda used: used > longest)
    flint.type("And now?")
    agree(lambda used: used > prompted)
    flint.click("newChatButton")
    flint.wait(lambda: not ring(flint).isVisible())


@pytest.mark.parametrize("when", ["stop", "roll"])
def test_context_ring_stays_when_a_message_did_not_fit(flint, when):
    flint.window.chat.set_setting("context", 256)
    flint.window.chat.set_setting("when_full", when)
    reply = flint.ask("fox " * 600)
    assert (reply.state, reply.error.code) == ("failed", "context-full")
    used = counted(flint)
    flint.wait(lambda: ring(flint).text == f"{used} / 256")


def test_context_ring_while_a_reply_is_written_tells_of_the_reply(writing):
    flint, pending = writing
    flint.type("What comes next")
    before = ring(flint).text
    assert counted(flint)
    flint.wait(lambda: ring(flint).text not in (before, f"{newest(flint):,} / 32k"))
    flint.wait(lambda: ring(flint).text == f"{flint.deltas(pending.request_id)[-1].context_used:,} / 32k")


def test_context_ring_keeps_what_a_reply_really_got(flint):
    reply = flint.ask("Hello")
    flint.window.activity._given = (flint.window.activity._choice(), 2_048)  # As the guard of the memory lowers it.
    flint.window.activity.show_context()
    used = reply.facts.prompt_tokens + reply.facts.output_tokens
    flint.wait(lambda: ring(flint).text == f"{used} / 2k")
    flint.window.chat.set_setting("context", 1_024)
    flint.window.activity.show_context()
    flint.wait(lambda: ring(flint).text == f"{used} / 1k")


def test_reading_of_a_long_prompt_moves_picker_composer_and_gauge(flint):
    seen = []

    def look(_pending, event):
        if isinstance(event, PrefillProgress):
            bar = flint.part("prefillProgress")
            seen.append((event.done, flint.window.toolbar.picker.line, flint.window.page.composer.phase, bar.isVisible()))

    flint.window.replies.progressed.connect(look)
    flint.window.chat.send("word " * 1500)
    flint.wait(lambda: flint.idle)
    steps = [entry for entry in seen if entry[0] > 0]
    assert len({done for done, *_ in steps}) > 2
    assert all(line.startswith("Reading the prompt, ") for _, line, *_ in steps)
    assert all(phase == "reading" and shown for *_, phase, shown in steps)
    assert flint.shown()[-1] == FOX


def test_composer_says_that_a_message_will_wait_until_it_need_not(qtbot, fox):
    remember(model=give_model(fox))
    with open_window(qtbot) as flint:
        assert placeholder(flint) == QUEUED_PLACEHOLDER
        flint.wait_ready()
        assert placeholder(flint) == PLACEHOLDER


def test_welcome_shows_the_load_and_then_who_answers(qtbot, fox):
    remember(model=give_model(fox))
    with open_window(qtbot) as flint:
        states = []
        flint.window.models.changed.connect(lambda state: states.append((state.state, flint.window.page.welcome.state)))
        flint.wait_ready()
        assert ("loading", "progress") in states
        assert flint.window.page.welcome.state == "ready"
        assert "fox answers" in flint.said()


def test_later_launch_does_not_speak_of_the_first_model(qtbot, fox):
    remember(model=give_model(fox))
    with open_window(qtbot) as flint:
        assert flint.window.page.welcome.title == "Getting the model ready"

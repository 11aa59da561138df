"""What the engine is doing, where people look for it: picker, gauges, the empty chat's card."""

from PySide6.QtCore import Qt

from app.activity import PLACEHOLDER, QUEUED_PLACEHOLDER
from engine.core.messages import PrefillProgress
from tests.app.window_driver import give_model, open_window, remember
from tests.models.speaking import FOX


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

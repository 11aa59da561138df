"""Settings at work in the real window: kept where they belong, and applied at once."""

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from engine.chats.store import ChatStore
from engine.core.disk import write_whole
from engine.core.messages import SetUnloadAfter
from engine.core.paths import locate
from engine.core.setting import GB
from tests.app.pointer import drag_to
from tests.app.window_driver import open_window, set_settings


def kept():
    return json.loads(locate().settings.read_text())["values"]


def test_chat_goes_before_app_in_the_next_reply_and_both_are_kept(flint):
    flint.choose_setting("temperature", "1.25", scope="app")
    flint.choose_setting("top_k", "11", scope="app")
    flint.choose_setting("temperature", "0.5", scope="chat")
    reply = flint.ask("Hello")
    assert (reply.facts.sampling.temperature, reply.facts.sampling.top_k) == (0.5, 11)
    assert kept() == {"temperature": 1.25, "top_k": 11}
    with ChatStore(locate().chats) as store:
        assert store.chat_settings(reply.chat_id) == {"temperature": 0.5}
    flint.click("newChatButton")
    other = flint.ask("Hello from another chat")
    assert (other.facts.sampling.temperature, other.facts.sampling.top_k) == (1.25, 11)


def test_value_still_being_typed_reaches_the_message_sent_with_a_click(flint):
    flint.type("Hello")
    flint.choose_setting("max_tokens", "3", scope="chat")
    flint.click("sendButton")
    flint.wait(lambda: flint.idle)
    assert flint.stored()[-1].facts.output_tokens == 3
    assert "cut at the token limit" in flint.stats(flint.stored()[-1])


def test_value_still_being_typed_stays_with_the_chat_it_was_typed_for(flint):
    first = flint.ask("One").chat_id
    flint.choose_setting("temperature", "0.35", scope="chat")
    flint.key(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier, name="setting.temperature")
    with ChatStore(locate().chats) as store:
        assert store.chat_settings(first) == {"temperature": 0.35}
    assert flint.window.chat.settings() == {}


def test_settings_of_a_chat_that_is_not_made_yet_go_with_its_first_message(flint):
    flint.choose_setting("seed", "42", scope="chat")
    reply = flint.ask("Hello")
    assert reply.facts.seed == 42
    with ChatStore(locate().chats) as store:
        assert store.chat_settings(reply.chat_id) == {"seed": 42}
    flint.click("newChatButton")
    assert flint.window.chat.settings() == {}


def test_reset_gives_the_chat_the_apps_value_again(flint):
    flint.choose_setting("temperature", "1.5", scope="chat")
    flint.window.settings_panel.flush()
    assert flint.window.chat.settings() == {"temperature": 1.5}
    flint.press(flint.window.settings_panel, "reset.temperature")
    assert flint.window.chat.settings() == {}
    assert flint.ask("Hello").facts.sampling.temperature == 0.7


def test_reset_of_the_apps_value_takes_it_out_of_the_file(flint):
    flint.choose_setting("top_k", "11", scope="app")
    flint.window.settings_panel.flush()
    assert kept() == {"top_k": 11}
    flint.press(flint.window.settings_panel, "reset.top_k")
    assert kept() == {}


def test_panel_shows_the_values_of_the_chat_that_is_opened(flint):
    first = flint.ask("One").chat_id
    flint.choose_setting("temperature", "0.35", scope="chat")
    flint.click("newChatButton")
    assert float(flint.part("setting.temperature").text()) == 0.7
    flint.open_chat(first)
    assert float(flint.part("setting.temperature").text()) == 0.35


def test_values_come_back_with_the_next_window(qtbot):
    set_settings(temperature=1.1, theme="dark")
    with open_window(qtbot) as flint:
        flint.click("settingsButton")
        assert float(flint.part("setting.temperature").text()) == 1.1
        assert flint.window._theme.dark


@pytest.mark.parametrize("name", ["temperature", "text_size", "prefix_cache_memory"])
def test_drag_writes_the_file_once_and_the_close_of_the_window_in_a_drag_writes_what_it_shows(flint, monkeypatch, name):
    writes = []
    monkeypatch.setattr(
        "engine.core.preferences.write_whole", lambda *args, **named: writes.append(write_whole(*args, **named))
    )
    flint.click("settingsButton")
    flint.press(flint.part("settingsScope"), "segment.app")
    slider = flint.part(f"slider.{name}")
    places = [QPoint(x, slider.height() // 2) for x in range(slider.width() // 2, slider.width(), 4)]
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=places[0])
    for place in places:
        drag_to(slider, place)
    assert len(writes) == 0
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=places[-1])
    assert len(writes) == 1
    assert kept() == {name: slider.value}
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=places[5])
    drag_to(slider, places[3])
    flint.window.close()
    assert len(writes) == 2
    assert kept() == {name: slider.value}


def test_drag_shows_the_preset_it_leaves_and_the_one_it_meets(flint):
    flint.click("settingsButton")
    slider, bar = flint.part("slider.temperature"), flint.part("presets")
    before = bar.value
    home = slider._knob().center()
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(slider.width() - 1, 5))
    assert before != bar.value == "Custom"
    drag_to(slider, home)
    assert bar.value == before
    assert not locate().settings.exists()


def test_idle_time_reaches_the_engine_at_once(flint):
    sent = []
    send = flint.window.bridge._connection.send
    flint.window.bridge._connection.send = lambda command: (sent.append(command), send(command))
    flint.choose_setting("unload_after", "30", scope="app")
    flint.window.settings_panel.flush()
    (command,) = [command for command in sent if isinstance(command, SetUnloadAfter)]
    assert command.seconds == 1800
    flint.wait(lambda: flint.ends(command.request_id))
    assert flint.window.bridge._host._worker.unload_after_s == 1800


def test_what_is_kept_of_other_chats_is_bounded_at_once(flint):
    upkeep = flint.window.bridge._host._worker.upkeep
    flint.choose_setting("prefix_cache_memory", "0.5", scope="app")
    flint.window.settings_panel.flush()
    flint.choose_setting("prefix_cache_disk", "0", scope="app")
    flint.window.settings_panel.flush()
    flint.wait(lambda: (upkeep.memory, upkeep.disk.limit) == (GB // 2, 0))


def test_value_that_can_not_be_kept_is_told_and_applies_all_the_same(flint):
    locate().settings.mkdir()  # Where the file should be: renaming onto it fails.
    (locate().settings / "in the way").write_text("")
    flint.choose_setting("top_k", "11", scope="app")
    flint.window.settings_panel.flush()
    assert len(flint.toasts()) == 1
    assert "Traceback" not in flint.said()
    assert flint.ask("Hello").facts.sampling.top_k == 11

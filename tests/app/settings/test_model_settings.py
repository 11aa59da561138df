"""Chat over model over all chats over what the model recommends, in the real window; and each sampling setting at work."""

import json
from dataclasses import fields

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from engine.core.messages import NextTokens
from engine.core.paths import locate
from engine.core.sampling import Sampling
from tests.app.window_driver import give_model, open_window, remember

EDITS = {
    "temperature": 1.25,
    "top_p": 0.5,
    "top_k": 7,
    "min_p": 0.1,
    "repetition_penalty": 1.1,
    "repetition_window": 128,
    "max_tokens": 3,
    "seed": 2**63 + 1,
    "presence_penalty": -0.5,
    "frequency_penalty": 0.25,
    "xtc_probability": 0.5,
    "xtc_threshold": 0.2,
    "dry_multiplier": 0.8,
    "dry_base": 2.0,
    "dry_allowed_length": 3,
    "dry_window": 1024,
    "dry_breakers": ";",
    "logit_bias": "#7=-5",
    "stop": "END",
}


def kept():
    return json.loads(locate().settings.read_text())


def note(flint, name):
    return flint.window.settings_panel.field(name).note


@pytest.fixture
def wise(qtbot, fox):
    """A window whose model recommends a temperature and a top-k."""
    model = give_model(fox, "wise")
    path = locate().models / model / "generation_config.json"
    path.unlink()  # A hard link: the shared model must not change.
    path.write_text(json.dumps({"temperature": 0.6, "top_k": 20}))
    remember(model=model)
    give_model(fox, "plain")
    with open_window(qtbot) as driver:
        driver.wait_ready()
        driver.click("settingsButton")
        yield driver


def test_every_sampling_setting_is_tried():
    assert set(EDITS) == {entry.name for entry in fields(Sampling)}


@pytest.mark.drives("more.Sampling", *(f"setting.{name}" for name in EDITS))
def test_each_sampling_setting_reaches_the_sampler_of_the_next_reply(flint):
    for name, value in EDITS.items():
        flint.choose_setting(name, str(value), scope="chat")
    facts = flint.ask("Hello").facts
    assert facts.sampling == Sampling(**EDITS)
    assert facts.output_tokens == 3


def test_what_the_model_recommends_is_shown_and_used(wise):
    assert (note(wise, "temperature"), note(wise, "top_p")) == ("model default", "app default")
    assert wise.part("presets").value == "Model"
    assert note(wise, "context") == "trained to 32,768"
    sampling = wise.ask("Hello").facts.sampling
    assert (sampling.temperature, sampling.top_k, sampling.top_p) == (0.6, 20, 0.95)


@pytest.mark.drives("segment.model", "segment.app", "segment.chat", "reset.temperature")
def test_chat_goes_before_model_and_model_before_all_chats(wise):
    wise.choose_setting("temperature", "1.0", scope="app")
    wise.choose_setting("temperature", "1.1", scope="model")
    wise.choose_setting("temperature", "1.2", scope="chat")
    wise.window.settings_panel.flush()
    assert note(wise, "temperature") == "this model 1.10"
    assert kept()["values"] == {"temperature": 1.0}
    assert kept()["models"] == {"wise": {"temperature": 1.1}}
    used = [wise.ask("Hello").facts.sampling.temperature]
    for expected in ("app default 1.00", "model default 0.60"):
        wise.press(wise.window.settings_panel, "reset.temperature")
        used.append(wise.ask("Hello").facts.sampling.temperature)
        wise.press(wise.part("settingsScope"), f"segment.{'model' if expected.startswith('app') else 'app'}")
        assert note(wise, "temperature") == expected
    wise.press(wise.window.settings_panel, "reset.temperature")
    used.append(wise.ask("Hello").facts.sampling.temperature)
    assert used == [1.2, 1.1, 1.0, 0.6]


def test_a_models_values_are_no_other_models(wise):
    wise.choose_setting("top_k", "5", scope="model")
    wise.window.settings_panel.flush()
    wise.choose_model("plain")
    wise.wait_ready()
    assert wise.part("setting.top_k").text() == "40"
    assert note(wise, "temperature") == "app default"
    assert not wise.window.settings_panel.findChild(QWidget, "segment.Model").isEnabled()
    sampling = wise.ask("Hello").facts.sampling
    assert (sampling.top_k, sampling.temperature) == (40, 0.7)
    wise.choose_model("wise")
    wise.wait_ready()
    assert wise.part("setting.top_k").text() == "5"


def test_flints_default_can_be_set_over_what_the_model_recommends(wise):
    wise.choose_setting("temperature", "0.7", scope="app")
    wise.window.settings_panel.flush()
    assert kept()["values"] == {"temperature": 0.7}
    assert wise.ask("Hello").facts.sampling.temperature == 0.7


@pytest.mark.drives("segment.Model", "segment.Balanced")
def test_the_models_own_preset_is_gone_back_to(wise):
    segments = wise.part("presets")
    wise.press(segments, "segment.Balanced")
    assert wise.window.chat.settings() == {"temperature": 0.7, "top_k": 40}
    wise.press(segments, "segment.Model")
    assert wise.window.chat.settings() == {}
    assert segments.value == "Model"


@pytest.mark.drives("reuse.seed")
def test_a_reply_leaves_its_seed_and_its_distribution(flint):
    flint.click("settingsButton")
    assert flint.part("nextTokenNothing").isVisible()
    first = flint.ask("Hello")
    assert flint.part("last.seed", QLabel).text() == f"last was {first.facts.seed}"
    (told,) = [event for event in flint.events if isinstance(event, NextTokens)]
    assert flint.part("nextTokenBars").isVisible()
    assert "kept" in flint.part("nextTokenCount", QLabel).text()
    assert len(told.texts) == 16
    flint.click("reuse.seed")
    assert flint.ask("Hello again").facts.seed == first.facts.seed
    flint.click("newChatButton")
    assert flint.part("nextTokenNothing").isVisible()
    assert not flint.part("last.seed").isVisible()
    flint.open_chat(first.chat_id)
    assert flint.part("nextTokenBars").isVisible()


def test_the_seed_is_that_of_the_last_reply_on_the_branch_on_show(flint):
    def said():
        told = flint.part("last.seed", QLabel)
        return told.text() if told.isVisible() else ""

    flint.click("settingsButton")
    first = flint.ask("Hello")
    second = flint.ask("And now?")
    flint.press(flint.view(first), "regenerate")
    flint.wait(lambda: flint.idle)
    other = flint.stored()[-1]
    assert said() == f"last was {other.facts.seed}"
    flint.press(flint.view(other), "previousBranch")
    assert said() == f"last was {second.facts.seed}"
    flint.window.message_actions.trash.delete(second)
    assert said() == f"last was {first.facts.seed}"
    flint.click("newChatButton")
    assert said() == ""
    flint.window.chat.open(first.chat_id)
    flint.window.message_actions.trash.delete(first)
    assert said() == f"last was {other.facts.seed}"
    flint.window.message_actions.trash.delete(other)
    assert said() == ""


@pytest.mark.drives("more.Sampling")
def test_what_is_folded_away_says_how_much_of_it_is_set(flint):
    flint.click("settingsButton")
    more = flint.part("more.Sampling")
    assert more.text() == "More"
    more.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(more, Qt.Key.Key_Space)
    assert flint.part("setting.dry_base").isVisible()
    flint.choose_setting("dry_multiplier", "0.8", scope="chat")
    flint.choose_setting("xtc_probability", "0.5", scope="chat")
    flint.window.settings_panel.flush()
    flint.click("more.Sampling")
    assert not flint.part("setting.dry_base").isVisible()
    assert more.text() == "More, 2 set"


@pytest.mark.drives("setting.logit_bias")
def test_a_logit_bias_that_cannot_be_read_is_told_under_its_field_and_not_applied(flint):
    flint.choose_setting("logit_bias", "late", scope="chat")
    flint.window.settings_panel.flush()
    problem = flint.part("problem.logit_bias", QLabel)
    assert "“late” is not token=bias" in problem.text()
    assert problem.isVisible()
    assert note(flint, "logit_bias") == "not applied"
    assert flint.window.chat.settings() == {}
    QTest.keyClicks(flint.part("setting.logit_bias"), "=5")
    flint.window.settings_panel.flush()
    assert not problem.isVisible()
    assert flint.window.chat.settings() == {"logit_bias": "late=5"}

"""Every declared setting of a chat is an option, and every option reaches the engine. A new setting is covered by itself."""

import dataclasses

import pytest

from engine.cli.setting_flags import HELD, offered
from engine.core.messages import Generate
from engine.core.setting import Scope
from engine.core.settings import SETTINGS
from engine.worker import Worker


def another(setting):
    """A value of the setting that is not its default, as it is typed and as it must arrive."""
    if setting.choices:
        return next(value for value, _ in setting.choices if value != setting.default)
    if setting.kind is bool:
        return not setting.default
    if setting.form:
        return "#7=1"
    if setting.kind is str:
        return f"zebra {setting.name}"
    candidates = [setting.minimum + (setting.step or 1) * count for count in (1, 2)]
    return next(setting.kind(value) for value in candidates if value != setting.default)


def flattened(command):
    """Every field of a command by its name, those of what it holds too."""
    found = {}
    for entry in dataclasses.fields(command):
        value = getattr(command, entry.name)
        found[entry.name] = value
        if dataclasses.is_dataclass(value):
            found.update(flattened(value))
    systems = [message.text for message in getattr(command, "messages", ()) if message.role == "system"]
    return {**found, "system_prompt": systems[0] if systems else ""}


@pytest.fixture
def sent(monkeypatch):
    """The `Generate` commands that reach the engine."""
    found = []
    post = Worker.post

    def noting(worker, command, connection):
        if isinstance(command, Generate):
            found.append(command)
        post(worker, command, connection)

    monkeypatch.setattr(Worker, "post", noting)
    return found


def test_what_is_offered_is_what_a_chat_can_have_and_how_the_weights_are_held():
    names = {setting.name for setting in offered()}
    assert names == {setting.name for setting in SETTINGS if setting.scope is Scope.CHAT} | {HELD}
    assert {"temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed", "max_tokens", "context"} <= names


def test_every_option_reaches_the_engine(flint, models, sent):
    wanted = {setting.name: another(setting) for setting in offered()}
    arguments = [f"{setting.flag}={wanted[setting.name]}" for setting in offered()]
    outcome = flint("chat", "hello", "--model", "one", *arguments, "--json")
    assert outcome.status == 0, outcome.err
    reached = flattened(sent[0])
    assert {name: reached[name] for name in wanted} == wanted
    assert all(type(reached[name]) is type(value) for name, value in wanted.items())


@pytest.mark.parametrize("setting", offered(), ids=lambda setting: setting.name)
def test_an_option_changes_its_own_setting_and_no_other(flint, sent, setting):
    """No model is needed: the command is sent, and then fails."""
    assert flint("chat", "hello", "--model", "/etc", setting.flag, another(setting)).status != 0
    (given,) = map(flattened, sent)
    assert {each.name for each in offered() if given[each.name] != each.default} == {setting.name}


def test_the_help_shows_every_option_with_its_bounds(flint, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = flint("chat", "--help").out
    for setting in offered():
        assert setting.flag in out


def test_a_seed_of_64_bits_arrives_whole(flint, models, sent):
    outcome = flint("chat", "hello", "--model", "one", "--seed", 2**64 - 1, "--max-tokens", "1", "--json")
    assert outcome.data["seed"] == 2**64 - 1 == sent[0].sampling.seed

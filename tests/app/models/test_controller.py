"""Which models there are and which is used, with the real library and the real engine."""

import shutil

import pytest

from app.bridge import Bridge
from app.models.controller import LAST_MODEL, ModelController
from engine.chats.store import ChatStore
from engine.core.facts import Message
from engine.core.machine import THIS_MACHINE
from engine.core.messages import Generate, UnloadModel
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.settings import Sampling
from engine.host import Host
from tests.app.window_driver import give_model
from tests.models.tiny_gguf import tiny_gguf


class Controlled:
    """A controller with its engine; `states` are those it went through, `told` the errors it gave out."""

    def __init__(self, qtbot):
        self.qtbot = qtbot
        self.store = ChatStore(locate().chats)
        preferences = Preferences(locate().settings)
        self.bridge = Bridge(lambda: Host(locate(), preferences))
        self.models = ModelController(self.store, self.bridge, preferences)
        self.states, self.told, self.loaded, self.imports = [], [], [], []
        self.models.changed.connect(self.states.append)
        self.models.failed.connect(self.told.append)
        self.models.loaded.connect(self.loaded.append)
        self.models.import_ended.connect(self.imports.append)

    def start(self):
        self.bridge.start()
        self.models.refresh()

    def wait(self, *states):
        self.qtbot.waitUntil(lambda: self.models.state.state in states)

    def until(self, condition):
        self.qtbot.waitUntil(condition)

    def close(self):
        self.bridge.close()
        self.store.close()


@pytest.fixture
def controlled(qtbot):
    controlled = Controlled(qtbot)
    yield controlled
    controlled.close()


def names(states):
    """The states in their order, each once."""
    return list(dict.fromkeys(state.state for state in states))


# -- the choice ----------------------------------------------------------------------------------------------------------


def test_without_any_model_the_state_says_so(controlled):
    assert controlled.models.state.state == "listing"
    controlled.start()
    controlled.wait("none")
    assert controlled.models.entries == ()
    assert controlled.models.model_id == ""
    assert controlled.told == []


def test_model_that_comes_later_is_taken_into_use(controlled, fox):
    controlled.start()
    controlled.wait("none")
    give_model(fox)
    controlled.models.refresh()
    controlled.wait("ready")
    assert controlled.models.model.name == "fox"


@pytest.mark.parametrize("moment", ["ready", "loading"])
def test_where_the_only_model_is_gone_there_is_none_at_whatever_moment(controlled, fox, moment):
    give_model(fox)
    controlled.start()
    controlled.wait(moment)
    controlled.models.forget("fox")
    assert (controlled.models.state.state, controlled.models.model_id) == ("none", "")
    asked = controlled.bridge.new_id("list")
    ended = []
    controlled.bridge.received.connect(lambda event: ended.append(event.request_id))
    controlled.bridge.send(UnloadModel(asked))  # Whatever was under way is through by then.
    controlled.until(lambda: asked in ended)
    assert (controlled.models.state.state, controlled.models.model_id) == ("none", "")
    assert controlled.store.recall(LAST_MODEL) == ""


def test_where_the_chosen_model_is_gone_another_is_used_and_where_another_is_gone_nothing_changes(controlled, fox, greeting):
    give_model(fox)
    give_model(greeting)
    controlled.store.remember(LAST_MODEL, "greeting")
    controlled.start()
    controlled.wait("ready")
    controlled.models.forget("fox")
    assert controlled.models.model_id == "greeting"
    controlled.models.refresh()
    controlled.until(lambda: len(controlled.models.entries) == 2)
    controlled.models.forget("greeting")
    controlled.until(lambda: controlled.models.model_id == "fox" and controlled.models.state.state == "ready")


def test_load_goes_through_visible_steps_and_the_choice_is_remembered(controlled, fox):
    give_model(fox)
    controlled.start()
    controlled.wait("ready")
    assert names(controlled.states) == ["loading", "ready"]
    fractions = [state.fraction for state in controlled.states if state.state == "loading"]
    assert fractions == sorted(fractions)
    assert len(set(fractions)) > 2
    assert controlled.store.recall(LAST_MODEL) == "fox"
    assert controlled.models.remembered()
    assert [model.name for model in controlled.loaded] == ["fox"]


def test_model_used_last_is_used_again(controlled, fox, greeting):
    give_model(fox)
    give_model(greeting)
    controlled.store.remember(LAST_MODEL, "greeting")
    controlled.start()
    controlled.wait("ready")
    assert controlled.models.model_id == "greeting"


def test_chosen_model_takes_the_place_of_the_other(controlled, fox, greeting):
    give_model(fox)
    give_model(greeting)
    controlled.start()
    controlled.wait("ready")
    other = "greeting" if controlled.models.model_id == "fox" else "fox"
    controlled.models.choose(other)
    assert controlled.models.state.state == "loading"
    controlled.wait("ready")
    assert controlled.models.model.id == other == controlled.store.recall(LAST_MODEL)


def test_choice_changed_while_loading_ends_at_the_last_one(controlled, fox, greeting):
    give_model(fox)
    give_model(greeting)
    controlled.start()
    controlled.until(lambda: controlled.models.entries)
    for model_id in ("greeting", "fox", "greeting"):
        controlled.models.choose(model_id)
    controlled.wait("ready")
    assert controlled.models.model.id == controlled.models.model_id == "greeting"
    assert controlled.told == []


def test_folder_outside_is_used_from_where_it_is_also_next_time(controlled, fox, tmp_path):
    shutil.copytree(fox, tmp_path / "Über uns" / "my fox")
    path = str(tmp_path / "Über uns" / "my fox")
    controlled.store.remember(LAST_MODEL, path)
    controlled.start()
    controlled.wait("ready")
    assert controlled.models.model_id == path


def test_unloaded_model_is_known_and_comes_back_with_a_message(controlled, fox):
    give_model(fox)
    controlled.start()
    controlled.wait("ready")
    controlled.models.unload()
    controlled.wait("unloaded")
    assert (controlled.models.state.name, controlled.models.state.detail) == ("fox", "Unloaded")
    assert controlled.loaded[-1] is None
    controlled.bridge.send(Generate("r", "fox", (Message("user", "Hello"),), Sampling(max_tokens=2)))
    controlled.wait("ready")


# -- what can go wrong ---------------------------------------------------------------------------------------------------


def lack_weights(folder):
    (folder / "model.safetensors").unlink()


def cut_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def unknown_architecture(folder):
    text = (folder / "config.json").read_text()
    (folder / "config.json").write_text(text.replace('"llama"', '"hypermamba9"'))


BAD = [
    (lack_weights, "model-broken", "has no weights"),
    (cut_weights, "model-broken", "model.safetensors"),
    (unknown_architecture, "model-unsupported", "hypermamba9"),
]


@pytest.mark.parametrize(("spoil", "code", "word"), BAD)
def test_model_that_went_bad_is_told_when_it_is_chosen(controlled, fox, greeting, spoil, code, word):
    give_model(fox)
    give_model(greeting)
    controlled.store.remember(LAST_MODEL, "fox")
    controlled.start()
    controlled.wait("ready")
    spoil_copy(spoil, "greeting")
    controlled.models.choose("greeting")
    controlled.wait("failed")
    (error,) = controlled.told
    assert (error.code, controlled.models.state.error) == (code, error)
    assert word in error.text
    assert error.hint
    controlled.models.choose("fox")
    controlled.wait("ready")


def spoil_copy(spoil, name):
    """Spoil a model without touching what its files are hard links to."""
    folder = locate().models / name
    for path in folder.iterdir():
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)
    spoil(folder)


@pytest.mark.parametrize(("spoil", "_code", "word"), BAD)
def test_model_used_last_that_went_bad_is_told_and_another_one_used(controlled, fox, greeting, spoil, _code, word):
    give_model(fox)
    give_model(greeting)
    spoil_copy(spoil, "greeting")
    controlled.store.remember(LAST_MODEL, "greeting")
    controlled.start()
    controlled.wait("ready")
    assert controlled.models.model_id == "fox"
    (error,) = controlled.told
    assert word in error.text
    assert error.hint.startswith("fox is used instead. ")


def test_model_used_last_that_is_gone_is_told(controlled):
    controlled.store.remember(LAST_MODEL, "gone")
    controlled.start()
    controlled.wait("none")
    (error,) = controlled.told
    assert error.text == f"The model used last, gone, is not on {THIS_MACHINE} any more."
    assert "used instead" not in error.hint


def test_reply_whose_model_can_not_be_loaded_ends_the_loading(controlled, fox):
    give_model(fox)
    controlled.start()
    controlled.wait("ready")
    controlled.models.unload()
    controlled.wait("unloaded")
    spoil_copy(lambda folder: (folder / "tokenizer.json").write_text("{}"), "fox")  # Found out only in the middle of a load.
    controlled.bridge.send(Generate("r", "fox", (Message("user", "Hello"),)))
    controlled.wait("failed")
    assert controlled.models.state.error.code in ("model-broken", "model-unsupported")
    assert controlled.told == []  # The reply says it itself.


def test_message_for_the_model_before_does_not_undo_the_choice(controlled, fox, greeting):
    give_model(fox)
    give_model(greeting)
    controlled.store.remember(LAST_MODEL, "fox")
    controlled.start()
    controlled.wait("ready")
    controlled.bridge.send(Generate("r", "fox", (Message("user", "Hello"),)))
    controlled.models.choose("greeting")
    chosen = []
    controlled.bridge.received.connect(lambda _: chosen.append(controlled.models.model_id))
    controlled.until(lambda: controlled.models.model.id == "greeting" and controlled.models.state.state == "ready")
    assert set(chosen) == {"greeting"}


# -- importing -----------------------------------------------------------------------------------------------------------


def test_import_reports_its_progress_and_the_model_can_be_used(controlled, tmp_path):
    path = tmp_path / "mit Leerzeichen und ü" / "tiny model.gguf"
    tiny_gguf(path)
    controlled.start()
    controlled.wait("none")
    steps = []
    controlled.models.import_progressed.connect(lambda *step: steps.append(step))
    controlled.models.import_file(str(path))
    controlled.until(lambda: controlled.imports)
    assert controlled.imports == [None]
    assert steps[0] == ("tiny model.gguf", 0, 0)
    assert steps[-1][1] == steps[-1][2] > 0
    controlled.wait("ready")  # There was none before.
    assert controlled.models.model.name == "tiny model"


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda path: tiny_gguf(path, metadata={"general.architecture": "hypermamba9"}), "hypermamba9"),
        (lambda path: (tiny_gguf(path), path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])), "cut short"),
        (lambda path: path.write_bytes(b"GGUF" + b"\0" * 10), ""),
        (lambda path: path.write_text("not a model"), ""),
        (lambda path: None, ""),
    ],
)
def test_file_that_can_not_be_imported_is_told_and_leaves_nothing(controlled, tmp_path, make, word):
    path = tmp_path / "bad.gguf"
    make(path)
    controlled.start()
    controlled.wait("none")
    controlled.models.import_file(str(path))
    controlled.until(lambda: controlled.imports)
    (error,) = controlled.imports
    assert word in error.text
    assert "bad.gguf" in error.text
    assert error.hint
    assert "internal" not in error.code
    assert not any(locate().models.glob("*/model*.safetensors"))
    assert controlled.models.state.state == "none"


def test_import_can_be_cancelled_and_leaves_nothing(controlled, starter_gguf, monkeypatch):
    monkeypatch.setattr("engine.models.starter.starter_file", lambda *_: None)  # It is only a large file here.
    controlled.start()
    controlled.wait("none")
    controlled.models.import_progressed.connect(lambda _name, done, _total: done and controlled.models.cancel_import())
    controlled.models.import_file(str(starter_gguf))
    controlled.until(lambda: controlled.imports)
    assert controlled.imports == [None]
    assert [path for path in locate().models.glob("*") if not path.name.startswith(".")] == []
    assert controlled.models.entries == ()


def test_imports_come_one_after_the_other_and_the_model_in_use_stays_ready(controlled, fox, tmp_path):
    give_model(fox)
    controlled.start()
    controlled.wait("ready")
    steps, paths = [], [tmp_path / "one.gguf", tmp_path / "two.gguf"]
    controlled.models.import_progressed.connect(lambda *step: steps.append(step))
    for layers, path in enumerate(paths, 1):
        tiny_gguf(path, name=path.stem, layers=layers)
        controlled.models.import_file(str(path))
    controlled.states.clear()
    controlled.until(lambda: len(controlled.imports) == 2)
    assert controlled.imports == [None, None]
    assert controlled.states == [], "it is not the model in use that is got ready"
    assert list(dict.fromkeys(name for name, *_ in steps)) == ["one.gguf", "two.gguf"]
    assert all(done == total > 0 for done, total in ({name: step for name, *step in steps}).values())


def test_of_several_imports_the_one_on_show_is_stopped(controlled, starter_gguf, tmp_path, monkeypatch):
    monkeypatch.setattr("engine.models.starter.starter_file", lambda *_: None)
    controlled.start()
    controlled.wait("none")
    shown = []
    controlled.models.import_progressed.connect(lambda name, *_: shown.append(name))
    controlled.models.import_progressed.connect(
        lambda name, done, _total: name == starter_gguf.name and done and controlled.models.cancel_import()
    )
    tiny_gguf(tmp_path / "two.gguf")
    controlled.models.import_file(str(starter_gguf))
    controlled.models.import_file(str(tmp_path / "two.gguf"))
    controlled.until(lambda: len(controlled.imports) == 2)
    assert shown[0] == starter_gguf.name
    assert [path.name for path in locate().models.glob("*") if not path.name.startswith(".")] == ["two"]

"""What the engine thread keeps of what it read, across models, restarts and deleted chats."""

import time
from dataclasses import replace

import pytest

from engine.cache.disk import DiskCache, prefix_folder
from engine.core.facts import Message
from engine.core.messages import ClearPrefixCache, Finished, ForgetChats, SetPrefixCache, UnloadModel
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.setting import GB
from tests.engine.engines import HELLO, PATIENCE_S, finish, generate, install, make_host

OTHER = (Message("user", "a wholly different question about the brown fox"),)


@pytest.fixture
def home(flint_home, tiny_folders):
    install(tiny_folders, flint_home, one="growing", two="recurrent")
    return flint_home


@pytest.fixture
def start(home):
    """A function that starts an engine over the home, as a new process would; all are closed."""
    made = []

    def started():
        made.append(make_host())
        made[-1].start()
        return made[-1], made[-1].connect()

    yield started
    for host in made:
        host.close()


def use():
    return DiskCache(prefix_folder(locate()), 0).use()


def ask(connection, request_id, model="one", text=HELLO, chat=""):
    """Ask; return how many of the prompt's tokens were known, and how many there were."""
    facts = finish(connection, replace(generate(request_id, model, text=text), chat_id=chat))[-1].reply
    return facts.cached_tokens, facts.prompt_tokens


@pytest.mark.parametrize("model", ["one", "two"])
def test_an_engine_that_ends_leaves_what_it_read_to_the_next_one(start, model):
    host, connection = start()
    assert ask(connection, "a", model)[0] == 0
    host.close()
    assert use().files > 0
    cached, prompt = ask(start()[1], "b", model)
    assert cached == prompt - 1


def test_two_models_in_alternation_know_what_each_read(start):
    _, connection = start()
    for turn, model in enumerate(["one", "two"]):
        assert ask(connection, f"first-{turn}", model)[0] == 0
    for turn, model in enumerate(["one", "two", "one"]):
        cached, prompt = ask(connection, f"again-{turn}", model)
        assert cached == prompt - 1


def test_an_idle_engine_saves_by_itself(start):
    _, connection = start()
    ask(connection, "a")
    give_up = time.monotonic() + PATIENCE_S
    while not use().files and time.monotonic() < give_up:
        time.sleep(0.01)
    assert use().files > 0


def test_deleted_chats_are_forgotten_by_the_loaded_model_and_by_others(start):
    _, connection = start()
    for model in ("one", "two"):
        ask(connection, f"{model}-mine", model, chat="mine")
        ask(connection, f"{model}-yours", model, OTHER, chat="yours")
    events = finish(connection, ForgetChats("forget", ("mine",)))
    assert events[-1] == Finished("forget")
    for model in ("two", "one"):
        assert ask(connection, f"{model}-again", model, OTHER, chat="yours")[0] > 0
        yours = ask(connection, f"{model}-once-more", model, OTHER, chat="yours")
        assert yours[0] == yours[1] - 1
        cached, prompt = ask(connection, f"{model}-new", model, chat="new")
        assert cached < prompt - 1


def test_chats_are_forgotten_where_no_model_is_loaded(start):
    _, connection = start()
    ask(connection, "a", chat="mine")
    finish(connection, UnloadModel("unload"))
    assert use().files > 0
    finish(connection, ForgetChats("forget", ("mine",)))
    assert use().files == 0


def test_clearing_forgets_everything(start):
    _, connection = start()
    ask(connection, "a")
    assert finish(connection, ClearPrefixCache("clear"))[-1] == Finished("clear")
    assert use().files == 0
    assert ask(connection, "b")[0] == 0


def test_turned_off_nothing_is_written_and_what_was_there_goes(start):
    _, connection = start()
    ask(connection, "a")
    finish(connection, SetPrefixCache("off", 0, 0))
    ask(connection, "b")
    finish(connection, UnloadModel("unload"))
    assert use().files == 0


def test_the_settings_bound_it(home):
    preferences = Preferences(locate().settings)
    preferences.set("prefix_cache_disk", 0.5)
    preferences.set("prefix_cache_memory", 3)
    host = make_host()
    upkeep = host._worker.upkeep
    assert (upkeep.disk.limit, upkeep.memory) == (GB // 2, 3 * GB)
    assert upkeep.disk.root == home / "cache" / "prefix"

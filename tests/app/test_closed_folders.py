"""Files and folders that their user may not read or write: Flint says which and what to do, and leaves all as it was."""

import contextlib
import hashlib
import os
from pathlib import Path

import pytest

from engine.chats.store import ChatStore
from engine.core.errors import ModelNotFound, ReadOnly
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.models.notebook import Notebook
from tests.app.processes import flint, run_window
from tests.hub.repositories import MadeUp, Repository
from tests.hub.server import Hub
from tests.models.tiny import tiny_model
from tests.models.tiny_architectures import LLAMA
from tests.privileges import bound_by_permissions

MODEL = "little"


@pytest.fixture
def home():
    """A data folder with something of everything."""
    paths = locate()
    with ChatStore(paths.chats) as store:
        store.add_message(store.create_chat().id, "user", "Precious")
    Preferences(paths.settings).set("top_k", 3)
    Notebook(paths.data / "model-notes.json").rename("little", "Little One")
    tiny_model(paths.models / MODEL, LLAMA)
    kept = paths.cache / "prefix" / "0" / "0.safetensors"
    kept.parent.mkdir(parents=True, mode=0o700)
    kept.write_bytes(b"read before")
    return paths.data


@contextlib.contextmanager
def closed(path, mode=0o000):
    """Give nobody the right to read or write `path` (or that which `mode` says); nothing in the folder may change meanwhile."""
    before = contents()
    usual = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        path.chmod(usual)
    assert contents() == before


def contents():
    """What is in every file that holds anything of somebody's; chats are compared by what a reader finds."""
    with ChatStore(locate().chats) as store:
        chats = [[message.text for message in store.messages(chat.id)] for chat in store.chats()]
    files = [path for path in locate().data.rglob("*") if path.is_file() and path.stat().st_size]
    ours = ("chats.sqlite3", "chats.sqlite3-wal", "chats.sqlite3-shm", "gguf-headers.json", "flint.log")
    return chats, {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.name not in ours}


def told(*arguments):
    done = flint(*arguments, before=bound_by_permissions())
    assert "Traceback" not in done.stderr
    assert "inside Flint" not in done.stderr
    return done


@pytest.mark.parametrize("name", ["", "settings.json", "chats.sqlite3"])
def test_a_window_that_may_not_read_its_own_files_says_which(home, name):
    with closed(home / name):
        status, said, err = run_window("read-failure", before=bound_by_permissions())
    assert status == ReadOnly.exit_code
    assert "Traceback" not in err
    assert str(home / name) in said[0]["failureText"]
    assert "FLINT_HOME" in said[0]["failureHint"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("", ("models", "list")),
        ("settings.json", ("models", "list")),
        ("chats.sqlite3", ("chat", "Hi")),
        ("cache", ("cache", "show")),
        ("cache", ("cache", "clear")),
        ("model-notes.json", ("models", "rename", MODEL, "Big One")),
    ],
)
def test_a_command_that_may_not_read_its_own_files_says_which(home, name, arguments):
    with closed(home / name):
        done = told(*arguments)
    assert (done.returncode, done.stdout) == (ReadOnly.exit_code, "")
    assert str(home / name) in done.stderr
    assert "FLINT_HOME" in done.stderr


@pytest.mark.parametrize(("name", "mode"), [("", 0o555), ("chats.sqlite3", 0o400), ("cache/prefix/0", 0o500)])
def test_a_command_that_may_not_write_its_own_files_says_so(home, name, mode):
    arguments = ("cache", "clear") if "cache" in name else ("chat", "Hi")
    with closed(home / name, mode):
        done = told(*arguments)
    assert (done.returncode, done.stdout) == (ReadOnly.exit_code, "")
    assert str(home / name.removesuffix("/0")) in done.stderr
    assert "writable" in done.stderr


def test_models_in_a_closed_folder_are_not_said_to_be_gone(home):
    with closed(home / "models"):
        listed, asked = told("models", "list"), told("models", "info", MODEL)
    assert listed.returncode == 0
    assert asked.returncode == ModelNotFound.exit_code
    assert str(home / "models") in listed.stderr
    assert str(home / "models") in asked.stderr


@pytest.fixture
def others(home):
    """Models where other programs keep them."""
    config = {"model_type": "llama"}
    repository = Repository("org/model").add("config.json", config).add("model.safetensors", MadeUp(100))
    with Hub(repository) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", server.base)
        patch.setenv("HF_HUB_OFFLINE", "0")
        yield [Path(os.environ[name]) for name in ("HF_HOME", "LMSTUDIO_HOME", "OLLAMA_MODELS")]


@pytest.mark.parametrize("which", range(3), ids=["huggingface", "lmstudio", "ollama"])
@pytest.mark.parametrize("arguments", [("models", "list"), ("doctor",)], ids=" ".join)
def test_what_other_programs_keep_in_closed_folders_is_done_without(others, which, arguments):
    tiny_model(others[which] / "hub" / "models--org--model" / "snapshots" / "1", LLAMA)
    with closed(others[which]):
        done = told(*arguments)
    assert "Little One" in done.stdout
    assert "A check failed" not in done.stdout
    if not which:  # The one of them that is Flint's to write to.
        assert str(others[0]) in done.stdout + done.stderr


def test_a_download_into_a_closed_folder_is_refused_with_the_reason(others):
    others[0].mkdir(0o000)
    done = told("models", "pull", "org/model")
    status, said, err = run_window("download", before=bound_by_permissions())
    assert done.returncode == ReadOnly.exit_code
    assert f"may not write to {others[0]}." in done.stderr
    assert (status, said[0]["state"], said[0]["error"]) == (0, "failed", f"Flint may not write to {others[0]}.")
    assert said[0]["toasts"]
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "mode", "now"),
    [
        ("models", 0o555, ()),
        ("models", 0o555, ("--now",)),
        (f"models/{MODEL}", 0o000, ()),
        (f"models/{MODEL}", 0o000, ("--now",)),
        (f"models/{MODEL}", 0o555, ("--now",)),
        (f"models/{MODEL}/more", 0o000, ("--now",)),
    ],
)
def test_a_model_that_may_not_be_removed_stays_whole_and_the_folder_in_the_way_is_named(home, name, mode, now, monkeypatch):
    monkeypatch.setenv("HOME", str(home.parent))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    (home / "models" / MODEL / "more").mkdir()
    with closed(home / name, mode):
        done = told("models", "rm", MODEL, "--yes", *now)
    assert (done.returncode, done.stdout) == (ReadOnly.exit_code, "")
    assert f"may not change {home / name}." in done.stderr
    assert "--now" not in done.stderr
    assert [path.name for path in (home / "models").iterdir()] == [MODEL]


def test_a_closed_model_is_listed_with_its_trouble(home):
    with closed(home / "models" / MODEL):
        done = told("models", "info", MODEL)
    assert "Permission denied" in done.stdout


def test_a_log_that_cannot_be_written_is_done_without(home):
    with closed(home / "cache", 0o500):
        done = told("models", "list")
    assert (done.returncode, "Little One" in done.stdout) == (0, True)


@pytest.mark.parametrize("name", ["", "settings.json", "chats.sqlite3", "cache", "models"])
def test_the_doctor_finds_what_is_closed(home, name):
    with closed(home / name):
        done = told("doctor")
    assert done.returncode == 1
    assert str(home / name) in done.stdout
    assert "A check failed" not in done.stdout

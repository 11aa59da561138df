"""`flint models rm`, `rename`, `note`, `template` and `update`."""

import datetime
import shutil
import time

import pytest

from engine import keeper
from engine.cli.keep import used_text
from engine.cli.models import open_library
from engine.core.errors import UsageError
from engine.core.hub_messages import ListDownloads
from engine.core.messages import UnloadModel
from engine.inference.quantize import quantize
from engine.models.in_use import in_use
from engine.models.notebook import Notebook
from tests.engine.engines import PATIENCE_S, finish, generate, make_host
from tests.engine.models.test_library import put_in_cache
from tests.hub.fault_table import NOWHERE
from tests.hub.repositories import Repository
from tests.hub.server import Hub as Server
from tests.models.other_apps import put_in_ollama
from tests.models.templates import LLAMA3
from tests.models.tiny import tiny_llama
from tests.models.tiny_gguf import tiny_gguf
from tests.models.tiny_tokenizers import CHATML


@pytest.fixture(autouse=True)
def trash(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def ids(flint):
    return {entry["id"] for entry in flint("models", "list", "--json").data}


def test_a_model_is_removed_and_its_bytes_told(flint, models):
    size = sum(path.stat().st_size for path in (models / "one").iterdir())
    outcome = flint("models", "rm", "one", "--yes", "--json")
    assert outcome.data["freed_bytes"] == size
    assert outcome.data["trash"].endswith("/one")
    assert "one" not in ids(flint)
    assert "is in the trash" in flint("models", "rm", "broken", "-y").out
    assert "are free again" in flint("models", "rm", "two", "--now", "-y").out
    assert list(models.iterdir()) == []


def test_nothing_is_removed_unasked(flint, models):
    assert "--yes" in flint("models", "rm", "one").refused(2)
    assert "one" in ids(flint)
    flint("models", "rm", "none", "--yes").refused(10)


def test_a_model_that_another_flint_replies_with_stays(flint, models):
    host = make_host()
    host.start()
    try:
        connection = host.connect()
        finish(connection, generate("a", "one", tokens=1))
        assert "one is in use by another Flint" in flint("models", "rm", "one", "--now", "--yes").refused(2)
        assert "one" in ids(flint)
        finish(connection, generate("b", "two", tokens=1))
        assert flint("models", "rm", "one", "--now", "--yes").status == 0
        assert "two is in use" in flint("models", "rm", "two", "--yes").refused(2)
        finish(connection, UnloadModel("c"))
        assert flint("models", "rm", "two", "--now", "--yes").status == 0
    finally:
        host.close()


def test_a_model_that_a_copy_is_made_of_stays(flint, flint_home, monkeypatch):
    tiny_llama(flint_home / "models" / "tiny", hidden=64, heads=2, kv_heads=2, inner=128)
    refused = []

    def removed_meanwhile(*arguments):
        with pytest.raises(UsageError, match="tiny is in use by another Flint") as caught:
            keeper.removed(open_library(), "tiny", for_good=True)
        refused.append(caught.value)
        return quantize(*arguments)

    monkeypatch.setattr("engine.inference.quantize.quantize", removed_meanwhile)
    assert flint("models", "quantize", "tiny", "--group", "32", "--json").status == 0
    assert refused
    assert ids(flint) >= {"tiny", "tiny-4-bit"}


def test_what_ollama_keeps_stays(flint, tmp_path):
    tiny_gguf(tmp_path / "x.gguf")
    put_in_ollama(tmp_path / "ollama-models", "x:latest", tmp_path / "x.gguf")
    assert "ollama rm x:latest" in flint("models", "rm", "x:latest", "--yes").refused(29)
    assert "x:latest" in ids(flint)


def test_a_new_name_finds_the_model(flint, models):
    assert flint("models", "rename", "one", "Zebra").out == "It is called Zebra now.\n"
    assert flint("models", "info", "zebra", "--json").data["id"] == "one"
    assert "called" in flint("models", "rename", "two", "zebra").refused(2)
    assert flint("models", "rename", "Zebra", "", "--json").data["name"] == "one"


def test_notes_are_kept_and_shown(flint, models, flint_home):
    flint("models", "note", "one", "good at German")
    assert flint("models", "note", "one").out == "good at German\n"
    assert flint("models", "info", "one", "--json").data["notes"] == "good at German"
    assert not (models / "one" / "flint.json").exists()


def test_a_model_without_notes_says_so_before_there_were_any_and_after(flint, models, flint_home):
    for arguments in ([], ["good at German"], [""], []):
        outcome = flint("models", "note", "one", *arguments)
        told = "" if any(arguments) else "There are no notes on one."
        assert (outcome.out.strip(), outcome.err.strip()) == ("".join(arguments), told)
    assert flint("models", "note", "one", "--json").data["notes"] == ""


def test_the_list_tells_the_total_and_the_last_use(flint, models, flint_home, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert not flint("models", "info", "one", "--json").data["used_at"]
    flint("chat", "hello", "--model", "one", "--max-tokens", "1", "--json")
    assert flint("models", "info", "one", "--json").data["used_at"] > time.time() - 3600
    outcome = flint("models", "list")
    (line,) = [line for line in outcome.out.splitlines() if " one " in f" {line} "]
    assert "today" in line or "yesterday" in line
    assert "In all " in outcome.err


def test_days_of_use_in_words():
    def said(day):
        return used_text(datetime.datetime.fromisoformat(f"{day} 23:30").timestamp(), now)

    now = datetime.datetime.fromisoformat("2026-03-30 00:05").timestamp()  # The day before has 23 hours in much of Europe.
    assert used_text(0, now) == ""
    assert [said(f"2026-03-{day}") for day in (30, 29, 28, 10)] == ["today", "yesterday", "2 days ago", "20 days ago"]
    assert said("2026-02-28") == "2026-02-28"


def test_a_template_of_ones_own_stands_for_the_models(flint, models, tmp_path, flint_home):
    assert flint("models", "template", "one").out.strip() == CHATML.strip()
    before = flint("chat", "hello", "--model", "one", "--max-tokens", "1", "--json").data["prompt_tokens"]
    (tmp_path / "mine.jinja").write_text("LONG PREFIX " * 5 + LLAMA3)
    data = flint("models", "template", "one", "--set", tmp_path / "mine.jinja", "--json").data
    assert data["instead"].endswith(LLAMA3)
    assert data["own"].strip() == CHATML.strip()
    assert "And of Italy?" in data["preview"]
    assert flint("models", "info", "one", "--json").data["own_template"] is True
    after = flint("chat", "hello", "--model", "one", "--max-tokens", "1", "--json").data["prompt_tokens"]
    assert after > before + 20
    assert flint("models", "template", "one", "--reset").out.strip() == CHATML.strip()
    assert flint("chat", "hello", "--model", "one", "--max-tokens", "1", "--json").data["prompt_tokens"] == before


ENDLESS = "{% for i in range(99999) %}{% for j in range(99999) %}a{% endfor %}{% endfor %}"


@pytest.mark.parametrize(
    "text", ["{% for %}", "{{ messages[99].x.y }}", "no message at all", "{{ raise_exception('no') }}", ENDLESS]
)
def test_a_template_that_does_not_render_is_refused(flint, models, flint_home, text):
    flint("models", "template", "one", "--set", "-", stdin=text).refused(13)
    assert Notebook(flint_home / "model-notes.json").of("one").template == ""


def test_an_empty_or_missing_template_is_refused(flint, models, tmp_path):
    flint("models", "template", "one", "--set", tmp_path / "none").refused(2)
    flint("models", "template", "one", "--set", "-", stdin=" \n").refused(2)
    flint("models", "template", "one", "--set", "-", "--reset", stdin="x").refused(2)


@pytest.fixture
def server(monkeypatch, tiny_folders, tmp_path):
    from huggingface_hub import close_session

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    folder = tmp_path / "upstream"
    shutil.copytree(tiny_folders("growing"), folder)
    repository = Repository("org/tiny")
    repository.add_folder(folder)
    with Server(repository) as server:
        server.repository = repository
        monkeypatch.setenv("HF_ENDPOINT", server.base)
        yield server
    close_session()


def test_a_newer_version_is_told_then_fetched(flint, server, tiny_folders, tmp_path):
    put_in_cache(tmp_path / "hf-home" / "hub", "org/tiny", tiny_folders("growing"), "a" * 40)
    checked = flint("models", "update", "org/tiny", "--check", "--json").data
    assert (checked["newer"], checked["here"]) == (True, "a" * 40)
    assert flint("models", "info", "org/tiny", "--json").data["path"].endswith("a" * 40)
    assert flint("models", "update", "org/tiny").status == 0
    assert flint("models", "info", "org/tiny", "--json").data["path"].endswith(checked["there"])
    assert flint("models", "update", "org/tiny").out == "org/tiny is the newest.\n"


def test_an_update_fetches_what_changed_and_nothing_else(flint, server):
    assert flint("models", "pull", "org/tiny").status == 0
    server.asked.clear()
    server.repository.add("generation_config.json", '{"temperature": 0.25}')
    assert flint("models", "update", "org/tiny", "--check").out == "There is a newer org/tiny: flint models update org/tiny\n"
    assert len(server.asked) == 1
    assert flint("models", "update", "org/tiny").status == 0
    assert server.bytes_sent("/cdn/") == 0
    assert server.bytes_sent("generation_config") == len('{"temperature": 0.25}')
    facts = {"config.json", "README.md"}
    assert {asked.path.rpartition("/")[2] for asked in server.requests("/resolve/")} - facts == {"generation_config.json"}


def test_the_update_of_one_quantization_is_of_that_one(flint, server, tmp_path):
    repository = server.add(Repository("org/a-GGUF"))
    for name in ("a-Q4_K_M.gguf", "a-Q8_0.gguf"):
        tiny_gguf(tmp_path / name)
        repository.add(name, (tmp_path / name).read_bytes())
    assert flint("models", "pull", "org/a-GGUF/a-Q8_0.gguf").status == 0
    checked = flint("models", "update", "org/a-GGUF/a-Q8_0.gguf", "--check", "--json").data
    assert (checked["model_id"], checked["newer"]) == ("org/a-GGUF/a-Q8_0.gguf", False)


def test_an_update_says_what_is_in_the_way_and_the_model_stays(flint, server, monkeypatch):
    assert flint("models", "pull", "org/tiny").status == 0
    server.repositories.clear()
    assert "The model here stays and works." in flint("models", "update", "org/tiny").refused(31)
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    assert "Check the connection." in flint("models", "update", "org/tiny", "--json").refused(32)
    assert "org/tiny" in ids(flint)


def test_a_model_that_is_not_from_the_hub_asks_nothing(flint, server, models):
    flint("models", "update", "one").refused(2)
    assert server.requests() == []


@pytest.fixture
def cached(tmp_path):
    return tmp_path / "hf-home" / "hub" / "models--org--tiny"


def disk_bytes(cached):
    return sum(path.stat().st_size for path in (cached / "blobs").iterdir())


def new_version(server, tmp_path):
    """The hub gets other weights, as large as before; return the old commit."""
    old = server.repository.commit
    weights = (tmp_path / "upstream" / "model.safetensors").read_bytes()
    server.repository.add("model.safetensors", weights[:-1] + bytes([weights[-1] ^ 1]))
    return old


@pytest.fixture
def pulled(flint, server, tmp_path):
    """A model that was fetched and has a newer version by now: its commit."""
    assert flint("models", "pull", "org/tiny").status == 0
    return new_version(server, tmp_path)


def only_cached(flint):
    (entry,) = [entry for entry in flint("models", "list", "--json").data if entry["id"] == "org/tiny"]
    return entry


def test_an_update_leaves_nothing_of_the_version_before(flint, server, pulled, cached):
    before = disk_bytes(cached)
    assert flint("models", "update", "org/tiny").status == 0
    assert not (cached / "snapshots" / pulled).exists()
    assert disk_bytes(cached) == before
    entry = only_cached(flint)
    assert (entry["problem"], entry["size_bytes"], entry["older_bytes"]) == ("", before, 0)
    assert not [*cached.glob(".flint*")]


def test_a_version_that_another_tool_names_stays_and_is_counted(flint, server, pulled, cached):
    (cached / "refs" / "pr").mkdir()
    (cached / "refs" / "pr" / "1").write_text(pulled)
    outcome = flint("models", "update", "org/tiny")
    assert "The version before stays on the disk: another tool goes by it (refs/pr/1)." in outcome.err
    assert (cached / "snapshots" / pulled / "model.safetensors").exists()
    entry = only_cached(flint)
    assert entry["size_bytes"] + entry["older_bytes"] == disk_bytes(cached)
    assert entry["older_bytes"] > 0
    assert "(older versions " in " ".join(flint("models", "list").out.split())


def test_a_version_in_use_goes_when_it_is_let_go(flint, server, pulled, cached):
    host = make_host()
    host.start()
    try:
        connection = host.connect()
        finish(connection, generate("a", "org/tiny", tokens=1))
        assert "as soon as it is no longer in use" in flint("models", "update", "org/tiny").err
        assert (cached / "snapshots" / pulled / "model.safetensors").exists()
        finish(connection, UnloadModel("b"))
    finally:
        host.close()
    assert not (cached / "snapshots" / pulled).exists()
    assert only_cached(flint)["older_bytes"] == 0


def test_a_version_in_use_goes_at_the_next_start(flint, server, pulled, cached):
    with in_use(cached / "snapshots" / pulled, "tiny"):
        flint("models", "update", "org/tiny")
    assert (cached / "snapshots" / pulled / "model.safetensors").exists()
    host = make_host()
    host.start()
    try:
        finish(host.connect(), ListDownloads("a"))
        give_up = time.monotonic() + PATIENCE_S
        while (cached / "snapshots" / pulled).exists() and time.monotonic() < give_up:
            time.sleep(0.01)
    finally:
        host.close()
    assert not (cached / "snapshots" / pulled).exists()
    assert only_cached(flint)["problem"] == ""


def test_the_update_of_one_gguf_leaves_the_others_of_its_repository(flint, server, tmp_path):
    repository = server.add(Repository("org/a-GGUF"))
    for name, kind in (("a-Q4_K_M.gguf", "Q4_0"), ("a-Q8_0.gguf", "Q8_0")):
        tiny_gguf(tmp_path / name, kind=kind)
        repository.add(name, (tmp_path / name).read_bytes())
    for name in ("a-Q4_K_M.gguf", "a-Q8_0.gguf"):
        assert flint("models", "pull", f"org/a-GGUF/{name}").status == 0
    old = repository.commit
    repository.add("a-Q8_0.gguf", (tmp_path / "a-Q8_0.gguf").read_bytes() + b"x")
    assert flint("models", "update", "org/a-GGUF/a-Q8_0.gguf").status == 0
    snapshot = tmp_path / "hf-home" / "hub" / "models--org--a-GGUF" / "snapshots" / old
    assert {path.name for path in snapshot.glob("*.gguf")} == {"a-Q4_K_M.gguf"}


def test_notes_colour_no_terminal(flint, models, monkeypatch):
    flint("models", "note", "one", "a \x1b[31mred\x1b[0m word")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert flint("models", "note", "one").out == "a ␛[31mred␛[0m word\n"

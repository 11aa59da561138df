"""`flint models`: list, info, import."""

import json
import re
from pathlib import Path

import pytest

from engine.cli.models import open_library
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.models.fact_words import facts_of
from tests.models.other_apps import put_in_lmstudio, put_in_ollama
from tests.models.tiny_gguf import tiny_gguf

FACTS = {"layers", "heads", "kv_heads", "head_dim", "vocabulary", "parameters", "kv_bytes_per_token"}


def test_the_list_tells_each_model_and_what_is_wrong_with_it(flint, models):
    outcome = flint("models", "list", "--json")
    assert (outcome.status, outcome.err) == (0, "")
    entries = {entry["id"]: entry for entry in outcome.data}
    assert {"one", "two", "broken"} <= entries.keys()
    assert entries["one"]["problem"] == ""
    assert entries["one"]["kind"] == "mlx"
    assert entries["one"]["size_bytes"] == sum(path.stat().st_size for path in (models / "one").iterdir())
    assert entries["broken"]["problem"]


def test_the_list_can_be_read(flint, models, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    out = flint("models", "list").out
    assert "Id" in out.splitlines()[0]
    for name in ("one", "two", "broken"):
        assert name in out


def test_the_models_folder_of_the_settings_is_looked_into(flint, models, tmp_path):
    models.rename(tmp_path / "elsewhere")
    Preferences(locate().settings).set("models_folder", str(tmp_path / "elsewhere"))
    assert {"one", "two"} <= {entry["id"] for entry in flint("models", "list", "--json").data}


def test_the_list_names_the_apps_that_have_a_model(flint, models, tmp_path, monkeypatch):
    tiny_gguf(tmp_path / "x.gguf")
    put_in_lmstudio(tmp_path / "lmstudio-home" / "models", "org/x", tmp_path / "x.gguf")
    put_in_ollama(tmp_path / "ollama-models", "x:latest", tmp_path / "x.gguf")
    monkeypatch.setenv("COLUMNS", "200")
    (line,) = [line for line in flint("models", "list").out.splitlines() if "org/x" in line]
    assert "LM Studio, Ollama" in line
    (entry,) = [entry for entry in flint("models", "list", "--json").data if entry["origin"] == "lmstudio"]
    assert [copy["origin"] for copy in entry["copies"]] == ["ollama"]


def test_info_tells_the_shape_of_a_model(flint, models):
    data = flint("models", "info", "one", "--json").data
    assert data.keys() >= FACTS
    assert (data["layers"], data["heads"], data["kv_heads"], data["head_dim"]) == (2, 4, 2, 8)
    assert data["kv_bytes_per_token"] == 2 * 2 * 2 * 8 * 2
    assert data["context"] == 512


def test_info_is_told_in_the_words_and_figures_of_the_window(flint, models):
    (models / "one" / "generation_config.json").write_text('{"temperature": 0.6, "top_p": 0.9}')
    flint("models", "note", "one", "Quick.\nGood at tables.")
    out = flint("models", "info", str(models / "one")).out
    (entry,) = [one for one in open_library().entries() if one.id == "one"]
    told = dict(re.split(r" {2,}", line, maxsplit=1) for line in out.splitlines() if not line.startswith(" "))
    window = {name: value for name, value in facts_of(entry) if value}
    assert window.items() <= told.items()
    assert told.keys() - window.keys() == {"Name", "Id", "Recommended", "Notes", "Where it is"}
    assert told["Recommended"] == "Temperature 0.6, Top-p 0.9"
    assert told["Where it is"] == str(models / "one")
    assert "Good at tables." in out


@pytest.mark.parametrize("name", ["one", "two", "broken", "starter"])
def test_info_prints_no_python_and_nothing_that_is_empty(flint, models, name):
    (name,) = [one.id for one in open_library().entries() if one.id == name or name == one.origin]
    outcome = flint("models", "info", name)
    assert outcome.status == 0
    assert not re.search(r"[{}]|\(\)|None|False|True|''", outcome.out)
    assert all(re.match(r"[A-Z][\w ]*? {2,}\S", line) for line in outcome.out.splitlines())


def test_info_of_a_broken_model_says_what_is_wrong(flint, models):
    outcome = flint("models", "info", "broken", "--json")
    assert outcome.status == 0
    assert outcome.data["problem"] in flint("models", "info", "broken").out


def test_info_of_an_unknown_model_names_near_ones(flint, models):
    assert "one" in flint("models", "info", "ohne", "--json").refused(10)


def test_an_import_makes_a_model_ready_once(flint, tmp_path, flint_home):
    path = tmp_path / "Mein Modell ü.gguf"
    tiny_gguf(path)
    first = flint("models", "import", path, "--json")
    assert (first.status, first.err) == (0, "")
    entry = first.data
    assert entry["kind"] == "mlx"
    assert not entry["problem"]
    assert entry["path"].startswith(str(flint_home / "models"))
    assert flint("models", "import", path, "--json").data["id"] == entry["id"]
    reply = flint("chat", "hello", "--model", entry["id"], "--max-tokens", "2", "--json")
    assert reply.data["output_tokens"] <= 2


def test_an_import_takes_a_name_and_says_how_to_go_on(flint, tmp_path):
    path = tmp_path / "x.gguf"
    tiny_gguf(path)
    outcome = flint("models", "import", path, "--name", "Zebra")
    assert outcome.status == 0
    assert outcome.out.startswith("Zebra is ready: flint chat --model ")


@pytest.mark.parametrize("name", [(), ("--name", "Zebra"), ("--name", "Other"), ("--name", "x" * 300)])
def test_what_was_imported_before_is_told_under_the_name_it_has(flint, tmp_path, flint_home, name):
    path = tmp_path / "x.gguf"
    tiny_gguf(path)
    assert flint("models", "import", path, "--name", "Zebra").status == 0
    outcome = flint("models", "import", path, *name)
    assert (outcome.status, outcome.out) == (0, "It is already here as “Zebra”.\n")
    assert [path.name for path in (flint_home / "models").iterdir() if path.is_dir()] == ["zebra"]


@pytest.mark.parametrize(("name", "why"), [("ZEBRA", "called “Zebra”"), ("a\x1bb", "no control"), ("x" * 300, "at most 120")])
def test_an_import_refuses_a_name_as_a_renaming_does(flint, tmp_path, flint_home, name, why):
    tiny_gguf(tmp_path / "x.gguf")
    tiny_gguf(tmp_path / "y.gguf", kind="Q8_0")
    assert flint("models", "import", tmp_path / "x.gguf", "--name", "Zebra").status == 0
    assert why in flint("models", "import", tmp_path / "y.gguf", "--name", name).refused(2)
    assert [path.name for path in (flint_home / "models").iterdir() if path.is_dir()] == ["zebra"]


def test_a_name_that_is_taken_is_numbered_unless_it_was_asked_for(flint, tmp_path, flint_home):
    for number, folder in enumerate(("a", "b", "c")):
        (tmp_path / folder).mkdir()
        tiny_gguf(tmp_path / folder / "x.gguf", seed=number)
    names = [flint("models", "import", tmp_path / folder / "x.gguf", "--json").data["name"] for folder in ("a", "b", "c")]
    assert names == ["x", "x 2", "x 3"]
    assert flint("models", "import", tmp_path / "b" / "x.gguf").out == "It is already here as “x 2”.\n"


def test_a_file_has_its_own_name_where_it_is_listed_before_and_mends_an_import_under_it(flint, tmp_path, flint_home):
    listed = flint_home / "models" / "x.gguf"
    listed.parent.mkdir(parents=True)
    tiny_gguf(listed)
    first = flint("models", "import", listed, "--json").data
    weights = Path(first["path"]) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    again = flint("models", "import", listed, "--json").data
    assert (first["name"], again["name"], again["problem"]) == ("x", "x", "")


@pytest.mark.parametrize("content", [None, b"", b"GGUF", b"not a gguf at all" * 99])
def test_what_is_no_gguf_is_refused(flint, tmp_path, flint_home, content):
    path = tmp_path / "x.gguf"
    if content is not None:
        path.write_bytes(content)
    outcome = flint("models", "import", path, "--json")
    outcome.refused(outcome.status)
    assert outcome.status >= 10
    assert not list((flint_home / "models").glob("*"))


def test_no_models_is_said_with_what_to_do(flint, monkeypatch):
    monkeypatch.setattr("engine.models.starter.starter_file", lambda package: None)
    outcome = flint("models", "list")
    assert (outcome.status, outcome.out) == (0, "")
    assert "flint models import" in outcome.err
    assert json.loads(flint("models", "list", "--json").out) == []
    flint("chat", "hello", "--json").refused(10)

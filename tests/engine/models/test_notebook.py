"""Notes on models: kept in Flint's file, by several processes, whatever stands in it."""

import json
import multiprocessing

import pytest

from engine.core.errors import UsageError
from engine.models.notebook import ModelNote, Notebook


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "model-notes.json"


def test_nothing_is_written_before_there_is_something(path):
    assert Notebook(path).of("a") == ModelNote()
    assert not path.parent.exists()


def test_what_is_noted_is_there_for_others_and_later(path):
    one, other = Notebook(path), Notebook(path)
    one.rename("a", "  My   model ")
    other.write("a", "good at\nGerman ")
    one.use_template("a", "{{ x }}")
    other.used("b")
    assert one.of("a") == other.of("a") == Notebook(path).of("a") == ModelNote("My model", "good at\nGerman", 0.0, "{{ x }}")
    assert one.of("b").used_at > 0
    assert one.of("none", "a").name == "My model"
    other.rename("a", "")
    assert one.of("a").name == ""
    one.forget("a")
    assert "a" not in json.loads(path.read_text())["models"]


@pytest.mark.parametrize("name", ["x" * 121, "a\x00b", "a\x1b[31mb"])
def test_a_name_that_is_none_is_refused(path, name):
    with pytest.raises(UsageError):
        Notebook(path).rename("a", name)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"models": 3}', '{"models": {"a": 3}}'])
def test_a_damaged_file_is_kept_aside(path, text):
    path.parent.mkdir()
    path.write_text(text)
    book = Notebook(path)
    assert book.of("a") == ModelNote()
    book.rename("a", "new")
    assert Notebook(path).of("a").name == "new"
    (aside,) = path.parent.glob("*.damaged-*")
    assert aside.read_text() == text


def test_a_value_of_another_kind_is_left_out(path):
    path.parent.mkdir()
    path.write_text(json.dumps({"models": {"a": {"name": 3, "notes": "n", "used_at": "x"}}}))
    assert Notebook(path).of("a") == ModelNote(notes="n")


def write_many(path, name):
    for number in range(20):
        Notebook(path).write(f"{name}-{number}", "x")


def test_two_processes_lose_nothing(path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(path, name)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(json.loads(path.read_text())["models"]) == 40


def test_a_use_that_cannot_be_noted_is_no_error(path):
    path.parent.write_text("no folder")
    Notebook(path).used("a")
    assert Notebook(path).of("a") == ModelNote()

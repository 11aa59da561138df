"""Keeping models, as the window asks for it."""

import pytest

from engine.core.keep_messages import (
    AskModelTemplate,
    ModelRemoved,
    ModelTemplate,
    NoteModel,
    RemoveModel,
    RenameModel,
    SetModelTemplate,
)
from engine.core.messages import Failed, Finished, ListModels, ModelsListed
from tests.engine.engines import finish, generate, install, make_host
from tests.models.templates import LLAMA3


@pytest.fixture
def host(flint_home, tiny_folders, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    install(tiny_folders, flint_home, one="growing", two="recurrent")
    host = make_host()
    host.start()
    yield host
    host.close()


def named(events, model_id="one"):
    (listed,) = [event for event in events if isinstance(event, ModelsListed)]
    return next(entry for entry in listed.models if entry.id == model_id)


def test_a_name_and_notes_come_back_with_the_list(host):
    connection = host.connect()
    assert named(finish(connection, RenameModel("r", "one", "Zebra"))).name == "Zebra"
    entry = named(finish(connection, NoteModel("n", "one", "good")))
    assert (entry.name, entry.renamed, entry.notes) == ("Zebra", True, "good")
    refused = finish(connection, RenameModel("r2", "two", "zebra"))[-1]
    assert isinstance(refused, Failed)


def test_a_removed_model_is_told_and_gone(host, flint_home):
    events = finish(host.connect(), RemoveModel("x", "one"))
    (removed,) = [event for event in events if isinstance(event, ModelRemoved)]
    assert (removed.model_id, removed.name) == ("one", "one")
    assert removed.freed_bytes > 0
    assert not (flint_home / "models" / "one").exists()
    assert isinstance(finish(host.connect(), RemoveModel("y", "one"))[-1], Failed)


def test_what_a_removal_left_goes_when_the_models_are_listed(host, flint_home):
    left = flint_home / "models" / ".removed-three"
    left.mkdir()
    (left / "model.safetensors").write_bytes(b"many")
    finish(host.connect(), ListModels("l"))
    assert not left.exists()


def test_a_draft_is_tried_and_not_kept(host):
    connection = host.connect()
    (good, end) = finish(connection, AskModelTemplate("t", "one", LLAMA3))
    assert isinstance(good, ModelTemplate)
    assert isinstance(end, Finished)
    assert "<|header|>user<|/header|>" in good.preview
    (bad, _) = finish(connection, AskModelTemplate("t2", "one", "{% if %}"))
    assert "does not parse" in bad.problem
    assert bad.instead == ""


def test_the_loaded_model_goes_on_with_another_template(host):
    connection = host.connect()
    first = finish(connection, generate("g1"))[-1].reply
    (shown, end) = finish(connection, SetModelTemplate("t", "one", LLAMA3))
    assert (shown.instead, shown.problem) == (LLAMA3, "")
    assert isinstance(end, Finished)
    second = finish(connection, generate("g2"))[-1].reply
    assert second.template_hash != first.template_hash
    assert second.fingerprint == first.fingerprint
    finish(connection, SetModelTemplate("t2", "one", ""))
    third = finish(connection, generate("g3"))[-1].reply
    assert third.template_hash == first.template_hash
    assert third.output_ids == first.output_ids

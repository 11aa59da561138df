"""Models of other apps: found in place, under their real names, each once, with what is wrong with them."""

import json
import shutil

import pytest

from engine.core.machine import THIS_MACHINE
from engine.core.messages import ImportModel, ModelImported
from engine.core.paths import locate
from engine.models import lmstudio, ollama
from engine.models.gguf import import_gguf
from engine.models.library import Library
from tests.engine.engines import finish, make_host
from tests.engine.models.test_library import put_in_cache
from tests.models.other_apps import put_in_lmstudio, put_in_ollama
from tests.models.tiny import tiny_llama
from tests.models.tiny_gguf import tiny_gguf

NAMED = {"general.name": "Tiny Llama 3.2 Instruct", "general.file_type": 15}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def gguf(tmp_path):
    path = tmp_path / "Tiny-Llama-Q4_0.gguf"
    tiny_gguf(path)
    return path


@pytest.fixture
def studio(tmp_path):
    return tmp_path / "lmstudio-home" / "models"


@pytest.fixture
def blobs(tmp_path):
    return tmp_path / "ollama-models"


def entries(**options):
    return Library(locate(), **{"starter_package": "no-such-package", **options}).entries()


def test_lm_studios_models_are_used_in_place(studio, tiny, gguf):
    mlx = put_in_lmstudio(studio, "mlx-community/Tiny-Llama-4bit", tiny)
    folder = put_in_lmstudio(studio, "bartowski/Tiny-Llama-GGUF", gguf)
    (folder / "mmproj-model.gguf").write_bytes(b"GGUF")
    one, two = entries()
    assert (one.id, one.name, one.kind, one.origin) == (
        "mlx-community/Tiny-Llama-4bit",
        "Tiny Llama 4-bit",
        "mlx",
        "lmstudio",
    )
    assert (one.path, one.problem) == (str(mlx), "")
    assert (two.id, two.name) == ("bartowski/Tiny-Llama-GGUF/Tiny-Llama-Q4_0.gguf", "Tiny Llama Q4_0")
    assert (two.kind, two.origin, two.problem) == ("gguf", "lmstudio", "")


def test_what_lm_studio_has_not_finished_is_said(studio, tiny):
    folder = put_in_lmstudio(studio, "org/whole", tiny)
    (folder / "downloading_model-2.safetensors.part").write_text("")
    (put_in_lmstudio(studio, "org/begun") / "downloading_x.gguf.part").write_text("")
    assert {entry.id: entry.problem for entry in entries()} == {
        "org/whole": "LM Studio has not finished downloading org/whole.",
        "org/begun": "LM Studio has not finished downloading org/begun.",
    }


def test_lm_studios_folder_is_where_its_settings_or_its_pointer_say(tmp_path, tiny):
    home, chosen = tmp_path / "home", tmp_path / "chosen"
    put_in_lmstudio(chosen, "org/chosen", tiny)
    put_in_lmstudio(home / ".cache" / "lm-studio" / "models", "org/old", tiny)
    put_in_lmstudio(tmp_path / "moved" / "models", "org/moved", tiny)
    (home / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'moved'}\n")
    (tmp_path / "moved" / "settings.json").write_text(json.dumps({"downloadsFolder": str(chosen)}), "utf-8-sig")
    environ = {"HOME": str(home)}
    found = lmstudio.model_folders(environ)
    assert found == (chosen, tmp_path / "moved" / "models", home / ".cache" / "lm-studio" / "models")
    (home / ".lmstudio-home-pointer").write_text(str(tmp_path / "gone"))
    put_in_lmstudio(home / ".lmstudio" / "models", "org/usual", tiny)
    assert lmstudio.model_folders(environ)[0] == home / ".lmstudio" / "models"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"downloadsFolder": 3}', '{"downloadsFolder": "relative"}', "[" * 9999])
def test_settings_that_say_nothing_leave_the_usual_folder(studio, tiny, text):
    put_in_lmstudio(studio, "org/tiny", tiny)
    (studio.parent / "settings.json").write_text(text)
    assert [entry.id for entry in entries()] == ["org/tiny"]


def test_ollamas_models_have_their_real_names(blobs, tmp_path):
    tiny_gguf(tmp_path / "named.gguf", metadata=NAMED)
    tiny_gguf(tmp_path / "plain.gguf", kind="Q8_0")
    blob = put_in_ollama(blobs, "llama3.2:3b", tmp_path / "named.gguf")
    put_in_ollama(blobs, "Tiny-GGUF:Q8_0", tmp_path / "plain.gguf", host="hf.co/bartowski")
    found = {entry.id: entry for entry in entries()}
    assert found.keys() == {"llama3.2:3b", "hf.co/bartowski/Tiny-GGUF:Q8_0"}
    one = found["llama3.2:3b"]
    assert (one.name, one.path, one.origin, one.kind) == ("Tiny Llama 3.2 Instruct Q4_K_M", str(blob), "ollama", "gguf")
    assert (one.problem, one.architecture) == ("", "llama")
    assert Library(locate()).find("llama3.2:3b") == one


def test_what_of_ollamas_cannot_be_used_says_why(blobs, gguf):
    put_in_ollama(blobs, "cloud:latest")
    put_in_ollama(blobs, "own:latest", more=["application/vnd.ollama.image.tensor"])
    put_in_ollama(blobs, "changed:latest", gguf, more=["application/vnd.ollama.image.adapter"])
    put_in_ollama(blobs, "other:latest", gguf, host="registry.ollama.ai/somebody")
    (blobs / "manifests/registry.ollama.ai/library/bad").mkdir()
    (blobs / "manifests/registry.ollama.ai/library/bad/latest").write_text("{")
    (blobs / "blobs" / f"sha256-{'a' * 64}-partial").write_text("")
    (blobs / "blobs" / f"sha256-{'a' * 64}-partial-0").write_text("")
    problems = {entry.id: entry.problem for entry in entries()}
    assert problems == {
        "cloud:latest": f"Its weights are not on {THIS_MACHINE}.",
        "own:latest": "Ollama keeps it in a form of its own.",
        "changed:latest": "It is a change to another model (an adapter), which Flint can't import.",
        "somebody/other:latest": "",
        "bad:latest": "Ollama's note of it is damaged.",
        "Unfinished download aaaaaaaa": "Ollama has not finished downloading it.",
    }
    for blob in (blobs / "blobs").glob("sha256-*"):
        blob.unlink()
    assert {entry.id: entry.problem for entry in entries()}[
        "somebody/other:latest"
    ] == "Ollama has not finished downloading it."


def test_a_damaged_blob_is_named_as_the_model(blobs, tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    blob = put_in_ollama(blobs, "x:latest", tmp_path / "x.gguf")
    (entry,) = entries()
    assert entry.problem
    assert "x:latest" in entry.problem
    assert blob.name not in entry.problem


def test_ollamas_folder_is_where_it_says(tmp_path):
    assert ollama.models_folder({"OLLAMA_MODELS": "/x/models"}) == ollama.models_folder({"OLLAMA_MODELS": "/x/models/"})
    assert ollama.models_folder({"HOME": str(tmp_path)}) == tmp_path / ".ollama" / "models"


def test_loops_of_links_end(studio, blobs, tiny, gguf):
    put_in_lmstudio(studio, "org/tiny", tiny)
    (studio / "loop").symlink_to(studio)
    (studio / "org" / "loop").symlink_to(studio / "org" / "loop")
    put_in_ollama(blobs, "x:latest", gguf)
    (blobs / "manifests" / "loop").symlink_to(blobs / "manifests")
    assert {entry.id for entry in entries()} == {"org/tiny", "x:latest"}


def test_headers_are_read_once_also_by_the_next_run(studio, gguf, monkeypatch):
    from engine.models import gguf_header

    read = []
    real = gguf_header.read_header
    monkeypatch.setattr(gguf_header, "read_header", lambda path: read.append(path) or real(path))
    path = put_in_lmstudio(studio, "org/tiny", gguf) / gguf.name
    (studio / "org" / "tiny" / "bad.gguf").write_bytes(b"GGUF")
    first = entries()
    assert entries() == first
    assert [each.name for each in read].count(gguf.name) == 1
    assert [each.name for each in read].count("bad.gguf") == 2  # The next Flint may know what to do with it.
    tiny_gguf(path, kind="Q8_0")
    assert entries()[0].quantization == "Q8_0"
    known = locate().cache / "gguf-headers.json"
    for text in ("{", "[]", '{"version": 1, "files": {"a": 3}}'):
        known.write_text(text)
        assert entries()[0].quantization == "Q8_0"


def test_one_file_in_two_apps_is_one_model(studio, blobs, gguf):
    put_in_lmstudio(studio, "org/tiny-gguf", gguf)
    blob = put_in_ollama(blobs, "tiny:latest", gguf)
    (entry,) = entries()
    assert (entry.origin, entry.name) == ("lmstudio", "Tiny Llama Q4_0")
    assert [(copy.id, copy.path, copy.origin) for copy in entry.copies] == [("tiny:latest", str(blob), "ollama")]
    library = Library(locate(), starter_package="none")
    assert library.find("tiny:latest") == library.find("TINY:latest") == library.find(str(blob)) == entry


def test_an_imported_file_is_the_model_it_became(studio, blobs, gguf, flint_home):
    put_in_lmstudio(studio, "org/tiny-gguf", gguf)
    put_in_ollama(blobs, "tiny:latest", gguf)
    folder = import_gguf(gguf, flint_home / "models")
    (entry,) = entries()
    assert (entry.path, entry.kind, entry.origin) == (str(folder), "mlx", "flint")
    assert [copy.origin for copy in entry.copies] == ["lmstudio", "ollama"]


def test_files_of_one_name_and_size_are_two_models(studio, gguf, tmp_path, flint_home):
    put_in_lmstudio(studio, "one/ggml", gguf)
    other = tmp_path / "other" / gguf.name
    other.parent.mkdir()
    content = bytearray(gguf.read_bytes())
    content[-1] ^= 1
    other.write_bytes(content)
    put_in_lmstudio(studio, "two/ggml", other)
    assert len(entries()) == 2
    import_gguf(gguf, flint_home / "models")
    imported, left = entries()
    assert [copy.id for copy in imported.copies] == [f"one/ggml/{gguf.name}"]
    assert left.id == f"two/ggml/{gguf.name}"


def test_what_an_earlier_flint_imported_is_found_by_name_and_size(studio, gguf, flint_home):
    put_in_lmstudio(studio, "org/tiny-gguf", gguf)
    folder = import_gguf(gguf, flint_home / "models")
    record = json.loads((folder / "flint.json").read_text())
    del record["source_sample"]
    (folder / "flint.json").write_text(json.dumps(record))
    (entry,) = entries()
    assert [copy.origin for copy in entry.copies] == ["lmstudio"]


def test_one_folder_in_two_apps_is_one_model(studio, tiny, tmp_path):
    put_in_cache(tmp_path / "hf-home" / "hub", "org/tiny", tiny)
    folder = put_in_lmstudio(studio, "org/tiny", tiny)
    (entry,) = entries()
    assert (entry.origin, [copy.path for copy in entry.copies]) == ("huggingface", [str(folder)])


def test_models_that_differ_are_two(studio, tiny, tmp_path):
    put_in_cache(tmp_path / "hf-home" / "hub", "org/tiny", tiny)
    other = tiny_llama(tmp_path / "other", seed=1)
    assert (other / "model.safetensors").stat().st_size == (tiny / "model.safetensors").stat().st_size
    put_in_lmstudio(studio, "org/other", other)
    assert len(entries()) == 2


def test_a_broken_copy_does_not_hide_the_whole_one(studio, tiny, flint_home):
    folder = flint_home / "models" / "tiny"
    shutil.copytree(tiny, folder)
    (folder / "config.json").unlink()
    put_in_lmstudio(studio, "org/tiny", tiny)
    assert [(entry.id, bool(entry.problem)) for entry in entries()] == [("org/tiny", False), ("tiny", True)]


def test_ollamas_model_keeps_its_name_when_it_is_imported(blobs, tmp_path):
    tiny_gguf(tmp_path / "named.gguf", metadata=NAMED)
    blob = put_in_ollama(blobs, "llama3.2:3b", tmp_path / "named.gguf")
    host = make_host()
    host.start()
    try:
        events = finish(host.connect(), ImportModel("i", str(blob)))
        (imported,) = [event.model for event in events if isinstance(event, ModelImported)]
        assert imported.name == "Tiny Llama 3.2 Instruct Q4_K_M"
        assert imported.id == "tiny-llama-3.2-instruct-q4_k_m"
    finally:
        host.close()
    assert blob.exists()

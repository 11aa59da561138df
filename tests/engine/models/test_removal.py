"""What goes and what stays when a model is removed."""

import shutil
import sys
from pathlib import Path

import pytest

from engine.core.errors import UsageError
from engine.core.paths import locate
from engine.core.system_trash import TrashRefused, move_to_trash
from engine.models.in_use import in_use, unused
from engine.models.library import Library
from engine.models.removal import NotFlints, remove, sweep
from tests.engine.models.test_library import put_in_cache
from tests.models.other_apps import put_in_lmstudio, put_in_ollama
from tests.models.tiny import tiny_llama
from tests.models.tiny_gguf import tiny_gguf


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "hf-home" / "hub"


@pytest.fixture
def trash(tmp_path, monkeypatch):
    """The folder that things in the trash lie in; the trash of whoever runs the tests is left alone."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "home" / ".Trash" if sys.platform == "darwin" else tmp_path / "share" / "Trash" / "files"


def library():
    return Library(locate(), starter_package="no-such-package")


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def place(where, flint_home, cache, tiny, repository):
    """Put a model where one can be: Flint's own folder, the cache as a folder or as GGUFs, or Flint's as single files."""
    if where == "flint":
        shutil.copytree(tiny, flint_home / "models" / "mine")
    elif where == "file":
        shutil.copytree(repository, flint_home / "models")
    else:
        put_in_cache(cache, "org/tiny", tiny if where == "cache" else repository)


def test_a_model_of_flints_goes_to_the_trash_as_it_is(flint_home, tiny, trash):
    folder = flint_home / "models" / "mine"
    shutil.copytree(tiny, folder)
    freed, where = remove(library().find("mine"))
    assert (freed, where) == (size(tiny), str(trash / "mine"))
    assert not folder.exists()
    assert library().entries() == ()
    assert (trash / "mine" / "model.safetensors").read_bytes() == (tiny / "model.safetensors").read_bytes()
    shutil.move(trash / "mine", folder)  # As somebody does who wants it back.
    assert library().find("mine").problem == ""


@pytest.mark.skipif(sys.platform == "darwin", reason="the Finder keeps notes of its own")
def test_the_desktop_is_told_where_it_was(tmp_path, trash):
    for _ in range(2):
        (tmp_path / "ü x").mkdir()
        move_to_trash(tmp_path / "ü x")
    assert {path.name for path in trash.iterdir()} == {"ü x", "ü x 2"}
    note = (trash.with_name("info") / "ü x 2.trashinfo").read_text()
    assert f"Path={tmp_path}/%C3%BC%20x\n" in note


def test_one_deleted_for_good_is_in_no_trash(flint_home, tiny, trash):
    shutil.copytree(tiny, flint_home / "models" / "mine")
    assert remove(library().find("mine"), for_good=True) == (size(tiny), "")
    assert list((flint_home / "models").iterdir()) == []
    assert not trash.exists()


def test_a_deletion_that_was_cut_short_stands_in_no_later_ones_way(flint_home, tiny, trash):
    folder = flint_home / "models" / "mine"
    shutil.copytree(tiny, folder)
    shutil.copytree(tiny, folder.with_name(".removed-mine"))
    remove(library().find("mine"), for_good=True)
    assert [*folder.parent.iterdir()] == []
    assert not trash.exists()


@pytest.mark.parametrize("where", ["flint", "cache", "gguf", "file"])
def test_a_deletion_that_was_cut_short_is_swept_but_not_one_that_goes_on(
    flint_home, cache, tiny, trash, tmp_path, where, monkeypatch
):
    (tmp_path / "repo").mkdir()
    tiny_gguf(tmp_path / "repo" / "tiny.gguf")
    tiny_gguf(tmp_path / "repo" / "other.gguf", kind="Q8_0")
    place(where, flint_home, cache, tiny, tmp_path / "repo")
    models = library()
    going, *others = models.entries()
    rmtree = shutil.rmtree

    def swept_meanwhile_then_cut_short(folder, **how):
        if not Path(folder).exists():
            return
        before = [*Path(folder).rglob("*")]
        with monkeypatch.context() as real:
            real.setattr(shutil, "rmtree", rmtree)
            sweep(models.folders)
        assert [*Path(folder).rglob("*")] == before != []
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(shutil, "rmtree", swept_meanwhile_then_cut_short)
        with pytest.raises(KeyboardInterrupt):
            remove(going, for_good=True)
    left = [path for root in models.folders for path in root.glob(".removed-*")]
    assert left
    with unused(left, "another"):
        sweep(models.folders)
    assert all(path.exists() for path in left)
    sweep(models.folders)
    assert not any(path.exists() for path in left)
    assert set(others) <= set(models.entries())


def test_nothing_that_was_to_go_to_the_trash_is_swept(flint_home, tmp_path, trash, monkeypatch):
    (flint_home / "models").mkdir(parents=True)
    tiny_gguf(flint_home / "models" / "tiny.gguf")
    seen = []

    def swept_meanwhile(path):
        sweep(library().folders)
        seen.append((path / "tiny.gguf").exists())
        return move_to_trash(path)

    monkeypatch.setattr("engine.models.removal.move_to_trash", swept_meanwhile)
    remove(library().find("tiny.gguf"))
    assert seen == [True]


def test_what_the_trash_refuses_stays(flint_home, tiny, trash):
    shutil.copytree(tiny, flint_home / "models" / "mine")
    trash.parent.mkdir(parents=True)
    trash.write_text("no folder")
    with pytest.raises(Exception, match=r"(?i)trash"):
        remove(library().find("mine"))
    assert library().find("mine").problem == ""


def test_a_trash_on_another_disk_is_said(tmp_path, trash, monkeypatch):
    import errno

    def other_disk(self, target):
        raise OSError(errno.EXDEV, "other disk")

    (tmp_path / "x").mkdir()
    monkeypatch.setattr(Path, "rename", other_disk)
    with pytest.raises(TrashRefused, match="another disk") as caught:
        move_to_trash(tmp_path / "x")
    assert "--now" in caught.value.hint
    assert [*trash.with_name("info").glob("*")] == []


def test_all_parts_of_a_gguf_go(flint_home, tmp_path, trash):
    models = flint_home / "models"
    models.mkdir(parents=True)
    tiny_gguf(models / "tiny.gguf")
    shutil.copy(models / "tiny.gguf", models / "big-00001-of-00002.gguf")
    (models / "big-00002-of-00002.gguf").write_bytes(b"GGUF")
    remove(library().place(str(models / "big-00001-of-00002.gguf")))
    assert [path.name for path in models.iterdir()] == ["tiny.gguf"]
    assert {path.name for path in (trash / "big-00001-of-00002").iterdir()} == {
        "big-00001-of-00002.gguf",
        "big-00002-of-00002.gguf",
    }


def test_a_cached_repository_goes_whole(cache, tiny, trash):
    folder = put_in_cache(cache, "org/tiny", tiny)
    freed, where = remove(library().find("org/tiny"))
    assert freed == size(tiny) + len("abc123")  # What says which snapshot is the newest goes too.
    assert not folder.exists()
    assert (trash / "models--org--tiny" / "refs" / "main").exists()
    assert where == str(trash / "models--org--tiny")


@pytest.mark.parametrize("changed", ["README.md", "model.safetensors"])
def test_a_model_goes_in_all_its_versions(cache, tiny, trash, changed):
    """As after an update: what did not change is one file on the disk, and no older version comes back under the name."""
    folder = put_in_cache(cache, "org/tiny", tiny, "old")
    put_in_cache(cache, "org/tiny", tiny, "new")
    for name in (path.name for path in tiny.iterdir() if path.name != changed):
        (folder / "blobs" / f"new-{name}").unlink()
        (folder / "snapshots" / "new" / name).unlink()
        (folder / "snapshots" / "new" / name).symlink_to(f"../../blobs/old-{name}")
    there = size(folder)
    freed, where = remove(library().find("org/tiny"))
    assert freed == there
    assert library().entries() == ()
    assert not folder.exists()
    assert where == str(trash / "models--org--tiny")


def test_a_gguf_goes_in_all_its_versions_and_another_of_its_repository_stays(cache, tmp_path, trash):
    (tmp_path / "repo").mkdir()
    tiny_gguf(tmp_path / "repo" / "tiny.Q4_0.gguf")
    tiny_gguf(tmp_path / "repo" / "tiny.Q8_0.gguf", kind="Q8_0")
    each = (tmp_path / "repo" / "tiny.Q4_0.gguf").stat().st_size
    folder = put_in_cache(cache, "org/tiny", tmp_path / "repo", "old")
    put_in_cache(cache, "org/tiny", tmp_path / "repo", "new")
    freed, where = remove(library().find("org/tiny/tiny.Q4_0.gguf"))
    assert freed == 2 * each
    assert sorted(path.stat().st_size for path in Path(where).iterdir()) == [each, each]
    assert [entry.id for entry in library().entries()] == ["org/tiny/tiny.Q8_0.gguf"]
    assert not [*folder.rglob("*Q4_0*")]


def test_one_gguf_of_a_cached_repository_goes_alone(cache, tmp_path, trash):
    (tmp_path / "repo").mkdir()
    tiny_gguf(tmp_path / "repo" / "tiny.Q4_0.gguf")
    tiny_gguf(tmp_path / "repo" / "tiny.Q8_0.gguf", kind="Q8_0")
    (tmp_path / "repo" / "README.md").write_text("hello")
    folder = put_in_cache(cache, "org/tiny", tmp_path / "repo")
    freed, _ = remove(library().find("org/tiny/tiny.Q4_0.gguf"))
    assert freed == (tmp_path / "repo" / "tiny.Q4_0.gguf").stat().st_size
    assert [entry.id for entry in library().entries()] == ["org/tiny/tiny.Q8_0.gguf"]
    remove(library().find("org/tiny/tiny.Q8_0.gguf"))
    assert not folder.exists()


def test_an_unfinished_download_can_be_removed(cache, trash):
    blobs = cache / "models--org--begun" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "abc.incomplete").write_bytes(b"12345")
    assert remove(library().find("org/begun"))[0] == 5
    assert library().entries() == ()


def test_what_other_apps_keep_is_refused_with_how_to_delete_it(tmp_path, tiny, trash):
    tiny_gguf(tmp_path / "x.gguf")
    blob = put_in_ollama(tmp_path / "ollama-models", "x:latest", tmp_path / "x.gguf")
    folder = put_in_lmstudio(tmp_path / "lmstudio-home" / "models", "org/tiny", tiny)
    for name, hint in (("x:latest", "ollama rm x:latest"), ("org/tiny", "in LM Studio"), (str(tiny), str(tiny))):
        with pytest.raises(NotFlints) as caught:
            remove(library().place(name))
        assert hint in caught.value.hint
    assert blob.exists()
    assert folder.exists()
    assert tiny.exists()


def test_a_copy_is_named_by_its_path_and_the_others_stay(flint_home, cache, tiny, trash):
    shutil.copytree(tiny, flint_home / "models" / "mine")
    put_in_cache(cache, "org/tiny", tiny)
    (entry,) = library().entries()
    assert entry.id == "mine"
    remove(library().place(entry.copies[0].path))
    assert [(each.id, each.copies) for each in library().entries()] == [("mine", ())]


@pytest.mark.parametrize("where", ["flint", "cache", "gguf", "file"])
def test_what_is_being_read_stays_until_it_is_let_go(flint_home, cache, tiny, trash, tmp_path, where):
    (tmp_path / "repo").mkdir()
    tiny_gguf(tmp_path / "repo" / "tiny.gguf")
    place(where, flint_home, cache, tiny, tmp_path / "repo")
    (entry,) = library().entries()
    with in_use(Path(entry.path), entry.name), in_use(Path(entry.path), entry.name):
        with pytest.raises(UsageError, match="is in use by another Flint"):
            remove(entry, for_good=True)
        assert library().entries() == (entry,)
    remove(entry, for_good=True)
    assert library().entries() == ()


def test_an_older_version_that_is_being_read_keeps_the_newer_one_here_too(cache, tiny, trash):
    folder = put_in_cache(cache, "org/tiny", tiny, "old")
    put_in_cache(cache, "org/tiny", tiny, "new")
    with in_use(folder / "snapshots" / "old", "tiny"), pytest.raises(UsageError, match="is in use by another Flint"):
        remove(library().find("org/tiny"))
    assert library().find("org/tiny").problem == ""

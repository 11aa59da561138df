import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import DiskFull, ReadOnly, SettingsError
from engine.core.preferences import Preferences
from engine.core.settings import SETTINGS
from tests.disks import read_only, small_disk


@pytest.fixture
def path(flint_home):
    return flint_home / "settings.json"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")


def stored(path):
    return json.loads(path.read_text("utf-8"))["values"]


def test_defaults_apply_and_nothing_is_written_until_something_changes(path):
    preferences = Preferences(path)
    assert preferences.values() == {setting.name: setting.default for setting in SETTINGS}
    assert preferences.changed() == {}
    assert preferences.notice == ""
    assert not path.parent.exists()


def test_a_changed_value_is_there_at_the_next_start(path):
    Preferences(path).set("system_prompt", "Sei kürzer. 你好\n👋")
    Preferences(path).set("seed", 2**64 - 1)
    again = Preferences(path)
    assert again.get("system_prompt") == "Sei kürzer. 你好\n👋"
    assert again.get("seed") == 2**64 - 1
    assert again.changed() == {"system_prompt": "Sei kürzer. 你好\n👋", "seed": 2**64 - 1}
    assert "你好" in path.read_text("utf-8")


def test_only_what_differs_from_the_default_is_stored(path):
    preferences = Preferences(path)
    preferences.set("top_k", 5)
    preferences.set("theme", "dark")
    preferences.set("top_k", 40)
    assert stored(path) == {"theme": "dark"}
    assert Preferences(path).get("top_k") == 40


def test_changed_is_a_copy(path):
    preferences = Preferences(path)
    preferences.changed()["top_k"] = 1
    assert preferences.get("top_k") == 40


def test_a_bad_value_is_refused_and_changes_nothing(path):
    preferences = Preferences(path)
    preferences.set("top_k", 7)
    before = path.read_bytes()
    with pytest.raises(SettingsError):
        preferences.set("top_k", -1)
    assert preferences.get("top_k") == 7
    assert path.read_bytes() == before


def test_an_unknown_name_is_a_mistake_of_the_program(path):
    with pytest.raises(KeyError):
        Preferences(path).set("no_such_setting", 1)
    with pytest.raises(KeyError):
        Preferences(path).get("no_such_setting")


def test_what_a_newer_flint_stored_is_kept_for_it(path):
    write(path, {"version": 7, "profiles": ["work"], "values": {"top_k": 9, "hologram": {"depth": 3}, "half": "\ud83d"}})
    preferences = Preferences(path)
    assert preferences.notice == ""
    preferences.set("theme", "light")
    assert json.loads(path.read_text("utf-8")) == {
        "version": 7,
        "profiles": ["work"],
        "values": {"top_k": 9, "hologram": {"depth": 3}, "half": "\ud83d", "theme": "light"},
    }


def test_values_that_cannot_be_used_are_told_by_name_and_the_others_kept(path):
    write(path, {"version": 1, "values": {"top_k": 9, "temperature": 99, "theme": "pink", "seed": 10**400, "stop": [1]}})
    preferences = Preferences(path)
    assert preferences.changed() == {"top_k": 9}
    for label in ("Temperature", "Appearance", "Seed", "Stop text"):
        assert label in preferences.notice


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "null",
        "[]",
        "7",
        '"text"',
        '{"version": 1}',
        '{"values": []}',
        '{"values": null}',
        "[" * 100_000,
        '{"values": {"top_k": 9',
    ],
)
def test_a_damaged_file_is_moved_aside_whole_and_told(path, damage):
    write(path, damage)
    preferences = Preferences(path)
    assert preferences.changed() == {}
    aside = [file for file in path.parent.iterdir() if "damaged" in file.name]
    assert [file.read_text("utf-8") for file in aside] == [damage]
    assert aside[0].name in preferences.notice
    preferences.set("top_k", 3)
    assert Preferences(path).get("top_k") == 3
    assert aside[0].read_text("utf-8") == damage


def test_bytes_that_are_no_text_are_damage_too(path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe\x00{}")
    assert "damaged" in Preferences(path).notice
    assert [file.read_bytes() for file in path.parent.iterdir()] == [b"\xff\xfe\x00{}"]


def test_a_second_damaged_file_does_not_replace_the_first(path):
    for damage in ("first", "second", "third"):
        write(path, damage)
        Preferences(path)
    assert {file.read_text("utf-8") for file in path.parent.iterdir()} == {"first", "second", "third"}


def test_a_file_that_cannot_be_read_is_not_overwritten(path):
    path.mkdir(parents=True)
    (path / "precious").write_text("mine")
    preferences = Preferences(path)
    assert "could not be read" in preferences.notice
    preferences.set("top_k", 3)
    assert Preferences(path).get("top_k") == 3
    assert [found.read_text() for found in path.parent.rglob("precious")] == ["mine"]


def test_a_link_stays_a_link(path, tmp_path):
    write(tmp_path / "dotfiles" / "flint.json", {"version": 1, "values": {"top_k": 3}})
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "dotfiles" / "flint.json")
    Preferences(path).set("top_k", 4)
    assert path.is_symlink()
    assert stored(tmp_path / "dotfiles" / "flint.json") == {"top_k": 4}


def test_a_save_that_fails_half_way_leaves_the_file_as_it_was(path, monkeypatch):
    preferences = Preferences(path)
    preferences.set("top_k", 3)
    before = path.read_bytes()

    def broken(handle):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        preferences.set("top_k", 4)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_full_disk_is_told_and_loses_nothing(tmp_path):
    with small_disk(tmp_path / "disk", "1m") as disk:
        path = disk / "settings.json"
        preferences = Preferences(path)
        preferences.set("top_k", 3)
        with pytest.raises(OSError, match="No space"):
            (disk / "filler").write_bytes(bytes(2_000_000))
        with pytest.raises(DiskFull) as caught:
            preferences.set("system_prompt", "long " * 4000)
        assert caught.value.hint
        assert preferences.get("system_prompt") == "long " * 4000
        assert stored(path) == {"top_k": 3}
        assert sorted(file.name for file in disk.iterdir()) == ["filler", "settings.json"]


def test_a_read_only_folder_is_told_and_the_value_still_applies(path):
    Preferences(path).set("top_k", 3)
    with read_only(path.parent):
        preferences = Preferences(path)
        with pytest.raises(ReadOnly, match="may not write") as caught:
            preferences.set("top_k", 4)
        assert "FLINT_HOME" in caught.value.hint
        assert preferences.get("top_k") == 4
    assert stored(path) == {"top_k": 3}


def test_damage_on_a_read_only_disk_is_left_and_told(path):
    write(path, "{")
    with read_only(path.parent):
        preferences = Preferences(path)
        assert "left where it is" in preferences.notice
        assert preferences.values()["top_k"] == 40
    assert path.read_text() == "{"


def test_a_file_where_the_folder_should_be_is_told(path):
    path.parent.write_text("not a folder")
    preferences = Preferences(path)
    with pytest.raises(ReadOnly, match="is a file"):
        preferences.set("top_k", 4)
    deeper = Preferences(path.parent / "deeper" / "settings.json")
    with pytest.raises(ReadOnly, match="is a file"):
        deeper.set("top_k", 4)
    assert path.parent.read_text() == "not a folder"


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)


@given(
    values=st.dictionaries(
        st.one_of(st.sampled_from([setting.name for setting in SETTINGS]), st.text(max_size=5)), json_values, max_size=6
    )
)
def test_whatever_json_the_file_holds_flint_starts_and_saves(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("any") / "settings.json"
    write(path, {"version": 1, "values": values})
    preferences = Preferences(path)
    preferences.set("top_k", 11)
    assert Preferences(path).changed() == preferences.changed()
    assert preferences.values().keys() == {setting.name for setting in SETTINGS}


# -- for one model ----------------------------------------------------------------------------------------------------------


def test_what_is_set_for_a_model_goes_before_what_is_set_for_all_chats(path):
    preferences = Preferences(path)
    preferences.set("top_k", 7)
    preferences.set("temperature", 0.5)
    preferences.set_for_model("org/one", {"temperature": 0.9, "seed": 3})
    again = Preferences(path)
    assert again.for_model("org/one") == {"top_k": 7, "temperature": 0.9, "seed": 3}
    assert again.of_model("org/one") == {"temperature": 0.9, "seed": 3}
    assert again.for_model("org/two") == again.changed() == {"top_k": 7, "temperature": 0.5}


def test_a_models_values_are_replaced_as_a_whole_and_its_entry_goes_with_the_last_one(path):
    preferences = Preferences(path)
    preferences.set_for_model("one", {"temperature": 0.9, "seed": 3})
    preferences.set_for_model("two", {"top_k": 1})
    preferences.set_for_model("one", {"seed": 4})
    assert Preferences(path).of_model("one") == {"seed": 4}
    preferences.set_for_model("one", {})
    assert json.loads(path.read_text())["models"] == {"two": {"top_k": 1}}
    preferences.set_for_model("two", {})
    assert "models" not in json.loads(path.read_text())


def test_a_bad_value_for_a_model_is_refused_and_a_stored_one_left_out(path):
    preferences = Preferences(path)
    with pytest.raises(SettingsError):
        preferences.set_for_model("one", {"top_k": -1})
    assert not path.exists()
    write(path, {"version": 1, "values": {}, "models": {"one": {"top_k": -1, "seed": 2, "hue": 7}, "two": 5}})
    preferences = Preferences(path)
    assert preferences.of_model("one") == {"seed": 2}
    assert preferences.of_model("two") == {}
    preferences.set_for_model("one", {"seed": 3})
    assert json.loads(path.read_text())["models"] == {"one": {"seed": 3, "hue": 7}, "two": 5}


def test_the_default_is_stored_where_it_is_meant(path):
    preferences = Preferences(path)
    preferences.set("top_k", 40, explicit=True)
    assert stored(path) == Preferences(path).changed() == {"top_k": 40}
    preferences.set("top_k", 40)
    assert stored(path) == {}


def test_all_values_are_replaced_at_once(path):
    preferences = Preferences(path)
    preferences.set("top_k", 7)
    preferences.set_all({"temperature": 0.7, "seed": 1})
    assert Preferences(path).changed() == {"temperature": 0.7, "seed": 1}
    with pytest.raises(SettingsError):
        preferences.set_all({"temperature": 7})
    assert Preferences(path).changed() == {"temperature": 0.7, "seed": 1}

"""Presets: what they decide, how people keep their own, and how they travel as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import SettingsError
from engine.core.preferences import Preferences
from engine.core.presets import BALANCED, BUILT_IN, CREATIVE, LARGEST, NAMES, SHAPE, Preset, Presets, from_text, to_text
from engine.core.settings import BY_NAME, SETTINGS

DEFAULTS = {setting.name: setting.default for setting in SETTINGS}
values_of_any_kind = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(0, 2),
        "top_k": st.integers(0, 500),
        "dry_window": st.none() | st.integers(16, 1000),
        "stop": st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
        "logit_bias": st.sampled_from(["", "late=-5", "#7=1"]),
    },
)


@pytest.fixture
def presets(flint_home):
    return Presets(Preferences(flint_home / "settings.json"))


def again(flint_home):
    return Presets(Preferences(flint_home / "settings.json"))


def test_a_preset_decides_the_shape_of_the_choice_and_leaves_seed_and_lengths_alone():
    assert set(SHAPE) < set(NAMES)
    assert "seed" not in NAMES
    assert not {"seed", "max_tokens", "stop", "logit_bias"} & set(SHAPE)
    for preset in BUILT_IN:
        assert set(preset.all()) == set(SHAPE)
        assert all(BY_NAME[name].check(value) == value for name, value in preset.all().items())


def test_balanced_is_what_flint_starts_with_and_each_of_the_others_is_another():
    assert [preset for preset in BUILT_IN if preset.fits(DEFAULTS)] == [BALANCED]
    assert CREATIVE.fits({**DEFAULTS, **CREATIVE.values, "seed": 5, "stop": "END"})
    assert not CREATIVE.fits({**DEFAULTS, **CREATIVE.values, "dry_multiplier": 0.8})


@given(values=values_of_any_kind, name=st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_a_preset_survives_the_trip_through_text(values, name):
    assert from_text(to_text(Preset(name, values))) == (Preset(name, values), ())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("temperature: 0.5", "not JSON"),
        ("[" * 50_000, "not JSON"),
        ("[]", "not a preset"),
        ('{"temperature": 0.5}', "not a preset"),
        (json.dumps({"kind": "flint-sampling-preset", "name": "a"}), "lacks its name or its values"),
        (json.dumps({"kind": "flint-sampling-preset", "values": {}}), "lacks its name or its values"),
        (
            json.dumps({"kind": "flint-sampling-preset", "name": "a", "values": {"temperature": 9}}),
            "Temperature goes from 0 to 2",
        ),
        (json.dumps({"kind": "flint-sampling-preset", "name": "a", "values": {"logit_bias": "x"}}), "Logit bias, line 1"),
        (" " * LARGEST + "{}", "not a preset"),
    ],
)
def test_a_text_that_is_no_preset_is_refused_with_the_reason(text, says):
    with pytest.raises(SettingsError, match=says) as caught:
        from_text(text)
    assert caught.value.hint


def test_what_a_newer_flint_put_in_is_named_and_left_out():
    text = json.dumps({"kind": "flint-sampling-preset", "version": 9, "name": "a", "values": {"top_k": 5, "seed": 1, "hue": 2}})
    assert from_text(text) == (Preset("a", {"top_k": 5}), ("seed", "hue"))


def test_own_presets_are_kept_and_listed_by_name(presets, flint_home):
    presets.save(Preset("recipes", {"temperature": 0.4}))
    presets.save(Preset(" Letters  home ", {"top_k": 9}))
    assert again(flint_home).all() == (Preset("Letters home", {"top_k": 9}), Preset("recipes", {"temperature": 0.4}))
    assert presets.find("RECIPES ").values == {"temperature": 0.4}
    assert presets.find("nothing") is None


@pytest.mark.parametrize(("name", "says"), [("", "needs a name"), ("  ", "needs a name"), ("x" * 41, "at most 40")])
def test_a_name_that_cannot_be_one_is_refused(presets, name, says):
    with pytest.raises(SettingsError, match=says):
        presets.save(Preset(name))


@pytest.mark.parametrize("name", ["balanced", "Model", "CUSTOM", "Recipes"])
def test_a_name_that_is_taken_is_refused_and_nothing_is_lost(presets, name):
    presets.save(Preset("recipes", {"temperature": 0.4}))
    with pytest.raises(SettingsError, match="already"):
        presets.save(Preset(name, {}))
    assert presets.all() == (Preset("recipes", {"temperature": 0.4}),)
    assert presets.free_name(name).casefold() == f"{name} 2".casefold()
    assert presets.save(Preset(presets.free_name(name), {})).name.endswith(" 2")


def test_a_preset_is_renamed_updated_and_deleted(presets, flint_home):
    presets.save(Preset("one", {"top_k": 1}))
    presets.save(Preset("two", {"top_k": 2}))
    assert presets.rename("one", "One") == "One"
    assert presets.rename("One", "first") == "first"
    with pytest.raises(SettingsError, match="already"):
        presets.rename("first", "TWO")
    presets.update(Preset("two", {"top_k": 3}))
    assert again(flint_home).all() == (Preset("first", {"top_k": 1}), Preset("two", {"top_k": 3}))
    presets.delete("first")
    assert again(flint_home).all() == (Preset("two", {"top_k": 3}),)


@pytest.mark.parametrize("stored", [5, [], {"a": 5}, {"a": {"temperature": 99, "top_k": 4, "hue": 1}}])
def test_a_damaged_file_keeps_flint_running(flint_home, stored):
    flint_home.mkdir()
    (flint_home / "settings.json").write_text(json.dumps({"version": 1, "values": {}, "presets": stored}))
    assert again(flint_home).all() in ((), (Preset("a", {"top_k": 4}),))

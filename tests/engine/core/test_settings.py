import dataclasses
import math
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import SettingsError
from engine.core.setting import Applies, Scope, Setting
from engine.core.settings import BY_NAME, GROUPS, SETTINGS, Conversation, Engine, Sampling, build

NUMBERS = [setting for setting in SETTINGS if setting.kind in (int, float)]
WHOLE = [setting for setting in SETTINGS if setting.kind is int]
TEXTS = [setting for setting in SETTINGS if setting.kind is str and not setting.choices and setting.form is None]
CHOICES = [setting for setting in SETTINGS if setting.choices]
BOUNDED = [(setting, bound) for setting in NUMBERS for bound in (setting.minimum, setting.maximum)]
anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.just(10**5000),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=2),
)


def named(setting):
    return setting.name if isinstance(setting, Setting) else None


def refused(setting, value):
    with pytest.raises(SettingsError) as caught:
        setting.check(value)
    assert setting.label in caught.value.text
    assert caught.value.hint
    caught.value.text.encode()
    return caught.value


@pytest.mark.parametrize("setting", SETTINGS, ids=named)
def test_every_setting_is_declared_in_full(setting):
    assert setting.label
    assert setting.help.endswith(".")
    assert setting.group in {group.label for group in GROUPS}
    assert setting.flag.startswith("--")
    assert "_" not in setting.flag
    assert bool(setting.none_label) == setting.optional
    assert isinstance(setting.scope, Scope)
    assert isinstance(setting.applies, Applies)
    if setting.kind in (int, float):
        assert setting.minimum < setting.maximum
        assert setting.step > 0
        assert setting.bounds_text.count(" to ") == 1


def test_names_and_flags_are_unique():
    assert len(BY_NAME) == len(SETTINGS)
    assert len({setting.flag for setting in SETTINGS}) == len(SETTINGS)


def test_every_declared_field_is_a_setting_of_its_group_scope_and_type():
    for group in GROUPS:
        for entry in fields(group.values):
            setting = BY_NAME[entry.name]
            assert (setting.group, setting.scope, setting.default) == (group.label, group.scope, entry.default)
    assert (BY_NAME["seed"].kind, BY_NAME["seed"].optional) == (int, True)
    assert (BY_NAME["temperature"].kind, BY_NAME["temperature"].optional) == (float, False)
    assert (BY_NAME["stop"].kind, BY_NAME["stop"].choices) == (str, ())
    assert [value for value, _ in BY_NAME["theme"].choices] == ["system", "light", "dark"]
    assert BY_NAME["unload_after"].applies is Applies.NOW
    assert BY_NAME["weights"].applies is Applies.NEXT_LOAD
    assert BY_NAME["top_k"].applies is Applies.NEXT_REPLY


@pytest.mark.parametrize("setting", SETTINGS, ids=named)
def test_every_default_is_allowed(setting):
    assert setting.check(setting.default) == setting.default


@pytest.mark.parametrize(("setting", "bound"), BOUNDED, ids=lambda value: named(value) or f"{value:g}")
def test_bounds_are_inclusive(setting, bound):
    found = setting.check(setting.kind(bound))
    assert found == bound
    assert type(found) is setting.kind
    assert setting.check(str(setting.kind(bound))) == bound


@pytest.mark.parametrize("setting", NUMBERS, ids=named)
def test_a_value_just_outside_is_refused_with_the_bounds(setting):
    below, above = (
        (setting.minimum - 1, setting.maximum + 1)
        if setting.kind is int
        else (math.nextafter(setting.minimum, -math.inf), math.nextafter(setting.maximum, math.inf))
    )
    for value in (below, above):
        assert setting.bounds_text in refused(setting, value).text


@pytest.mark.parametrize("setting", NUMBERS, ids=named)
@pytest.mark.parametrize(
    "value",
    [True, False, "", "many", "1,5", math.nan, math.inf, -math.inf, "nan", "inf", [], {}, 10**400, "9" * 5000],
)
def test_what_is_no_number_is_refused(setting, value):
    refused(setting, value)


def test_a_number_too_long_to_write_out_is_refused():
    refused(BY_NAME["seed"], 10**5000)
    refused(BY_NAME["theme"], 10**5000)


@pytest.mark.parametrize("setting", WHOLE, ids=named)
def test_a_broken_number_is_refused_where_whole_ones_are_wanted(setting):
    refused(setting, setting.minimum + 0.5)
    refused(setting, str(setting.minimum + 0.5))
    found = setting.check(float(setting.minimum))
    assert (found, type(found)) == (setting.minimum, int)


@pytest.mark.parametrize("seed", [2**53 + 1, 2**63, 2**64 - 1])
def test_a_seed_keeps_all_its_64_bits(seed):
    setting = BY_NAME["seed"]
    assert setting.check(seed) == setting.check(str(seed)) == setting.check(f" +{seed} ") == seed


def test_a_seed_of_65_bits_is_refused():
    assert BY_NAME["seed"].bounds_text == "0 to 18,446,744,073,709,551,615"
    refused(BY_NAME["seed"], 2**64)
    refused(BY_NAME["seed"], str(2**64))
    refused(BY_NAME["seed"], -1)


@pytest.mark.parametrize("setting", SETTINGS, ids=named)
def test_no_value_is_allowed_only_where_it_is_optional(setting):
    if setting.optional:
        assert setting.check(None) is None
    else:
        refused(setting, None)


@pytest.mark.parametrize("setting", CHOICES, ids=named)
def test_a_choice_is_one_of_those_declared(setting):
    for value, label in setting.choices:
        assert setting.check(value) == value
        assert label
    assert setting.bounds_text in refused(setting, "nonsense").text
    refused(setting, 1)


@pytest.mark.parametrize("setting", TEXTS, ids=named)
def test_a_text_stays_as_it_is(setting):
    assert setting.check(" Grüße\n👋 ") == " Grüße\n👋 "
    assert setting.bounds_text == ""
    for value in (1, 1.5, True, ["text"], "not text: \udcff"):
        refused(setting, value)


def test_a_yes_or_no_setting_takes_only_that():
    setting = dataclasses.replace(BY_NAME["theme"], kind=bool, default=False, choices=())
    assert setting.check(True) is True
    refused(setting, 1)
    refused(setting, "true")


@given(setting=st.sampled_from(SETTINGS), value=anything)
def test_any_value_is_either_taken_in_the_settings_own_type_or_refused(setting, value):
    try:
        found = setting.check(value)
    except SettingsError:
        assert len(refused(setting, value).text) < 300
        return
    assert found is None if value is None else type(found) is setting.kind
    assert setting.check(found) == found


def test_build_takes_its_own_values_and_checks_them():
    values = {"temperature": "0.5", "seed": 2**64 - 1, "context": 4096, "unknown": 1}
    assert build(Sampling, values) == Sampling(temperature=0.5, seed=2**64 - 1)
    assert build(Conversation, values) == Conversation(context=4096)
    assert build(Engine, {}) == Engine()
    with pytest.raises(SettingsError, match="Temperature"):
        build(Sampling, {"temperature": 3})


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Sampling().top_k = 1

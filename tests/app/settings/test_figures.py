"""Values as people write and read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.figures import has_no_scale, named, shown
from app.widgets.typed_number import read
from engine.core.errors import SettingsError
from engine.core.settings import BY_NAME, SETTINGS


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("temperature", 0.7, "0.70"),
        ("temperature", 0.755, "0.755"),
        ("top_p", 1.0, "1.00"),
        ("prefix_cache_disk", 1000.0, "1,000"),
        ("prefix_cache_disk", 1000.5, "1,000.5"),
        ("presence_penalty", -0.5, "−0.50"),
        ("top_k", 40, "40"),
        ("max_tokens", 131072, "131,072"),
        ("seed", 29034418, "29034418"),
        ("seed", None, ""),
        ("context", None, ""),
    ],
)
def test_values_are_shown_as_their_field_needs(name, value, text):
    assert shown(BY_NAME[name], value) == text


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("temperature", "0,8", 0.8),
        ("temperature", " 0.8 ", 0.8),
        ("max_tokens", "4,096", 4096),
        ("context", "32k", 32_768),
        ("context", "16.5k", 16_896),
        ("context", "16,5 K", 16_896),
        ("context", "1M", 1_048_576),
        ("context", "1e5", 100_000),
        ("max_tokens", "4 096", 4096),
        ("max_tokens", "4’096", 4096),
        ("max_tokens", "4_096", 4096),
        ("max_tokens", "4.096", 4096),
        ("max_tokens", "131,072", 131072),
        ("max_tokens", "131\u202f072", 131072),
        ("seed", "1,234,567,890", 1234567890),
        ("seed", str(2**64 - 1), 2**64 - 1),
        ("seed", "", None),
        ("prefix_cache_disk", "1_000", 1000.0),
        ("prefix_cache_disk", "1,000", 1000.0),
        ("prefix_cache_disk", "0,500", 0.5),
        ("prefix_cache_disk", "100,5", 100.5),
        ("prefix_cache_memory", "1,000", 1.0),
        ("presence_penalty", "−0.5", -0.5),
        ("presence_penalty", "-0,5", -0.5),
    ],
)
def test_what_people_type_is_understood(name, text, value):
    setting = BY_NAME[name]
    assert setting.check(read(setting, text)) == value


@pytest.mark.parametrize("text", ["", "warm", "1.2.3", "--1", "1e999", "nan"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(SettingsError):
        BY_NAME["temperature"].check(read(BY_NAME["temperature"], text))


@pytest.mark.parametrize("name", ["top_k", "max_tokens", "seed"])
@pytest.mark.parametrize(
    "text", ["0,5", "1,5", "0.5", "0 5", "1_0", "4,09", "4,0960", "40,96", ",5", "5,", "1,234.567", "1,,000"]
)
def test_a_whole_number_is_not_made_of_what_is_not_grouped_by_threes(name, text):
    with pytest.raises(SettingsError):
        BY_NAME[name].check(read(BY_NAME[name], text))


@given(st.data())
def test_what_is_shown_reads_back_as_the_same_value(data):
    setting = data.draw(st.sampled_from([s for s in SETTINGS if s.kind in (int, float)]))
    draw = st.integers if setting.kind is int else st.floats
    value = data.draw(draw(setting.minimum, setting.maximum))
    assert setting.check(read(setting, shown(setting, value))) == pytest.approx(value, rel=1e-5, abs=1e-12)


def test_only_a_seed_is_too_wide_for_a_slider():
    numbers = [setting for setting in SETTINGS if setting.kind in (int, float)]
    assert [setting.name for setting in numbers if has_no_scale(setting)] == ["seed"]


def test_choices_and_none_have_names():
    assert named(BY_NAME["weights"], "as-stored") == "As stored"
    assert named(BY_NAME["seed"], None) == "new for each reply"
    assert named(BY_NAME["system_prompt"], "a long text") == ""


def test_bounds_are_written_as_their_values_are():
    assert BY_NAME["presence_penalty"].bounds_text == "−2 to 2"
    assert BY_NAME["prefix_cache_disk"].bounds_text == "0 to 1,024"
    assert not [setting.name for setting in SETTINGS if setting.minimum is not None and "-" in setting.bounds_text]

"""A config.json from anywhere, wrong in whatever way, gives a prediction or `ModelBroken`, so that nobody has to catch more."""

import contextlib
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.errors import ModelBroken
from engine.core.hub_facts import HubModel
from engine.models.facts import config_of, read_facts
from engine.models.fit import judge, predict
from engine.models.hub_facts import with_config
from tests.engine.models.small_configs import CONFIGS

SCALARS = (
    st.none() | st.booleans() | st.sampled_from([0, -1, 1, 7, 2**53, 2**63, 10**400, 1.5, math.inf, math.nan, "", "4", "x"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
)


@st.composite
def wrong_configs(draw):
    config = dict(draw(st.sampled_from(sorted(CONFIGS.items())))[1])
    fields = [*sorted(config), "quantization", "text_config", "layer_types", "num_experts", "kv_lora_rank", "dtype"]
    for name in draw(st.lists(st.sampled_from(fields), min_size=1, max_size=3)):
        config[name] = draw(VALUES)
    return config


@given(wrong_configs())
@settings(max_examples=150)
def test_a_config_that_is_wrong_in_any_way_is_predicted_or_refused(config):
    for read in (lambda: judge(predict(config, context=4096), 10**10, 10**9), lambda: read_facts(config)):
        with contextlib.suppress(ModelBroken):
            read()


@pytest.mark.parametrize(
    "field", ["hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "intermediate_size"]
)
@pytest.mark.parametrize("value", [10**400, -(10**400), 0])
def test_a_number_beyond_reason_is_none(field, value):
    config = {**CONFIGS["deepseek_v3"], field: value}
    with contextlib.suppress(ModelBroken):
        assert math.isfinite(predict(config, context=4096).peak_bytes)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", "[" * 100_000, '{"model_type":' * 50_000])
def test_a_text_that_is_no_object_is_refused_and_the_hubs_own_facts_stay(text):
    with pytest.raises(ModelBroken):
        config_of(text)
    model = HubModel("a/b", "b", "a", mlx=False, architecture="llama", context=4096)
    assert with_config(model, text) == model

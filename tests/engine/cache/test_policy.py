"""What a cache policy can be."""

import pytest

from engine.cache.policy import CachePolicy
from engine.core.errors import SettingsError


@pytest.mark.parametrize(("kv_bits", "bits"), [("off", (None, None)), ("8", (8, 8)), ("8/4", (8, 4)), ("4", (4, 4))])
def test_the_precision_says_the_bits_of_keys_and_values(kv_bits, bits):
    assert CachePolicy(kv_bits=kv_bits).bits == bits


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"context": 100, "pinned": 100}, "100 pinned tokens leave no room in a context of 100"),
        ({"context": 0}, "not empty"),
        ({"pinned": -1}, "negative"),
        ({"kv_bits": "3"}, "off, 8, 8/4, 4, not “3”"),
    ],
)
def test_a_policy_that_cannot_be_kept_is_refused_in_words(facts, said):
    with pytest.raises(SettingsError, match=said):
        CachePolicy(**facts)

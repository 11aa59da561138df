"""Sizes in words."""

import pytest

from engine.core.sizes import size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0.0 MB"), (16_240_000, "16.2 MB"), (999_900_000, "999.9 MB"), (1_000_000_000, "1.0 GB"), (4_517_404_672, "4.5 GB")],
)
def test_a_size_is_told_in_the_unit_that_shows_it(size, text):
    assert size_text(size) == text

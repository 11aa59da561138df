"""Sizes and numbers in words."""

import pytest

from engine.core.sizes import count_text, figure, size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0.0 MB"), (16_240_000, "16.2 MB"), (999_900_000, "999.9 MB"), (1_000_000_000, "1.0 GB"), (4_517_404_672, "4.5 GB")],
)
def test_small_sizes_are_told_in_megabytes_with_a_decimal(size, text):
    assert size_text(size, 1) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 MB"), (98_362_432, "98 MB"), (999_400_000, "999 MB"), (999_600_000, "1.0 GB"), (99_960_000_000, "100 GB")],
)
def test_no_size_reads_as_a_thousand_of_its_unit(size, text):
    assert size_text(size) == text


def test_large_figures_are_told_in_thousands():
    assert [figure(n) for n in (0, 312, 9_999, 17_940)] == ["0", "312", "9,999", "17.9k"]


@pytest.mark.parametrize(
    ("count", "long", "short"),
    [(0, "0 chats", "0 chats"), (1, "1 chat", "1 chat"), (2, "2 chats", "2 chats"), (12_340, "12,340 chats", "12.3k chats")],
)
def test_numbers_stand_with_their_noun(count, long, short):
    assert (count_text(count, "chat"), count_text(count, "chat", short=True)) == (long, short)

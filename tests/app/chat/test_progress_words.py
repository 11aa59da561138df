"""What a reply on its way is doing, in words."""

import pytest

from app.chat.progress_words import percent, reading, waiting
from engine.core.messages import ImportProgress, LoadProgress, PrefillProgress


def prefill(done, total, rate):
    return PrefillProgress("r", done, total, 288, rate, 8192)


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (prefill(0, 3210, 0.0), "Reading 0 of 3,210 new tokens"),
        (prefill(1842, 3210, 684.0), "Reading 1,842 of 3,210 new tokens, about 2 s left"),
        (prefill(3000, 3210, 684.0), "Reading 3,000 of 3,210 new tokens"),  # Less than a second is not worth a word.
        (prefill(0, 1, 0.0), "Reading 0 of 1 new token"),
        (prefill(0, 3210, 684.0), "Reading 0 of 3,210 new tokens"),  # Nothing was measured yet.
        (prefill(0, 0, 0.0), "Reading 0 of 1 new token"),  # The last token is always read.
    ],
)
def test_reading_says_how_far_it_is_and_how_long_it_takes(progress, words):
    assert reading(progress) == words


def test_waiting_says_what_for():
    assert waiting(ImportProgress("r", 71, 100)) == "Waiting for the model: importing, 71%"
    assert waiting(ImportProgress("r", 0, 0)) == "Waiting for the model: importing, 0%"
    assert waiting(LoadProgress("r", "m", 0.4, "Reading the weights")) == "Waiting for the model: loading, 40%"


def test_percent_of_nothing_is_none():
    assert (percent(1, 3), percent(0, 0)) == ("33%", "0%")

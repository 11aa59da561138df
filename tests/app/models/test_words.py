import dataclasses

import pytest

from app.models.words import (
    context_text,
    disk_use,
    matches,
    progress_text,
    row_facts,
    size_text,
    stored_as,
)
from engine.core.facts import ModelCopy
from engine.models.fact_words import facts_of, parameters_text, remedy
from tests.app.models.entries import BROKEN, FILE, LARGE, SMALL


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "under 1 MB"),
        (999_999, "under 1 MB"),
        (144_300_000, "144 MB"),
        (999_400_000, "999 MB"),
        (999_600_000, "1.0 GB"),
        (4_520_000_000, "4.5 GB"),
        (99_960_000_000, "100 GB"),
        (1_320_000_000_000, "1,320 GB"),
    ],
)
def test_a_size_is_said_in_the_unit_that_keeps_it_short(size, text):
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [
        (0, 0, "under 1 MB"),
        (3_000_000, 0, "3 MB"),
        (102_000_000, 144_000_000, "102 of 144 MB"),
        (1_300_000_000, 4_100_000_000, "1.3 of 4.1 GB"),
        (5_000_000_000, 4_100_000_000, "4.1 of 4.1 GB"),
    ],
)
def test_progress_says_the_unit_once_and_never_passes_the_whole(done, total, text):
    assert progress_text(done, total) == text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(0, ""), (512, "512 context"), (2048, "2k context"), (131072, "128k context"), (1048576, "1M context")],
)
def test_a_context_is_said_in_thousands_of_1024(tokens, text):
    assert context_text(tokens) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, ""), (5000, "5,000"), (134_515_008, "135 M"), (999_900_000, "1.0 B"), (8_030_000_000, "8.0 B"), (10**12, "1.0 T")],
)
def test_parameters_are_said_in_millions_or_billions(count, text):
    assert parameters_text(count) == text


def test_a_row_says_size_storage_and_context():
    assert row_facts(SMALL).split() == ["144", "MB", "·", "4-bit", "·", "8k", "context"]


def test_a_row_of_a_model_with_a_problem_says_the_problem():
    assert row_facts(BROKEN) == "model.safetensors is missing."


def test_a_gguf_is_named_as_one():
    assert stored_as(FILE) == "Q8_0 GGUF"


@pytest.mark.parametrize("query", ["", "gemma", "GEMMA 27", "hugging", "4-bit", "a/large"])
def test_a_query_finds_a_model_by_any_of_its_facts(query):
    assert matches(LARGE, query)


def test_a_query_with_one_word_that_is_nowhere_finds_nothing():
    assert not matches(LARGE, "gemma starter")


def test_what_all_models_take_counts_each_copy():
    twice = dataclasses.replace(LARGE, copies=(ModelCopy("b", "/b", "ollama", 3_100_000_000),))
    assert disk_use(()) == ""
    assert disk_use((SMALL,)) == "1 model, 144 MB on disk"
    assert disk_use((SMALL, twice)) == "2 models, 20.1 GB on disk"


def test_a_model_of_a_kind_that_does_not_run_is_not_to_be_fetched_again():
    assert "Download it again" in remedy(BROKEN)
    assert "again" not in remedy(dataclasses.replace(BROKEN, unsupported=True))


def test_older_versions_are_counted_wherever_a_size_is_shown():
    """What an update had to leave lies on the disk too."""
    updated = dataclasses.replace(SMALL, older_bytes=100_000_000)
    assert disk_use((updated,)) == "1 model, 244 MB on disk"
    assert row_facts(updated).startswith("244 MB")
    assert dict(facts_of(updated))["Size on disk"] == "244 MB"
    assert dict(facts_of(updated))["Older versions"] == "100 MB of it"

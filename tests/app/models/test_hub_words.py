import pytest

from app.models.hub_words import (
    bits_of,
    download_text,
    downloads_summary,
    failed_badge,
    licence_text,
    task_notice,
    task_text,
    time_text,
)
from engine.core.errors import ErrorInfo
from engine.core.hub_facts import Download, HubModel

NO_NETWORK = ErrorInfo("hub-no-network", "The hub can’t be reached.", "Check the connection.", 32, 503)
LICENCE = ErrorInfo("hub-licence", "Its terms were not accepted.", "Accept the terms once.", 37, 403, "https://hub/page")


def download(state, **more):
    return Download("org/m", "M", state, more.pop("done", 10_500_000_000), more.pop("total", 16_900_000_000), **more)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (download("running", rate=48e6, left_s=120), "10.5 of 16.9 GB, 48 MB/s, 2 min left"),
        (download("running"), "10.5 of 16.9 GB"),
        (download("running", done=0, total=0), "Starting"),
        (download("queued", done=0), "Waits for its turn"),
        (download("paused"), "Paused at 10.5 of 16.9 GB"),
        (download("verifying"), "Checking the files"),
        (download("waiting", error=NO_NETWORK, left_s=30), "The hub can’t be reached. Tries again in 30 s."),
        (download("failed", error=LICENCE), "Accept the terms once."),
        (download("failed", error=NO_NETWORK), "The hub can’t be reached. Check the connection."),
        (download("done"), "Ready, 16.9 GB"),
    ],
)
def test_a_download_says_how_it_stands(one, words):
    assert download_text(one) == words


def test_the_heading_counts():
    states = ("running", "paused", "failed", "queued", "queued")
    assert downloads_summary(tuple(download(state) for state in states)) == "1 running, 2 next, 1 paused, 1 stopped"
    assert downloads_summary(()) == ""


def test_what_stopped_it_has_a_short_name():
    assert failed_badge(LICENCE) == ("Licence not accepted", "lock")
    assert failed_badge(NO_NETWORK) == ("Stopped", "warn")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (59, "59 s"), (90, "2 min"), (3600, "1 h"), (12_000, "3 h 20 min")]
)
def test_times_are_short(seconds, words):
    assert time_text(seconds) == words


def test_licences_and_bits():
    assert licence_text("apache-2.0") == "Apache 2.0"
    assert licence_text("something-new") == "something-new"
    assert [bits_of(kind) for kind in ("4-bit, groups of 64", "8-bit", "MXFP4", "BF16", "")] == [4, 8, 4, 16, 16]


def test_what_a_model_is_for_and_what_flint_leaves_out_of_it():
    for model, words, notice in (
        (HubModel("a/b", "b", "a", task="text-generation", tasks=("chat", "code")), "Chat, Code", ""),
        (HubModel("a/b", "b", "a", task="image-text-to-text", tasks=("vision",)), "Vision", "its text alone"),
        (HubModel("a/b", "b", "a", task="text-to-speech"), "text-to-speech", "lists this one for text-to-speech"),
        (HubModel("a/b", "b", "a"), "", ""),
    ):
        assert task_text(model) == words
        assert notice in task_notice(model)
        assert bool(notice) == bool(task_notice(model))

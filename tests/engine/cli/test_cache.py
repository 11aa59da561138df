"""`flint cache`, and what a chat that is continued in another process has to read."""

import json

import pytest

from engine.core.paths import locate
from engine.core.preferences import Preferences
from tests.engine.cli.conftest import start

QUICK = ("--temperature", "0", "--max-tokens", "6", "--json")


def stored(home):
    return sorted((home / "cache" / "prefix").rglob("*.safetensors"))


@pytest.mark.parametrize("model", ["one", "two"])
def test_a_continued_chat_reads_only_what_was_never_seen(flint, models, model):
    first = flint("chat", "hello", "--model", model, *QUICK).data
    second = flint("chat", "and what then?", "--chat", first["chat"], *QUICK).data
    third = flint("chat", "no more", "--chat", first["chat"], *QUICK).data
    assert first["cached_tokens"] == 0
    for before, after in ((first, second), (second, third)):
        assert after["cached_tokens"] >= before["prompt_tokens"] + before["output_tokens"] - 1


def test_the_starter_goes_on_in_a_process_of_its_own(flint, starter):
    first = flint("chat", "What is the capital of France?", "--model", starter, *QUICK).data
    process = start("chat", "And of Italy?", "--chat", first["chat"], *QUICK)
    out, err = process.communicate()
    second = json.loads(out)
    assert (process.returncode, err) == (0, "")
    assert second["cached_tokens"] >= first["prompt_tokens"] + first["output_tokens"] - 1


def test_a_reply_is_the_same_with_the_cache_and_without(flint, models, flint_home):
    texts = []
    for size in (8, 0):
        Preferences(locate().settings).set("prefix_cache_disk", size)
        chat = flint("chat", "hello", "--model", "one", *QUICK).data["chat"]
        data = flint("chat", "and what then?", "--chat", chat, *QUICK).data
        texts.append(data["text"])
        assert bool(data["cached_tokens"]) == bool(size)
    assert texts[0] == texts[1]
    assert stored(flint_home) == [], "turned off, it is emptied too"


def test_it_is_shown_and_cleared(flint, models, flint_home):
    empty = flint("cache", "show", "--json").data
    assert (empty["files"], empty["size_bytes"], empty["limit_bytes"]) == (0, 0, 8_000_000_000)
    flint("chat", "hello", "--model", "one", *QUICK)
    size = sum(path.stat().st_size for path in stored(flint_home))
    shown = flint("cache", "show", "--json").data
    assert (shown["files"], shown["size_bytes"]) == (len(stored(flint_home)), size)
    assert str(flint_home / "cache" / "prefix") in flint("cache", "show").out
    cleared = flint("cache", "clear", "--json").data
    assert cleared == {"removed_files": shown["files"], "removed_bytes": size}
    assert stored(flint_home) == []
    assert flint("cache", "clear").out == "Removed 0 MB.\n"


def test_the_doctor_tells_its_size_and_whether_others_can_look_into_it(flint, models, flint_home):
    flint("chat", "hello", "--model", "one", *QUICK)

    def check():
        return next(each for each in flint("doctor", "--json").data["checks"] if each["name"] == "Prefix cache")

    assert check()["state"] == "ok"
    assert check()["detail"].startswith(f"{len(stored(flint_home))} file")
    (flint_home / "cache" / "prefix").chmod(0o755)
    assert check()["state"] == "problem"
    assert "chmod 700" in check()["hint"]

"""`flint models quantize`."""

import pytest

from engine.inference.quantize import quantize
from tests.models.tiny import tiny_llama


@pytest.fixture
def tiny(flint_home):
    return tiny_llama(flint_home / "models" / "tiny", hidden=64, heads=2, kv_heads=2, inner=128)


def test_a_copy_is_made_and_told(flint, tiny):
    data = flint("models", "quantize", "tiny", "--bits", "4", "--group", "32", "--json").data
    assert (data["model_id"], data["name"]) == ("tiny-4-bit", "tiny 4-bit")
    assert data["size_bytes"] < data["size_before_bytes"]
    assert data["perplexity"] > 1
    assert data["perplexity_before"] > 1
    reply = flint("chat", "hello", "--model", "tiny-4-bit", "--max-tokens", "2", "--json")
    assert reply.data["output_tokens"] <= 2


def test_the_size_comes_first_and_the_quality_last(flint, tiny):
    outcome = flint("models", "quantize", "tiny", "--bits", "8", "--group", "32", "--name", "Mine")
    assert outcome.err.startswith("It will take ")
    assert outcome.out.startswith("Mine takes ")
    assert "Perplexity of a text: " in outcome.out
    assert outcome.out.endswith("flint chat --model mine\n")


def test_other_bits_or_groups_are_refused(flint, tiny):
    flint("models", "quantize", "tiny", "--bits", "5").refused(2)
    flint("models", "quantize", "tiny", "--group", "7").refused(2)
    flint("models", "quantize", "none").refused(10)


def test_a_template_of_ones_own_goes_along(flint, tiny):
    flint("models", "template", "tiny", "--set", "-", stdin="X {{ messages[-1].content }}")
    flint("models", "quantize", "tiny", "--group", "32", "--json")
    assert flint("models", "template", "tiny-4-bit", "--json").data["instead"].startswith("X ")


def test_one_that_is_interrupted_keeps_nothing(flint, tiny, monkeypatch, flint_home):
    import _thread

    def interrupted(*arguments):
        _thread.interrupt_main()
        return quantize(*arguments)

    monkeypatch.setattr("engine.inference.quantize.quantize", interrupted)
    monkeypatch.setattr("engine.inference.quantize.perplexity", wait_for_stop)
    outcome = flint("models", "quantize", "tiny", "--group", "32")
    assert outcome.status == 130
    assert "Nothing was kept" in outcome.err
    assert [path.name for path in (flint_home / "models").iterdir() if path.is_dir()] == ["tiny"]


def wait_for_stop(loaded, asked_to_stop, moved):
    import time

    from engine.core.errors import Stopped

    for _ in range(6000):
        if asked_to_stop():
            raise Stopped
        time.sleep(0.01)
    raise AssertionError("nobody asked to stop")


@pytest.mark.parametrize(("name", "why"), [("TINY", "called “tiny”"), ("a\x1b[31mb", "no control"), ("x" * 300, "at most 120")])
@pytest.mark.parametrize("command", [("rename", "tiny"), ("quantize", "tiny", "--group", "32", "--name")])
def test_a_name_is_refused_alike_by_all_who_give_one(flint, tiny, flint_home, name, why, command):
    tiny_llama(flint_home / "models" / "other")
    model = "other" if command[0] == "rename" else "tiny"
    said = flint("models", command[0], model, *command[2:], name).refused(2)
    assert why in said
    assert ("Choose a shorter name." in said) == (len(name) == 300)
    assert sorted(path.name for path in (flint_home / "models").iterdir() if path.is_dir()) == ["other", "tiny"]


def test_another_copy_of_the_same_bits_has_a_number(flint, tiny):
    names = [flint("models", "quantize", "tiny", "--group", "32", "--json").data["name"] for _ in range(3)]
    assert names == ["tiny 4-bit", "tiny 4-bit 2", "tiny 4-bit 3"]

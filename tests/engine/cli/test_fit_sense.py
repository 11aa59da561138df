"""`flint models fit` of what is odd: kinds that Flint does not run, fields that make no sense, files that are none."""

import json
import os
from pathlib import Path

import pytest

from engine.models.config_sense import check_sense

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "max_position_embeddings": 4096,
    "quantization": {"group_size": 64, "bits": 4},
}


@pytest.fixture
def fit(flint, models, tmp_path):
    """Judge a config.json that differs from a sound one, or is written in another way."""

    def ask(*options, encoding="utf-8", **changed):
        path = tmp_path / "config.json"
        path.write_text(json.dumps({**CONFIG, **changed}), encoding)
        return flint("models", "fit", str(path), *options)

    return ask


@pytest.mark.parametrize("kind", ["hyena_v9", "bert"])
def test_a_kind_that_flint_does_not_run_is_named(fit, kind):
    assert f"Flint does not run this kind yet ({kind})" in fit(model_type=kind).err
    assert json.loads(fit("--json", model_type=kind).out)["supported"] is False
    assert "does not run" not in fit().err
    assert json.loads(fit("--json").out)["supported"] is True


@pytest.mark.parametrize(
    "changed",
    [
        {"num_attention_heads": 0},
        {"num_attention_heads": -8},
        {"num_attention_heads": "eight"},
        {"num_hidden_layers": 10**9},
        {"num_hidden_layers": 0},
        {"quantization": {"group_size": 64, "bits": "four"}},
        {"quantization": {"group_size": 64, "bits": 0}},
        {"text_config": {**CONFIG, "num_attention_heads": 0}},
    ],
)
def test_a_field_that_makes_no_sense_is_refused_and_named(fit, changed):
    outcome = fit(**changed)
    assert (outcome.status, outcome.out) == (11, "")
    assert "The config.json says " in outcome.err
    assert "again" not in outcome.err


def test_the_configs_of_real_models_make_sense():
    found = sorted((Path(__file__).parents[1] / "models" / "configs").rglob("*.json"))
    assert found
    for path in found:
        check_sense(json.loads(path.read_text()))


def test_a_context_beyond_the_trained_length_is_not_cut_in_silence(fit):
    outcome = fit("--context", "999999999999")
    assert "trained to 4,096 tokens: that many are assumed, not 999,999,999,999" in " ".join(outcome.err.split())
    told = json.loads(fit("--context", "999999999999", "--json").out)
    assert (told["context"], len(told["assumed"])) == (4096, 1)
    assert json.loads(fit("--context", "2048", "--json").out)["assumed"] == []


def test_a_config_with_a_byte_order_mark_is_read_and_one_in_utf_16_is_told_apart(fit):
    assert fit(encoding="utf-8-sig").status == 0
    outcome = fit(encoding="utf-16")
    assert outcome.status == 11
    assert "is no text in UTF-8" in " ".join(outcome.err.split())


def test_a_config_without_layers_is_told_of_as_a_file(flint, models, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    outcome = flint("models", "fit", str(tmp_path / "config.json"))
    assert outcome.status == 11
    assert "Give the whole config.json" in outcome.err
    assert "Download or import" not in outcome.err


@pytest.mark.parametrize("name", ["", "  "])
def test_no_name_is_no_folder(flint, models, name):
    outcome = flint("models", "fit", name)
    assert outcome.status == 2
    assert "No model was named." in outcome.err


@pytest.mark.parametrize("command", ["fit", "import"])
@pytest.mark.parametrize("name", ["pipe.json", "pipe.gguf", "pipe"])
def test_a_pipe_is_refused_and_not_waited_for(flint, models, tmp_path, command, name):
    os.mkfifo(tmp_path / name)
    outcome = flint("models", command, str(tmp_path / name))
    assert outcome.status == 11
    assert outcome.out == ""

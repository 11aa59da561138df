"""The models that Flint recommends, held against the prediction of what they take."""

import json
from pathlib import Path

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten
from mlx_lm.utils import _get_classes, quantize_model

from app.models.assessment import assess
from app.models.machine import Machine
from app.models.recommended import read_recommended
from engine.models.fit import predict
from engine.models.hub_facts import with_config

GB = 10**9
ENTRIES = read_recommended()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.model.name)
def test_its_config_gives_the_weights_that_it_says(entry):
    fit = predict(json.loads(entry.model.config), context=1024)
    assert fit.known
    assert fit.weights_bytes == pytest.approx(entry.model.size_bytes, rel=0.01)
    assert entry.model.parameters * 4.5 / 8 == pytest.approx(entry.model.size_bytes, rel=0.01)
    assert with_config(entry.model, entry.model.config).context == entry.model.context > 0


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.model.name)
def test_its_parameters_and_bytes_are_those_of_mlx_lms_own_layers(entry):
    """Nothing is computed: MLX makes arrays when they are read, so that shapes of 235 billion weights take no memory."""
    config = {"rms_norm_eps": 1e-6, "rope_theta": 1e6, **json.loads(entry.model.config)}
    kind, arguments = _get_classes(config)
    model = kind(arguments.from_dict(config))
    model.set_dtype(mx.bfloat16)
    assert sum(array.size for _, array in tree_flatten(model.parameters())) == entry.model.parameters
    packed, _ = quantize_model(model, config, **config["quantization"])
    assert sum(array.nbytes for _, array in tree_flatten(packed.parameters())) == entry.model.size_bytes


def test_its_config_is_the_published_one():
    published = json.loads((Path(__file__).parents[2] / "engine/models/configs/qwen3-30b-a3b.json").read_text())
    entry = next(entry for entry in ENTRIES if entry.model.id == "mlx-community/Qwen3-30B-A3B-Instruct-2507-4bit")
    config = {name: value for name, value in json.loads(entry.model.config).items() if name != "quantization"}
    assert config == {name: published[name] for name in config} | {"max_position_embeddings": 262144}


@pytest.mark.parametrize(("budget", "least"), [(4 * GB, 2), (11 * GB, 4), (24 * GB, 6), (48 * GB, 8)])
def test_every_machine_has_some_that_run(budget, least):
    machine = Machine(budget, metal=True)
    standings = [assess(e.model.config, e.model.size_bytes, e.model.context, machine).standing for e in ENTRIES]
    assert standings.count("fits") + standings.count("less") >= least
    assert standings[0] == "no"

"""The models that Flint recommends, held against the prediction of what they take."""

import json

import pytest

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


@pytest.mark.parametrize(("budget", "least"), [(4 * GB, 2), (11 * GB, 4), (24 * GB, 6), (48 * GB, 8)])
def test_every_machine_has_some_that_run(budget, least):
    machine = Machine(budget, metal=True)
    standings = [assess(e.model.config, e.model.size_bytes, e.model.context, machine).standing for e in ENTRIES]
    assert standings.count("fits") + standings.count("less") >= least
    assert standings[0] == "no"

from dataclasses import replace

from PySide6.QtCore import Qt

from app.models.assessment import Assessment
from app.models.hub_list import Filters, HubList
from engine.core.hub_facts import Download, HubModel
from engine.core.machine import THIS_MACHINE

SMALL = HubModel("a/small", "Small", "a", size_bytes=10**9, quantization="4-bit, groups of 64", licence="mit")
EIGHT = HubModel("a/eight", "Eight", "a", size_bytes=2 * 10**9, quantization="8-bit", licence="llama3.1", gate="auto")
FULL = HubModel("a/full", "Full", "a", size_bytes=10**11, quantization="BF16", licence="apache-2.0")


def listed(**filters):
    models = HubList()
    models.set_models((SMALL, EIGHT, FULL), {}, by_standing=False)
    models.set_filters(Filters(**filters))
    return [row.model.id for row in models.rows]


def test_filters_by_quantization_and_licence():
    assert listed() == ["a/small", "a/eight", "a/full"]
    assert listed(quantization="4") == ["a/small"]
    assert listed(quantization="8") == ["a/eight"]
    assert listed(quantization="full") == ["a/full"]
    assert listed(licence="permissive") == ["a/small", "a/full"]
    assert listed(licence="open") == ["a/small", "a/full"]


def test_filters_by_task_and_size():
    models = HubList()
    chat, vision = replace(SMALL, tasks=("chat", "code")), replace(EIGHT, tasks=("vision",))
    models.set_models((chat, vision, FULL, replace(SMALL, id="a/untold", size_bytes=0)), {}, by_standing=False)
    for filters, ids in (
        ({"task": "code"}, ["a/small"]),
        ({"task": "vision"}, ["a/eight"]),
        ({"task": "base"}, []),
        ({"size": "1"}, ["a/small"]),
        ({"size": "2"}, ["a/small", "a/eight"]),
        ({"size": "2", "task": "vision"}, ["a/eight"]),
    ):
        models.set_filters(Filters(**filters))
        assert [row.model.id for row in models.rows] == ids


def test_only_what_fits_and_what_fits_first():
    models = HubList()
    models.set_models((FULL, EIGHT, SMALL), {}, by_standing=True)
    for model_id, standing in (("a/full", "no"), ("a/eight", "less"), ("a/small", "fits")):
        models.set_assessment(model_id, Assessment(standing, 16_384))
    assert [row.model.id for row in models.rows] == ["a/small", "a/eight", "a/full"]
    assert [row.badge[0] for row in models.rows] == ["Fits", "Fits at 16k", "Does not fit"]
    models.set_filters(Filters(fits_only=True))
    assert [row.model.id for row in models.rows] == ["a/small"]


def test_a_badge_says_that_it_is_here_or_on_its_way():
    models = HubList()
    models.set_models((SMALL, EIGHT, FULL), {}, by_standing=False)
    models.set_state(["a/small"], [Download("a/eight", "Eight", "running", 1, 2), Download("a/full", "Full", "failed", 1, 2)])
    assert [row.badge[0] for row in models.rows] == [f"On {THIS_MACHINE}", "Downloading", "Stopped"]


def test_progress_does_not_take_the_selection_away(qtmodeltester):
    models = HubList()
    models.set_models((SMALL, EIGHT), {}, by_standing=False)
    resets = []
    models.modelReset.connect(lambda: resets.append(1))
    for done in range(3):
        models.set_state([], [Download("a/small", "Small", "running", done, 9)])
    assert resets == []
    qtmodeltester.check(models)


def test_assistive_tools_hear_what_the_eye_sees():
    models = HubList()
    models.set_models((EIGHT,), {}, by_standing=False)
    models.set_assessment("a/eight", Assessment("fits", 8192, 58.2))
    index = models.index(0)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Eight, Fits"
    assert index.data(Qt.ItemDataRole.AccessibleDescriptionRole) == "a  ·  Llama 3.1, 2.0 GB, 58 tok/s, gated"

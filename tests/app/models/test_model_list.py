from PySide6.QtCore import Qt

from app.models.model_list import CURRENT_ROLE, ENTRY_ROLE, ModelList
from tests.app.models.entries import ALL, BROKEN, LARGE, SMALL


def test_rows_are_the_models_in_order(qtmodeltester):
    model = ModelList()
    model.set_entries(ALL, "small")
    qtmodeltester.check(model)
    assert [model.index(row).data(ENTRY_ROLE) for row in range(model.rowCount())] == list(ALL)


def test_the_current_model_is_marked_for_the_eye_and_for_assistive_tools():
    model = ModelList()
    model.set_entries(ALL, "a/large")
    assert [model.index(row).data(CURRENT_ROLE) for row in range(4)] == [False, True, False, False]
    assert model.index(1).data(Qt.ItemDataRole.AccessibleTextRole) == "Gemma 3 27B, in use"
    assert model.index(0).data(Qt.ItemDataRole.AccessibleTextRole) == "SmolLM2 135M"


def test_a_query_narrows_and_an_empty_one_brings_all_back():
    model = ModelList()
    model.set_entries(ALL, "")
    model.set_query("gemma")
    assert model.shown == (LARGE,)
    assert model.row_of("small") == -1
    model.set_entries((SMALL,), "")
    assert model.shown == ()
    model.set_query("")
    assert model.shown == (SMALL,)


def test_a_broken_model_can_be_chosen_only_where_it_is_of_use():
    for only_usable in (True, False):
        model = ModelList(only_usable=only_usable)
        model.set_entries((BROKEN,), "")
        assert bool(model.index(0).flags() & Qt.ItemFlag.ItemIsEnabled) is not only_usable

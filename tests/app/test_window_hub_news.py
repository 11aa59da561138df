"""What comes to be known meanwhile leaves alone what is on show in Discover: in the real window, against a hub on loopback."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from tests.app.hub_window import FOX_ID, GATED_ID, hub_on_loopback
from tests.app.test_window_hub_filters import quantizations
from tests.app.window_driver import row_center


@pytest.fixture
def server(monkeypatch, fox):
    with hub_on_loopback(monkeypatch, fox) as server:
        yield server


def tell_news(found):
    """Say that rows and quantizations changed, as they do all the time while something is downloaded."""
    for news in (found.page._models.dataChanged, found.page._models.modelReset, found.page.detail.variants.changed):
        news.emit(*[found.page._models.index(0)] * 2 if news is found.page._models.dataChanged else ())


@pytest.mark.drives("fitsOnly")
def test_a_filter_says_nothing_of_a_search_that_runs_or_that_failed(found, server):
    server.fault("api/models", hang=True, times=1)
    found.type("fox")
    assert found.text("searchTitle") == "Searching for “fox”"
    found.click("fitsOnly")
    assert found.text("searchTitle") == "Searching for “fox”"
    server.fault("api/models", status=503, times=1)
    QTest.keyClick(found.dialog.search, Qt.Key.Key_Backspace)
    QTest.keyClick(found.dialog.search, Qt.Key.Key_Return)
    found.wait(lambda: found.shows("searchProblem"))
    found.click("fitsOnly")
    assert found.shows("searchProblem")
    assert found.shows("searchAgain")
    found.click("searchAgain")
    found.wait(lambda: found.ids() == [FOX_ID])


def test_while_the_hub_is_asked_about_a_model_that_is_said(found, server):
    found.search("org", 4)
    server.fault(f"api/models/{FOX_ID}", hang=True, times=1)
    found.click_row(FOX_ID)
    for _ in range(2):
        assert found.text("cardNote") == "Asking Hugging Face…"
        assert not found.shows("readCard"), "it is being read"
        tell_news(found)
    found.pick(GATED_ID)
    assert "Asking" not in found.text("cardNote")


def licences(found):
    labels = found.page.detail.table.findChildren(QLabel)
    return [label for label in labels if label.accessibleName() == "Licence: MIT" and label.isVisible()]


def test_what_is_selected_of_the_facts_stays_selected(found):
    found.search("org", 4)
    found.pick(FOX_ID)
    (licence,) = licences(found)
    licence.setSelection(0, 3)
    tell_news(found)
    assert [label.selectedText() for label in licences(found)] == ["MIT"]


@pytest.mark.drives("variantRows")
def test_a_quantization_goes_with_the_row_that_led_to_it(found, server):
    quantizations(server, 4, 8)
    found.search("org", 6)
    found.pick("org/Many-9B-4bit")
    view = found.page.detail.variants.view
    found.wait(view.isVisible)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=row_center(view, 1))
    assert found.page.detail.model_id == "org/Many-9B-8bit"
    found.page._models.set_models([row.model for row in found.rows() if "Many" not in row.model.id], {}, by_standing=False)
    assert found.page.detail.model_id == found.ids()[found.page.results.currentIndex().row()]

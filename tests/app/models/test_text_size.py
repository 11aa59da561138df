"""Text size in the models window: what is read there grows with it, and nothing of it is cut off."""

import itertools

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QLabel, QScrollArea, QWidget

from app.widgets.elided_label import ElidedLabel
from app.widgets.link import Link
from engine.models import transfer
from tests.app.hub_window import FOX_ID, SLOW_ID, hub_on_loopback
from tests.app.window_driver import give_model

READ = ("hubModelName", "fitNeeds", "fitRate", "fitMost", "searchTitle", "downloadState", "downloadSummary", "cardNote")
SIZES = (150, 200, 80)


@pytest.fixture
def server(monkeypatch, fox, tmp_path):
    folder = tmp_path / "strange"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "strange"}')
    give_model(folder)
    give_model(fox)
    monkeypatch.setattr(transfer, "CHUNK", 100_000)
    with hub_on_loopback(monkeypatch, fox) as server:
        server.fault("cdn/", trickle_s=0.05, piece=5_000, times=None)
        yield server


def cut_off(page):
    """What of a page's words has too little room: labels and links by what they say."""
    found = []
    for part in page.findChildren(QWidget):
        if not part.isVisible() or not isinstance(part, QLabel | Link) or not part.text():
            continue
        metrics, text = part.fontMetrics(), part.text()
        if isinstance(part, Link):
            small = part.width() < part.sizeHint().width() or part.height() < part.sizeHint().height()
        elif part.wordWrap():
            small = part.height() < part.heightForWidth(part.width())
        else:
            lines = text.split("\n")
            wide = 0 if isinstance(part, ElidedLabel) else max(metrics.horizontalAdvance(line) for line in lines)
            small = part.width() < wide or part.height() < metrics.ascent() + metrics.descent() * 0.5
        if small or beyond(part):
            found.append(text)
    return found


def beyond(part):
    """Whether a part reaches out of the pane it is in, at the right."""
    pane = part.parentWidget()
    while pane is not None and not isinstance(pane, QAbstractScrollArea) and not pane.isWindow():
        pane = pane.parentWidget()
    room = pane.viewport() if isinstance(pane, QScrollArea) else pane
    return part.mapTo(room, QPoint(part.width(), 0)).x() > room.width()


def overlapping(row):
    """Which neighbours of a download's row lie over each other."""
    parts = sorted((part for part in row.children() if isinstance(part, QWidget) and part.isVisible()), key=QWidget.x)
    return [(one, other) for one, other in itertools.pairwise(parts) if one.geometry().right() >= other.x()]


def sizes(page):
    return {name: part.font().pixelSize() for name in READ if (part := page.findChild(QLabel, name)) and part.isVisible()}


@pytest.mark.parametrize("width", [1080, 880])
def test_what_is_read_grows_and_nothing_is_cut_off(found, server, width):
    found.dialog.resize(width, 700)
    found.search("slow", 1)
    found.pick(SLOW_ID)
    found.click("downloadModel")
    found.wait(lambda: found.shows("fitMost") and found.state(SLOW_ID) == "running")
    before, row = sizes(found.dialog), found.row(SLOW_ID)
    assert {"hubModelName", "fitNeeds", "downloadState", "searchTitle"} <= set(before)
    for percent in SIZES:
        found.driver.window.settings._on_changed("app", "text_size", percent)
        QTest.qWait(0)
        now = sizes(found.dialog)
        assert {name: now[name] for name in before} == {name: round(size * percent / 100) for name, size in before.items()}
        found.wait(lambda: cut_off(found.dialog) == [])
        found.wait(lambda: overlapping(row) == [])


@pytest.mark.parametrize("percent", [130, 150, 200])
def test_what_stands_over_the_recommendations_is_whole_in_the_least_window(found, server, percent):
    found.dialog.resize(found.dialog.minimumSize())
    found.driver.window.settings._on_changed("app", "text_size", percent)
    found.wait(lambda: cut_off(found.page.state) == [])
    title = found.driver.part("searchTitle")
    assert title.text() == title.words
    assert title.height() < 2 * title.fontMetrics().height()


def test_a_title_with_a_word_without_an_end_is_cut_with_dots(found, server):
    found.type("a" * 2000)
    found.wait(lambda: found.driver.part("searchTitle").words.startswith("Nothing found for"))
    title = found.driver.part("searchTitle")
    assert title.text().endswith("…")
    assert title.fontMetrics().horizontalAdvance(title.text()) <= title.width()
    assert title.toolTip() == title.words


def test_the_recommendations_and_the_models_on_this_machine_grow_too(found, server):
    for percent in SIZES:
        found.driver.window.settings._on_changed("app", "text_size", percent)
        found.wait(lambda: cut_off(found.dialog) == [])
    found.dialog.show_place("machine")
    found.wait(lambda: len(found.driver.window.models.entries) == 2)
    for percent in SIZES:
        found.driver.window.settings._on_changed("app", "text_size", percent)
        for entry in found.driver.window.models.entries:
            found.dialog.select(entry.id)
            found.wait(lambda: cut_off(found.dialog) == [])
            assert found.dialog.detail.table.facts()


def test_a_card_read_at_once_in_large_text_has_no_line_that_leaves_it(found, server):
    found.driver.window.settings._on_changed("app", "text_size", 200)
    server.repositories[FOX_ID].add("README.md", "```\n" + "a_name_without_an_end " * 20 + "\n```\n")
    found.search("fox", 1)
    found.pick(FOX_ID)
    card = found.page.detail.card
    found.wait(lambda: "without_an_end" in card.toPlainText())
    assert card.document().defaultFont().pixelSize() == 24
    found.wait(lambda: card.document().idealWidth() <= card.viewport().width())

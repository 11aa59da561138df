import dataclasses

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLineEdit, QWidget

from app.models import row_view
from app.models.model_list import ModelList
from app.models.results import ResultsView
from tests.app.models.entries import ALL, BROKEN, SMALL
from tests.app.pointer import move


@pytest.fixture
def view(qtbot, theme):
    model = ModelList()
    model.set_entries(ALL, "small")
    view = ResultsView(theme, model)
    view.models = model
    view.resize(456, 400)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitExposed(view)
    # The pointer may be anywhere after another test: here it is over no row.
    move(view.viewport(), QPoint(200, 390))
    return view


def row_picture(view, row):
    view.viewport().repaint()
    return view.viewport().grab(view.visualRect(view.model().index(row))).toImage()


def colors(image):
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


def test_rows_are_56_high_and_grow_with_the_text(view, theme):
    def height():
        view.executeDelayedItemsLayout()
        return view.visualRect(view.model().index(1)).height()

    assert height() == 56
    for percent in (80, 120, 150, 200):
        theme.set_text_size(percent)
        assert height() >= 16 + theme.line("read-ui") + 4 + theme.line("read-small")
    theme.set_text_size(100)
    assert height() == 56


@pytest.mark.parametrize("theme", ["light", "dark"], indirect=True)
def test_only_a_broken_model_wears_the_colour_of_failure(view, theme):
    soft = theme.color("critical-soft").name()
    assert soft in colors(row_picture(view, 3))
    assert not any(soft in colors(row_picture(view, row)) for row in range(3))


def test_the_chosen_row_and_the_hovered_row_are_seen(qtbot, view):
    plain = row_picture(view, 2)
    view.setCurrentIndex(view.model().index(2))
    chosen = row_picture(view, 2)
    assert plain != chosen
    plain = row_picture(view, 1)
    move(view.viewport(), view.visualRect(view.model().index(1)).center())
    assert row_picture(view, 1) != plain


def test_the_ring_is_for_the_keyboard_alone(qtbot, theme):
    window = QWidget()
    other, view = QLineEdit(window), ResultsView(theme, ModelList(), window)
    view.model().set_entries(ALL, "")
    view.setGeometry(0, 30, 456, 300)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitActive(window)
    other.setFocus()
    qtbot.keyClick(other, Qt.Key.Key_Tab)
    assert view.hasFocus()
    assert view.ring
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(1)).center())
    assert not view.ring


def test_a_name_of_any_length_leaves_the_badges_alone(view):
    long = SMALL.__class__(**{**SMALL.__dict__, "name": "A long name " * 30})
    view.models.set_entries((SMALL, long), "")
    right = [row_picture(view, row).copy(386, 0, 60, 30) for row in range(2)]
    assert right[0] == right[1]


@pytest.mark.parametrize("percent", [80, 100, 120])
def test_figures_of_a_row_are_never_cut_where_there_is_room(view, theme, percent, monkeypatch):
    drawn = {}
    monkeypatch.setattr(row_view, "draw_line", lambda _painter, _theme, box, text, *_: drawn.update({text: box.width()}))
    theme.set_text_size(percent)
    figures = {500: "under 1 MB", 999_400_000_000: "999 GB", 888_800_000: "889 MB"}
    view.models.set_entries([dataclasses.replace(SMALL, id=text, size_bytes=size) for size, text in figures.items()], "")
    for row in range(len(figures)):
        row_picture(view, row)
    metrics = QFontMetrics(theme.font(row_view.FACTS))
    assert set(figures.values()) <= set(drawn)
    assert [text for text, width in drawn.items() if metrics.horizontalAdvance(text) > width] == []


def test_return_and_a_double_click_choose(qtbot, view):
    view.setCurrentIndex(view.model().index(1))
    with qtbot.waitSignal(view.chosen) as chosen:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert chosen.args == [1]
    place = view.visualRect(view.model().index(2)).center() + QPoint(0, 4)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.waitSignal(view.chosen) as chosen:
        qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chosen.args == [2]


def test_a_broken_model_can_be_looked_at(qtbot, view):
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(3)).center())
    assert view.models.shown[view.currentIndex().row()] == BROKEN


def test_a_download_under_way_does_not_wear_the_colour_of_failure(view, theme):
    arriving = dataclasses.replace(BROKEN, problem="Downloading, 44%", download="running")
    view.models.set_entries((arriving,), "")
    soft = theme.color("critical-soft").name()
    assert soft not in colors(row_picture(view, 0))
    view.models.set_entries((BROKEN,), "")
    assert soft in colors(row_picture(view, 0))

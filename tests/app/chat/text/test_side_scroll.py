"""What is wider than the text: each block scrolls for itself, and the pointer finds what it sees."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QScrollBar, QWidget

from app.chat.text.code_bar import CodeBar
from app.chat.text.markdown import StreamReader, read
from app.chat.text.message_text import MessageText

WIDTH = 600
LONG = "start " + "x" * 200 + " end"
TABLE = "| " + " | ".join(f"column {n}" for n in range(12)) + " |\n" + "|---" * 12 + "|\n"
ROW = "| " + " | ".join(f"a longer cell {n}" for n in range(12)) + " |\n"


@pytest.fixture
def make(qtbot, theme):
    def show(text):
        view = MessageText(theme)
        qtbot.addWidget(view)
        view.resize(WIDTH, 400)
        view.show_blocks(read(text))
        view.setFixedHeight(view.height_at(WIDTH))
        view.show()
        return view

    return show


def bars(view):
    return [bar for bar in view.findChildren(QScrollBar, "sideScroll") if not bar.isHidden()]


def pixels(view, area=None):
    image = view.viewport().grab().toImage()
    return image.copy(area) if area else image


def wheel(view, place, x, y=0, modifiers=Qt.KeyboardModifier.NoModifier):
    where = QPointF(place)
    event = QWheelEvent(
        where,
        QPointF(view.mapToGlobal(place)),
        QPoint(x, y),
        QPoint(),
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    view.wheelEvent(event)
    return event.isAccepted()


def bands_of(view, area):
    """The parts of an area that are painted, each with how far it is scrolled."""
    return view._sides.bands(area, list(view._decoration.visible(area)))


def test_a_long_line_of_code_is_one_line_with_a_bar(make):
    view = make(f"Text\n\n```py\n{LONG}\nshort\n```\n\nmore")
    (bar,) = bars(view)
    assert bar.maximum() > 900
    first, _ = view.shown.text_blocks(1)
    assert first.layout().lineCount() == 1


def test_what_fits_has_no_bar(make):
    assert bars(make("```py\nshort\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |")) == []


@pytest.mark.drives("sideScroll")
def test_the_bar_moves_its_block_and_nothing_else(make, qtbot):
    view = make(f"Text above\n\n```py\n{LONG}\n```\n\nText below\n\n```py\n{LONG}\n```")
    above, below = pixels(view, view.rect().adjusted(0, 0, 0, 30 - view.height())), None
    first, second = bars(view)
    below = pixels(view, view.rect().adjusted(0, first.geometry().bottom() + 4, 0, 0))
    code = pixels(view, view.rect().adjusted(0, 70, 0, first.geometry().bottom() - view.height() - 10))
    QTest.mouseClick(first, Qt.MouseButton.LeftButton, pos=QPoint(first.width() - 3, 4))
    qtbot.waitUntil(lambda: first.value() > 0)
    assert second.value() == 0
    assert view.horizontalScrollBar().value() == 0
    assert pixels(view, view.rect().adjusted(0, 0, 0, 30 - view.height())) == above
    assert pixels(view, view.rect().adjusted(0, first.geometry().bottom() + 4, 0, 0)) == below
    assert pixels(view, view.rect().adjusted(0, 70, 0, first.geometry().bottom() - view.height() - 10)) != code


def test_the_pointer_selects_what_it_sees(make):
    view = make(f"```py\n{LONG}\n```")
    (bar,) = bars(view)
    bar.setValue(bar.maximum())
    row = view.cursorRect(view.textCursor()).center().y()
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(WIDTH - 24, row))
    assert view.textCursor().selectedText() == "end"


def test_the_wheel_goes_sideways_only_over_what_is_wide(make):
    view = make(f"Text\n\n```py\n{LONG}\n```")
    (bar,) = bars(view)
    inside = bar.geometry().center() - QPoint(0, 20)
    assert wheel(view, inside, -60)
    assert bar.value() == 60
    assert wheel(view, inside, 0, -80, Qt.KeyboardModifier.ShiftModifier)
    assert bar.value() > 60
    assert not wheel(view, inside, 0, -80)
    assert not wheel(view, QPoint(20, 5), -60)


def test_a_place_out_of_sight_is_scrolled_to_and_the_text_stays(make):
    view = make(f"Text\n\n```py\n{LONG}\n```")
    (bar,) = bars(view)
    cursor = view.textCursor()
    cursor.setPosition(view.shown.starts[1] + len(LONG))
    # Qt would scroll the whole text to where a cursor is.
    view.setTextCursor(cursor)
    view.ensureCursorVisible()
    assert view.horizontalScrollBar().value() == 0
    view.show_sideways(view.shown.starts[1] + len(LONG))
    assert bar.value() > bar.maximum() - 60
    view.show_sideways(view.shown.starts[1])
    assert bar.value() == 0


def test_a_table_with_more_columns_than_there_is_room_keeps_them_readable(make):
    view = make(TABLE + ROW * 2 + "\nafter")
    (bar,) = bars(view)
    table = view.shown.table(0)
    assert table.format().width().rawValue() == bar.maximum() + WIDTH
    assert min(length.rawValue() for length in table.format().columnWidthConstraints()) > 60


def test_a_long_wide_table_scrolls_as_one(make):
    view = make(TABLE + ROW * 40)
    (bar,) = bars(view)
    assert len(view.shown.blocks) == 3
    bar.setValue(100)
    assert 100 in {offset for _, offset in bands_of(view, view.rect())}
    assert [view._sides.offset_at(QPoint(50, view._decoration.extent(index).center().y())) for index in range(3)] == [100] * 3


def test_a_table_fits_again_where_there_is_room(make):
    view = make("| aaaaaaaaaaaa | bbbbbbbbbbbb | cccccccccccc | dddddddddddd |\n|---|---|---|---|\n| 1 | 2 | 3 | 4 |")
    assert bars(view) == []
    view.resize(300, view.height())
    view.height_at(300)
    assert len(bars(view)) == 1
    view.resize(WIDTH, view.height())
    view.height_at(WIDTH)
    assert bars(view) == []


@pytest.mark.drives("wrapCode")
def test_long_lines_are_wrapped_at_a_press_and_so_are_later_ones(make, theme):
    view = make(f"```py\n{LONG}\n```")
    chosen, heights = [], []
    theme.code_wrap_chosen.connect(chosen.append)
    view.height_changed.connect(lambda: heights.append(view.height_at(WIDTH)))
    before = view.height()
    button = view.findChild(QWidget, "wrapCode")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert bars(view) == []
    assert view.shown.text_blocks(0)[0].layout().lineCount() > 2
    assert heights[-1] > before
    other = make(f"```py\n{LONG}\n```")
    assert bars(other) == []
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert len(bars(view)) == 1
    assert view.height_at(WIDTH) == before
    assert chosen == [True, False]
    theme.set_code_wrap(False)


def test_what_was_chosen_for_a_block_stays_while_it_is_written(make):
    view, reader = make("x"), StreamReader()
    view.show_blocks(reader.blocks)
    for piece in ("```py\n", LONG, "\n", "a"):
        view.show_blocks(reader.blocks, reader.feed(piece))
    view._wrap(0, True)
    for piece in (LONG, "\n```\n", "after"):
        view.show_blocks(reader.blocks, reader.feed(piece))
    reader.finish()
    view.show_blocks(reader.blocks)
    first, last = view.shown.text_blocks(0)
    assert first.layout().lineCount() > 1
    assert last.layout().lineCount() > 1
    view._theme.set_code_wrap(False)


def test_there_is_nothing_to_wrap_where_every_line_fits(make):
    (bar,) = make("```py\nx = 1\n```").findChildren(CodeBar)
    assert not bar.findChild(QWidget, "wrapCode").isVisible()
    assert bar.findChild(QWidget, "saveCode").isVisible()


@pytest.mark.drives("saveCode")
def test_the_save_button_asks_where_to(make):
    view = make("```python\nx = 1\n```")
    button = view.findChild(QWidget, "saveCode")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    dialog = view.window().findChild(QFileDialog, "saveCodeDialog")
    assert dialog.isVisible()
    dialog.reject()


def test_every_part_that_is_painted_has_bounds(make):
    view = make(f"Text\n\n```py\n{LONG}\nshort\n```\n\nmore\n\n```py\n{LONG}\n```\n\nend")
    for top in range(0, view.height(), 3):
        area = QRect(0, top, WIDTH, 60)
        bands = [band for band, _ in bands_of(view, area)]
        assert bands
        assert all(not band.isEmpty() and area.contains(band) for band in bands), top

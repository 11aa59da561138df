"""Footnotes: where they stand, and what the pointer shows of them."""

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QToolTip

from app.chat.text.blocks import Mark
from app.chat.text.footnote_tip import note_text, note_under
from app.chat.text.markdown import StreamReader, read
from app.chat.text.message_text import MessageText

TEXT = "The sky is blue.[^1] Grass too?[^no] See[^9].\n\n[^1]: Rayleigh, <b>1871</b>.\n[^no]: No.\n"


@pytest.fixture
def view(qtbot, theme):
    view = MessageText(theme)
    qtbot.addWidget(view)
    view.resize(600, 300)
    view.show_blocks(read(TEXT))
    view.show()
    return view


def place_of(view, label):
    position = view.document().toRawText().index(label)
    cursor = QTextCursor(view.document())
    cursor.setPosition(position)
    return view.cursorRect(cursor).center() + QPoint(2, 0)


def test_a_reference_is_raised_and_a_note_has_its_label_before_it():
    first, note, other = read(TEXT)
    assert [run.text for run in first.runs if Mark.RAISED in run.marks] == ["1", "no", "9"]
    assert [block.place.markers[0].sign for block in (note, other)] == ["1", "no"]
    assert note.runs[0].text == "Rayleigh, <b>1871</b>."


def test_a_number_is_a_reference_before_its_note_is_written():
    reader = StreamReader()
    reader.feed("Blue.[^1] Named.[^a]\n\nMore.\n\n")
    assert [run.text for run in reader.blocks[0].runs if Mark.RAISED in run.marks] == ["1"]
    reader.feed("[^1]: Note\n\n[^a]: Named note\n")
    reader.finish()
    assert [run.text for run in reader.blocks[0].runs if Mark.RAISED in run.marks] == ["1", "a"]


def test_the_pointer_shows_what_a_note_says(view, qtbot):
    place = place_of(view, "1")
    tip = QHelpEvent(QEvent.Type.ToolTip, place, view.viewport().mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), tip)
    assert QToolTip.text() == "<p>Rayleigh, &lt;b&gt;1871&lt;/b&gt;.</p>"
    QToolTip.hideText()


def test_there_is_nothing_to_show_elsewhere(view):
    assert note_under(view, view.blocks, place_of(view, "sky")) == ""
    assert note_under(view, view.blocks, place_of(view, "9")) == ""
    assert note_under(view, view.blocks, QPoint(590, 290)) == ""
    assert note_text(view.blocks, "no") == "No."
    assert note_text(view.blocks, "9") == ""

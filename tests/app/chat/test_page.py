"""The chat area: one column, the welcome or the transcript over the composer."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QTextEdit, QWidget

from app.chat.page import ChatPage, column_width


@pytest.fixture
def page(theme, qtbot):
    page = ChatPage(theme)
    page.resize(1020, 768)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitExposed(page)
    page.activateWindow()
    return page


@pytest.mark.parametrize(("area", "composer"), [(1020, 752), (768, 752), (700, 684), (480, 464)])
def test_the_composer_stands_centred_under_the_column(page, area, composer):
    page.resize(area, 600)
    QApplication.processEvents()
    geometry = page.composer.geometry()
    assert geometry.width() == composer == column_width(area) + 32
    assert geometry.left() == (area - composer) // 2
    assert page.height() - geometry.bottom() - 1 == 12
    text = page.composer.findChild(QTextEdit, "composer")
    assert text.mapTo(page, QPoint(0, 0)).x() == (area - column_width(area)) // 2


def test_welcome_and_transcript_take_turns_above_the_composer(page):
    for mode, shown, hidden in (("welcome", page.welcome, page.transcript), ("chat", page.transcript, page.welcome)):
        page.set_mode(mode)
        QApplication.processEvents()
        assert page.mode == mode
        assert shown.isVisible()
        assert not hidden.isVisible()
        bottom = shown.mapTo(page, QPoint(0, shown.height())).y()
        assert 0 <= page.composer.geometry().top() - bottom <= 12
        assert shown.width() == page.width()


def test_a_growing_composer_takes_its_room_from_what_is_above(page):
    before = page.composer.geometry()
    page.composer.set_text("one\ntwo\nthree")
    QApplication.processEvents()
    after = page.composer.geometry()
    assert after.height() == before.height() + 48
    assert after.bottom() == before.bottom()


def test_a_prompt_is_handed_on(page, qtbot):
    chosen = []
    page.prompt_chosen.connect(chosen.append)
    qtbot.mouseClick(page.findChild(QAbstractButton, "promptCard.2"), Qt.MouseButton.LeftButton)
    assert len(chosen) == 1
    assert "haiku" in chosen[0]


def test_escape_outside_the_composer_stops_the_reply_too(page, qtbot):
    stops = []
    page.composer.stop_requested.connect(lambda: stops.append(1))
    card = page.findChild(QAbstractButton, "promptCard.1")
    card.setFocus()
    qtbot.keyClick(card, Qt.Key.Key_Escape)
    assert stops == []
    page.composer.set_phase("writing")
    qtbot.keyClick(card, Qt.Key.Key_Escape)
    assert stops == [1]


@pytest.mark.parametrize("theme", ["light", "dark"], indirect=True)
def test_the_ground_is_the_themes(page, theme):
    assert page.grab().toImage().pixelColor(4, page.height() - 4) == theme.color("content")


def test_handles_stay_where_tools_look_for_them(page):
    for name in ("composer", "sendButton", "stopButton", "prefillProgress", "transcript", "welcome"):
        widget = page.findChild(QWidget, name)
        assert widget is not None
        assert widget.accessibleName()

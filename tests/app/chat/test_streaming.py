"""What a reply that is being written costs the window: the reply is painted, and nothing that stays as it was."""

from collections import Counter

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.chat.composer.composer import Composer
from app.chat.page import ChatPage
from app.chat.text.code import find_lexer
from app.theme import Theme
from tests.app.chat.stored import asked, writing


class Paints(QObject):
    """Counts what is painted in a window, by widget."""

    def __init__(self, window):
        super().__init__(window)
        self.seen = Counter()
        QApplication.instance().installEventFilter(self)

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            self.seen[watched] += 1
        return False


@pytest.fixture
def page(qapp, qtbot):
    """A chat page in a window, its style sheet set as the app's, a reply being written."""
    theme = Theme()
    theme.set_mode("light")
    qapp.setStyleSheet(theme.stylesheet())
    window = QWidget()
    qtbot.addWidget(window)
    page = ChatPage(theme)
    layout = QVBoxLayout(window)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(page)
    page.set_mode("chat")
    page.transcript.set_messages([asked("q"), writing("r", "Once upon")])
    page.composer.set_phase("writing")
    window.resize(1_000, 700)
    window.show()
    qtbot.waitExposed(window)
    qtbot.wait(1)
    yield page
    qapp.setStyleSheet("")


def test_a_word_that_is_written_paints_the_reply_and_the_page_it_lies_on(page, qtbot):
    body = page.transcript.view("r").body.viewport()
    paints = Paints(page.window())
    for _ in range(5):
        before = paints.seen[body]
        page.transcript.add_text("r", " a")
        page.composer.set_phase("writing")
        qtbot.waitUntil(lambda before=before: paints.seen[body] > before)
    painted = set(paints.seen)
    assert page.window() not in painted
    assert page.findChild(Composer) not in painted


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_line_that_moves_is_painted_alone(page, qtbot, mode):
    page._theme.set_mode(mode)
    QApplication.instance().setStyleSheet(page._theme.stylesheet())
    page.window().repaint()
    QApplication.processEvents()
    line = page.findChild(QWidget, "prefillProgress")
    paints = Paints(page.window())
    qtbot.waitUntil(lambda: paints.seen[line] > 2)
    assert set(paints.seen) == {line}


def test_what_takes_no_other_height_moves_nothing(page):
    placed = []
    page.transcript.placed.connect(lambda: placed.append(1))
    page.transcript.add_text("r", " a time")
    assert not placed
    page.transcript.add_text("r", "\n\nthere was a tower")
    assert placed


def test_the_name_of_a_language_half_written_is_looked_for_in_no_package(monkeypatch):
    find_lexer.cache_clear()
    asked_for = []
    monkeypatch.setattr("pygments.plugin.iter_entry_points", lambda group: asked_for.append(group) or ())
    assert find_lexer("pyt") is None
    assert find_lexer("Python") is not None
    assert not asked_for

"""The chat's page of messages, alone in a window."""

import pytest
from PySide6.QtWidgets import QApplication

from app.chat.conversation.transcript import Transcript
from app.theme import Theme


@pytest.fixture(scope="module")
def theme(qapp):
    """One theme for a whole file: setting a style sheet polishes every widget that is left."""
    theme = Theme()
    theme.set_mode("light")
    qapp.setStyleSheet(theme.stylesheet())
    yield theme
    qapp.setStyleSheet("")


@pytest.fixture
def transcript(theme, qtbot):
    transcript = Transcript(theme)
    qtbot.addWidget(transcript)
    transcript.resize(1_000, 600)
    transcript.show()
    QApplication.processEvents()
    return transcript

"""Text set in a style of the theme."""

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.widgets.label import Label

WORDS = (
    "A text of a good many words, which takes several lines where there is little room for it, and fewer where there is more."
)


@pytest.mark.parametrize("width", [120, 200, 400])
def test_what_wraps_asks_for_the_lines_of_its_own_width(theme, qtbot, width):
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    label = Label(theme, WORDS, style="small", wrap=True, parent=page)
    column.addWidget(label)
    assert label.sizePolicy().hasHeightForWidth()
    assert column.totalHeightForWidth(width) == label.heightForWidth(width)

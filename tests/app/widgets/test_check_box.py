import pytest
from PySide6.QtCore import Qt

from app.widgets.check_box import CheckBox
from app.widgets.elided_label import ElidedLabel


@pytest.mark.parametrize("theme", ["light", "dark"], indirect=True)
def test_it_is_checked_by_mouse_and_by_keyboard_and_looks_so(qtbot, theme):
    box = CheckBox(theme, "Fits only")
    qtbot.addWidget(box)
    box.show()
    plain = box.grab().toImage()
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    assert box.isChecked()
    assert box.grab().toImage() != plain
    qtbot.keyClick(box, Qt.Key.Key_Space)
    assert not box.isChecked()


def test_a_cut_text_is_whole_in_its_tool_tip_and_comes_back(qtbot, theme):
    label = ElidedLabel(theme)
    qtbot.addWidget(label)
    label.show()
    label.resize(80, 20)
    label.show_words("A sentence that is far too long")
    assert label.text().endswith("…")
    assert label.toolTip() == label.words
    label.resize(600, 20)
    assert label.text() == label.words
    assert label.toolTip() == ""

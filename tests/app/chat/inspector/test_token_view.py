"""One widget for all tokens of a prompt: lines, sections, pointer and keys, and a hundred thousand of them."""

import itertools
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.chat.inspector.token_sheet import Face, Section, TokenSheet
from app.chat.inspector.token_view import LEFT as MARGIN
from app.chat.inspector.token_view import TokenView
from tests.app.pointer import move

LEFT = Qt.MouseButton.LeftButton


def sheet(*counts, cached=0):
    """A sheet of sections with so many tokens each."""
    faces = {index: Face("w" * (1 + index % 7), "77", special=index == 0) for index in range(40)}
    ids = [index * 7 % 40 for index in range(sum(counts))]
    stops = [sum(counts[: place + 1]) for place in range(len(counts))]
    sections = [
        Section(f"Part {place}", stop, f"{count} to read")
        for place, (stop, count) in enumerate(zip(stops, counts, strict=True))
    ]
    return TokenSheet(ids, faces, sections, bytes(cached) + b"\1" * (len(ids) - cached))


@pytest.fixture
def view(qtbot, theme):
    view = TokenView(theme, "Tokens of the prompt")
    qtbot.addWidget(view)
    view.resize(399, 600)
    view.show()
    view.activateWindow()
    qtbot.waitUntil(view.isActiveWindow)
    return view


def rects(view, count):
    return [view.chip_rect(index) for index in range(count)]


def test_tokens_stand_in_reading_order_inside_the_view(view):
    view.show_sheet(sheet(60))
    places = rects(view, 60)
    for before, after in itertools.pairwise(places):
        assert after.left() == before.right() + 3 if after.top() == before.top() else after.left() == MARGIN
        assert after.top() in (before.top(), before.top() + 24)
    assert max(place.right() for place in places) < view.width() - 12
    assert all(view.token_at(place.center()) == index for index, place in enumerate(places))


def test_long_section_begins_with_two_lines_and_opens_with_its_link(view, qtbot):
    view.show_sheet(sheet(10, 300, 5))
    hidden = sum(view.chip_rect(index).isEmpty() for index in range(10, 310))
    assert view.opening(1) == "short"
    assert hidden > 250
    QTest.mouseClick(view.viewport(), LEFT, pos=view.more_rect(1).center())
    qtbot.waitUntil(lambda: view.laid)
    assert not any(view.chip_rect(index).isEmpty() for index in range(315))
    QTest.mouseClick(view.viewport(), LEFT, pos=view.header_rect(1).center())
    assert view.opening(1) == "closed"
    assert view.chip_rect(10).isEmpty()
    assert not view.chip_rect(311).isEmpty()


def test_other_tokens_of_the_same_beginning_keep_what_is_open(view):
    view.show_sheet(sheet(10, 5))
    QTest.mouseClick(view.viewport(), LEFT, pos=view.header_rect(0).center())
    view.show_sheet(sheet(10, 300))
    assert view.opening(0) == "closed"
    assert view.opening(1) == "short"
    view.show_sheet(sheet(12, 5))
    assert view.opening(0) == "open"


def test_keys_go_through_every_token_and_over_closed_sections(view, qtbot):
    view.show_sheet(sheet(10, 6, 5))
    QTest.mouseClick(view.viewport(), LEFT, pos=view.header_rect(1).center())
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    seen = [view.current]
    for _ in range(16):
        QTest.keyClick(view, Qt.Key.Key_Right)
        seen.append(view.current)
    assert seen == [*range(11), *range(16, 21), 20]
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.current == 0
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.current == 20
    for _ in range(5):
        QTest.keyClick(view, Qt.Key.Key_Left)
    assert view.current == 10
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert view.opening(1) == "open"
    with qtbot.waitSignal(view.picked) as picked:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert picked.args == [10]


@pytest.mark.drives("tokens")
def test_up_and_down_keep_to_the_column(view):
    view.show_sheet(sheet(60))
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(3):
        QTest.keyClick(view, Qt.Key.Key_Right)
    before = view.chip_rect(3)
    QTest.keyClick(view, Qt.Key.Key_Down)
    after = view.chip_rect(view.current)
    assert after.top() == before.top() + 24
    assert after.left() <= before.center().x() <= after.right() + 3
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.current == 3


def test_pointer_points_and_lets_go(view, qtbot):
    view.show_sheet(sheet(10))
    with qtbot.waitSignal(view.pointed) as pointed:
        move(view.viewport(), view.chip_rect(4).center())
    assert pointed.args == [4]
    with qtbot.waitSignal(view.pointed) as pointed:
        move(view.viewport(), QPoint(200, 500))
    assert pointed.args == [-1]


def test_a_hundred_thousand_tokens_are_laid_out_piece_by_piece(view, qtbot):
    total = 100_000
    view.show_sheet(sheet(20, total, 20))
    slices = []
    lay = view._lay

    def counted(seconds):
        lay(seconds)
        slices.append(view._blocks[1].lines.reached)

    view._lay = counted
    QTest.mouseClick(view.viewport(), LEFT, pos=view.more_rect(1).center())
    assert slices[0] < total  # The click came back before all lines were broken.
    qtbot.waitUntil(lambda: view.laid)
    assert slices == sorted(slices)
    assert view._blocks[1].lines.done
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.current == total + 39
    assert view.viewport().rect().contains(view.chip_rect(view.current))


def test_only_what_is_in_view_is_painted(view, qtbot, monkeypatch):
    view.show_sheet(sheet(20, 5_000))
    QTest.mouseClick(view.viewport(), LEFT, pos=view.more_rect(1).center())
    qtbot.waitUntil(lambda: view.laid)
    painted = []
    line = view._painter.line
    monkeypatch.setattr(view._painter, "line", lambda *rest: (painted.append(rest[3]), line(*rest)))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    view.grab()
    assert 20 < len(painted) < 40


def test_token_wider_than_the_view_is_cut_and_not_lost(view):
    faces = {0: Face("x" * 500, "78"), 1: Face("y", "79")}
    view.show_sheet(TokenSheet([0, 1], faces, [Section("You", 2)], b"\1\1"))
    view.grab()
    assert view.chip_rect(1).top() == view.chip_rect(0).top() + 24


def test_tokens_that_left_the_context_are_struck_through_and_said_so(view, theme):
    faces = {0: Face("iii"), 1: Face("iii")}
    view.show_sheet(TokenSheet([0, 1], faces, [Section("You", 2)], b"\0\0", range(1, 2)))
    image = view.viewport().grab().toImage()
    line = [view.chip_rect(index).center() for index in (0, 1)]
    edges = [image.pixelColor(view.chip_rect(index).left() + 3, place.y()) for index, place in enumerate(line)]
    assert [edge == theme.color("ink-3") for edge in edges] == [False, True]
    view.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert "left the context" not in view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.accessibleDescription().endswith("You, left the context")


def test_what_left_is_marked_where_it_stands_and_nothing_moves(view, qtbot):
    before = sheet(20, 5_000)
    view.show_sheet(before)
    QTest.mouseClick(view.viewport(), LEFT, pos=view.more_rect(1).center())
    qtbot.waitUntil(lambda: view.laid)
    view.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view, Qt.Key.Key_End)
    place, last, rect = view.verticalScrollBar().value(), view.current, view.chip_rect(view.current)
    view.show_sheet(replace(before, gone=range(3, 5_020), sections=[replace(one, note="left") for one in before.sections]))
    assert view.laid
    assert (view.verticalScrollBar().value(), view.current, view.chip_rect(last)) == (place, last, rect)
    assert place > 0
    assert view.accessibleDescription().endswith(", left the context")
    assert view.sheet.sections[0].note == "left"


def test_larger_text_makes_taller_lines(view, theme):
    view.show_sheet(sheet(60))
    before = view.chip_rect(0).height()
    theme.set_text_size(150)
    assert view.chip_rect(0).height() == before * 3 // 2
    assert view.token_at(view.chip_rect(30).center()) == 30
    theme.set_text_size(100)

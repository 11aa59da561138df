import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMainWindow, QProgressBar, QPushButton, QWidget

from app.models.picker import MOST, ModelPicker
from app.widgets.spinner import Spinner
from tests.app.models.entries import ALL, LARGE, many
from tests.app.pointer import move

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def window(qtbot, theme):
    window = QMainWindow()
    window.resize(1000, 700)
    window.setCentralWidget(QWidget())
    window.other = QPushButton("Other", window.centralWidget())
    window.other.move(700, 500)
    window.picker = ModelPicker(theme, window.centralWidget())
    window.picker.move(40, 10)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    return window


@pytest.fixture
def picker(window):
    window.picker.set_models(ALL, "small")
    window.picker.set_state("ready", "SmolLM2 135M")
    window.picker.resize(window.picker.sizeHint())
    return window.picker


def click_row(qtbot, picker, row):
    view = picker.popover.card.list
    place = view.visualRect(view.model().index(row)).center()
    move(view.viewport(), place)
    qtbot.mouseClick(view.viewport(), LEFT, pos=place)


@pytest.mark.parametrize(
    ("state", "detail", "fraction", "line"),
    [
        ("none", "", None, "No model yet"),
        ("none", "Unloaded to free memory", None, "Unloaded to free memory"),
        ("loading", "", 0.4, "Loading, 40%"),
        ("loading", "", None, "Loading"),
        ("loading", "Importing", 0.71, "Importing, 71%"),
        ("loading", "Importing, 71%", 0.71, "Importing, 71%"),
        ("ready", "", None, "Ready"),
        ("ready", "", 1.0, "Ready"),
        ("writing", "", None, "Writing a reply"),
        ("reading", "", 0.57, "Reading the prompt, 57%"),
        ("reading", "", 1.7, "Reading the prompt, 100%"),
        ("failed", "", None, "Could not be loaded"),
    ],
)
def test_the_line_says_what_the_model_does(window, state, detail, fraction, line):
    window.picker.set_state(state, "SmolLM2", detail, fraction)
    assert window.picker.line == line
    assert window.picker.accessibleDescription() == line


def test_the_progress_is_there_while_loading_and_only_then(window):
    bar = window.picker.findChild(QProgressBar, "loadProgress")
    window.picker.set_state("loading", "SmolLM2", "", 0.4)
    assert bar.isVisible()
    assert bar.value() == 40
    window.picker.set_state("loading", "SmolLM2")
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    for state in ("ready", "writing", "reading", "failed", "none"):
        window.picker.set_state(state, "SmolLM2")
        assert not bar.isVisible()


@pytest.mark.parametrize(
    ("state", "turns"),
    [("none", False), ("loading", True), ("ready", False), ("failed", False), ("writing", True), ("reading", True)],
)
def test_the_ring_turns_while_something_runs(window, state, turns):
    window.picker.set_state(state, "SmolLM2")
    assert window.picker.findChild(Spinner).isVisible() is turns


@pytest.mark.parametrize("theme", ["light", "dark"], indirect=True)
def test_every_state_has_a_sign_of_its_own(window, theme):
    pictures = []
    for state in ("none", "ready", "failed"):
        window.picker.set_state(state, "SmolLM2", "same line")
        window.picker.resize(200, 40)
        pictures.append(window.picker.grab().toImage().copy(0, 0, 26, 40))
    assert all(a != b for n, a in enumerate(pictures) for b in pictures[n + 1 :])


def test_the_name_stays_until_there_is_no_model(window):
    window.picker.set_state("loading", "SmolLM2")
    window.picker.set_state("ready")
    assert window.picker.accessibleName() == "Model: SmolLM2"
    window.picker.set_state("none")
    assert window.picker.accessibleName() == "Model: none chosen"


def test_a_long_name_does_not_widen_the_picker_beyond_its_limit(window):
    window.picker.set_state("ready", "A name " * 40)
    assert window.picker.sizeHint().width() == MOST
    assert window.picker.toolTip() == "A name " * 40


def test_a_growing_percentage_does_not_move_its_neighbours(window):
    widths = set()
    for fraction in (0.01, 0.4, 1.0):
        window.picker.set_state("reading", "S", "", fraction)
        widths.add(window.picker.sizeHint().width())
    assert len(widths) == 1


def test_a_click_opens_the_list_and_a_click_on_a_model_chooses_it(qtbot, picker):
    qtbot.mouseClick(picker, LEFT)
    assert picker.popover.isVisible()
    with qtbot.waitSignal(picker.model_chosen) as chosen:
        click_row(qtbot, picker, 1)
    assert chosen.args == ["a/large"]
    assert picker.popover is None


def test_the_keyboard_opens_walks_and_chooses(qtbot, picker):
    picker.setFocus()
    qtbot.keyClick(picker, Qt.Key.Key_Down)
    view = picker.popover.card.list
    assert view.hasFocus()
    assert view.currentIndex().row() == 0
    qtbot.keyClick(view, Qt.Key.Key_Down)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    with qtbot.waitSignal(picker.model_chosen) as chosen:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert chosen.args == ["file.gguf"]
    assert picker.hasFocus()


def test_arrows_skip_a_broken_model_and_reach_the_actions_below(qtbot, picker):
    picker.open_list()
    card = picker.popover.card
    for _ in range(3):
        qtbot.keyClick(card.list, Qt.Key.Key_Down)
    assert card.unload.hasFocus()
    qtbot.keyClick(card.unload, Qt.Key.Key_Down)
    assert card.models.hasFocus()
    qtbot.keyClick(card.models, Qt.Key.Key_Down)
    assert card.models.hasFocus()
    qtbot.keyClick(card.models, Qt.Key.Key_Up)
    qtbot.keyClick(card.unload, Qt.Key.Key_Up)
    assert card.list.hasFocus()
    assert card.list.currentIndex().row() == 2


def test_a_broken_model_shows_its_reason_and_cannot_be_chosen(qtbot, picker):
    picker.open_list()
    with qtbot.assertNotEmitted(picker.model_chosen):
        click_row(qtbot, picker, 3)
    assert picker.popover.isVisible()
    assert picker.popover.card.list.model().index(3).data(Qt.ItemDataRole.ToolTipRole) == "model.safetensors is missing."


def test_the_current_model_is_not_chosen_again(qtbot, picker):
    picker.open_list()
    with qtbot.assertNotEmitted(picker.model_chosen):
        click_row(qtbot, picker, 0)
    assert picker.popover is None


def test_a_model_that_failed_can_be_tried_again(qtbot, picker):
    picker.set_state("failed")
    picker.open_list()
    with qtbot.waitSignal(picker.model_chosen) as chosen:
        click_row(qtbot, picker, 0)
    assert chosen.args == ["small"]


def test_without_an_id_the_current_model_is_found_by_its_name(qtbot, picker):
    picker.set_models(ALL)
    picker.set_state("ready", "Gemma 3 27B")
    picker.open_list()
    assert picker.popover.card.entry(picker.popover.card.list.currentIndex().row()) == LARGE


@pytest.mark.drives("modelPicker")
def test_escape_closes_and_gives_the_keyboard_back(qtbot, picker):
    picker.setFocus()
    qtbot.keyClick(picker, Qt.Key.Key_Return)
    qtbot.keyClick(picker.popover.card.list, Qt.Key.Key_Escape)
    assert picker.popover is None
    assert picker.hasFocus()


@pytest.mark.drives("modelPopover")
def test_a_press_beside_the_list_closes_it_and_does_nothing_else(qtbot, window, picker):
    pressed = []
    window.other.clicked.connect(lambda: pressed.append(1))
    picker.open_list()
    popover = picker.popover
    place = window.other.mapTo(window, QPoint(5, 5))
    assert window.childAt(place) is popover
    qtbot.mouseClick(popover, LEFT, pos=place)
    assert picker.popover is None
    assert pressed == []


def test_the_list_goes_when_the_keyboard_goes_elsewhere(qtbot, window, picker):
    picker.open_list()
    window.other.setFocus()
    assert picker.popover is None
    assert window.other.hasFocus()


def test_unload_is_offered_for_the_model_in_memory(qtbot, picker):
    picker.open_list()
    unload = picker.popover.card.unload
    assert unload.text() == "Unload SmolLM2 135M"
    with qtbot.waitSignal(picker.unload_requested):
        qtbot.mouseClick(unload, LEFT)
    assert picker.popover is None


@pytest.mark.parametrize(
    ("state", "shown", "enabled"),
    [
        ("ready", True, True),
        ("writing", True, False),
        ("loading", False, False),
        ("failed", False, False),
        ("none", False, False),
    ],
)
def test_unload_waits_while_a_reply_is_written_and_is_gone_without_a_model(picker, state, shown, enabled):
    picker.set_state(state, "SmolLM2 135M")
    picker.open_list()
    assert picker.popover.card.unload.isVisible() is shown
    assert picker.popover.card.unload.isEnabled() is enabled


def test_models_opens_the_models_window(qtbot, picker):
    picker.open_list()
    picker.popover.card.models.setFocus()
    with qtbot.waitSignal(picker.models_requested):
        qtbot.keyClick(picker.popover.card.models, Qt.Key.Key_Return)


def test_eight_models_need_no_filter_and_nine_have_one(picker):
    picker.set_models(many(8))
    picker.open_list()
    assert not picker.popover.card.filter.isVisible()
    picker.set_models(many(9))
    assert picker.popover.card.filter.isVisible()


def test_typing_narrows_a_long_list(qtbot, picker):
    picker.set_models(many(12), "m3")
    picker.open_list()
    card = picker.popover.card
    height = card.height()
    qtbot.keyClicks(card.list, "1")
    assert card.filter.hasFocus()
    qtbot.keyClicks(card.filter, "1")
    assert [card.entry(row).id for row in range(card.list.model().rowCount())] == ["m11"]
    assert card.height() == height
    with qtbot.waitSignal(picker.model_chosen) as chosen:
        qtbot.keyClick(card.filter, Qt.Key.Key_Return)
    assert chosen.args == ["m11"]


def test_escape_clears_the_filter_first(qtbot, picker):
    picker.set_models(many(12))
    picker.open_list()
    card = picker.popover.card
    qtbot.keyClicks(card.list, "zz")
    assert card.list.model().rowCount() == 0
    qtbot.keyClick(card.filter, Qt.Key.Key_Escape)
    assert card.list.model().rowCount() == 12
    qtbot.keyClick(card.filter, Qt.Key.Key_Escape)
    assert picker.popover is None


def test_the_list_stays_inside_a_small_window(qtbot, window, picker):
    picker.set_models(many(30))
    window.resize(500, 400)
    picker.move(300, 10)
    picker.open_list()
    assert window.rect().contains(picker.popover.card.geometry())
    window.resize(480, 360)
    assert window.rect().contains(picker.popover.card.geometry())


def test_without_any_model_the_list_leads_to_the_models_window(qtbot, picker):
    picker.set_models(())
    picker.set_state("none")
    picker.open_list()
    assert picker.popover.card.models.hasFocus()


@pytest.mark.drives("modelPickerList")
def test_an_open_list_follows_new_models_and_keeps_its_place(qtbot, picker):
    picker.open_list()
    card = picker.popover.card
    qtbot.keyClick(card.list, Qt.Key.Key_Down)
    picker.set_models((*many(2), *ALL), "small")
    assert card.entry(card.list.currentIndex().row()) == LARGE
    picker.set_state("writing")
    assert card.entry(card.list.currentIndex().row()) == LARGE


def test_the_open_list_closes_with_its_window(qtbot, window, picker):
    picker.open_list()
    window.close()
    assert picker.popover is None

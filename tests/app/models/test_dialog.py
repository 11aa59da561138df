import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from app.models.dialog import FIRST_SIZE, LEAST_SIZE, ModelsDialog
from app.widgets.toast import Toast
from tests.app.file_picking import file_dialog, pick_file
from tests.app.models.entries import ALL, BROKEN, LARGE, SMALL, many

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def dialog(qtbot, theme):
    dialog = ModelsDialog(theme)
    dialog.set_models(ALL, "a/large")
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    return dialog


@pytest.fixture
def gguf(tmp_path):
    path = tmp_path / "ein schönes Modell.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0")
    return path


def button(dialog, name):
    return dialog.findChild(QAbstractButton, name)


def toasts(dialog):
    return [(toast.text, toast.hint) for toast in dialog.findChildren(Toast)]


def drag(dialog, paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDragEnterEvent(QPointF(50, 200), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    QApplication.sendEvent(dialog, event)
    return data, event.isAccepted()


def drop(dialog, data):
    event = QDropEvent(QPointF(50, 200), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(dialog, event)


def test_it_starts_with_the_model_in_use_and_the_cursor_in_the_filter(dialog):
    assert dialog.detail.entry == LARGE
    assert dialog.results.currentIndex().row() == 1
    assert dialog.search.hasFocus()


def test_its_parts_have_their_names(dialog):
    assert dialog.objectName() == "modelsDialog"
    assert dialog.findChild(QWidget, "modelSearch") is dialog.search
    assert dialog.findChild(QWidget, "modelResults") is dialog.results
    unnamed = [w for w in dialog.findChildren(QAbstractButton) if not (w.objectName() and w.accessibleName())]
    assert unnamed == []


def test_it_is_modal_to_its_window_and_never_too_small(dialog):
    assert dialog.windowModality() == Qt.WindowModality.WindowModal
    dialog.resize(100, 100)
    assert (dialog.width(), dialog.height()) == (880, 600)


def test_a_click_on_a_row_shows_its_facts(qtbot, dialog):
    place = dialog.results.visualRect(dialog.results.model().index(3)).center()
    qtbot.mouseClick(dialog.results.viewport(), LEFT, pos=place)
    assert dialog.detail.entry == BROKEN


@pytest.mark.drives("chatWithModel", "modelDetail")
def test_chatting_chooses_the_model_and_closes(qtbot, dialog):
    with qtbot.waitSignal(dialog.model_chosen) as chosen:
        qtbot.mouseClick(dialog.detail.chat, LEFT)
    assert chosen.args == ["a/large"]
    assert not dialog.isVisible()


def test_the_keyboard_alone_filters_walks_and_chooses(qtbot, dialog):
    qtbot.keyClicks(dialog.search, "llama")
    assert [entry.id for entry in dialog.results.model().shown] == ["small", "file.gguf"]
    qtbot.keyClick(dialog.search, Qt.Key.Key_Down)
    with qtbot.waitSignal(dialog.model_chosen) as chosen:
        qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert chosen.args == ["file.gguf"]


@pytest.mark.drives("modelResults")
def test_return_on_a_broken_model_does_nothing(qtbot, dialog):
    dialog.select("a/broken")
    dialog.results.setFocus()
    with qtbot.assertNotEmitted(dialog.model_chosen):
        qtbot.keyClick(dialog.results, Qt.Key.Key_Return)
    assert dialog.isVisible()


def test_a_filter_that_matches_nothing_says_so(qtbot, dialog):
    label = dialog.findChild(QLabel, "nothingFound")
    qtbot.keyClicks(dialog.search, "zzz")
    assert label.isVisible()
    assert "“zzz”" in label.text()
    assert dialog.detail.entry is None
    qtbot.keyClick(dialog.search, Qt.Key.Key_Escape)
    assert not label.isVisible()
    assert dialog.detail.entry == LARGE
    qtbot.keyClick(dialog.search, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_new_models_keep_the_selection(dialog):
    dialog.select("small")
    dialog.set_models((*many(5), *ALL), "a/large")
    assert dialog.detail.entry == SMALL
    dialog.set_models((*many(5), LARGE), "a/large")
    assert dialog.detail.entry == LARGE


def test_a_model_that_just_came_is_selected_through_a_filter(qtbot, dialog):
    qtbot.keyClicks(dialog.search, "gemma")
    dialog.set_models((*ALL, *many(1)), "a/large")
    dialog.select("m0")
    assert dialog.search.text() == ""
    assert dialog.detail.entry.id == "m0"


@pytest.mark.drives("doneButton")
def test_done_closes_without_choosing(qtbot, dialog):
    with qtbot.assertNotEmitted(dialog.model_chosen):
        qtbot.mouseClick(button(dialog, "doneButton"), LEFT)
    assert not dialog.isVisible()


@pytest.mark.drives("importFirst", "noModels")
def test_without_models_it_says_how_to_get_one(qtbot, dialog, gguf):
    dialog.set_models((), None)
    assert dialog.findChild(QWidget, "noModels").isVisible()
    assert not button(dialog, "importButton").isVisible()
    assert button(dialog, "importFirst").hasFocus()
    qtbot.mouseClick(button(dialog, "importFirst"), LEFT)
    with qtbot.waitSignal(dialog.import_requested) as asked:
        pick_file(qtbot, dialog, "ggufDialog", gguf)
    assert asked.args == [str(gguf)]
    dialog.set_models(ALL, None)
    assert not dialog.findChild(QWidget, "noModels").isVisible()
    assert dialog.detail.entry is not None


@pytest.mark.drives("importButton", "ggufDialog")
def test_the_import_button_asks_for_a_file(qtbot, dialog, gguf):
    qtbot.mouseClick(button(dialog, "importButton"), LEFT)
    assert "*.gguf" in file_dialog(qtbot, dialog, "ggufDialog").nameFilters()[0]
    with qtbot.waitSignal(dialog.import_requested) as asked:
        pick_file(qtbot, dialog, "ggufDialog", gguf)
    assert asked.args == [str(gguf)]


def test_a_file_that_is_no_model_is_told_in_plain_words(qtbot, dialog, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with qtbot.assertNotEmitted(dialog.import_requested):
        qtbot.mouseClick(button(dialog, "importButton"), LEFT)
        pick_file(qtbot, dialog, "ggufDialog", tmp_path / "notes.txt")
    assert toasts(dialog)[0][0] == "“notes.txt” is not a model."
    qtbot.keyClick(dialog.search, Qt.Key.Key_Escape)
    assert dialog.isVisible()


def test_a_dropped_gguf_is_imported(qtbot, dialog, gguf):
    data, accepted = drag(dialog, [gguf])
    assert accepted
    with qtbot.waitSignal(dialog.import_requested) as asked:
        drop(dialog, data)
    assert asked.args == [str(gguf)]


def test_a_dropped_model_folder_is_imported(qtbot, dialog, tmp_path):
    folder = tmp_path / "my model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"x")
    data, _ = drag(dialog, [folder])
    with qtbot.waitSignal(dialog.import_requested) as asked:
        drop(dialog, data)
    assert asked.args == [str(folder)]


@pytest.mark.drives("modelsDialog")
def test_a_dropped_folder_that_is_no_model_is_told(qtbot, dialog, tmp_path):
    data, _ = drag(dialog, [tmp_path])
    with qtbot.assertNotEmitted(dialog.import_requested):
        drop(dialog, data)
    assert "is not a model folder" in toasts(dialog)[0][0]


def test_several_files_at_once_are_told(qtbot, dialog, gguf):
    data, _ = drag(dialog, [gguf, gguf])
    with qtbot.assertNotEmitted(dialog.import_requested):
        drop(dialog, data)
    assert "one .gguf file" in toasts(dialog)[0][1]


def test_dragging_is_seen_and_its_end_too(dialog, gguf):
    before = dialog.grab().toImage()
    drag(dialog, [gguf])
    assert dialog.grab().toImage() != before
    QApplication.sendEvent(dialog, QDragLeaveEvent())
    assert dialog.grab().toImage() == before


def test_dragged_text_is_refused(dialog):
    data = QMimeData()
    data.setText("hello")
    event = QDragEnterEvent(QPointF(50, 200), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    QApplication.sendEvent(dialog, event)
    assert not event.isAccepted()


@pytest.mark.drives("importCancel", "importRow")
def test_an_import_is_shown_and_can_be_cancelled(qtbot, dialog):
    row = dialog.findChild(QWidget, "importRow")
    dialog.show_import("a.gguf", 5, 10)
    assert row.isVisible()
    with qtbot.waitSignal(dialog.import_cancelled):
        qtbot.mouseClick(button(dialog, "importCancel"), LEFT)
    dialog.end_import()
    assert not row.isVisible()


def test_messages_are_gone_the_next_time(qtbot, dialog):
    dialog.show_problem("It failed.", "Try again.")
    dialog.close()
    dialog.show()
    qtbot.waitUntil(lambda: toasts(dialog) == [])


def test_a_message_that_goes_gives_the_keyboard_back(qtbot, dialog):
    dialog.show_problem("It broke", "Try again.")
    before = button(dialog, "doneButton")  # Not what Tab would lead to from there.
    before.setFocus()
    shown = dialog.findChild(Toast)
    close = button(shown, "toastClose")
    close.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(close, Qt.Key.Key_Space)
    assert before.hasFocus()


def test_a_change_of_appearance_reaches_every_part(dialog, theme):
    theme.set_mode("dark")
    QApplication.instance().setStyleSheet(theme.stylesheet())
    image = dialog.grab().toImage()
    ratio = image.devicePixelRatio()
    light = [
        (x, y)
        for x in range(0, dialog.width(), 40)
        for y in range(0, dialog.height(), 40)
        if image.pixelColor(int(x * ratio), int(y * ratio)).lightness() > 240
    ]
    assert light == []


def test_the_field_takes_the_room_there_is_and_no_more(dialog):
    dialog.resize(1080, 710)
    assert dialog.search.width() == 400
    dialog.resize(*LEAST_SIZE)
    hint = dialog.search.fontMetrics().horizontalAdvance(dialog.search.placeholderText())
    assert dialog.search.width() > hint + 40


def test_what_the_models_take_in_all_is_said_under_the_list(dialog):
    use = dialog.findChild(QLabel, "diskUse")
    assert use.isVisible()
    assert use.text() == "4 models, 17.2 GB on disk"


@pytest.mark.parametrize(("percent", "size"), [(80, FIRST_SIZE), (100, FIRST_SIZE), (120, (1296, 852)), (200, (1520, 950))])
def test_it_opens_larger_for_larger_text_within_the_window_under_it(qtbot, theme, percent, size):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1600, 1000)
    theme.set_text_size(percent)
    opened = ModelsDialog(theme, window).size()
    assert (opened.width(), opened.height()) == size

"""The settings panel, driven as people drive it."""

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QPlainTextEdit, QWidget

from app.settings.figures import has_no_scale
from app.settings.panel import WIDTH, SettingsPanel
from app.widgets.label import Label
from app.widgets.segmented import Segmented
from app.widgets.slider import Slider
from app.widgets.text_field import TextField
from engine.core.setting import Scope
from engine.core.settings import BY_NAME, SETTINGS
from tests.app.file_picking import pick_file
from tests.app.pointer import drag_to

CHAT = [setting.name for setting in SETTINGS if setting.scope is Scope.CHAT]
APP = [setting.name for setting in SETTINGS if setting.scope is Scope.APP]

SLID = [
    setting.name for setting in SETTINGS if setting.kind in (int, float) and not setting.choices and not has_no_scale(setting)
]

# One new value for each setting: what is typed or chosen, and what comes out.
EDITS = {
    "temperature": ("1.25", 1.25),
    "top_k": ("100", 100),
    "top_p": ("0,5", 0.5),
    "min_p": ("0.1", 0.1),
    "repetition_penalty": ("1.1", 1.1),
    "repetition_window": ("1,024", 1024),
    "seed": ("18446744073709551615", 2**64 - 1),
    "max_tokens": ("4,096", 4096),
    "presence_penalty": ("-0.5", -0.5),
    "frequency_penalty": ("0,25", 0.25),
    "xtc_probability": ("0.5", 0.5),
    "xtc_threshold": ("0.2", 0.2),
    "dry_multiplier": ("0.8", 0.8),
    "dry_base": ("2", 2.0),
    "dry_allowed_length": ("3", 3),
    "dry_window": ("1,024", 1024),
    "dry_breakers": ("END", "END"),
    "logit_bias": ("late=-5", "late=-5"),
    "stop": ("END", "END"),
    "system_prompt": ("Be brief.", "Be brief."),
    "context": ("8192", 8192),
    "weights": ("dense", "dense"),
    "unload_after": ("30", 30),
    "kv_bits": ("8/4", "8/4"),
    "when_full": ("stop", "stop"),
    "prefill_chunk": ("512", 512),
    "memory_guard": ("adapt", "adapt"),
    "keep_probabilities": ("on", "on"),
    "prefix_cache_memory": ("0.5", 0.5),
    "prefix_cache_disk": ("0", 0.0),
    "theme": ("dark", "dark"),
    "text_size": ("130", 130),
    "motion": ("reduced", "reduced"),
    "code_lines": ("wrap", "wrap"),
    "models_folder": ("", ""),
}


def editor(panel, name):
    return panel.findChild(QWidget, f"setting.{name}")


def show_all(panel, qtbot):
    qtbot.mouseClick(panel.findChild(QAbstractButton, "segment.app"), Qt.MouseButton.LeftButton)


def unfold(panel, qtbot):
    """Open what is folded away."""
    button = panel.findChild(QAbstractButton, "more.Sampling")
    if not button.isChecked():
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def drag(slider, *places):
    """Press a slider and take the knob along shares of its length, without letting go."""
    points = [QPoint(round(place * (slider.width() - 1)), slider.height() // 2) for place in places]
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=points[0])
    for point in points[1:]:
        drag_to(slider, point)


def let_go(slider):
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton)


def hold(widget, key, times):
    """Hold a key down as the keyboard repeats it, without letting go."""
    none = Qt.KeyboardModifier.NoModifier
    for _ in range(times):
        QApplication.sendEvent(widget, QKeyEvent(QEvent.Type.KeyPress, key, none, "", True))
        QApplication.sendEvent(widget, QKeyEvent(QEvent.Type.KeyRelease, key, none, "", True))


def edit(panel, qtbot, name, text):
    """Type or choose as a person would, and leave the field."""
    widget = editor(panel, name)
    if BY_NAME[name].rare:
        unfold(panel, qtbot)
    if isinstance(widget, Segmented):
        qtbot.mouseClick(widget.findChild(QAbstractButton, f"segment.{text}"), Qt.MouseButton.LeftButton)
        return
    widget.setFocus()
    widget.selectAll()
    qtbot.keyClicks(widget, text)
    widget.clearFocus()


@pytest.fixture
def said(panel):
    """Everything the panel says."""
    said = []
    panel.changed.connect(lambda *args: said.append(args))
    panel.reset.connect(lambda *args: said.append(("reset", *args)))
    return said


def test_every_declared_setting_has_a_field_named_for_tools_and_people(panel):
    for name, setting in BY_NAME.items():
        field = editor(panel, name)
        assert isinstance(field, QLineEdit | QPlainTextEdit | Segmented), name
        assert field.accessibleName() == setting.label


def test_every_edit_is_tried():
    assert set(EDITS) == set(BY_NAME)


@pytest.mark.parametrize("name", [name for name in BY_NAME if name != "models_folder"])
def test_changing_a_field_says_the_checked_value(panel, said, qtbot, name):
    text, value = EDITS[name]
    show_all(panel, qtbot)
    edit(panel, qtbot, name, text)
    assert said == [("app", name, value)]
    assert type(said[0][2]) is type(value)


@pytest.mark.drives("setting.*")
def test_in_a_chat_a_change_is_the_chats(panel, said, qtbot):
    for name in CHAT:
        edit(panel, qtbot, name, EDITS[name][0])
    assert said == [("chat", name, EDITS[name][1]) for name in CHAT]


def test_what_concerns_the_app_is_shown_under_all_chats_only(panel, qtbot):
    assert not any(editor(panel, name).isVisible() for name in APP)
    show_all(panel, qtbot)
    assert all(editor(panel, name).isVisible() for name in APP)
    qtbot.mouseClick(panel.findChild(QAbstractButton, "segment.model"), Qt.MouseButton.LeftButton)
    assert panel.scope == "app", "there is no model"


def test_a_folder_must_exist(panel, said, qtbot, tmp_path):
    show_all(panel, qtbot)
    edit(panel, qtbot, "models_folder", str(tmp_path / "nowhere"))
    assert said == []
    assert panel.field("models_folder").note == "no such folder"
    edit(panel, qtbot, "models_folder", str(tmp_path))
    assert said == [("app", "models_folder", str(tmp_path))]


@pytest.mark.drives("choose.models_folder", "folderDialog")
def test_a_folder_chosen_in_the_dialog_is_taken(panel, said, qtbot, tmp_path):
    show_all(panel, qtbot)
    qtbot.mouseClick(panel.findChild(QAbstractButton, "choose.models_folder"), Qt.MouseButton.LeftButton)
    assert said == []
    pick_file(qtbot, panel.window(), "folderDialog", tmp_path)
    assert said == [("app", "models_folder", str(tmp_path))]


def out_of_range():
    for setting in SETTINGS:
        if setting.maximum is not None and setting.name != "seed":
            yield setting.name, f"{setting.maximum + 1:.0f}"
            yield setting.name, f"{setting.minimum - 1:.0f}"
    yield "seed", str(2**64)
    yield "seed", "-1"
    yield "temperature", "warm"
    yield "top_k", "1.5"
    yield "temperature", ""


def test_out_of_range_is_refused_where_everybody_sees_it(panel, said, qtbot):
    show_all(panel, qtbot)
    unfold(panel, qtbot)
    for name, text in out_of_range():
        before = panel.field(name).value
        field = editor(panel, name)
        field.setFocus()
        field.selectAll()
        qtbot.keyClick(field, Qt.Key.Key_Delete)
        qtbot.keyClicks(field, text)
        field.clearFocus()
        assert said == [], (name, text)
        assert field.refused, (name, text)
        assert field.text() == text
        assert panel.field(name).note == BY_NAME[name].bounds_text
        assert panel.field(name).value == before


def test_a_refused_text_is_mended_by_a_good_one(panel, qtbot):
    edit(panel, qtbot, "temperature", "7")
    edit(panel, qtbot, "temperature", "1")
    assert not editor(panel, "temperature").refused
    assert editor(panel, "temperature").text() == "1.00"
    assert panel.field("temperature").note == "app default 0.70"


def test_escape_brings_back_the_value_that_applies(panel, said, qtbot):
    edit(panel, qtbot, "temperature", "7")
    field = editor(panel, "temperature")
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert (field.text(), field.refused, said) == ("0.70", False, [])
    assert panel.field("temperature").note == "app default"


def test_a_refused_text_stays_when_another_setting_changes(panel, qtbot):
    edit(panel, qtbot, "temperature", "7")
    panel.show_values({"top_k": 20}, {})
    assert editor(panel, "temperature").refused
    assert editor(panel, "temperature").text() == "7"


def test_typing_is_said_when_it_pauses_and_not_before(panel, said, qtbot):
    field = editor(panel, "system_prompt")
    field.setFocus()
    qtbot.keyClicks(field, "Be brief.")
    assert said == []
    qtbot.waitUntil(lambda: said == [("chat", "system_prompt", "Be brief.")])


def test_an_echo_does_not_take_away_what_is_being_typed(panel, qtbot):
    field = editor(panel, "system_prompt")
    field.setFocus()
    qtbot.keyClicks(field, "Be")
    panel.show_values({}, {})
    assert field.toPlainText() == "Be"


def test_flush_and_changing_the_scope_lose_nothing(panel, said, qtbot):
    field = editor(panel, "system_prompt")
    field.setFocus()
    qtbot.keyClicks(field, "One")
    panel.flush()
    qtbot.keyClicks(field, " two")
    panel.set_scope("app")
    assert said == [("chat", "system_prompt", "One"), ("chat", "system_prompt", "One two")]
    assert field.toPlainText() == ""


def test_the_slider_and_its_field_move_together(panel, said, qtbot):
    slider = panel.findChild(Slider, "slider.temperature")
    slider.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert said == [("chat", "temperature", 0.75)]
    assert editor(panel, "temperature").text() == "0.75"
    edit(panel, qtbot, "temperature", "1.5")
    assert slider.value == 1.5


@pytest.mark.parametrize("name", SLID)
def test_a_drag_is_shown_all_the_way_and_said_once_at_its_end(panel, said, qtbot, name):
    show_all(panel, qtbot)
    if BY_NAME[name].rare:
        unfold(panel, qtbot)
    slider = panel.findChild(Slider, f"slider.{name}")
    shown = set()
    for place in (0.1, 0.4, 0.7, 0.9):
        drag(slider, place - 0.05, place)
        shown.add(editor(panel, name).text())
    assert len(shown) == 4
    assert panel.values()[name] == panel.field(name).value == BY_NAME[name].check(slider.value)
    assert said == []
    let_go(slider)
    assert said == [("app", name, panel.field(name).value)]


def test_a_drag_that_rests_is_said_without_its_end(panel, said, qtbot):
    drag(panel.findChild(Slider, "slider.temperature"), 0.2, 0.6, 1)
    qtbot.waitUntil(lambda: said == [("chat", "temperature", 2.0)])


@pytest.mark.parametrize("part", ["slider", "setting"])
def test_a_held_key_is_shown_all_the_way_and_said_once_when_it_is_let_go(panel, said, part):
    widget = panel.findChild(QWidget, f"{part}.top_k")
    hold(widget, Qt.Key.Key_Up, 7)
    assert editor(panel, "top_k").text() == "47"
    assert said == []
    QTest.keyRelease(widget, Qt.Key.Key_Up)
    assert said == [("chat", "top_k", 47)]


@pytest.mark.parametrize("end", ["flush", "hide", "scope", "focus"])
def test_whatever_ends_a_drag_loses_nothing(panel, said, qtbot, end):
    drag(panel.findChild(Slider, "slider.temperature"), 0.2, 1)
    ends = {
        "flush": panel.flush,
        "hide": panel.hide,
        "scope": lambda: panel.set_scope("app"),
        "focus": editor(panel, "system_prompt").setFocus,
    }
    ends[end]()
    assert said == [("chat", "temperature", 2.0)]


def test_an_echo_does_not_take_a_drag_back(panel, said):
    slider = panel.findChild(Slider, "slider.temperature")
    drag(slider, 0.2, 1)
    panel.show_values({}, {})
    assert (slider.value, panel.values()["temperature"]) == (2.0, 2.0)
    let_go(slider)
    assert said == [("chat", "temperature", 2.0)]


def test_a_reset_while_a_drag_rests_is_the_last_word(panel, said, qtbot):
    slider = panel.findChild(Slider, "slider.temperature")
    drag(slider, 0.2, 1)
    panel.field("temperature").reset.emit("temperature")
    let_go(slider)
    assert said == [("reset", "chat", "temperature")]


@pytest.mark.drives("slider.*")
def test_a_slider_over_whole_numbers_says_whole_numbers(panel, said, qtbot):
    qtbot.keyClick(panel.findChild(Slider, "slider.max_tokens"), Qt.Key.Key_Right)
    assert said == [("chat", "max_tokens", 2304)]
    assert type(said[0][2]) is int


def test_up_in_the_field_steps(panel, said, qtbot):
    qtbot.keyClick(editor(panel, "top_k"), Qt.Key.Key_Up)
    assert said == [("chat", "top_k", 41)]


@pytest.mark.drives("group.*", "row.*")
@pytest.mark.drives("reset.*")
def test_a_chat_shows_what_it_inherits_and_goes_back_to_it(panel, said, qtbot):
    panel.show_values({"temperature": 1.0}, {"temperature": 0.2})
    field = panel.field("temperature")
    assert editor(panel, "temperature").text() == "0.20"
    assert field.note == "app default 1.00"
    qtbot.mouseClick(field.findChild(QAbstractButton, "reset.temperature"), Qt.MouseButton.LeftButton)
    assert said == [("reset", "chat", "temperature")]
    assert editor(panel, "temperature").text() == "1.00"
    assert field.note == "app default"
    assert not field.findChild(QAbstractButton, "reset.temperature").isVisible()


def test_the_app_goes_back_to_the_default(panel, said, qtbot):
    panel.show_values({"theme": "dark"}, {})
    show_all(panel, qtbot)
    assert panel.field("theme").note == "default System"
    panel._scroll.ensureWidgetVisible(panel.field("theme"))
    qtbot.mouseClick(panel.findChild(QAbstractButton, "reset.theme"), Qt.MouseButton.LeftButton)
    assert said == [("reset", "app", "theme")]
    assert editor(panel, "theme").value == "system"


@pytest.mark.drives("settingsPanel")
def test_without_a_chat_only_all_chats_can_be_shown(panel, qtbot):
    panel.show_values({}, None)
    assert panel.scope == "app"
    qtbot.mouseClick(panel.findChild(QAbstractButton, "segment.chat"), Qt.MouseButton.LeftButton)
    assert panel.scope == "app"
    panel.show_values({}, {})
    assert panel.scope == "chat"


@pytest.mark.drives("segment.*", "settingsScope")
def test_a_change_for_all_chats_is_inherited_at_once(panel, qtbot):
    show_all(panel, qtbot)
    edit(panel, qtbot, "top_k", "77")
    qtbot.mouseClick(panel.findChild(QAbstractButton, "segment.chat"), Qt.MouseButton.LeftButton)
    assert editor(panel, "top_k").text() == "77"
    assert panel.field("top_k").note == "app default"


def test_an_emptied_seed_is_a_new_one_for_each_reply(panel, said, qtbot):
    panel.show_values({}, {"seed": 5})
    field = editor(panel, "seed")
    assert field.text() == "5"
    field.setFocus()
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert said == [("chat", "seed", None)]


@pytest.mark.drives("reuse.seed")
def test_the_last_seed_is_told_in_the_field_and_taken_again_by_one_click(panel, said, qtbot):
    reuse, told = panel.findChild(QAbstractButton, "reuse.seed"), panel.findChild(QLabel, "last.seed")
    assert not reuse.isEnabled()
    assert not told.isVisible()
    panel.show_last_seed(29034418)
    assert (told.isVisible(), told.text()) == (True, "last was 29034418")
    qtbot.mouseClick(reuse, Qt.MouseButton.LeftButton)
    assert said == [("chat", "seed", 29034418)]
    assert editor(panel, "seed").text() == "29034418"
    assert not told.isVisible()
    assert not reuse.isEnabled()
    panel.show_last_seed(7)
    reuse.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(reuse, Qt.Key.Key_Space)
    assert said[-1] == ("chat", "seed", 7)


def test_what_is_typed_goes_before_the_last_seed(panel, qtbot):
    panel.show_last_seed(2**64 - 1)
    told = panel.findChild(QLabel, "last.seed")
    qtbot.keyClicks(editor(panel, "seed"), "123456")
    assert not told.isVisible()


def test_none_is_named_beside_the_label_or_under_it(panel):
    assert panel.field("seed").note == "new for each reply"
    line = panel.findChild(QLabel, "none.context")
    assert line.isVisible()
    assert line.text() == "As large as the model allows, at most 32,768"


@pytest.mark.drives("help.*")
def test_help_opens_under_the_label_and_says_when_it_applies(panel, qtbot):
    unfold(panel, qtbot)
    for name in CHAT:
        text = panel.findChild(QLabel, f"helpText.{name}")
        assert not text.isVisible()
        button = panel.findChild(QAbstractButton, f"help.{name}")
        button.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.keyClick(button, Qt.Key.Key_Space)
        assert text.isVisible()
        assert BY_NAME[name].help in text.text()
        assert BY_NAME[name].applies.value in text.text()


def test_the_keyboard_reaches_every_field_and_brings_it_into_view(panel, qtbot):
    panel.resize(320, 300)
    show_all(panel, qtbot)
    unfold(panel, qtbot)
    panel.findChild(QAbstractButton, "segment.app").setFocus(Qt.FocusReason.TabFocusReason)
    # A row of segments is reached at its first one; arrows go through it.
    wanted = {f"segment.{s.choices[0][0]}" if s.choices else f"setting.{name}" for name, s in BY_NAME.items()}
    reached = set()
    for _ in range(220):
        QApplication.processEvents()  # As between two keys of a person: fields that were just shown get their places.
        qtbot.keyClick(panel.focusWidget(), Qt.Key.Key_Tab)
        widget = panel.focusWidget()
        reached.add(widget.objectName())
        if widget.objectName().startswith("setting."):
            assert not widget.visibleRegion().isEmpty()
    assert wanted <= reached


@pytest.mark.parametrize("height", [300, 3000])
def test_nothing_is_cut_off_at_the_right(panel, qtbot, height):
    panel.resize(WIDTH, height)
    panel.show_values({"unload_after": 30, "max_tokens": 131072, "repetition_window": 4096}, {"max_tokens": 5})
    show_all(panel, qtbot)
    unfold(panel, qtbot)
    qtbot.waitUntil(lambda: panel._scroll.viewport().width() >= panel._scroll.widget().minimumSizeHint().width())
    for widget in panel.findChildren(TextField):
        right = widget.mapTo(panel, widget.rect().topRight()).x()
        assert right <= panel.width() - 8


def test_the_panel_is_made_anew_in_another_mode(theme, qtbot):
    theme.set_mode("dark")
    panel = SettingsPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(320, 400)
    image = panel.grab().toImage()
    assert image.pixelColor(4, 395).name() == theme.color("panel").name()
    theme.set_mode("light")
    assert panel.grab().toImage().pixelColor(4, 395).name() == theme.color("panel").name()


class _Restyled(QObject):
    """Collects the widgets that were given a style anew."""

    def __init__(self):
        super().__init__()
        self.found = []

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.StyleChange:
            self.found.append(watched)
        return False


def test_larger_text_gives_no_widget_its_style_anew_and_other_colours_do(panel, theme, qapp):
    watch = _Restyled()
    qapp.installEventFilter(watch)
    theme.set_text_size(150)
    restyled = list(watch.found)
    theme.set_text_size(100)
    theme.set_mode("dark" if not theme.dark else "light")
    qapp.removeEventFilter(watch)
    assert restyled == []
    assert len(watch.found) > 100
    label = panel.findChild(Label, "note.temperature")
    assert theme.css("ink-3") in label.styleSheet()
    assert label.font() == theme.font("caption")

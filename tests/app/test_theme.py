"""The theme: complete in both modes, readable, and every icon drawn."""

import re
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QImage
from PySide6.QtWidgets import QLabel, QMessageBox

from app.theme import ROLES, STYLES, Theme
from app.widgets.frame import over
from engine.core.paths import resource

# (foreground, ground, fill over the ground, floor): the table of contrasts the design promises.
PAIRS = [
    ("ink", "content", "", 7),
    ("ink", "sidebar", "selected", 7),
    ("ink", "inset", "", 7),
    ("ink-2", "content", "", 4.5),
    ("ink-2", "sidebar", "hover", 4.5),
    ("ink-2", "inset", "", 4.5),
    ("ink-3", "content", "", 4.5),
    ("ink-3", "sidebar", "", 4.5),
    ("ink-3", "sidebar", "selected", 4.5),
    ("ink-3", "panel", "", 4.5),
    ("ink-3", "inset", "", 4.5),
    ("ink-3", "raised", "", 4.5),
    ("accent-ink", "content", "", 4.5),
    ("accent-ink", "panel", "", 4.5),
    ("accent-ink", "sidebar", "selected", 4.5),
    ("accent-ink", "accent-soft", "", 4.5),
    ("accent-ink", "inset", "", 4.5),
    ("accent-ink", "raised", "", 4.5),
    ("on-accent", "accent-fill", "", 4.5),
    ("on-accent", "accent-fill-hover", "", 4.5),
    ("on-accent", "accent-fill-pressed", "", 4.5),
    ("ink", "accent-soft", "", 7),
    ("ink", "p3", "", 4.5),
    ("ink", "p4", "", 4.5),
    ("critical", "content", "", 4.5),
    ("critical", "critical-soft", "", 4.5),
    ("critical", "raised", "", 4.5),
    ("critical", "panel", "", 4.5),
    ("c-key", "inset", "", 4.5),
    ("c-fn", "inset", "", 4.5),
    ("c-str", "inset", "", 4.5),
    ("c-num", "inset", "", 4.5),
    ("c-com", "inset", "", 4.5),
    ("ink", "field", "", 7),
    ("ink-3", "field", "", 4.5),
    ("ink", "segment", "", 7),
    ("accent", "content", "", 3),
    ("accent", "raised", "", 3),
    ("m-mac", "raised", "", 2.5),
    ("border-hi", "content", "", 3),
]

ICONS = sorted(path.stem for path in resource("icons").glob("*.svg"))


def luminance(color: QColor) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (color.redF(), color.greenF(), color.blueF())]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: QColor, other: QColor) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.fixture
def theme(qapp):
    theme = Theme()
    yield theme
    theme.set_mode("system")


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground", "fill", "floor"), PAIRS)
def test_text_stands_out_from_its_ground(theme, mode, text, ground, fill, floor):
    theme.set_mode(mode)
    surface = theme.color(ground)
    if fill:
        surface = over(theme.color(fill), surface)
    assert contrast(theme.color(text), surface) >= floor


def test_contrast_is_computed_as_the_design_did(theme):
    theme.set_mode("light")
    assert contrast(theme.color("ink"), theme.color("content")) == pytest.approx(17.49, abs=0.01)
    assert contrast(theme.color("ink-3"), over(theme.color("selected"), theme.color("sidebar"))) == pytest.approx(
        4.67, abs=0.03
    )


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_role_has_a_colour(theme, mode):
    theme.set_mode(mode)
    assert all(theme.color(role).isValid() for role in ROLES)


def test_light_and_dark_differ_where_they_must(theme):
    theme.set_mode("light")
    light = {role: theme.color(role).name() for role in ("content", "ink", "accent-fill", "on-accent")}
    theme.set_mode("dark")
    assert all(theme.color(role).name() != light[role] for role in light)


def test_an_unknown_role_style_icon_or_mode_is_refused(theme):
    with pytest.raises(KeyError):
        theme.color("mauve")
    with pytest.raises(KeyError):
        theme.font("gothic")
    with pytest.raises(FileNotFoundError):
        theme.icon("unicorn")
    with pytest.raises(ValueError, match="appearance"):
        theme.set_mode("dim")


def test_a_system_that_says_nothing_is_light(theme):
    assert QGuiApplication.styleHints().colorScheme() != Qt.ColorScheme.Dark
    assert not theme.dark


def test_changing_the_mode_says_so_once_and_only_when_something_changed(theme, qtbot):
    with qtbot.waitSignal(theme.changed):
        theme.set_mode("dark")
    with qtbot.assertNotEmitted(theme.changed):
        theme.set_mode("dark")
    assert theme.dark
    assert theme.mode == "dark"
    with qtbot.waitSignal(theme.changed):
        theme.set_mode("light")


@pytest.mark.parametrize("style", STYLES)
def test_fonts_are_set_in_pixels_with_figures_of_one_width(theme, style):
    font = theme.font(style)
    assert font.pixelSize() >= 11
    assert theme.line(style) >= font.pixelSize()
    assert font.featureValue(QFont.Tag("tnum")) == 1


def test_a_weight_of_its_own_does_not_change_the_style(theme):
    assert theme.font("ui", 600).weight() == QFont.Weight.DemiBold
    assert theme.font("ui").weight() == QFont.Weight.Normal


def test_a_font_handed_out_can_be_changed_without_harm(theme):
    theme.font("ui").setPixelSize(99)
    assert theme.font("ui").pixelSize() == 13


def inked(image: QImage) -> int:
    return sum(image.pixelColor(x, y).alpha() > 0 for x in range(image.width()) for y in range(image.height()))


@pytest.mark.parametrize("name", ICONS)
def test_every_icon_is_drawn(theme, name):
    assert inked(theme.pixmap(name, "ink-2", 16, 1.0).toImage()) > 8


def test_there_are_icons():
    assert len(ICONS) >= 40


def test_icons_take_the_colour_of_their_role(theme):
    def strongest(role):
        image = theme.pixmap("stop", role, 16, 1.0).toImage()
        return image.pixelColor(8, 8).name()

    theme.set_mode("light")
    assert strongest("critical") == theme.color("critical").name()
    theme.set_mode("dark")
    assert strongest("critical") == theme.color("critical").name()


def test_icons_have_the_pixels_of_the_screen(theme):
    pixmap = theme.pixmap("eye", "ink", 16, 2.0)
    assert (pixmap.width(), pixmap.devicePixelRatio()) == (32, 2.0)
    assert pixmap.deviceIndependentSize().width() == 16


def test_the_style_sheet_names_only_colours_of_the_mode(theme, qapp):
    theme.set_mode("dark")
    sheet = theme.stylesheet()
    known = {theme.color(role).name().lower() for role in ROLES}
    assert set(re.findall(r"#[0-9a-f]{6}", sheet.lower())) <= known
    assert theme.color("content").name() in sheet


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac shows alerts itself")
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_buttons_and_words_of_alerts_have_the_themes_looks(theme, qapp, qtbot, mode):
    theme.set_mode(mode)
    qapp.setStyleSheet(theme.stylesheet())
    box = QMessageBox()
    qtbot.addWidget(box)
    box.setText("Delete it?")
    box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
    box.show()
    qtbot.waitActive(box)
    for button in box.buttons():
        button.setFocus()
        image = button.grab().toImage()
        assert image.pixelColor(8, button.height() // 2) == theme.color("raised")
        assert image.pixelColor(0, button.height() // 2) == theme.color("accent")
        other = next(one for one in box.buttons() if one is not button)
        assert other.grab().toImage().pixelColor(0, other.height() // 2) == theme.color("border")
    for part in (*box.buttons(), box.findChild(QLabel, "qt_msgbox_label")):
        assert (part.font().family(), part.font().pixelSize()) == (theme.font("ui").family(), theme.font("ui").pixelSize())
        assert part.palette().color(part.foregroundRole()) == theme.color("ink")
    qapp.setStyleSheet("")


def test_text_size_grows_what_is_read_and_nothing_else(theme, qtbot):
    before = {style: (theme.font(style).pixelSize(), theme.line(style)) for style in STYLES}
    with qtbot.waitSignal(theme.changed):
        theme.set_text_size(150)
    grown = {style for style in STYLES if theme.font(style).pixelSize() != before[style][0]}
    assert grown == {style for style in STYLES if style.startswith("read")} | {"code", "token", "detail", "display"}
    assert grown >= {"read", "read-caption", "read-small", "read-ui"}
    for style in grown:
        assert theme.font(style).pixelSize() == round(before[style][0] * 1.5)
        assert theme.line(style) == round(before[style][1] * 1.5)
    theme.set_text_size(100)
    assert {style: (theme.font(style).pixelSize(), theme.line(style)) for style in STYLES} == before
    with pytest.raises(ValueError, match="text size"):
        theme.set_text_size(20)


def test_motion_can_be_stopped_or_allowed_whatever_the_system_says(theme):
    system = theme.still
    theme.set_motion("reduced")
    assert theme.still
    theme.set_motion("full")
    assert not theme.still
    theme.set_motion("system")
    assert theme.still == system
    with pytest.raises(ValueError, match="no way to move"):
        theme.set_motion("wild")

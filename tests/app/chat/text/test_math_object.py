"""Formulas on screen: on the baseline, in the text's colour, never wider than their line."""

import pytest
from PySide6.QtGui import QColor, QImage, QPainter, QTextDocument

from app.chat.text.document import Document
from app.chat.text.formats import Formats
from app.chat.text.formulas import formulas
from app.chat.text.markdown import read
from app.theme import Theme


@pytest.fixture(scope="module")
def theme(qapp):
    return Theme()


def shown(theme, text, width=600):
    built = Document(QTextDocument(), Formats(theme))
    built.document.setTextWidth(width)
    built.show(read(text))
    formulas().wait()
    built.take_formulas()
    return built


def painted(built, ratio=1.0):
    size = built.document.size()
    image = QImage(round(size.width() * ratio), round(size.height() * ratio), QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor("white"))
    painter = QPainter(image)
    built.document.drawContents(painter)
    painter.end()
    return image


def ink(image):
    """The columns and rows of an image that are not white."""
    dark = [(x, y) for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y).lightness() < 160]
    return {x for x, _ in dark}, {y for _, y in dark}


def test_letters_stand_on_the_baseline(theme):
    built = shown(theme, "$H$")
    rows = ink(painted(built))[1]
    line = built.document.begin().layout().lineAt(0)
    assert abs(max(rows) + 1 - (line.y() + line.ascent())) <= 1.5


def test_a_fraction_makes_its_line_higher_and_no_other(theme):
    built = shown(theme, "words " * 60 + r"$\displaystyle\frac{\frac{a}{b}}{\frac{c}{d}}$ " + "words " * 60)
    layout = built.document.begin().layout()
    heights = sorted(layout.lineAt(number).height() for number in range(layout.lineCount()))
    assert heights[-1] > heights[-2] + 10
    assert heights[0] == heights[-2]


def test_what_is_set_apart_stands_in_the_middle(theme):
    columns = ink(painted(shown(theme, "$$x + y = z$$")))[0]
    assert abs((min(columns) + max(columns)) / 2 - 300) < 3


def test_it_is_as_sharp_as_the_screen(theme):
    built = shown(theme, "$$x$$")
    assert len(ink(painted(built, 2.0))[0]) > 1.6 * len(ink(painted(built))[0])


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_it_has_the_colour_of_the_text(theme, mode):
    theme.set_mode(mode)
    try:
        image = painted(shown(theme, r"$$\rule{40}{40} \blacksquare \blacksquare$$"))
        wanted = theme.color("ink")
        colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
        assert wanted.name() in colours
    finally:
        theme.set_mode("light")


def test_a_wide_one_is_made_smaller_until_it_fits(theme):
    text = "$$" + " + ".join(f"x_{{{n}}}" for n in range(24)) + "$$"
    wide, narrow = shown(theme, text, 2_000), shown(theme, text, 500)
    assert narrow.document.idealWidth() <= 500
    columns = ink(painted(narrow))[0]
    assert 450 < max(columns) - min(columns) <= 500
    assert wide.document.idealWidth() > 600


def test_one_far_too_wide_is_shown_as_it_was_written(theme):
    text = "$$" + " + ".join(f"x_{{{n}}}" for n in range(60)) + "$$"
    narrow = shown(theme, text, 300)
    assert narrow.document.idealWidth() <= 300
    assert narrow.document.size().height() > 100


def test_it_follows_the_width_of_the_text(theme):
    built = shown(theme, "$$" + " + ".join(f"x_{{{n}}}" for n in range(24)) + "$$", 2_000)
    high = built.document.size().height()
    built.document.setTextWidth(450)
    assert built.document.idealWidth() <= 450
    assert built.document.size().height() <= high

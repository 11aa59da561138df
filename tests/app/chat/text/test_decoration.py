"""What is painted around a reply's text, at every text size: signs of lists and notes stand whole, before their text."""

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter, QTextDocument

from app.chat.text.blocks import Paragraph
from app.chat.text.decoration import Decoration
from app.chat.text.document import Document
from app.chat.text.formats import Formats
from app.chat.text.markdown import read
from app.theme import Theme

WIDTH, AROUND = 592, 400
PAPER = QColor("white").rgb()
LISTS = {
    "bullet": "- text",
    "box": "- [x] text",
    "number": "1. text",
    "ten": "10. text",
    "ten, closed": "10) text",
    "hundred": "100. text",
    "ten thousand": "10000) text",
    "longest number": "888888888) text",
    "nested": "1. text\n\n   88. text\n\n       888) text\n\n            - text",
    "in one line": "- 10. - text",
    "quoted": "> 100. text",
    "note": "text[^1]\n\n[^1]: text",
    "note by name": "text[^sources]\n\n[^sources]: text",
    "broad note": "text[^WWWWWWWWWWWWWWWWWWWWWWWW]\n\n[^WWWWWWWWWWWWWWWWWWWWWWWW]: text",
    "note in other letters": "text[^注释说明注释说明]\n\n[^注释说明注释说明]: text",
}


def shown(percent, text):
    theme = Theme()
    theme.set_mode("light")
    theme.set_text_size(percent)
    document = QTextDocument()
    document.setTextWidth(WIDTH)
    blocks = Document(document, Formats(theme))
    blocks.show(read(text))
    blocks.colour()
    return document, blocks, Decoration(theme, document, blocks)


def inked(image, rows):
    """The first and the last column with ink in these rows of pixels."""
    columns = [x for x in range(image.width()) if any(image.pixel(x, y) != PAPER for y in rows)]
    return (columns[0], columns[-1]) if columns else None


def painted(paint, height):
    """What was painted, with room on both sides for what sticks out."""
    image = QImage(WIDTH + 2 * AROUND, height, QImage.Format.Format_RGB32)
    image.fill(PAPER)
    painter = QPainter(image)
    painter.translate(AROUND, 0)
    paint(painter)
    painter.end()
    return image


@pytest.mark.parametrize("right_to_left", [False, True])
@pytest.mark.parametrize("percent", [80, 100, 130, 160, 200])
@pytest.mark.parametrize("kind", LISTS)
def test_signs_stand_whole_inside_the_column_and_before_their_text(qapp, kind, percent, right_to_left):
    text = LISTS[kind].replace("text", "שלום") if right_to_left else LISTS[kind]
    document, blocks, decoration = shown(percent, text)
    height = round(document.size().height()) + 40
    whole = QRect(0, 0, WIDTH, height)
    signs = painted(lambda painter: decoration.paint(painter, whole, list(decoration.visible(whole))), height)
    words = painted(document.drawContents, height)
    marked = [index for index, block in enumerate(blocks.blocks) if isinstance(block, Paragraph) and block.place.markers]
    assert marked
    for index in marked:
        space = decoration.extent(index)
        rows = range(max(0, space.top()), min(height, space.bottom() + 1))
        sign, word = inked(signs, rows), inked(words, rows)
        assert AROUND <= sign[0] <= sign[1] < AROUND + WIDTH
        if right_to_left:
            assert word[1] < sign[0] if not blocks.blocks[index].place.quotes else word[1] < sign[1]
        else:
            assert sign[1] < word[0]


def test_what_nests_deeper_stands_further_in_and_leaves_room_for_text_at_every_size(qapp):
    for percent in (80, 100, 130, 160, 200):
        _, _, decoration = shown(percent, "\n".join("  " * depth + "- text" for depth in range(12)))
        lefts = [decoration.extent(index).left() for index in range(12)]
        assert lefts == sorted(set(lefts)), percent
        assert lefts[-1] <= WIDTH // 2


def test_signs_of_one_list_have_one_size(qapp):
    theme = Theme()
    for percent in (80, 100, 130, 160, 200):
        theme.set_text_size(percent)
        decoration = Decoration(theme, QTextDocument(), None)
        markers = [read(f"{number}) text")[0].place.markers[0] for number in (1, 9, 10, 99, 100, 12345)]
        rooms = [Formats(theme).indent(marker.indent) - 6 * percent / 100 for marker in markers]
        sizes = {decoration._sign_font(marker, room).pixelSize() for marker, room in zip(markers, rooms, strict=True)}
        assert sizes == {theme.font("read").pixelSize()}

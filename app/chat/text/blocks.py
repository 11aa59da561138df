"""What a reply is made of once its markdown is read: a flat row of blocks, plain data, nothing of Qt."""

from enum import Enum, IntFlag
from typing import Literal

from engine.core.record import Record


class Mark(IntFlag):
    """How a run of text is set."""

    PLAIN = 0
    BOLD = 1
    ITALIC = 2
    STRIKE = 4
    CODE = 8
    DIM = 16
    # A formula, delimiters included; a formula that no delimiter closes yet; a footnote's number.
    MATH = 32
    SOURCE = 64
    RAISED = 128


class Run(Record):
    """Text in one style; `href` is where a link leads, empty for other text. A line break is U+2028."""

    text: str
    marks: Mark = Mark.PLAIN
    href: str = ""


class Gap(Enum):
    """The space above a block, in pixels."""

    BLOCK = 12
    PART = 8
    TIGHT = 4
    NONE = 0


class Marker(Record):
    """A list item's sign: a bullet, a number or a check box, standing before its text, which is `indent` pixels in.

    `note`: the sign is a footnote's label.
    """

    sign: str
    indent: int
    note: bool = False


class Place(Record):
    """Where a block stands.

    `indent` pixels from the column's left edge (at the normal text size), within block quotes whose bars stand at `quotes`; the
    first `joined` of them go on from the block before. It is in `depth` lists and notes.
    """

    gap: Gap = Gap.BLOCK
    indent: int = 0
    quotes: tuple[int, ...] = ()
    joined: int = 0
    markers: tuple[Marker, ...] = ()
    depth: int = 0


class Paragraph(Record):
    """Text; `level` 1 to 6 for a heading, 0 for reading text."""

    place: Place
    runs: tuple[Run, ...]
    level: int = 0


class Code(Record):
    """A code block: its language as written, its text without the last line break; `closed` once nothing can follow."""

    place: Place
    language: str
    text: str
    closed: bool


class Column(Record):
    """A table's column; `share` of the width in percent, `longest` the characters of its longest cell."""

    align: Literal["left", "center", "right"]
    share: float
    longest: int = 0


type Row = tuple[tuple[Run, ...], ...]


class TableRows(Record):
    """Rows of a table that follow one another: a long table is several of these. `head`: the first row is the heading."""

    place: Place
    columns: tuple[Column, ...]
    head: bool
    rows: tuple[Row, ...]


class Equation(Record):
    """A formula set apart: its source as written, delimiters included, lines broken by U+2028."""

    place: Place
    source: str


class Rule(Record):
    """A line across."""

    place: Place


type Block = Paragraph | Code | TableRows | Equation | Rule

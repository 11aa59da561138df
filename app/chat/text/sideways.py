"""What is wider than the text: long lines of code that nobody wants broken, and tables with more columns than there is room."""

from PySide6.QtGui import QTextDocument

from app.chat.text.blocks import Block, Code, TableRows
from app.chat.text.formats import CODE_PADDING_SIDE, Formats

# What a scroll bar under a table takes of the space to the next block.
BAR_ROOM = 10
_LOOKED_AT = 20_000


class Sideways:
    """Knows how wide the blocks of a document are, and whose lines are broken; pixels."""

    def __init__(self, text: QTextDocument, formats: Formats) -> None:
        self._text = text
        self._formats = formats
        self._widths: dict[int, float] = {}
        self._wraps: dict[int, bool] = {}
        self._chosen: dict[int, bool] = {}

    def restyle(self, formats: Formats) -> None:
        """Measure with other fonts."""
        self._formats = formats

    def cut(self, count: int) -> None:
        """Forget all but the first `count` blocks. What was chosen for one is kept: a reply is cut and written again."""
        self._widths = {index: width for index, width in self._widths.items() if index < count}
        self._wraps = {index: wrap for index, wrap in self._wraps.items() if index < count}

    def forget_choices(self) -> None:
        """Forget what was chosen: another message is shown."""
        self._chosen.clear()

    def follow_code(self, index: int, block: Code, known: int = 0) -> None:
        """Measure a code block's lines; the first `known` characters were measured before."""
        start = block.text.rfind("\n", 0, known) + 1
        longest = self._widths.get(index, 0.0)
        advance = self._formats.code_width("0")
        for line in block.text[start:].split("\n"):
            # Half of the signs may be twice as wide: only what can be longer is measured.
            if len(line.expandtabs(4)) * advance * (1 if line.isascii() else 3) > longest:
                longest = max(longest, self._formats.code_width(line[:_LOOKED_AT]))
        self._widths[index] = longest
        self._wraps.setdefault(index, self._chosen.get(index, self._formats.wraps_code))

    def wraps(self, index: int) -> bool:
        """Return whether the long lines of a code block are broken."""
        return self._wraps.get(index, True)

    def choose(self, index: int, wrap: bool) -> None:
        """Break the long lines of a code block, or not, whatever the others do."""
        self._chosen[index] = self._wraps[index] = wrap

    def is_wide(self, block: TableRows) -> bool:
        """Return whether a table's columns can't be read in the width of the text."""
        room = self._text.textWidth() - self._formats.indent(block.place.indent)
        return 0 < room < self._formats.least_width(block.columns)

    def width(self, index: int, block: Block) -> int:
        """Return how wide a block's content is from the left edge of its frame; 0 for one that fits any width."""
        match block:
            case Code():
                return 0 if self.wraps(index) else round(self._widths.get(index, 0.0)) + 2 * CODE_PADDING_SIDE + 2
            case TableRows() if self.is_wide(block):
                return sum(self._formats.column_width(column) for column in block.columns)
            case _:
                return 0

    def overflows(self, index: int, block: Block) -> bool:
        """Return whether some line of a code block is longer than there is room, wrapped or not."""
        room = self._text.textWidth() - self._formats.indent(block.place.indent) - 2 * CODE_PADDING_SIDE
        return 0 < room < self._widths.get(index, 0.0)

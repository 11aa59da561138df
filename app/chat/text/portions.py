"""A long row of blocks cut into portions, each of which is shown in a few milliseconds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.chat.text.blocks import Block, Code, Equation, Paragraph, Rule, TableRows

_LETTERS = 1_000
# What a block, and a cell, take besides their letters.
_BLOCK, _CELL = 50, 40


def portions(blocks: Sequence[Block], shown: int) -> Iterator[tuple[Sequence[Block], int]]:
    """Yield what to show one after another: some blocks more each time, and how many of them are there already.

    The first `shown` blocks are there from the start; the last portion is the whole row. Long code comes in parts.
    """
    weight = 0
    for index in range(shown, len(blocks)):
        for part in _parts(blocks[index]):
            yield [*blocks[:index], part], shown
            shown, weight = index, 0
        weight += _weight(blocks[index])
        if weight >= _LETTERS and index + 1 < len(blocks):
            yield blocks[: index + 1], shown
            shown, weight = index + 1, 0
    yield blocks, shown


def _parts(block: Block) -> Iterator[Code]:
    """Yield the beginnings of long code, each some lines longer than the one before, all of it left out."""
    if not isinstance(block, Code):
        return
    end = block.text.find("\n", _LETTERS)
    while end >= 0:
        yield replace(block, text=block.text[:end], closed=False)
        end = block.text.find("\n", end + _LETTERS)


def _weight(block: Block) -> int:
    match block:
        case Paragraph():
            return _BLOCK + sum(len(run.text) for run in block.runs)
        case Code():
            return _BLOCK + len(block.text) % _LETTERS
        case TableRows():
            return sum(_CELL + sum(len(run.text) for run in cell) for row in block.rows for cell in row)
        case Equation() | Rule():
            return _BLOCK

"""Every table of the terminal: as wide as it is there, whole where it goes into a file or another program."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from engine.cli.output import plain

GAP, INDENT, SHORTEST = 2, 2, 12


class Column(NamedTuple):
    """A column's title and what may be done where the terminal is too narrow.

    A `figure` stands to the right. A `long` column's cells are shortened in the middle, down to `SHORTEST` cells; any other
    is shown whole. Columns with a `drop` go, the highest first. What is `whole`, one column at most, is never touched, as
    an id that is typed next: it stands on a line of its own, above the row where it comes first, else under it.
    """

    title: str
    figure: bool = False
    long: bool = False
    drop: int = 0
    whole: bool = False


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under bold titles, without titles where no column has any."""
    console = Console(highlight=False, soft_wrap=True)
    width = console.width if sys.stdout.isatty() else None
    titles = [column.title for column in columns]
    headed = any(titles)
    for number, lines in enumerate(laid_out(columns, [titles, *rows] if headed else rows, width)):
        for line in lines:
            console.print(Text(line, style="bold" if headed and number == 0 else ""))


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and values, a line each; a pair without a value is left out, and no value is shortened."""
    known = [(name, plain(value)) for name, value in facts if value]
    indent = max((cell_len(name) for name, _ in known), default=0) + GAP
    console = Console(highlight=False, soft_wrap=True)
    for name, value in known:
        console.print(Text.assemble((_padded(name, indent), "bold"), value.replace("\n", "\n" + " " * indent)))


def laid_out(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[list[str]]:
    """Return the lines of each row, at most `width` cells wide but for what stays whole; as wide as need be without one."""
    table = [[" ".join(plain(cell).split()) for cell in row] for row in rows]
    places = list(range(len(columns)))
    own = None
    if width is not None and _least(columns, table, places) > width:
        own = next((place for place in places if columns[place].whole), None)
        places = [place for place in places if place != own]
        room = width - (INDENT if own == 0 else 0)
        while _least(columns, table, places) > room and any(columns[place].drop for place in places):
            places.remove(max(places, key=lambda place: columns[place].drop))
        width = room
    widths = _widths(columns, table, places, width)
    return [_lines(columns, row, widths, own) for row in table]


def _least(columns: Sequence[Column], table: Sequence[Sequence[str]], places: Sequence[int]) -> int:
    """How wide these columns are with every long one as short as it may be."""
    natural = [(columns[place].long, _natural(table, place)) for place in places]
    return sum(min(width, SHORTEST) if long else width for long, width in natural) + GAP * max(0, len(places) - 1)


def _natural(table: Sequence[Sequence[str]], place: int) -> int:
    return max((cell_len(row[place]) for row in table), default=0)


def _widths(
    columns: Sequence[Column], table: Sequence[Sequence[str]], places: Sequence[int], width: int | None
) -> dict[int, int]:
    """The width of each column that is shown: what is too much is taken from the longest of those that may be shortened."""
    widths = {place: _natural(table, place) for place in places}
    while width is not None and sum(widths.values()) + GAP * (len(widths) - 1) > width:
        long = [place for place in places if columns[place].long and widths[place] > SHORTEST]
        if not long:
            break
        widths[max(long, key=lambda place: widths[place])] -= 1
    return widths


def _lines(columns: Sequence[Column], row: Sequence[str], widths: dict[int, int], own: int | None) -> list[str]:
    cells = [_padded(shortened(row[place], width), width, columns[place].figure) for place, width in widths.items()]
    line = (" " * GAP).join(cells).rstrip()
    if own is None:
        return [line]
    indent = " " * INDENT
    return [row[own], indent + line] if own == 0 else [line, indent + row[own]]


def _padded(text: str, width: int, right: bool = False) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def shortened(text: str, width: int) -> str:
    """Return a text in at most `width` cells, what is too much taken out of its middle: “Qwen2.5-C…-4bit”."""
    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 2
    end = chop_cells(text[::-1], tail)[0][::-1] if tail else ""
    return chop_cells(text, width - 1 - tail)[0] + "…" + end

"""Blocks back to markdown: what reads as the same blocks again, written as people write it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.chat.text.blocks import Block, Code, Equation, Gap, Mark, Marker, Paragraph, Row, Rule, Run, TableRows
from app.chat.text.inline import LINE_BREAK
from app.chat.text.units import BULLET, CHECKED_BOX, OPEN_BOX
from engine.core.record import Record

_SIGNS = {BULLET: "-", OPEN_BOX: "- [ ]", CHECKED_BOX: "- [x]"}
_WRAPPED = ((Mark.BOLD, "**"), (Mark.ITALIC, "*"), (Mark.STRIKE, "~~"))
_ALIGNED = {"left": "---", "center": ":-:", "right": "--:"}
# What would be read as something else: emphasis, code, a link, an entity, an escape, an address in angles.
_SPECIAL = re.compile(r"[*`]|\\(?=[!-/:-@\[-`{-~])|(?<![^\W_])_|_(?![^\W_])|~~|(?<=\])\(|&(?=#?\w+;)|<(?=[A-Za-z/!])")
_LINE_START = re.compile(r"^(?:(#{1,6}|[-+])(?=\s|$)|(\d{1,9})([.)])(?=\s|$)|(>|={2,}$|-{2,}$|~{3,}))")


class _Item(Record):
    """A list item or footnote that is open: where its text stands in pixels, and how it is written."""

    indent: int
    sign: str

    @property
    def width(self) -> int:
        return 4 if self.sign.startswith("[^") else len(self.sign.split(" ")[0]) + 1


def write_markdown(blocks: Sequence[Block]) -> str:
    """Return blocks as markdown, without a last line break."""
    pieces: list[str] = []
    items: list[_Item] = []
    for index, block in enumerate(blocks):
        place = block.place
        before = blocks[index - 1] if index else None
        new = [_Item(marker.indent, _sign(marker)) for marker in place.markers]
        limit = new[0].indent if new else place.indent + 1
        items = [item for item in items if item.indent < limit]
        if before is not None:
            pieces.append(_between(before, block, items))
        lines = _lines(block, with_head=_starts_table(before, block))
        first = _prefix(place.quotes, [*items, *new], new)
        items += new
        rest = _prefix(place.quotes, items, [])
        pieces += [f"{first}{lines[0]}".rstrip(" ") if not lines[0] else first + lines[0]]
        pieces += [f"\n{rest}{line}" if line else f"\n{rest}".rstrip(" ") for line in lines[1:]]
    return "".join(pieces)


def write_runs(runs: Sequence[Run], *, in_cell: bool = False) -> str:
    """Return the text of a line or a table's cell as markdown."""
    written: list[str] = []
    index = 0
    while index < len(runs):
        image = _image(runs[index : index + 3])
        if image:
            written.append(image)
            index += 3
            continue
        href = runs[index].href
        end = index + 1
        while href and end < len(runs) and runs[end].href == href:
            end += 1
        written.append(_link(runs[index:end], href) if href else _run(runs[index]))
        index = end
    text = "".join(written)
    return text.replace("|", "\\|").replace(LINE_BREAK, "<br>") if in_cell else text.replace(LINE_BREAK, "\n")


def _image(runs: Sequence[Run]) -> str:
    """Return three runs that stand for a picture as one; nothing where they do not."""
    if len(runs) < 3 or Mark.DIM not in runs[0].marks or runs[1].text != " " or not runs[2].href or runs[0].href:
        return ""
    return f"![{'' if runs[0].text == 'Image' else runs[0].text}](<{runs[2].href}>)"


def _link(runs: Sequence[Run], href: str) -> str:
    plain = "".join(run.text for run in runs)
    if plain in (href, href.removeprefix("mailto:"), href.removeprefix("http://")) and not any(run.marks for run in runs):
        return plain
    target = f"<{href}>" if re.search(r"[\s()]", href) else href
    return f"[{''.join(_run(run) for run in runs)}]({target})"


def _run(run: Run) -> str:
    if Mark.MATH in run.marks or Mark.SOURCE in run.marks:
        return run.text
    if Mark.RAISED in run.marks:
        return f"[^{run.text}]"
    text = run.text
    inner = text.strip(f" {LINE_BREAK}")
    if not inner:
        return text
    start = text.index(inner)
    body = _code(inner) if Mark.CODE in run.marks else _SPECIAL.sub(lambda found: f"\\{found.group()}", inner)
    for mark, sign in _WRAPPED:
        if mark in run.marks:
            body = f"{sign}{body}{sign}"
    return text[:start] + body + text[start + len(inner) :]


def _code(text: str) -> str:
    longest = max((len(ticks) for ticks in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest and (text[0] == "`" or text[-1] == "`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _lines(block: Block, *, with_head: bool) -> list[str]:
    match block:
        case Paragraph():
            lines = [_escaped_start(line) for line in write_runs(block.runs).split("\n")]
            return ["#" * block.level + " " + " ".join(lines)] if block.level else lines
        case Equation():
            return block.source.split(LINE_BREAK)
        case Rule():
            return ["---"]
        case Code():
            ticks = max((len(found) for found in re.findall(r"^\s*(`{3,})", block.text, re.MULTILINE)), default=2)
            fence = "`" * max(3, ticks + 1)
            return [f"{fence}{block.language}", *block.text.split("\n"), fence]
        case TableRows():
            rows = [_row(row, len(block.columns)) for row in block.rows]
            if not with_head:
                return rows
            rule = "| " + " | ".join(_ALIGNED[column.align] for column in block.columns) + " |"
            return [rows[0], rule, *rows[1:]] if block.head else [_row((), len(block.columns)), rule, *rows]


def _escaped_start(line: str) -> str:
    return _LINE_START.sub(lambda found: f"{found[2]}\\{found[3]}" if found[2] else f"\\{found[0]}", line)


def _row(row: Row, columns: int) -> str:
    cells = [write_runs(cell, in_cell=True) for cell in row[:columns]]
    return "| " + " | ".join([*cells, *[""] * (columns - len(cells))]) + " |"


def _starts_table(before: Block | None, block: Block) -> bool:
    return isinstance(block, TableRows) and (block.head or not isinstance(before, TableRows))


def _sign(marker: Marker) -> str:
    return f"[^{marker.sign}]:" if marker.note else _SIGNS.get(marker.sign, marker.sign)


def _between(before: Block, block: Block, items: Sequence[_Item]) -> str:
    if isinstance(before, TableRows) and isinstance(block, TableRows) and not block.head:
        return "\n"
    if block.place.gap in (Gap.TIGHT, Gap.NONE) and (block.place.markers or block.place.gap is Gap.NONE):
        return "\n"
    blank = _prefix(block.place.quotes[: block.place.joined], items, []).rstrip(" ")
    return f"\n{blank}\n"


def _prefix(quotes: Sequence[int], items: Sequence[_Item], new: Sequence[_Item]) -> str:
    """Return what stands before a line inside quotes and items; those that are `new` show their signs."""
    around: list[tuple[int, int, str]] = [(x, 1, "> ") for x in quotes]
    around += [(item.indent, 0, f"{item.sign} " if item in new else " " * item.width) for item in items]
    return "".join(text for _, _, text in sorted(around, key=lambda entry: entry[:2]))


def clipped(runs: Sequence[Run], start: int, end: int) -> tuple[Run, ...]:
    """Return what runs show between two positions in UTF-16 units, a formula being one of them."""
    found, at = [], 0
    for run in runs:
        encoded = run.text.encode("utf-16-le", "surrogatepass")
        length = 1 if Mark.MATH in run.marks else len(encoded) // 2
        first, last = max(0, start - at), min(length, end - at)
        if first < last:
            whole = Mark.MATH in run.marks or (first, last) == (0, length)
            found.append(run if whole else replace(run, text=encoded[2 * first : 2 * last].decode("utf-16-le", "replace")))
        at += length
    return tuple(found)

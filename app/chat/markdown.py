"""Markdown as models write it, read whole or as it streams: only the unfinished end is ever read again."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.chat.blocks import Block, Code, Paragraph, Run
from app.chat.units import Open, OpenTable, Unit, is_fence_end, units

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# A tail longer than this (a paragraph without end) is read again only when it has grown by a sixteenth.
_LONG_TAIL = 3_000


def make_reader() -> "MarkdownIt":
    """Return the parser: CommonMark with tables, strikethrough and bare addresses; HTML is text."""
    # Imported with the first message: the window is on screen by then.
    from markdown_it import MarkdownIt
    from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return reader.use(gfm_autolink_plugin)


def read(text: str, reader: "MarkdownIt | None" = None) -> tuple[Block, ...]:
    """Return the blocks of a finished text."""
    text = normal_breaks(text)
    found = units((reader or make_reader()).parse(text), text.split("\n"))
    return tuple(_closed(block) for unit in found for block in unit.blocks)


def normal_breaks(text: str) -> str:
    """Return the text with every line break as U+000A, and no U+0000 (which markdown forbids)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def _closed(block: Block) -> Block:
    return replace(block, closed=True) if isinstance(block, Code) and not block.closed else block


class StreamReader:
    """Reads a text that arrives in pieces, at a cost that does not grow with what was read before.

    What is sure (every unit but the last, and only up to a line that is complete) is committed and not looked at again. The
    end is read anew with each piece; `finish` reads the whole once, so that links to addresses given further down resolve.
    """

    def __init__(self, reader: "MarkdownIt | None" = None) -> None:
        self._reader = reader or make_reader()
        self._text: list[str] = []
        self._carriage = ""
        self._tail = ""
        self._opened: Open = None
        self._references: dict[str, Any] = {}
        self._committed: list[Block] = []
        self._fence: _OpenFence | None = None
        self._read_length = 0
        self._unread = ""
        self.blocks: list[Block] = []

    @property
    def text(self) -> str:
        """All that was fed, line breaks as U+000A."""
        return "".join(self._text) + ("\n" if self._carriage else "")

    def feed(self, chunk: str) -> int:
        """Take the next piece; return how many of `blocks` are certainly what they were before."""
        chunk = self._carriage + chunk
        # A carriage return at the end may be half of a line break.
        self._carriage = "\r" if chunk.endswith("\r") else ""
        chunk = normal_breaks(chunk.removesuffix("\r"))
        self._text.append(chunk)
        unchanged = len(self._committed)
        if self._fence is not None and self._fence.feed(chunk):
            self._tail += chunk
            self.blocks[-1] = self._fence.block
            return len(self.blocks) - 1
        self._fence = None
        self._tail += chunk
        if not self._postpone(chunk):
            self._read_tail()
        return unchanged

    def finish(self) -> int:
        """Read the whole text once; return how many of `blocks` did not change."""
        found = read(self.text, self._reader)
        same = 0
        for old, new in zip(self.blocks, found, strict=False):
            if old != new:
                break
            same += 1
        self.blocks = list(found)
        self._committed = list(found)
        self._tail, self._fence, self._opened = "", None, None
        return same

    def _postpone(self, chunk: str) -> bool:
        """Show a piece of an endless paragraph as it is, until enough of them have gathered to read the paragraph again."""
        last = self.blocks[-1] if self.blocks else None
        self._unread += chunk
        if (
            len(self._tail) < _LONG_TAIL
            or len(self._unread) > self._read_length // 16
            or "\n" in self._unread
            or not isinstance(last, Paragraph)
        ):
            self._unread = ""
            return False
        self.blocks[-1] = replace(last, runs=(*last.runs, Run(chunk)))
        return True

    def _read_tail(self) -> None:
        # A table that goes on has its heading read again before its rows.
        heading = self._opened.heading if isinstance(self._opened, OpenTable) else ""
        source = heading + self._tail
        lines = source.split("\n")
        env: dict[str, Any] = {"references": dict(self._references)}
        tokens = self._reader.parse(source, env)
        found = list(units(tokens, lines, self._opened))
        complete = len(lines) - 1
        cut = max((index for index, unit in enumerate(found) if unit.line < complete), default=0)
        if cut:
            line = found[cut].line
            self._committed += [block for unit in found[:cut] for block in unit.blocks]
            self._references |= {
                label: entry for label, entry in env["references"].items() if entry.get("map", [0, 0])[1] <= line
            }
            self._opened = found[cut].opened
            self._tail = "\n".join(lines[line:])
        self._read_length = len(self._tail)
        self.blocks = self._committed + [block for unit in found[cut:] for block in unit.blocks]
        self._fence = self._open_fence(tokens, found[cut:])

    def _open_fence(self, tokens: list[Any], tail: list[Unit]) -> "_OpenFence | None":
        if len(tail) != 1 or not tokens or tokens[-1].type != "fence" or tokens[-1].level:
            return None
        block = tail[0].blocks[-1]
        if not isinstance(block, Code) or block.closed:
            return None
        return _OpenFence.resume(block, tokens[-1].markup, self._tail)


class _OpenFence:
    """A code fence at the end of the text that nothing has closed yet: its lines need no parser."""

    def __init__(self, block: Code, markup: str, indent: int, partial: str) -> None:
        self.block = block
        self._markup = markup
        self._indent = indent
        self._partial = partial
        shown = self._shown()
        self._complete = block.text.removesuffix(shown) if shown else f"{block.text}\n"

    @classmethod
    def resume(cls, block: Code, markup: str, source: str) -> "_OpenFence | None":
        """Return the fence that `source` opens in its first line, or None while that line is not complete."""
        first, broken, rest = source.partition("\n")
        if not broken:
            return None
        empty = "\n" not in rest
        fence = cls(block, markup, len(first) - len(first.lstrip(" ")), rest.rpartition("\n")[2])
        if empty:
            fence._complete = ""
        return fence

    def feed(self, chunk: str) -> bool:
        """Append a piece; return False, having changed nothing, when it closes the fence."""
        *lines, partial = (self._partial + chunk).split("\n")
        if any(self._ends(line) for line in (*lines, partial)):
            return False
        self._complete += "".join(f"{_dedented(line, self._indent)}\n" for line in lines)
        self._partial = partial
        text = self._complete + self._shown()
        self.block = replace(self.block, text=text.removesuffix("\n"))
        return True

    def _shown(self) -> str:
        """Return what the unfinished line shows: nothing while it is only spaces, as the parser has it."""
        return _dedented(self._partial, self._indent) if self._partial.strip() else ""

    def _ends(self, line: str) -> bool:
        return (
            len(line) - len(line.lstrip(" ")) < 4
            and is_fence_end(line, self._markup)
            and line.lstrip(" ")[0] == self._markup[0]
        )


def _dedented(line: str, indent: int) -> str:
    """Return a line without the fence's own indentation."""
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]

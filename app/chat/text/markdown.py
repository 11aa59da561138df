"""Markdown as models write it, read whole or as it streams: only the unfinished end is ever read again."""

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from app.chat.text.blocks import Block, Code, Paragraph, Run
from app.chat.text.footnotes import add_footnotes, known_notes, named_notes, notes_before
from app.chat.text.math_syntax import add_math
from app.chat.text.nesting import bound_nesting
from app.chat.text.units import Open, OpenTable, Unit, is_fence_end, units

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# A tail longer than this (a paragraph without end) is read again only when it has grown by a sixteenth.
_LONG_TAIL = 3_000
# A line that is but text (or an item of a list) to the parser and stays that, whatever words follow its last letter.
_WORDS = re.compile(r"(?:[^\W\d_]| )+")
_PLAIN_LINE = re.compile(r"(?:[^\W_]|[ ,;.'’\"()!?–—-])*[^\W\d_] *")
# A line that may still become anything: a rule, a list item, the underline that makes a heading of the text above.
_UNDECIDED = re.compile(r"[ \t>]*(?:[-=+*_#>|`~]+|\d{1,3}[.)]?)[ \t]*")


@cache
def parser() -> "MarkdownIt":
    """Return the parser: CommonMark with tables, strikethrough, footnotes, formulas and bare addresses; HTML is text.

    One for all, since it keeps nothing of what it reads: to make one takes longer than to read a short reply.
    """
    # Imported with the first message: the window is on screen by then.
    from markdown_it import MarkdownIt
    from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).use(gfm_autolink_plugin)
    add_footnotes(made)
    add_math(made)
    bound_nesting(made)
    return made


def read(text: str) -> tuple[Block, ...]:
    """Return the blocks of a finished text."""
    text = normal_breaks(text)
    found = units(parser().parse(text), text.split("\n"))
    return tuple(_closed(block) for unit in found for block in unit.blocks)


def normal_breaks(text: str) -> str:
    """Return the text with every line break as U+000A, and no U+0000 (which markdown forbids)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def decided(text: str) -> str:
    """Return the text without a last line that only its next characters will tell the meaning of.

    Shown as it stands, a list's first sign would turn the text above it into a heading for a moment.
    """
    head, broken, last = text.rpartition("\n")
    return head + broken if _UNDECIDED.fullmatch(last) else text


def _closed(block: Block) -> Block:
    return replace(block, closed=True) if isinstance(block, Code) and not block.closed else block


class StreamReader:
    """Reads a text that arrives in pieces, at a cost that does not grow with what was read before.

    What is sure (every unit but the last, and only up to a line that is complete) is committed and not looked at again. The
    end is read anew with each piece; `finish` reads the whole once where an address or a note was given after it was named.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._carriage = ""
        self._tail = ""
        self._opened: Open = None
        self._references: dict[str, Any] = {}
        self._notes: set[str] = set()
        self._gave_late = False
        self._committed: list[Block] = []
        self._fence: _OpenFence | None = None
        self._read_length = 0
        self._unread = ""
        self.blocks: list[Block] = []

    @property
    def text(self) -> str:
        """All that was fed, line breaks as U+000A."""
        return "".join(self._text) + ("\n" if self._carriage else "")

    @property
    def unsettled(self) -> int:
        """How many characters the next piece will have read again."""
        return 0 if self._fence is not None else len(self._tail)

    def informed(self) -> "StreamReader | None":
        """Return a reader that knows the addresses and notes of this whole text, where one was given after it was named."""
        tokens, env, _, _ = self._parsed(self._tail)
        if not self._gave_late:
            return None
        reader = StreamReader()
        reader._references, reader._notes = env["references"], self._notes | named_notes(tokens)
        return reader

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
        if self._append_words(chunk):
            return len(self.blocks) - 1
        self._tail += chunk
        if not self._postpone(chunk):
            self._read_tail()
        return unchanged

    def finish(self) -> int:
        """Read the end as an end; return how many of `blocks` did not change.

        Where addresses or notes were given after something was committed, that may have named them: all is read again.
        """
        if self._carriage:
            self.feed("\n")
        before = self.blocks
        self._fence = None
        found = [_closed(block) for block in self._committed]
        found += [_closed(block) for unit in self._parsed(self._tail)[2] for block in unit.blocks]
        if self._gave_late:
            found = list(read(self.text))
        same = 0
        while same < min(len(before), len(found)) and (before[same] is found[same] or before[same] == found[same]):
            same += 1
        self.blocks, self._committed = found, list(found)
        self._tail, self._fence, self._opened = "", None, None
        return same

    def _append_words(self, chunk: str) -> bool:
        """Append words to a line of words, which is most of what is written: no parser makes anything else of them."""
        last = self.blocks[-1] if self.blocks else None
        if not isinstance(last, Paragraph) or not last.runs or self._unread or not _WORDS.fullmatch(chunk):
            return False
        line, run = self._tail[self._tail.rfind("\n") + 1 :], last.runs[-1]
        text = line.rstrip(" ")
        # What was named in brackets, and a bare address, may go on over a line's end or in its last word.
        if run.marks or run.href or "[" in self._tail or "www" in line.lower() or not _PLAIN_LINE.fullmatch(line):
            return False
        if not run.text.endswith(text[text.rfind(" ") + 1 :]):
            return False
        written = (run.text + line[len(text) :] + chunk).rstrip(" ")
        self.blocks[-1] = replace(last, runs=(*last.runs[:-1], replace(run, text=written)))
        self._tail += chunk
        self._read_length = len(self._tail)
        return True

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

    def _parsed(self, tail: str) -> "tuple[list[Token], dict[str, Any], list[Unit], list[str]]":
        """Return tokens, what they name, units and lines of a text that goes on with what was committed."""
        # A table that goes on has its heading read again before its rows.
        lines = (self._heading() + tail).split("\n")
        env: dict[str, Any] = {"references": dict(self._references), "footnotes": known_notes(self._notes)}
        tokens = parser().parse("\n".join(lines), env)
        found = list(units(tokens, lines, self._opened))
        given = env["references"].keys() - self._references.keys()
        self._gave_late = self._gave_late or bool(self._committed and (given or named_notes(tokens) - self._notes))
        return tokens, env, found, lines

    def _heading(self) -> str:
        return self._opened.heading if isinstance(self._opened, OpenTable) else ""

    def _read_tail(self) -> None:
        source = decided(self._heading() + self._tail)
        heading = self._heading()
        tokens, env, found, lines = self._parsed(source.removeprefix(heading))
        complete = len(lines) - 1
        cut = max((index for index, unit in enumerate(found) if unit.line < complete), default=0)
        if found and found[-1].undecided and cut == len(found) - 1:
            cut = max(0, cut - 1)
        if cut:
            line = found[cut].line
            self._committed += [block for unit in found[:cut] for block in unit.blocks]
            self._references |= {
                label: entry for label, entry in env["references"].items() if entry.get("map", [0, 0])[1] <= line
            }
            self._notes |= notes_before(tokens, line)
            self._opened = found[cut].opened
            held = self._tail[len(source) - len(heading) :]
            self._tail = "\n".join(lines[line:]) + held
        self._read_length = len(self._tail)
        self.blocks = self._committed + [block for unit in found[cut:] for block in unit.blocks]
        self._fence = self._open_fence(tokens, found[cut:])
        if self._fence is not None:
            self.blocks[-1] = self._fence.block

    def _open_fence(self, tokens: list[Any], tail: list[Unit]) -> "_OpenFence | None":
        if len(tail) != 1 or not tokens or tokens[-1].type != "fence" or tokens[-1].level:
            return None
        block = tail[0].blocks[-1]
        if not isinstance(block, Code) or block.closed:
            return None
        return _OpenFence(block, tokens[-1].markup, self._tail) if "\n" in self._tail else None


class _OpenFence:
    """A code fence at the end of the text that nothing has closed yet: its lines need no parser."""

    def __init__(self, block: Code, markup: str, source: str) -> None:
        first, _, rest = source.partition("\n")
        self._markup = markup
        self._indent = len(first) - len(first.lstrip(" "))
        *lines, self._partial = rest.split("\n")
        self._complete = self._dedented(lines)
        self.block = replace(block, text=self._text())

    def feed(self, chunk: str) -> bool:
        """Append a piece; return False, having changed nothing, when it closes the fence."""
        *lines, partial = (self._partial + chunk).split("\n")
        if any(self._ends(line) for line in lines):
            return False
        self._complete += self._dedented(lines)
        self._partial = partial
        self.block = replace(self.block, text=self._text())
        return True

    def _text(self) -> str:
        """Return the code so far, without a last line that is empty or may become the fence's end."""
        undecided = not self._partial.strip() or _UNDECIDED.fullmatch(self._partial)
        last = "" if undecided else self._dedented([self._partial])
        return (self._complete + last).removesuffix("\n")

    def _dedented(self, lines: list[str]) -> str:
        """Return lines without the fence's own indentation, each with its line break."""
        return "".join(f"{line[min(self._indent, len(line) - len(line.lstrip(' '))) :]}\n" for line in lines)

    def _ends(self, line: str) -> bool:
        return (
            len(line) - len(line.lstrip(" ")) < 4
            and is_fence_end(line, self._markup)
            and line.lstrip(" ")[0] == self._markup[0]
        )

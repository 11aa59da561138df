"""One formula, from LaTeX to a picture of paths: ziamath does it, within bounds of length, depth and time."""

import re
import sys
import time
from typing import Any

from engine.core.record import Record

UNIT = 16
_LONGEST = 3_000
_DEEPEST = 24
# ziamath takes twice as long for each level of nesting, and four times for twice the length: from here on it is watched.
_WATCHED_LENGTH, _WATCHED_DEPTH, MOST_S = 120, 3, 1.5
_LARGEST = 12_000
_ELEMENTS = {"svg", "g", "path", "rect", "line", "polyline", "ellipse"}
_VIEW_BOX = re.compile(r'viewBox="([-\d.e]+) ([-\d.e]+) ([-\d.e]+) ([-\d.e]+)"')
_UNSEEN = re.compile(r"\\(?:tag\*?|label)\s*\{[^{}]*\}|\\(?:nonumber|notag|allowbreak|limits(?![A-Za-z]))")
_ENVIRONMENT = re.compile(r"(\\begin\{(\w+\*?)\}.*?\\end\{\2\})(?=\s*[\^_])", re.DOTALL)
_ALIASES = {
    "\\dfrac": "\\frac",
    "\\tfrac": "\\frac",
    "\\cfrac": "\\frac",
    "\\dbinom": "\\binom",
    "\\lvert": "|",
    "\\rvert": "|",
    "\\begin{gather}": "\\begin{gathered}",
    "\\end{gather}": "\\end{gathered}",
    "\\begin{gather*}": "\\begin{gathered}",
    "\\end{gather*}": "\\end{gathered}",
}
_ALIAS = re.compile("|".join(re.escape(name) + ("" if name.endswith("}") else r"(?![A-Za-z])") for name in _ALIASES))


class _TooLongError(Exception):
    """Drawing took longer than a formula may."""


class Formula(Record):
    """A drawn formula: black paths as SVG, in pixels at a text size of `UNIT`; `descent` is what reaches under the baseline."""

    svg: bytes
    width: float
    ascent: float
    descent: float


def draw_formula(content: str, display: bool, most_s: float = MOST_S) -> Formula | None:
    """Return the picture of LaTeX (without its delimiters), or None where it can't be drawn, whatever the reason.

    One that is long or deep is given up after `most_s` seconds of processor time.
    """
    if len(content) > _LONGEST or not _has_glyphs(content):
        return None
    depth = _depth(content)
    if depth > _DEEPEST:
        return None
    watched = len(content) > _WATCHED_LENGTH or depth > _WATCHED_DEPTH
    # The library is run on any text at all: whatever it raises, the source is shown instead.
    try:
        return _measured(_within(most_s, content, display) if watched else _drawn(content, display))
    except Exception:
        return None


def prepared(content: str) -> str:
    """Return the LaTeX as ziamath reads it: no numbers, braces around a matrix with a power, loose lines in an environment."""
    content = _UNSEEN.sub("", content)
    content = _ALIAS.sub(lambda found: _ALIASES[found.group()], content)
    content = _ENVIRONMENT.sub(r"{\1}", content).strip()
    if "\\begin" not in content and re.search(r"\\\\|(?<!\\)&", content):
        content = "\\begin{aligned}" + content.removesuffix("\\\\") + "\\end{aligned}"
    return content


def _drawn(content: str, display: bool) -> str:
    from ziamath.config import config
    from ziamath.zmath import Latex

    # Plain paths: Qt's renderer draws symbols that are used again at the wrong size.
    config.svg2 = False
    latex: Any = Latex(prepared(content), size=UNIT, color="#000000", inline=not display)
    return str(latex.svg())


def _within(seconds: float, content: str, display: bool) -> str:
    """Draw, and give up after `seconds` of this thread's: Python looks at its clock with each call the library makes."""
    end = time.thread_time() + seconds

    def watch(*_: object) -> None:
        if time.thread_time() > end:
            raise _TooLongError

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        return _drawn(content, display)
    finally:
        sys.setprofile(before)


def _measured(svg: str) -> Formula | None:
    box = _VIEW_BOX.search(svg)
    # Nothing but lines: a picture could name files or addresses.
    if box is None or not set(re.findall(r"<(\w+)", svg)) <= _ELEMENTS or "href" in svg:
        return None
    _, top, width, height = (float(number) for number in box.groups())
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST and abs(top) <= _LARGEST):
        return None
    return Formula(svg.encode(), width, -top, height + top)


def _depth(content: str) -> int:
    """Return how deep groups, fences and environments are nested."""
    deepest = depth = 0
    for sign in re.findall(r"\\(?:left|begin|right|end)(?![A-Za-z])|\\.|[{}]", content):
        if sign in ("{", "\\left", "\\begin"):
            depth += 1
        elif sign in ("}", "\\right", "\\end"):
            depth -= 1
        deepest = max(deepest, depth)
    return deepest


def _has_glyphs(content: str) -> bool:
    """Return whether the mathematical font can have all letters: it has Latin, Greek, Cyrillic and signs."""
    return all(sign < "\u0590" or "\u1e00" <= sign < "\u2e80" or "\U0001d400" <= sign < "\U0001d800" for sign in content)

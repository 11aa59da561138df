"""One section of a token sheet in the view: closed, its first lines, or all of them."""

import time
from typing import Literal

from app.chat.inspector.token_lines import TokenLines

type Opening = Literal["closed", "short", "open"]

HEADER, UNDER_HEADER, BETWEEN_LINES, MORE = 20, 4, 4, 20
SHORT_LINES, LONG = 2, 80
_SHORT_S = 0.05


class TokenBlock:
    """Knows how high a section is and what stands where in it, from its own top. A `long` one begins with its first lines.

    `chip` is the height of a token in pixels.
    """

    def __init__(self, lines: TokenLines, chip: int, *, whole: bool = False) -> None:
        self.lines, self.chip = lines, chip
        self.long = lines.stop - lines.start > LONG and not whole
        self.opening: Opening = "short" if self.long else "open"

    @property
    def pitch(self) -> int:
        """Pixels from one line to the next."""
        return self.chip + BETWEEN_LINES

    def restart(self, room: int) -> None:
        """Break the lines anew for `room` pixels: the first ones at once, the others by `lay`."""
        self.lines.restart(room)
        if self.opening == "short":
            self.lines.lay(time.perf_counter() + _SHORT_S, SHORT_LINES)

    def lay(self, until: float) -> bool:
        """Break more lines until the clock says `until`; return whether nothing is left to do."""
        return self.opening != "open" or self.lines.lay(until)

    @property
    def shown(self) -> int:
        """Lines that are shown."""
        return {"closed": 0, "short": min(SHORT_LINES, self.lines.count), "open": self.lines.count}[self.opening]

    @property
    def shown_stop(self) -> int:
        """The first token after those that are shown."""
        return self.lines.line(self.shown - 1).stop if self.shown else self.lines.start

    @property
    def more(self) -> str:
        """What the link under the lines says; empty where there is none."""
        hidden = self.lines.stop - self.shown_stop
        if self.opening == "short" and hidden:
            return f"{hidden:,} more"
        return "Show fewer" if self.opening == "open" and self.long and self.lines.done else ""

    @property
    def height(self) -> int:
        """Pixels from the header's top to the end."""
        if self.opening == "closed":
            return HEADER
        return HEADER + UNDER_HEADER + self.shown * self.pitch + (MORE if self.more else 0)

    def line_at(self, y: int) -> int:
        """Return the shown line at a height, -1 for none."""
        number = (y - HEADER - UNDER_HEADER) // self.pitch
        return number if y >= HEADER + UNDER_HEADER and number < self.shown else -1

    def line_top(self, number: int) -> int:
        """Return where a line begins."""
        return HEADER + UNDER_HEADER + number * self.pitch

    def more_top(self) -> int:
        """Return where the link under the lines begins."""
        return self.line_top(self.shown) - 4

    def next_opening(self) -> Opening:
        """Return what a press on the link or Return leads to."""
        if self.opening == "closed":
            return "short" if self.long else "open"
        if self.opening == "short":
            return "open"
        return "short" if self.long else "closed"

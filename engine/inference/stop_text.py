"""Stop texts, matched across token boundaries and never shown."""

from collections.abc import Sequence


class StopText:
    """Passes a streamed reply through until one of `stops` is complete; empty ones are ignored.

    The match that completes first wins; of those that complete together, the longest. So the result does not depend on how the
    text was cut into pieces. The longest tail that could still become a stop is held back.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(dict.fromkeys(stop for stop in stops if stop))
        self._held = ""
        self._stopped = False

    def add(self, text: str) -> tuple[str, bool]:
        """Return the text that is safe to show now, and whether a stop was met; after that, always `("", True)`."""
        if self._stopped:
            return "", True
        buffer = self._held + text
        matches = [(start + len(stop), start) for stop in self._stops if (start := buffer.find(stop)) >= 0]
        if matches:
            self._stopped = True
            self._held = ""
            return buffer[: min(matches)[1]], True
        safe = len(buffer) - max((overlap(buffer, stop) for stop in self._stops), default=0)
        self._held = buffer[safe:]
        return buffer[:safe], False

    def finish(self) -> str:
        """Return what was held back: the reply is over, so it can't become a stop any more."""
        held, self._held = self._held, ""
        return held


def overlap(text: str, marker: str) -> int:
    """Return the length of the longest end of `text` that is a beginning of `marker`, but not all of it."""
    for length in range(min(len(text), len(marker) - 1), 0, -1):
        if text.endswith(marker[:length]):
            return length
    return 0

"""How long to wait for what passes by itself."""

from engine.core.hub_errors import HubError

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
"""The longest time between two tries, unless the hub asks for more."""


class Backoff:
    """Pauses between tries: twice as long each time, or as long as the hub asks for."""

    def __init__(self) -> None:
        self._next_s = FIRST_PAUSE_S

    def restart(self) -> None:
        """Begin with the shortest pause again: something was gained."""
        self._next_s = FIRST_PAUSE_S

    def pause_s(self, error: HubError) -> float:
        """Return the seconds to wait after an error."""
        seconds = self._next_s if error.retry_s is None else error.retry_s
        self._next_s = min(LONGEST_PAUSE_S, 2 * self._next_s)
        return seconds

"""What the command line prints: data on stdout, everything else on stderr."""

import json
import sys
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from engine.core.errors import ErrorInfo
from engine.core.keep_messages import QuantizeProgress
from engine.core.messages import Event, ImportProgress, LoadProgress, MemoryMeasured
from engine.core.sizes import size_text

DELETE, CONTROLS_END = 0x7F, 0xA0


def plain(text: str) -> str:
    """Return a text with its control characters made visible, but for tabs and line ends.

    Names, notes, cards and error texts come from anywhere: what they hold must not move, colour or retitle a terminal.
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text.replace("\r\n", "\n")))


def _visible(letter: str) -> str:
    code = ord(letter)
    if code < ord(" ") and letter not in "\t\n":
        return chr(0x2400 + code)  # Unicode's pictures of them: “␛”.
    return "\ufffd" if DELETE <= code < CONTROLS_END else letter


def say(text: str, stream: TextIO | None = None, end: str = "\n") -> None:
    """Print a text to stdout, or to `stream`: plain on a terminal, as it is into a file or another program."""
    stream = stream or sys.stdout
    print(plain(text) if stream.isatty() else text, end=end, flush=True, file=stream)


def print_json(data: Any) -> None:
    """Print one line of JSON, in plain ASCII where the output can't take more."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("_", "-")
    line = json.dumps(data, ensure_ascii=not encoding.startswith("utf-"))
    # JSON escapes the control characters up to 31 by itself; those from 127 on it may hold as they are, a terminal obeys.
    controls = {code: f"\\u{code:04x}" for code in range(DELETE, CONTROLS_END)}
    print(line.translate(controls), flush=True)


def complain(error: ErrorInfo) -> int:
    """Print an error's sentence, its hint and the page that mends it to stderr; return its exit status."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text.assemble(("Error: ", "bold red"), plain(error.text)))
    if error.hint:
        console.print(Text(plain(error.hint)))
    if error.link:
        console.print(Text(plain(error.link)))
    return error.exit_code


class Refused(Exception):
    """What was asked of the engine ended in an error, which ends the command as if it had been raised here."""

    def __init__(self, error: ErrorInfo) -> None:
        super().__init__(error.text)
        self.error = error


def note(text: str) -> None:
    """Print a remark to stderr."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(plain(text)))


class WaitingBar:
    """A progress bar on stderr for imports, loads and quantizations, only where stderr is a terminal.

    It is gone before anything else happens: it redraws its line ten times a second, and a reply may stand on that line.
    """

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task("", total=1.0)
        self._running = False

    def __enter__(self) -> "WaitingBar":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def show(self, event: Event) -> None:
        """Move the bar if the event is about an import, a load or a quantization, else take it away."""
        if isinstance(event, ImportProgress):
            fraction, stage = event.done_bytes / max(1, event.total_bytes), "Importing the model"
        elif isinstance(event, LoadProgress):
            fraction, stage = event.fraction, event.stage
        elif isinstance(event, QuantizeProgress):
            fraction, stage = event.fraction, f"{event.stage} (will take {size_text(event.predicted_bytes)})"
        else:
            if not isinstance(event, MemoryMeasured):  # These come at any time.
                self._stop()
            return
        if not self._running:
            self._running = True
            self._progress.start()
        self._progress.update(self._task, completed=fraction, description=plain(stage))

    def _stop(self) -> None:
        if self._running:
            self._running = False
            self._progress.stop()

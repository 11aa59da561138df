"""What the command line prints: data on stdout, everything else on stderr."""

import json
import sys
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from engine.core.errors import ErrorInfo
from engine.core.keep_messages import QuantizeProgress
from engine.core.messages import Event, ImportProgress, LoadProgress, MemoryMeasured
from engine.core.sizes import size_text

MEGABYTE = 1_000_000
GIGABYTE = 1_000_000_000


def print_json(data: Any) -> None:
    """Print one line of JSON, in plain ASCII where the output can't take more."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("_", "-")
    print(json.dumps(data, ensure_ascii=not encoding.startswith("utf-")), flush=True)


def complain(error: ErrorInfo) -> int:
    """Print an error's sentence, its hint and the page that mends it to stderr; return its exit status."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text.assemble(("Error: ", "bold red"), error.text))
    if error.hint:
        console.print(Text(error.hint))
    if error.link:
        console.print(Text(error.link))
    return error.exit_code


def note(text: str) -> None:
    """Print a remark to stderr."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(text))


class WaitingBar:
    """A progress bar on stderr for imports, loads and quantizations, only where stderr is a terminal.

    It is gone before anything else happens: it redraws its line ten times a second, and a reply may stand on that line.
    """

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
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
        self._progress.update(self._task, completed=fraction, description=stage)

    def _stop(self) -> None:
        if self._running:
            self._running = False
            self._progress.stop()

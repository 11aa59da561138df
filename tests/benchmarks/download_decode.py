"""Decode rate (tokens a second after the first) while a model is downloaded, against the same engine with nothing to fetch.

The same greedy reply, in turn with a download and with it paused; the engine fetches as ever: on its own thread, checked and
forced to the disk chunk by chunk. The hub is on loopback in a process of its own and sends 20 MB a second (`--rate`), the rate
of a good line: flat out it would take a core itself, which no hub far away does. What it still takes counts against us.
To reach: at least 0.95 of the rate without a download.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.core.errors import FlintError
from engine.core.hub_facts import Download
from engine.core.hub_messages import DownloadsListed, ListDownloads, PauseDownload, StartDownload
from tests.benchmarks.engines import FlintEngine
from tests.benchmarks.timing import alternate, options, own_home, report

AT_LEAST = 0.95
PROMPT = "Write a long story about a lighthouse keeper who finds a map in a bottle. Tell every detail of the journey."
SERVER = Path(__file__).parents[1] / "hub" / "throttled.py"
MODEL_ID = "org/Large-1B"
SIZE_GB = 8
PATIENCE_S = 60


class Fetching:
    """A download that goes on and pauses at will; `megabytes` and `seconds` are of the time it went on."""

    def __init__(self, engine: FlintEngine) -> None:
        self._engine = engine
        self._asked = 0
        self.megabytes = self.seconds = 0.0

    @contextlib.contextmanager
    def going(self) -> Iterator[None]:
        """Fetch while the block runs; it begins once bytes arrive."""
        before = self._download()
        held = before.done_bytes if before else 0
        self._engine.ask(StartDownload(self._request(), MODEL_ID))
        self._until(lambda one: one.state == "running" and one.done_bytes > held)
        first, started = self._now().done_bytes, time.perf_counter()
        yield
        self.megabytes += (self._now().done_bytes - first) / 1e6
        self.seconds += time.perf_counter() - started
        self._engine.ask(PauseDownload(self._request(), MODEL_ID))
        self._until(lambda one: one.state == "paused")

    def _request(self) -> str:
        self._asked += 1
        return f"download-{self._asked}"

    def _download(self) -> Download | None:
        events = self._engine.ask(ListDownloads(self._request()))
        listed = next(event for event in events if isinstance(event, DownloadsListed))
        return next(iter(listed.downloads), None)

    def _now(self) -> Download:
        download = self._download()
        if download is None or download.state not in ("queued", "running", "paused"):
            sys.exit(f"Error: the download stopped: {download and download.error}")
        return download

    def _until(self, reached: Callable[[Download], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not reached(self._now()):
            if time.monotonic() > end:
                sys.exit("Error: the download does not move.")
            time.sleep(0.05)


@contextlib.contextmanager
def hub(rate: float) -> Iterator[None]:
    """Serve the model in another process, and name that hub in the environment."""
    command = [sys.executable, str(SERVER), str(rate), str(SIZE_GB)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        os.environ.update(HF_ENDPOINT=server.stdout.readline().strip(), HF_HUB_OFFLINE="0")
        try:
            yield
        finally:
            server.stdin.close()


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--tokens", type=int, help="tokens of a reply")
    parser.add_argument("--rate", type=float, default=20.0, help="megabytes a second that the hub sends")
    given = parser.parse_args()
    tokens = given.tokens or (16 if given.quick else 128)
    rounds = given.rounds or (1 if given.quick else 9)
    texts: set[str] = set()
    with own_home(), hub(given.rate):
        try:
            engine = FlintEngine("", "auto")
        except FlintError as error:
            sys.exit(f"Error: {error}")
        fetching = Fetching(engine)

        def measured() -> float:
            run = engine.generate(PROMPT, tokens)
            texts.add(run.text)
            return run.decode_tps

        def with_a_download() -> float:
            with fetching.going():
                return measured()

        try:
            engine.generate(PROMPT, 8)
            result = alternate(with_a_download, measured, rounds)
        finally:
            engine.close()
    report(
        "download_decode",
        ratio=result.ratio,
        at_least=AT_LEAST,
        against="the same engine without a download",
        tokens=tokens,
        same_text=len(texts) == 1,
        fetched_mb=fetching.megabytes,
        fetched_mb_per_s=fetching.megabytes / fetching.seconds,
        **result.facts("tokens/s"),
    )


if __name__ == "__main__":
    main()

"""What the benchmarks share: options, rounds that alternate, medians, a home of their own, and the one line they print."""

import argparse
import contextlib
import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


def options(description: str | None) -> argparse.ArgumentParser:
    """A parser with what every benchmark takes: `--rounds N` and `--quick`. `description` is the benchmark's docstring."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often each side is measured")
    parser.add_argument("--quick", action="store_true", help="a short run that shows that it works; its figures say little")
    return parser


@dataclass(frozen=True)
class Comparison:
    """Two samples a round, of what is measured and of what it is measured against."""

    ours: list[float]
    theirs: list[float]

    @property
    def ratios(self) -> list[float]:
        """Ours by theirs, round by round: the two of a round ran one after the other, so a machine's drift cancels out."""
        return [ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True)]

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios."""
        return statistics.median(self.ratios)

    def facts(self, unit: str) -> dict[str, object]:
        """Medians and samples, for the printed line."""
        return {
            "unit": unit,
            "ours": statistics.median(self.ours),
            "theirs": statistics.median(self.theirs),
            "rounds": len(self.ours),
            "samples": {"ours": self.ours, "theirs": self.theirs, "ratios": self.ratios},
        }


def alternate(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> Comparison:
    """Measure both in turn, `rounds` times; who goes first changes with every round. Warm up before."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            taken[side].append((ours, theirs)[side]())
    return Comparison(*taken)


def report(
    benchmark: str, *, ratio: float, against: str, at_least: float | None = None, at_most: float | None = None, **facts: object
) -> None:
    """Print the verdict as one line of JSON. Exactly one of `at_least` and `at_most` is the bound of `ratio`."""
    bound = at_least if at_most is None else at_most
    assert bound is not None
    line = {
        "benchmark": benchmark,
        "ratio": ratio,
        "bound": bound,
        "wanted": "at least" if at_most is None else "at most",
        "against": against,
        "holds": ratio >= bound if at_most is None else ratio <= bound,
        **facts,
        "machine": machine(),
    }
    print(json.dumps(_rounded(line), ensure_ascii=False), flush=True)


def machine() -> dict[str, object]:
    """What the figures were taken on, and how busy it was: a load above 1 or so spoils them."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load_1min": os.getloadavg()[0],
        "python": platform.python_version(),
    }


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that `percent` of the sorted values are at or below (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


@contextlib.contextmanager
def own_home() -> Iterator[Path]:
    """A fresh, temporary `FLINT_HOME` and an empty Hugging Face cache for this process and its children; no network."""
    with tempfile.TemporaryDirectory(prefix="flint-benchmark-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        os.environ.update(FLINT_HOME=str(home / "flint"), HF_HOME=str(home / "hf"), HF_HUB_OFFLINE="1")
        os.environ.pop("HF_HUB_CACHE", None)
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        yield home / "flint"


def use_a_screen_if_any(environ: Mapping[str, str] = os.environ) -> None:
    """Let Qt draw into memory where there is no screen; call it before Qt is imported. `QT_QPA_PLATFORM` is obeyed."""
    if sys.platform.startswith("linux") and not environ.get("DISPLAY") and not environ.get("WAYLAND_DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def _rounded(value: object) -> object:
    """The same with floats at five digits: no timing here is finer."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value

"""Flint in processes of their own, from the repository as it stands."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONG_S = 120
"""Far more than anything waited for takes: only a hang meets it."""


@contextlib.contextmanager
def flint_window(what, *, before=(), **options):
    """Start a window with somebody at it (see `run_flint`), by a command `before` it; it is gone afterwards, whatever happened."""
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "tests.app.run_flint", what],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def next_fact(process):
    """Return what the process says next."""
    line = process.stdout.readline()
    assert line, f"the process ended with {process.wait()}: {process.stderr.read()}"
    return json.loads(line)


def run_window(what, **options):
    """Run a window to its end; return (exit status, what was said, stderr). `options` as of `flint_window`."""
    with flint_window(what, **options) as process:
        out, err = process.communicate(timeout=LONG_S)
        return process.returncode, [json.loads(line) for line in out.splitlines()], err


def flint(*arguments, before=(), **options):
    """Run `flint` with arguments (without any: its window) to its end, by a command `before` it."""
    command = [*before, sys.executable, "-m", "app", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONG_S, check=False, **options)

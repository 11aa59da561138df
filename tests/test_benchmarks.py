"""Every benchmark of `tests/benchmarks/` runs alone, by one command, and prints one line of JSON with its verdict."""

import ast
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "benchmarks"
FIELDS = {"benchmark", "ratio", "bound", "wanted", "against", "holds", "machine"}
PROMISED = {
    "decode_rate",
    "download_decode",
    "flush",
    "gui_memory",
    "open_chat",
    "prefill_rate",
    "sidebar",
    "window_streaming",
    "window_time",
}


def found():
    """The scripts that print a verdict, by what they do: they call `report`."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if "\n    report(" in path.read_text("utf-8"))


def run(name, *arguments):
    environ = {name: value for name, value in os.environ.items() if name != "FLINT_HOME"}
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)


def quick(name):
    done = run(name, "--quick")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.stdout
    return json.loads(lines[0])


def check(name, line):
    """The fields are there, and the verdict follows from the figures."""
    assert set(line) >= FIELDS
    assert line["benchmark"] == name
    assert math.isfinite(line["ratio"])
    assert line["ratio"] > 0
    held = line["ratio"] >= line["bound"] if line["wanted"] == "at least" else line["ratio"] <= line["bound"]
    assert line["holds"] is held
    assert line["against"]


def test_every_promised_benchmark_is_there():
    assert set(found()) >= PROMISED


@pytest.mark.parametrize("name", found())
def test_a_benchmark_says_what_it_compares_and_what_is_to_be_reached(name):
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert "--quick" in done.stdout
    assert name not in PROMISED or "To reach: at" in " ".join(done.stdout.split())
    assert ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))).splitlines()[0] in done.stdout


def test_a_quick_run_prints_one_line_with_its_verdict():
    line = quick("window_time")
    check("window_time", line)
    assert len(line["samples"]["ours"]) == line["rounds"] == 2


def test_the_gui_process_has_no_model_library_before_a_load():
    line = quick("gui_memory")
    check("gui_memory", line)
    assert line["heavy_modules"] == []


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(PROMISED - {"window_time", "gui_memory"}))
def test_a_quick_run_that_takes_longer_prints_one_line_with_its_verdict(name):
    check(name, quick(name))


def test_a_model_that_is_not_there_is_told_in_words():
    done = run("decode_rate", "--quick", "--model", "no-such-model")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr

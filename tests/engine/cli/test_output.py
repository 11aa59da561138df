"""What the terminal gets to see."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

import engine.cli
from engine.cli.output import WaitingBar, complain, note, plain, print_json, say
from engine.cli.table import Column, print_facts, print_table
from engine.core.errors import ErrorInfo
from engine.core.messages import ImportProgress, LoadProgress, TextDelta
from engine.core.sizes import size_text


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 MB"), (98_362_432, "98 MB"), (999_400_000, "999 MB"), (10**9, "1.0 GB"), (4_520_000_000, "4.5 GB")],
)
def test_sizes_read_as_people_say_them(size, text):
    assert size_text(size) == text


def test_json_is_one_line_whatever_the_text_holds(capsys):
    print_json({"text": "a\nb\u2028c “ö” 🦊"})
    out = capsys.readouterr().out
    assert out.endswith("\n")
    assert out.count("\n") == 1
    assert json.loads(out)["text"] == "a\nb\u2028c “ö” 🦊"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_survives_an_output_of_another_alphabet(monkeypatch, encoding):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding, errors="replace"))
    print_json({"text": "ö 🦊"})
    assert json.loads(raw.getvalue().decode(encoding)) == {"text": "ö 🦊"}


def test_an_error_is_a_sentence_and_a_hint_on_stderr(capsys):
    assert complain(ErrorInfo("x", "It [bold]broke[/bold].", "Mend /a/very/long/path/" + "x" * 200, 17, 500)) == 17
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["Error: It [bold]broke[/bold].", "Mend /a/very/long/path/" + "x" * 200]


def test_a_note_goes_to_stderr_unchanged(capsys):
    note("[/x] as it is")
    assert capsys.readouterr() == ("", "[/x] as it is\n")


def test_the_bar_is_silent_where_stderr_is_no_terminal(capsys):
    with WaitingBar() as bar:
        bar.show(LoadProgress("a", "one", 0.5, "Reading"))
        bar.show(TextDelta("a", "x", "", 1, 0.0, 1, 0.0))
    assert capsys.readouterr() == ("", "")


def test_the_bar_is_gone_before_the_first_word_and_stays_away(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with WaitingBar() as bar:
        bar.show(ImportProgress("a", 10, 100))
        bar.show(LoadProgress("a", "one", 0.5, "Reading the weights"))
        assert "Importing the model" in terminal.getvalue() or bar._progress.tasks[0].description == "Reading the weights"
        bar.show(TextDelta("a", "x", "", 1, 0.0, 1, 0.0))
        shown = terminal.getvalue()
        assert not bar._progress.live.is_started
        bar.show(TextDelta("a", "y", "", 2, 0.0, 1, 0.0))
    assert terminal.getvalue() == shown
    assert shown


HOSTILE = "Nice\x1b]0;owned\x07\x1b[31m model\x9b2J\r\b\x7f"
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def test_what_came_from_outside_can_not_order_a_terminal_about(monkeypatch):
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, Terminal())
    monkeypatch.setenv("TERM", "dumb")
    say(HOSTILE)
    note(HOSTILE)
    complain(ErrorInfo("x", HOSTILE, HOSTILE, 1, 500, HOSTILE))
    print_facts([("Name", HOSTILE)])
    print_table([Column("Model"), Column("Id", whole=True)], [(HOSTILE, HOSTILE * 9)])
    print_json({"name": HOSTILE})
    for stream in (sys.stdout, sys.stderr):
        assert "owned" in stream.getvalue()
        assert not CONTROLS.search(stream.getvalue())
    assert json.loads(sys.stdout.getvalue().splitlines()[-1]) == {"name": HOSTILE}


def test_into_a_file_a_text_goes_as_it_is(capsys):
    say(HOSTILE)
    assert capsys.readouterr().out == HOSTILE + "\n"


def test_lines_tabs_and_letters_of_all_languages_stay():
    text = "a\tb\nö 漢字 🦊 \u200d e\u0301"
    assert plain(text) == text
    assert plain("a\r\nb") == "a\nb"


def test_no_command_prints_but_through_what_makes_it_plain():
    """Each bare `print` and each text for a console is in the modules that make texts plain, or makes it so itself."""
    folder = Path(engine.cli.__file__).parent
    for path in sorted(folder.glob("*.py")):
        if path.name in ("output.py", "table.py"):
            continue
        for line in path.read_text("utf-8").splitlines():
            if re.search(r"(?<![\w.])print\(|console\.print\(|typer\.(echo|confirm|prompt)\(|add_task\(", line):
                assert "plain(" in line or "version(" in line, (path.name, line)

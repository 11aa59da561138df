"""What the terminal gets to see."""

import io
import json
import sys

import pytest

from engine.cli.output import WaitingBar, complain, note, print_json
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

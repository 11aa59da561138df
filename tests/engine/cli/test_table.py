"""The tables of the terminal: narrow, wide, and into a file."""

import fcntl
import os
import pty
import random
import re
import struct
import termios

import pytest
from rich.cells import cell_len

from engine.cli.hub import FOUND
from engine.cli.models import LISTED
from engine.cli.table import laid_out, print_facts, shortened
from tests.engine.cli.conftest import start
from tests.engine.engines import PATIENCE_S

LONG_ID = "org/" + "x" * 116
FOUND_ROWS = [
    ("Model", "Size", "Quantization", "Licence", "Downloads", "Fits"),
    ("mlx-community/Qwen2.5-Coder-7B-Instruct-4bit", "4.3 GB", "4-bit, group 64", "apache-2.0", "1,234,567", "yes"),
    ("org/Small", "12.4 GB", "8-bit", "llama3.1-community (gated)", "9", "with 32,768 tokens"),
]
LISTED_ROWS = [
    ("Model", "Id", "Size", "Quantization", "Used", "From"),
    ("Small 1B 4-bit", "org/Small-1B-4bit", "144 MB", "4-bit, group 64", "3 days ago", "Hugging Face cache, LM Studio"),
    ("x" * 120, LONG_ID, "4.5 GB", "Q4_K_M", "", "Flint: One of its files is cut short. Download it again."),
]
CASES = [(FOUND, FOUND_ROWS), (LISTED, LISTED_ROWS)]


@pytest.mark.parametrize("width", [200, 120, 80, 60, 40])
@pytest.mark.parametrize(("columns", "rows"), CASES)
def test_numbers_and_ids_are_whole_and_no_other_line_is_too_wide(columns, rows, width):
    ids = [place for place, column in enumerate(columns) if column.whole]
    for row, lines in zip(rows, laid_out(columns, rows, width), strict=True):
        assert len(lines) <= 2
        assert any(row[ids[0]] in line for line in lines)
        assert all(cell_len(line) <= width for line in lines if row[ids[0]] not in line)
        for place, column in enumerate(columns):
            if not column.long and not column.drop:
                assert any(row[place] in line for line in lines)


def test_one_long_id_takes_no_column_from_the_others():
    lines = laid_out(LISTED, LISTED_ROWS, 80)
    assert lines[1][1].strip() == "org/Small-1B-4bit"
    assert all(word in lines[1][0] for word in ("Small 1B 4-bit", "144 MB", "4-bit, group", "3 days ago", "Hugg"))
    assert all(title in lines[0][0] for title in ("Model", "Size", "Quantization", "Used", "From"))


def test_what_matters_least_goes_first():
    titles = [set(re.findall(r"\w+", " ".join(laid_out(LISTED, LISTED_ROWS, width)[0]))) for width in (60, 50, 34, 20)]
    assert [len(kept) for kept in titles] == sorted((len(kept) for kept in titles), reverse=True)
    assert "Used" not in titles[1]
    assert titles[3] == {"Model", "Id", "Size"}


def test_into_a_file_everything_is_whole(flint, models, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    row = laid_out(LISTED, LISTED_ROWS, None)[2]
    assert len(row) == 1
    assert all(cell in row[0] for cell in LISTED_ROWS[2])
    narrow = flint("models", "list").out
    monkeypatch.setenv("COLUMNS", "300")
    assert flint("models", "list").out == narrow


@pytest.mark.parametrize("seed", range(20))
def test_a_text_is_shortened_in_its_middle_to_the_cells_there_are(seed):
    chance = random.Random(seed)
    text = "".join(chance.choices("abc-漢字é🦊", k=chance.randrange(1, 60)))
    for width in range(1, 70):
        short = shortened(text, width)
        assert cell_len(short) <= width
        assert short == text or ("…" in short and (width < 5 or short[0] == text[0]))


def test_facts_without_a_value_are_left_out(capsys):
    print_facts([("Layers", "24"), ("Architecture", "llama"), ("Notes", "")])
    assert capsys.readouterr().out == "Layers        24\nArchitecture  llama\n"


def test_on_a_terminal_of_80_columns_the_list_keeps_to_it(models):
    (models / "one").rename(models / ("one-" + "x" * 100))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = start("models", "list", stdout=theirs)
    shown = b""
    os.close(theirs)
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # Linux's way to say that the other end is closed.
        pass
    process.communicate(timeout=PATIENCE_S)
    os.close(ours)
    lines = re.sub(r"\x1b\[[\d;]*m", "", shown.decode()).splitlines()
    assert {line.strip() for line in lines if len(line) > 80} == {"one-" + "x" * 100}
    assert sum(" MB  " in line for line in lines) >= 3

import ast
import re
from pathlib import Path

import pytest

from app.errors import MOST_LETTERS, in_window, notice
from engine.core import errors
from engine.core.errors import DiskFull, ErrorInfo, FileRefused, ModelNotFound, NoModelLoaded, SettingsError, describe
from engine.core.paths import locate
from engine.models.library import Library

ROOT = Path(__file__).parents[2]
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.FlintError)]


def info(text, hint="Try again.", code="internal"):
    return ErrorInfo(code, text, hint, 1, 500)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_a_sentence_and_something_to_do(kind):
    shown = notice(kind("The thing failed"))
    assert shown.title == "The thing failed."
    assert shown.hint
    assert "`" not in shown.hint


@pytest.mark.parametrize("kind", KINDS)
def test_no_standing_hint_sends_a_person_from_the_window_to_help_pages_of_the_terminal(kind):
    assert "--help" not in notice(kind("x")).hint
    assert "models list" not in notice(kind("x")).hint


def test_a_hint_for_the_case_that_ends_with_the_standing_one_names_no_command_either(flint_home):
    (flint_home / "models" / "tiny").mkdir(parents=True)
    (flint_home / "models" / "tiny" / "config.json").write_text("{}")
    library = Library(locate(), starter_package="no-such-package")
    for name in ("tinny", "zzz"):
        with pytest.raises(ModelNotFound) as caught:
            library.find(name)
        assert "`flint models list`" in caught.value.hint
        assert "flint" not in notice(caught.value).hint
        assert "moved or deleted" in notice(caught.value).hint
    assert "Did you mean" in notice(ModelNotFound("x", f"Did you mean y? {ModelNotFound.default_hint}")).hint


def test_only_what_a_window_has_no_way_for_is_named_as_a_command():
    assert in_window("None was found. `flint models import FILE.gguf` imports one. Good luck!") == "None was found. Good luck!"
    assert in_window("Run `flint doctor` and report it.") == "Run “flint doctor” and report it."


def words(path):
    """Return the texts of a source file that are no docstrings; of those with fields, the parts between them."""
    tree = ast.parse(path.read_text("utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [node.value for node in constants if id(node) not in told]


def test_every_command_in_a_text_of_the_engines_is_marked_so_that_a_window_can_leave_it_out():
    files = [path for path in (ROOT / "engine").rglob("*.py") if "cli" not in path.parts]
    named = [text for path in files for text in words(path) if re.search(r"\bflint (models|chat|cache|doctor|--)", text)]
    assert named
    assert [text for text in named if not re.search("`flint ", text)] == []


def test_no_part_of_the_window_tells_a_hint_as_the_engine_has_it():
    files = [path for path in (ROOT / "app").rglob("*.py") if path.name != "errors.py"]
    assert [path.name for path in files if re.search(r"\b(error|info)\.hint\b", path.read_text("utf-8"))] == []


def test_a_hint_made_for_the_case_is_kept():
    assert notice(ModelNotFound("No such model.", "Did you mean a or b?")).hint == "Did you mean a or b?"


def test_an_error_that_is_not_flints_is_told_without_its_insides():
    shown = notice(ZeroDivisionError("division by zero"))
    assert shown.title == "Something went wrong inside Flint (ZeroDivisionError)."
    assert shown.stays


def test_an_event_and_the_exception_it_came_from_are_shown_alike():
    error = DiskFull("The disk is full: a could not be written to b.")
    assert notice(describe(error)) == notice(error)


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: x',
        '  File "a.py", line 3, in f\n    x()',
        "",
        "  \n ",
    ],
)
def test_a_traceback_is_never_shown(text):
    assert notice(info(text)).title == "Something went wrong inside Flint."


def test_what_stands_before_a_traceback_is_kept():
    text = 'The model could not be read\nTraceback (most recent call last):\n  File "a.py", line 3'
    assert notice(info(text)).title == "The model could not be read."


def test_a_long_text_ends_at_a_word_with_dots():
    shown = notice(info("word " * 200))
    assert len(shown.title) <= MOST_LETTERS
    assert shown.title.endswith("word…")


@pytest.mark.parametrize("end", [".", "!", "?", "…"])
def test_a_sentence_keeps_its_own_end(end):
    assert notice(info(f"Really{end}")).title == f"Really{end}"


def test_commands_stand_in_quotes():
    assert notice(info("x", "Run `flint doctor` now.")).hint == "Run “flint doctor” now."


def test_errors_stay_and_a_reminder_goes():
    assert (notice(DiskFull("x")).stays, notice(DiskFull("x")).kind) == (True, "error")
    for kind in (NoModelLoaded, SettingsError, FileRefused):
        assert (notice(kind("x")).stays, notice(kind("x")).kind) == (False, "refusal")


def test_an_error_leads_to_where_it_can_be_mended():
    assert (notice(ModelNotFound("x")).place, notice(ModelNotFound("x")).action) == ("models", "Open Models")
    assert (notice(SettingsError("x")).place, notice(SettingsError("x")).action) == ("settings", "Open Settings")
    assert (notice(DiskFull("x")).place, notice(DiskFull("x")).action) == ("", "")

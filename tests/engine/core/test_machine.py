"""What Flint runs on has one name, by the platform."""

import ast
import re
from pathlib import Path

import engine
from engine.cli.main import run
from engine.core.machine import THIS_MACHINE

ROOT = Path(engine.__file__).parents[1]
NAMED = re.compile(r"\b[Tt]his (machine|Mac|computer)\b")


def shown_strings(path):
    """The strings of a source file, without its docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)}
    loose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # Docstrings of attributes.
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs | loose:
            yield node.value


def test_no_words_but_one_name_what_flint_runs_on():
    sources = [path for folder in ("app", "engine") for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(sources) > 300
    found = {path.relative_to(ROOT).as_posix(): text for path in sources for text in shown_strings(path) if NAMED.search(text)}
    assert list(found) == ["engine/core/machine.py"], found


def test_the_help_says_it_so_too(flint_home, capsys):
    for arguments in (("--help",), ("models", "--help")):
        assert run(arguments) == 0
        help_text = " ".join(capsys.readouterr().out.replace("│", " ").split())
        assert THIS_MACHINE in help_text
        assert "this machine" not in help_text

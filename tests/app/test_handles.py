"""Every handle of the window is driven by a test: those that tests name in their `drives` marks against those there are."""

import ast
from pathlib import Path

TESTS = Path(__file__).parent
APP = Path(__file__).parents[2] / "app"

# Handles of what only shows something or only holds other parts: no input is meant for it.
PASSIVE = {
    "a label": ("note.*", "helpText.*", "none.*", "*Label", "*Note", "*Count", "*Empty"),
}


def driven():
    """The names that tests mark, with `*` for an id."""
    names = set()
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.drives":
                names |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
    return names


def named(tree):
    """The names that a file's code gives to widgets, each f-string's fields as `*`."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "setObjectName"
            and node.args
        ):
            name = pattern(node.args[0])
            if name and name != "*":
                yield name


def pattern(node):
    """The text of a constant or of an f-string; nothing for what is only known when it runs."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "*" for part in node.values)
    return ""


def handles():
    """Every name in the app's code, with the file that gives it."""
    return {name: path for path in APP.rglob("*.py") for name in named(ast.parse(path.read_text("utf-8")))}


def test_there_are_handles_and_marks():
    assert len(handles()) > 100
    assert len(driven()) > 100

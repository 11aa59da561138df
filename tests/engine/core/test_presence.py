"""Whether something is there is asked so that a closed folder raises nothing, wherever models are looked for."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3]
RAISING = {"exists", "is_dir", "is_file"}
SOURCES = [*(ROOT / "app").rglob("*.py"), *(ROOT / "engine" / "models").rglob("*.py"), ROOT / "engine" / "librarian.py"]


def asked_so_that_it_raises(path):
    """Return the lines that ask so; the entries of a folder that was read, `entry`, are no paths."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    asked = [call for call in calls if isinstance(call, ast.Attribute) and call.attr in RAISING]
    return [call.lineno for call in asked if not (isinstance(call.value, ast.Name) and call.value.id == "entry")]


def test_nothing_is_asked_in_a_way_that_a_closed_folder_raises():
    found = {str(path.relative_to(ROOT)): lines for path in SOURCES if (lines := asked_so_that_it_raises(path))}
    assert not found, "engine.core.presence asks that without raising"

"""Tests say the same at any hour, and however busy the machine is."""

import ast
from pathlib import Path

from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
BESIDE_FLINTS_CLOCK = {"app/settings/test_storage.py", "engine/cli/test_keep.py"}
"""These put something some days, or an hour, before what Flint notes itself."""


def test_no_example_has_to_be_quick():
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


def test_a_test_that_needs_a_moment_names_one():
    clocks = {"time.time", "datetime.now", "datetime.today", "date.today", "datetime.datetime.now", "datetime.date.today"}
    asking = set()
    for path in TESTS.rglob("test_*.py"):
        calls = (node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
        if any(ast.unparse(call) in clocks for call in calls):
            asking.add(path.relative_to(TESTS).as_posix())
    assert asking == BESIDE_FLINTS_CLOCK

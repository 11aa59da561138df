"""A bound on the work of a chat template: its loops may be written so that they would end in years, or never.

Its steps are counted, not the time: what a template is given up for on one machine, it is on every other. A step is a jump, as
each turn of a loop ends with, or a call of a macro; Python's own monitoring tells of both.
"""

import contextlib
import functools
import sys
import threading
from collections.abc import Iterator
from math import inf
from types import CodeType

from engine.core.errors import TemplateError

STEPS = 2_000_000
"""A template takes some ten for each message, and half a second for so many."""
BROKEN_HINT = "The model's files carry a faulty chat template. Download or import the model again, or choose another model."

_TOOL = 4


class _Left(threading.local):
    """How many steps a thread has left: any number, but while something is rendered with a bound."""

    steps: float = inf


@contextlib.contextmanager
def bounded(template: str) -> Iterator[None]:
    """Let a template, given by its text, be rendered on this thread in so many steps.

    Raises `TemplateError` in the middle of one that takes more.
    """
    left = _left()
    with contextlib.suppress(Exception):  # Whatever keeps it from being compiled is told when it is rendered.
        from transformers.utils.chat_template_utils import _compile_jinja_template

        _count(_compile_jinja_template(template).root_render_func.__code__)
    left.steps = STEPS
    try:
        yield
    finally:
        left.steps = inf


@functools.cache
def _left() -> _Left:
    """Have Python's monitoring count the steps of each thread, from the first bound on."""
    left = _Left()

    def step(*_where: object) -> None:
        left.steps -= 1
        if left.steps < 0:
            text = f"The model's chat template does not come to an end: it was given up after {STEPS:,} steps."
            raise TemplateError(text, BROKEN_HINT)

    sys.monitoring.use_tool_id(_TOOL, "flint-templates")
    for event in (sys.monitoring.events.JUMP, sys.monitoring.events.PY_START):
        sys.monitoring.register_callback(_TOOL, event, step)
    return left


def _count(code: CodeType) -> None:
    """Have the steps counted in code and in what is defined in it: the macros, and loops with a condition."""
    sys.monitoring.set_local_events(_TOOL, code, sys.monitoring.events.JUMP | sys.monitoring.events.PY_START)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            _count(each)

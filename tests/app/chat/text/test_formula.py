"""Formulas as pictures: what can be drawn, what is refused, and that nothing takes long."""

import itertools
import sys
import time
from math import inf

import pytest

from app.chat.text.formula import draw_formula, prepared
from app.chat.text.formulas import Drawing, Formulas


@pytest.mark.parametrize(
    "content",
    [
        "x",
        r"\frac{a}{b}",
        r"\sum_{i=1}^n \frac{1}{i^2} = \frac{\pi^2}{6}",
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1}",
        r"\begin{bmatrix} 1 \\ 2 \end{bmatrix}_i",
        r"\begin{cases} 1 & x>0 \\ 0 & \text{otherwise} \end{cases}",
        r"\begin{aligned} a &= b \\ c &= d \end{aligned}",
        r"a &= b \\ c &= d",
        r"\mathbb{R}^n \to \mathcal{L}",
        r"\operatorname{softmax}(x)_i",
        r"\sqrt[3]{x} + \hat{\beta}",
        r"x \tag{1} \label{eq}",
        r"\dfrac{1}{2} \tfrac{1}{2} \dbinom{n}{k}",
        r"\left( \frac{a}{b} \right)^2",
        r"\|x\|_2 \lVert x \rVert",
        r"x < 5 > 3",
    ],
)
def test_what_models_write_can_be_drawn(content):
    formula = draw_formula(content, display=True)
    assert formula is not None
    assert formula.width > 4
    assert formula.ascent > 4
    assert b"<path" in formula.svg


def test_a_fraction_reaches_under_the_baseline_and_is_larger_set_apart():
    small, large = draw_formula(r"\frac{a}{b}", display=False), draw_formula(r"\frac{a}{b}", display=True)
    assert 3 < small.descent < large.descent
    assert small.ascent < large.ascent


@pytest.mark.parametrize(
    "content",
    [
        r"\frac{",
        "}{",
        "",
        r"\\",
        "x" * 5_000,
        "{" * 100 + "x" + "}" * 100,
        r"\frac{" * 40 + "x" + "}{y}" * 40,
        r"\left(" * 50 + "x" + r"\right)" * 50,
        "中文",
        "שלום",
        "👍",
        r"\text{</mtext><image href='file:///etc/passwd'/><mtext>}",
        r"\text{<mglyph src='http://example.org'/>}",
        "\x00",
        "&&&&\\\\&&",
    ],
)
def test_what_can_not_be_drawn_is_refused(content):
    assert draw_formula(content, display=False) is None


@pytest.mark.parametrize(
    "content", [r"\href{http://example.org}{y}", r"\includegraphics{x}", r"\input{/etc/passwd}", r"\url{file:///x}"]
)
def test_a_drawing_is_lines_and_refers_to_nothing(content):
    formula = draw_formula(content, display=False)
    assert formula is None or b"href" not in formula.svg
    assert formula is None or b"<image" not in formula.svg


def test_one_that_takes_too_long_is_given_up(monkeypatch):
    begun = []
    monkeypatch.setattr("app.chat.text.formula._drawn", lambda *_: begun.append(1) or spin())
    assert draw_formula("{{{{x}}}}", display=False, most_s=0.05) is None
    assert begun
    assert sys.getprofile() is None


def spin(seconds=inf):
    """Work for nothing, for so long on this thread's own clock."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_one_that_has_to_wait_for_the_processor_is_drawn_all_the_same(monkeypatch):
    hours = itertools.count(step=3600)
    monkeypatch.setattr("app.chat.text.formula.time.perf_counter", lambda: next(hours))
    monkeypatch.setattr("app.chat.text.formula.time.monotonic", lambda: next(hours))
    assert draw_formula("{{{{x}}}}", display=False) is not None


def test_numbering_is_left_out_and_environments_are_braced():
    assert prepared(r"x \tag{1} \nonumber") == "x"
    assert prepared(r"\begin{pmatrix}a\end{pmatrix}^T") == r"{\begin{pmatrix}a\end{pmatrix}}^T"
    assert prepared(r"a &= b \\ c &= d") == r"\begin{aligned}a &= b \\ c &= d\end{aligned}"
    assert prepared(r"\dfrac12 \dfraction") == r"\frac12 \dfraction"


def test_each_is_drawn_once_off_the_caller_thread(qtbot):
    drawing = Formulas()
    with qtbot.waitSignal(drawing.drawn):
        assert drawing.get("x+1", False) is Drawing.PENDING
    drawing.wait()
    formula = drawing.get("x+1", False)
    assert formula.width > 10
    assert drawing.get("x+1", False) is formula
    assert drawing.get(r"\frac{", False) is Drawing.PENDING
    drawing.wait()
    assert drawing.get(r"\frac{", False) is Drawing.FAILED


def test_the_oldest_are_forgotten(qtbot, monkeypatch):
    monkeypatch.setattr("app.chat.text.formulas._KEPT", 2)
    drawing = Formulas()
    for content in ("a", "b", "c"):
        drawing.get(content, False)
        drawing.wait()
    assert drawing.get("c", False) is not Drawing.PENDING
    assert drawing.get("a", False) is Drawing.PENDING


def test_a_thousand_that_can_not_be_drawn_take_little_time(qtbot, monkeypatch):
    monkeypatch.setattr("app.chat.text.formulas._WASTED_S", 0.05)
    given = []

    def fail(content, display, most_s):
        given.append(most_s)
        spin(0.03)

    monkeypatch.setattr("app.chat.text.formulas.draw_formula", fail)
    drawing = Formulas()
    for number in range(8):
        drawing.get(str(number), False)
    drawing.wait()
    assert given[0] == 1.5
    assert given[-3:] == [0.15000000000000002] * 3

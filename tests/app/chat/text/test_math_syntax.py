"""What is a formula, and what only has dollars or brackets in it."""

import pytest

from app.chat.text.blocks import Equation, Mark, Paragraph
from app.chat.text.markdown import StreamReader, read
from app.chat.text.math_syntax import inside


def formulas_in(text):
    found = []
    for block in read(text):
        if isinstance(block, Equation):
            found.append(block.source)
        elif isinstance(block, Paragraph):
            found += [run.text for run in block.runs if Mark.MATH in run.marks]
        elif hasattr(block, "rows"):
            found += [run.text for row in block.rows for cell in row for run in cell if Mark.MATH in run.marks]
    return found


def text_in(text):
    return "".join(run.text for block in read(text) if isinstance(block, Paragraph) for run in block.runs)


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $10.",
        "Between $5 and $10, or $5-$10, or $5/$10.",
        "From $1,000.50 to $2,000.",
        "$5M–$7M a year, ~$20k",
        "A $20 note, and US$",
        "US$5, A$6, NT$7 and R$ 8 or R$ 9",
        "5$ and 10$",
        "5 $ or 6 $",
        "**$5** or **$6**",
        "($5)/($6), $5…$6, [$5], $5 → $6",
        "$20 = 15 €, so 5$ left",
        "I paid $5 for x and you $6 for y",
        "$5 million dollars$",
        "set $HOME and $PATH",
        "$HOME/bin:$PATH",
        "$HOME/$USER/x",
        "echo $(date) and $(whoami)",
        "${A}/${B} and ${C}${D}",
        "$1 $2 $@ $# $? $!",
        "exit code $? and pid $!",
        "kill -9 $$ && echo $$",
        "cheap ($), dear ($$) or dearer ($$$)",
        "$ or $$ or $$$",
        "$var1=$var2; $i<$n; $x+$y",
        "foo($a, $b) { return $a; }",
        "$('#a').hide(); $('#b').show()",
        "$.ajax and $.get",
        "=SUM($A$1:$B$2)",
        "^foo$ or bar$",
        "a lone $ and nothing",
        "$ cd dir $ ls",
        "`$x$` and ``$`y`$``",
        "$a `code` b$",
        "```\n$x$\n```",
        "    $$x$$",
        r"\$5 and \$6, \$x\$",
        "https://example.org/?a=$b&c=$d",
        "$HOME is where it is and $PATH too, see also the manual$",
        r"foo\(bar\), [a]\(b\), \[link\](x)",
        r"\[see the note below\] and \(just some words\)",
        r"As shown \[1\], \[2, 3\] and \[sic\]; \[x\] done",
        r"\\host\C$\Users and \\host\D$\Users",
        "$$",
        "$$ $$",
        "$ $",
        "$.$ $,$",
        "text $x",
        r"\(x",
        "$x $y",
        "Preis: 5 $, dann 6 $.",
        "价格是$5，而另一个是$6。",
    ],
)
def test_dollars_and_brackets_in_prose_money_and_shells_are_no_formulas(text):
    assert formulas_in(text) == []


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("Let $x$ be", ["$x$"]),
        ("$x$", ["$x$"]),
        ("($x$), $y$; $z$.", ["$x$", "$y$", "$z$"]),
        ("the $n$th and $k$-means, $2$D", ["$n$", "$k$", "$2$"]),
        ("$5$ and $2x + 3y$ and $10\\%$", ["$5$", "$2x + 3y$", "$10\\%$"]),
        ("$0 < x < 1$", ["$0 < x < 1$"]),
        (r"$3 \text{ cm and more words}$", [r"$3 \text{ cm and more words}$"]),
        ("$ E = mc^2 $", ["$ E = mc^2 $"]),
        ("$a_1 * b_2 * c_3$ and _em_", ["$a_1 * b_2 * c_3$"]),
        ("$a \\bmod b$ for $velocity$", ["$a \\bmod b$", "$velocity$"]),
        ("$+$ and $\\le$", ["$+$", "$\\le$"]),
        (r"$\$5$", [r"$\$5$"]),
        (r"a 3$\times$3 kernel of 10$\mu$m", [r"$\times$", r"$\mu$"]),
        ("设$x$为数", ["$x$"]),
        ("It costs $5, where $p$ is the price", ["$p$"]),
        ("$a$ $5 $b$", ["$a$", "$b$"]),
        ("**$x$** [$y$](https://a.b)", ["$x$", "$y$"]),
        (r"\(x^2\) and \(\frac{a}{b}\)", [r"\(x^2\)", r"\(\frac{a}{b}\)"]),
        ("inline $$x^2$$ too", ["$$x^2$$"]),
        (r"so \[x = y\] holds", [r"\[x = y\]"]),
        ("$$\nx\n$$", ["$$\u2028x\u2028$$"]),
        ("text:\n$$\na = b\n- c\n$$\nmore", ["$$\u2028a = b\u2028- c\u2028$$"]),
        ("\\[\n\nx = y\n\n\\]", ["\\[\u2028\u2028x = y\u2028\u2028\\]"]),
        ("- a\n  $$\n  x\n  $$\n- b", ["$$\u2028x\u2028$$"]),
        ("> $$x$$", ["$$x$$"]),
        ("| $a$ |\n|---|\n| $b$ |", ["$a$", "$b$"]),
        ("# The $\\sigma$-algebra", ["$\\sigma$"]),
        ("$x\n= y$", ["$x\u2028= y$"]),
    ],
)
def test_formulas_of_all_delimiters(text, formulas):
    assert formulas_in(text) == formulas


def test_what_is_no_formula_keeps_every_letter():
    assert text_in("It costs $5 and $10, $HOME $$.") == "It costs $5 and $10, $HOME $$."


def test_a_formula_set_apart_in_a_sentence_cuts_the_paragraph():
    before, equation, after = read("So $$x$$ holds.")
    assert (before.runs[0].text, equation.source, after.runs[0].text) == ("So", "$$x$$", "holds.")


def test_the_source_stands_as_written_until_the_delimiter_closes():
    reader = StreamReader()
    reader.feed("Thus\n\n$$\na_1 * b_1\n- c_1 ")
    (run,) = reader.blocks[-1].runs
    assert (run.text, run.marks) == ("$$\u2028a_1 * b_1\u2028- c_1", Mark.SOURCE)
    reader.feed("\n$$")
    assert isinstance(reader.blocks[-1], Equation)


def test_a_formula_that_never_closes_does_not_take_the_reply_with_it():
    text = "$$\n" + "".join(f"Line {number} of text.\n\n" for number in range(200)) + "# End"
    assert read(text)[-1].level == 1


def test_the_paragraph_before_is_not_settled_while_a_formula_may_still_be_none():
    reader = StreamReader()
    for piece in ("text\n", "$$ x\n", "= 3\n", "\n", "after\n"):
        reader.feed(piece)
    assert reader.blocks == list(read("text\n$$ x\n= 3\n\nafter\n"))


@pytest.mark.parametrize(
    ("source", "content", "display"),
    [("$x$", "x", False), ("$$ x $$", "x", True), (r"\(x\)", "x", False), ("\\[\nx\n\\]", "x", True)],
)
def test_delimiters_are_taken_off(source, content, display):
    assert inside(source) == (content, display)

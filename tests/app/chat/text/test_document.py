"""A reply in a `QTextDocument`: built in place while it streams, the same to the last format as when it is built at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument

from app.chat.text.blocks import Code
from app.chat.text.code import LineLexer, find_lexer
from app.chat.text.document import Document
from app.chat.text.formats import Formats
from app.chat.text.formulas import formulas
from app.chat.text.markdown import StreamReader, read
from app.chat.text.math_object import is_drawn, source_of
from app.theme import Theme
from tests.app.chat.dump import dump
from tests.app.chat.replies import REPLIES
from tests.app.chat.text.test_markdown import cut


@pytest.fixture(scope="module")
def theme(qapp):
    return Theme()


def at_once(theme, text):
    return showing(theme, read(text))


def showing(theme, blocks):
    shown = Document(QTextDocument(), Formats(theme))
    shown.show(blocks)
    return settled(shown)


def settled(shown):
    """The same with every formula drawn and all code coloured."""
    formulas().wait()
    shown.take_formulas()
    shown.colour()
    return shown


def streamed(theme, chunks):
    shown, reader = Document(QTextDocument(), Formats(theme)), StreamReader()
    for chunk in chunks:
        unchanged = reader.feed(chunk)
        shown.show(reader.blocks, unchanged)
        shown.colour()
    unchanged = reader.finish()
    shown.show(reader.blocks, unchanged)
    return settled(shown)


def text_of(shown):
    return shown.document.toPlainText()


@pytest.mark.parametrize("before", ["", "Words.", "# A heading", "```py\nx\n```"])
@pytest.mark.parametrize("after", ["```py\n", "```py\nx\n```", "```\n```\n\nWords.", "Words."])
def test_what_was_laid_out_before_leaves_no_trace_in_the_height(theme, before, after):
    """Code that comes first has room for its header, also while nothing of it is written yet."""
    shown = at_once(theme, before)
    shown.document.setTextWidth(600)
    assert shown.document.size().height() >= 0
    shown.show(read(after))
    whole = at_once(theme, after)
    whole.document.setTextWidth(600)
    assert shown.document.size() == whole.document.size()


@pytest.mark.parametrize("name", REPLIES)
def test_streamed_in_small_pieces_it_is_the_same_document(theme, name):
    text = REPLIES[name]
    step = 1 if len(text) < 400 else 7 if len(text) < 2_000 else 211
    chunks = [text[start : start + step] for start in range(0, len(text), step)]
    assert dump(streamed(theme, chunks).document) == dump(at_once(theme, text).document)


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(name for name in REPLIES if len(REPLIES[name]) < 3_000)),
    st.lists(st.integers(0, 20_000), max_size=10),
)
def test_after_any_cut_it_is_the_same_document(theme, name, places):
    text = REPLIES[name]
    assert dump(streamed(theme, cut(text, places)).document) == dump(at_once(theme, text).document)


def test_showing_something_else_is_as_showing_it_first(theme):
    shown = Document(QTextDocument(), Formats(theme))
    for name in ("everything", "quotes", "table", "empty", "two tables", "fence", "tasks", "everything"):
        shown.show(read(REPLIES[name]))
        settled(shown)
        assert dump(shown.document) == dump(at_once(theme, REPLIES[name]).document), name


SHORT = sorted(name for name in REPLIES if len(REPLIES[name]) < 1_200)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(SHORT), st.integers(0, 12), st.booleans()), min_size=2, max_size=6))
def test_any_row_of_blocks_can_follow_any_other(theme, steps):
    shown = Document(QTextDocument(), Formats(theme))
    blocks = ()
    for name, kept, coloured in steps:
        blocks = (*blocks[:kept], *read(REPLIES[name]))
        shown.show(blocks)
        if coloured:
            shown.colour()
    settled(shown)
    assert dump(shown.document) == dump(showing(theme, blocks).document)


@pytest.mark.parametrize("name", ["everything", "table", "two tables", "many languages", "quotes", "fence in list"])
def test_taking_away_blocks_is_as_never_having_shown_them(theme, name):
    blocks = read(REPLIES[name])
    for kept in range(len(blocks)):
        shown = showing(theme, blocks)
        shown.show(blocks[:kept])
        settled(shown)
        assert dump(shown.document) == dump(showing(theme, blocks[:kept]).document), kept


def test_what_is_right_already_is_not_touched(theme):
    shown = Document(QTextDocument(), Formats(theme))
    shown.show(read("# Head\n\nSome text\n\n```py\nx = 1\n```\n\nThe end is"))
    changes = []
    shown.document.documentLayout()
    shown.document.contentsChange.connect(lambda position, removed, added: changes.append((position, removed, added)))
    end = shown.document.characterCount() - 1
    shown.show(read("# Head\n\nSome text\n\n```py\nx = 1\n```\n\nThe end is near"))
    assert changes == [(end, 0, 5)]
    changes.clear()
    shown.show(shown.blocks)
    assert changes == []


def test_a_growing_table_only_gets_new_rows(theme):
    reader, shown = StreamReader(), Document(QTextDocument(), Formats(theme))
    reader.feed("| aaaa | bbbb |\n|---|---|\n" + "| cc | dd |\n" * 3)
    shown.show(reader.blocks)
    table = shown.table(0)
    reader.feed("| cc | dd |\n")
    shown.show(reader.blocks)
    assert shown.table(0) is table
    assert table.rows() == 5


def test_control_characters_cannot_steer_the_text_around_them(theme):
    text = text_of(at_once(theme, REPLIES["control characters"]))
    assert "c␛[31mred␡" in text
    assert not any(sign in text for sign in "\x00\x07\x1b\x7f\u202e\u202c\u2029\ufdd0")


def test_code_keeps_what_would_turn_its_direction_visible(theme):
    assert "\u2066" not in text_of(at_once(theme, "```py\nx = '\u2066y'\n```"))


def test_code_is_coloured_when_its_turn_comes(theme):
    shown = Document(QTextDocument(), Formats(theme))
    shown.show(read("```python\n" + "def f(): return 1\n" * 400 + "```"))
    assert shown.waiting
    shown.colour(budget_s=0)
    assert shown.waiting
    shown.colour()
    assert not shown.waiting
    assert len(shown.document.findBlockByNumber(399).layout().formats()) == 4


def test_code_that_is_cut_away_is_no_longer_coloured(theme):
    shown = Document(QTextDocument(), Formats(theme))
    shown.show(read("text\n\n```python\n" + "def f(): return 1\n" * 50 + "```"))
    shown.show(read("text"))
    assert not shown.waiting
    shown.colour()
    assert text_of(shown) == "text"


@pytest.mark.parametrize("closing", ["", "\n```"])
def test_a_lexer_that_fails_leaves_its_code_plain(theme, monkeypatch, closing):
    def fail(*_):
        raise IndexError("a lexer's own fault")
        yield

    lexer = find_lexer("python")
    monkeypatch.setattr(lexer, "get_tokens_unprocessed", fail)
    monkeypatch.setattr(LineLexer, "_tokens", fail)
    monkeypatch.setattr(LineLexer, "_is_comment", lambda *_: False)
    reader, shown = StreamReader(), Document(QTextDocument(), Formats(theme))
    reader.feed("```python\ndef f(): pass\nx = 1" + closing)
    shown.show(reader.blocks)
    shown.colour()
    assert not shown.waiting
    assert text_of(shown) == "def f(): pass\nx = 1"


def test_another_theme_changes_colours_and_nothing_else(theme):
    shown = at_once(theme, REPLIES["everything"])
    light, text = dump(shown.document), text_of(shown)
    theme.set_mode("dark")
    try:
        shown.restyle(Formats(theme))
        shown.colour()
        assert text_of(shown) == text
        assert dump(shown.document) != light
        assert dump(shown.document) == dump(at_once(theme, REPLIES["everything"]).document)
    finally:
        theme.set_mode("light")
    shown.restyle(Formats(theme))
    shown.colour()
    assert dump(shown.document) == light


def test_links_carry_their_address_and_images_load_nothing(theme):
    shown = at_once(theme, "[a](https://a.example) ![b](https://b.example/b.png)")
    forms = [fragment.charFormat() for fragment in fragments(shown.document.begin())]
    assert [form.anchorHref() for form in forms if form.isAnchor()] == ["https://a.example", "https://b.example/b.png"]
    assert not any(form.isImageFormat() for form in forms)


def test_a_frame_reaches_under_the_last_block_only_for_code(theme):
    assert at_once(theme, "```\nx\n```").overhang == 10
    assert at_once(theme, "```\nx\n```\n\nafter").overhang == 0


def test_a_table_keeps_its_distance_to_what_follows(theme):
    shown = at_once(theme, "| a |\n|---|\n| b |\n\nafter")
    shown.document.setTextWidth(600)
    layout = shown.document.documentLayout()
    last_cell = layout.blockBoundingRect(shown.table(0).cellAt(1, 0).firstCursorPosition().block())
    assert layout.blockBoundingRect(shown.document.lastBlock()).top() == last_cell.top() + 20 + 4 + 12


def test_blocks_know_where_they_stand(theme):
    shown = at_once(theme, "a\n\n```\nx\ny\n```\n\nb")
    first, last = shown.text_blocks(1)
    assert (first.text(), last.text()) == ("x", "y")
    assert isinstance(shown.blocks[1], Code)


def fragments(block):
    found, iterator = [], block.begin()
    while not iterator.atEnd():
        found.append(iterator.fragment())
        iterator += 1
    return found


def test_a_formula_is_one_character_before_and_after_it_is_drawn(theme):
    shown = Document(QTextDocument(), Formats(theme))
    shown.document.setTextWidth(600)
    shown.show(
        read(r"Let $x_{901}$ be, $x_{901}$ too" + "\n\n" + r"$$\frac{902}{x}$$" + "\n\n| $x_{903}$ |\n|---|\n| $x_{901}$ |")
    )
    before, size = shown.document.toRawText(), shown.document.size()
    assert before.count("\ufffc") == 5
    formulas().wait()
    assert shown.take_formulas()
    assert shown.document.toRawText() == before
    assert shown.document.size() != size
    assert not shown.take_formulas()
    forms = [fragment.charFormat() for block in blocks_of(shown.document) for fragment in fragments(block)]
    drawn = [form for form in forms if source_of(form)]
    assert len(drawn) == 5
    assert all(is_drawn(form) for form in drawn)


def test_a_formula_that_can_not_be_drawn_stays_as_it_was_written(theme):
    shown = Document(QTextDocument(), Formats(theme))
    shown.show(read(r"Broken $\frac{904$ here"))
    formulas().wait()
    assert not shown.take_formulas()
    (form,) = [part.charFormat() for part in fragments(shown.document.begin()) if source_of(part.charFormat())]
    assert source_of(form) == r"$\frac{904$"
    assert not is_drawn(form)


def test_nobody_draws_for_a_document_that_is_not_looked_at(theme):
    shown = Document(QTextDocument(), Formats(theme), draws=False)
    shown.show(read("$x_{905}$"))
    formulas().wait()
    assert not shown.take_formulas()
    assert shown.document.toRawText() == "\ufffc"


def blocks_of(document):
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


@pytest.mark.parametrize(
    ("before", "pieces"),
    [
        ("| a | b |\n|---|---|\n" + "| x $y$ | z |\n" * 200, "| one `more` | row |\n" * 3),
        ("```python\n" + "x = [1, 2, 3]  # long\n" * 2_000, "y = 2\n" * 5),
        ("Some $x$ and\n\n$$y$$\n\n" * 300, "the end $z$ is near"),
        ("Text[^1].\n\n" * 300 + "[^1]: note\n\n", "more[^1] text"),
    ],
    ids=["table", "code", "formulas", "footnotes"],
)
def test_what_is_written_changes_the_end_only_however_long_the_reply_is(theme, before, pieces):
    reader, shown = StreamReader(), Document(QTextDocument(), Formats(theme))
    shown.document.documentLayout()
    reader.feed(before)
    shown.show(reader.blocks)
    changes = []
    shown.document.contentsChange.connect(lambda position, removed, added: changes.append((position, removed + added)))
    length = shown.document.characterCount()
    for start in range(0, len(pieces), 4):
        unchanged = reader.feed(pieces[start : start + 4])
        shown.show(reader.blocks, unchanged)
        assert len(reader._tail) < 2_000 or reader._fence is not None
    assert changes
    assert min(position for position, _ in changes) > length - 700
    assert max(size for _, size in changes) < 700
    unchanged = reader.finish()
    assert unchanged >= len(reader.blocks) - 2


@pytest.mark.parametrize("percent", [80, 100, 150, 200, 300])
def test_a_tables_heading_grows_with_its_rows(qapp, percent):
    theme = Theme()
    theme.set_text_size(percent)
    shown = at_once(theme, "| Head `code` |\n|---|\n| cell |")
    table = shown.table(0)
    sizes = [
        table.cellAt(row, 0).firstCursorPosition().block().begin().fragment().charFormat().font().pixelSize() for row in (0, 1)
    ]
    assert sizes == [round(round(14 * percent / 100) * 12 / 14), round(14 * percent / 100)]

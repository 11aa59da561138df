"""Colouring code: whole and line by line, and what the header calls a language."""

import pytest

from app.chat.text.code import LineLexer, Span, find_lexer, language_name, language_word, lex_lines

PYTHON = 'def f(x):\n    """Doc\n    string."""\n    return [x, 1.5, "a"]  # note\n\n\nclass A: pass\n'


def by_line(language, text):
    lexer = LineLexer(find_lexer(language))
    return [lexer.add(line) for line in text.split("\n")]


def whole(language, text):
    return list(lex_lines(find_lexer(language), text))


def test_spans_name_what_they_cover():
    line = 'def f(x): return 1 + len("a")  # note'
    spans = whole("python", line)[0]
    assert [(line[span.start : span.start + span.length], span.style) for span in spans] == [
        ("def", "key"),
        ("f", "fn"),
        ("return", "key"),
        ("1", "num"),
        ('"a"', "str"),
        ("# note", "com"),
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", PYTHON),
        ("javascript", "const a = `x\n${b} y`;\n/* one\n   two */ let c = 1;\n// end"),
        ("rust", "/* a\n * b\n */\nfn main() { let x = 1; }"),
        ("json", '{\n  "a": [1, true, null],\n  "b": "c"\n}'),
        ("bash", 'for i in $(seq 3); do\n  echo "$i"  # n\ndone'),
        ("sql", "SELECT a -- c\nFROM t\n/* x\ny */\nWHERE b = 'x';"),
        ("diff", "-old\n+new\n same"),
        ("c", 'int a; /* one */ int b; /* two\n three */ char *s = "/* no";\nint c;'),
        ("css", "/* a\nb */\nbody { color: red; }"),
    ],
)
def test_line_by_line_is_coloured_as_the_whole(language, text):
    assert by_line(language, text) == whole(language, text)[: text.count("\n") + 1]


def test_looking_at_an_unfinished_line_changes_nothing():
    lexer = LineLexer(find_lexer("python"))
    lexer.add('x = """open')
    assert lexer.peek("still in it") == [Span(0, 11, "str")]
    assert lexer.peek("still in it") == [Span(0, 11, "str")]
    lexer.add('done"""')
    assert lexer.peek("1") == [Span(0, 1, "num")]


def test_a_comment_that_a_lexer_takes_in_one_piece_goes_on_over_lines():
    assert [spans[0].style for spans in by_line("c", "/* a\n b\n c */")] == ["com"] * 3
    assert by_line("html", "<!-- a\nb -->\n")[1][0] == Span(0, 5, "com")


def test_every_language_survives_any_text_line_by_line():
    text = "<a b='c'>/* {- `${x\n\"unclosed\n\\\n|\t¥🎉 #[ -->\n}}}) end */\n"
    for language in [
        "python",
        "js",
        "ts",
        "html",
        "css",
        "c",
        "cpp",
        "java",
        "rust",
        "go",
        "rb",
        "php",
        "swift",
        "kotlin",
        "lua",
        "sql",
        "yaml",
        "json",
        "toml",
        "bash",
        "r",
        "perl",
        "make",
        "diff",
        "xml",
        "hs",
    ]:
        assert find_lexer(language) is not None, language
        assert len(by_line(language, text)) == text.count("\n") + 1
        assert len(whole(language, text)) >= text.count("\n")


def test_positions_count_as_qt_does():
    (spans, *_) = whole("python", "s = '🎉' # x")
    assert spans == [Span(4, 4, "str"), Span(9, 3, "com")]


def test_spans_stay_inside_their_line():
    for line, spans in zip(PYTHON.split("\n"), whole("python", PYTHON), strict=False):
        assert all(span.start + span.length <= len(line) for span in spans)


@pytest.mark.parametrize(
    ("written", "word", "name"),
    [
        ("python", "python", "Python"),
        ("Python title=x", "Python", "Python"),
        ("{.rust #id}", "rust", "Rust"),
        ("js", "js", "JavaScript"),
        ("c++", "c++", "C++"),
        ("shell", "shell", "Bash"),
        ("brainwave", "brainwave", "brainwave"),
        ("", "", "Code"),
        ("   ", "", "Code"),
        ("text", "text", "Text"),
    ],
)
def test_a_language_is_named_properly(written, word, name):
    assert language_word(written) == word
    assert language_name(written) == name


def test_an_unknown_language_has_no_lexer():
    assert find_lexer("brainwave") is None
    assert find_lexer("pytho") is None
    assert find_lexer("") is None

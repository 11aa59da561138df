import pytest

from engine.chats.titles import TITLE_CHARACTERS, title_from


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Hello"),
        ("  Why is\tthe   sky blue?  \nSecond line", "Why is the sky blue?"),
        ("\n\n# A heading\ntext", "A heading"),
        ("> - **Bold** and _slanted_ and `code`", "Bold and slanted and code"),
        ("1. first step", "first step"),
        ("- [x] done", "done"),
        ("see [the docs](https://example.org) and ![a cat](cat.png)", "see the docs and a cat"),
        ("```python\nprint('hi')\n```", "print('hi')"),
        ("**_both_**", "both"),
        ("~~old~~ new", "old new"),
    ],
)
def test_title_is_the_first_line_without_markdown(text, title):
    assert title_from(text) == title


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4",
        "snake_case_name in my_module",
        "a < b > c",
        "C# or C++",
        "-5 degrees",
        "#hashtag",
        "1.5 litres",
        "__init__.py?",
    ],
)
def test_what_only_looks_like_markdown_stays(text):
    assert title_from(text) == text


def test_long_line_is_cut_at_a_word():
    title = title_from("How do I convert a list of dictionaries into a single table in Python?")
    assert title == "How do I convert a list of dictionaries into a…"
    assert len(title) <= TITLE_CHARACTERS + 1


def test_line_of_the_whole_length_is_kept():
    line = "x" * 20 + " " + "y" * (TITLE_CHARACTERS - 21)
    assert title_from(line) == line
    assert title_from(line + "z") == "x" * 20 + " " + "y" * (TITLE_CHARACTERS - 21) + "…"


def test_text_without_spaces_is_cut_where_it_stands():
    assert title_from("日本語" * 30) == "日本語" * 16 + "…"


def test_cut_never_falls_inside_one_character():
    family = "👨\u200d👩\u200d👧"
    title = title_from("x" * (TITLE_CHARACTERS - 3) + family * 3)
    assert title == "x" * (TITLE_CHARACTERS - 3) + "…"
    assert title_from("x" * (TITLE_CHARACTERS - 1) + "e\u0301" * 4) == "x" * (TITLE_CHARACTERS - 1) + "…"


@pytest.mark.parametrize("text", ["", "   \n\t ", "\x00\x1b"])
def test_nothing_to_see_gives_no_title(text):
    assert title_from(text) == ""


def test_marks_alone_are_better_than_no_title():
    assert title_from("###") == "###"
    assert title_from("```") == "```"


def test_control_characters_never_reach_a_title():
    assert title_from("red\x1b[31m\x07 alert\x00") == "red [31m alert"

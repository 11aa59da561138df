import pytest

from engine.core.settings import BY_NAME
from engine.core.text_lines import read_texts, unescape


def test_a_list_holds_one_text_a_line_each_once():
    assert read_texts("a\n\n b\na\n") == ("a", " b")
    assert read_texts("") == ()


def test_the_breakers_of_dry_are_those_of_its_author():
    assert read_texts(BY_NAME["dry_breakers"].default) == ("\n", ":", '"', "*")


@pytest.mark.parametrize(
    ("text", "expected"), [(r"\n", "\n"), (r"\t\r", "\t\r"), (r"\\n", r"\n"), (r"\#", "#"), (r"\x", r"\x"), ("\\", "\\")]
)
def test_escapes_stand_for_what_a_line_cannot_hold(text, expected):
    assert unescape(text) == expected

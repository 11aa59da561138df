"""Words are found whatever their case, accents and width, in the units that Qt counts in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.conversation.needle import Needle, as_searched


def found(words, text, *, match_case=False):
    encoded = text.encode("utf-16-le", "surrogatepass")
    spans = Needle(words, match_case=match_case).spans(text)
    return [encoded[2 * start : 2 * end].decode("utf-16-le") for start, end in spans]


@pytest.mark.parametrize(
    ("words", "text", "all_of_them"),
    [
        ("the", "The other theme", ["The", "the", "the"]),
        ("cafe", "Café, CAFE, cafe\u0301", ["Café", "CAFE", "cafe\u0301"]),
        ("ß", "Straße und STRASSE", ["ß", "SS"]),
        ("strasse", "Straße und STRASSE", ["Straße", "STRASSE"]),
        ("１２", "12 and １２", ["12", "１２"]),
        ("two words", "two words, two\xa0words, two\twords, twowords", ["two words", "two\xa0words", "two\twords"]),
        ("a.b", "a.b axb", ["a.b"]),
        ("日本", "日本語の日本", ["日本", "日本"]),
        ("x", "🎉🎉 x 👩\u200d👩\u200d👧 x", ["x", "x"]),
        ("👩", "🎉 👩 end", ["👩"]),
        ("aa", "aaaa", ["aa", "aa"]),
        ("", "anything", []),
        ("  ", "any thing", []),
        ("\u0301", "a\u0301", ["\u0301"]),
    ],
)
def test_words_are_found(words, text, all_of_them):
    assert found(words, text) == all_of_them


def test_case_and_accents_count_where_they_are_to():
    assert found("the", "The other theme", match_case=True) == ["the", "the"]
    assert found("cafe", "Café cafe", match_case=True) == ["cafe"]


def test_blocks_of_a_document_are_kept_apart():
    raw = "one\u2029two\ufdd0three\ufdd1four\u2028five"
    assert len(as_searched(raw)) == len(raw)
    assert found("one two", as_searched(raw)) == []
    assert found("four five", as_searched(raw)) == ["four\tfive"]


@given(st.text(max_size=40), st.text(alphabet="aé日🎉 X", min_size=1, max_size=4))
def test_what_stands_in_a_text_is_found_there(text, words):
    if words.strip():
        assert words in found(words, f"{text}\n{words}\n{text}", match_case=True)
        assert found(words, f"\n{words}\n")

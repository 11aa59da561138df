import re

from engine.chats.snippet import SNIPPET_CHARACTERS, make_snippet


def needles(*words):
    return [re.compile(re.escape(word)) for word in words]


def marked(result):
    snippet, spans = result
    return [snippet[a:b] for a, b in spans]


def test_short_text_is_shown_whole_on_one_line():
    assert make_snippet("one\n\n  two\tthree\n", needles("two")) == ("one two three", ((4, 7),))


def test_window_stands_around_a_match_far_inside():
    text = "lead " * 200 + "the Needle here" + " tail" * 200
    snippet, spans = make_snippet(text, needles("needle"))
    assert snippet.startswith("…lead")
    assert snippet.endswith("tail…")
    assert len(snippet) <= SNIPPET_CHARACTERS + 2
    assert marked((snippet, spans)) == ["Needle"]


def test_window_prefers_the_place_where_the_words_meet():
    text = "apple " + "x " * 300 + "pear " + "x " * 300 + "apple pear " + "y " * 300
    assert marked(make_snippet(text, needles("apple", "pear"))) == ["apple", "pear"]


def test_overlapping_matches_are_one_span():
    assert marked(make_snippet("abcd", needles("abc", "bcd"))) == ["abcd"]


def test_no_match_shows_the_beginning_unmarked():
    snippet, spans = make_snippet("word " * 100, needles("absent"))
    assert snippet.startswith("word word")
    assert snippet.endswith("…")
    assert spans == ()


def test_match_at_the_very_end_is_whole():
    assert marked(make_snippet("x " * 500 + "end", needles("end"))) == ["end"]


def test_many_matches_stay_inside_the_snippet():
    snippet, spans = make_snippet("na " * 5000, needles("na"))
    assert spans
    assert all(snippet[a:b] == "na" for a, b in spans)

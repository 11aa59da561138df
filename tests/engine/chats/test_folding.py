import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chats.folding import _PLAIN, _fold_cluster, fold, fold_with_origins, spaced


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Zürich CAFÉ", "zurich cafe"),
        ("Zu\u0308rich", "zurich"),
        ("Straße", "strasse"),
        ("İstanbul ıssız", "istanbul issiz"),
        ("Ångström Øre Łódź", "angstrom ore lodz"),
        ("ＡＢＣ１２３", "abc123"),
        ("ﾃｽﾄ", "テスト"),
        ("ёлка", "елка"),
        ("أحمد مُحَمَّد", "احمد محمد"),
        ("co\u00adop", "coop"),
    ],
)
def test_case_width_and_diacritics_are_folded_away(text, folded):
    assert fold(text) == folded


@pytest.mark.parametrize(("one", "other"), [("か", "が"), ("हिन्दी", "हन्दी"), ("ไม่", "มา")])
def test_marks_that_make_other_words_stay(one, other):
    assert fold(one) != fold(other)


def test_composed_and_decomposed_text_fold_alike():
    assert fold("が한é") == fold("か\u3099\u1112\u1161\u11abe\u0301")


def test_characters_of_unspaced_scripts_stand_alone():
    assert spaced("日本go語").split() == ["日", "本", "go", "語"]
    assert spaced("c++").split() == ["c", "+", "+"]


@given(st.text(alphabet=st.sampled_from("aZé\u0301ßæ日が\u3099한\u200dﬀ\ufe0f👩 \n\x00İ"), max_size=12))
def test_origins_lead_back_to_what_was_folded(text):
    folded = fold_with_origins(text)
    assert folded.text == fold(text)
    for start in range(len(folded.text)):
        for end in range(start + 1, len(folded.text) + 1):
            a, b = folded.original_span(start, end)
            assert 0 <= a < b <= len(text)
            assert folded.text[start:end] in fold(text[a:b])


def test_origin_of_a_match_after_a_longer_folding():
    text = "Straße æon über"
    folded = fold_with_origins(text)
    start = folded.text.index("uber")
    a, b = folded.original_span(start, start + 4)
    assert text[a:b] == "über"


def test_letters_that_are_folded_in_runs_fold_as_they_do_alone():
    letters = re.findall(f"[{_PLAIN}]", "".join(map(chr, range(0xD800))))
    assert len(letters) > 30_000
    assert [letter for letter in letters if _fold_cluster(letter) != letter.lower()] == []
    assert fold("Ёлка и Йод, 東京の가が") == "елка и иод, 東京の가が"

"""Tokens in words and grounds: white space seen, bytes of half characters, sections counted, shades by probability."""

from math import log

import pytest

from app.chat.inspector.inspected import reading_of
from app.chat.inspector.token_sheet import CACHED, READ, SHADES, Face, faces_of, odds_sheet, prompt_sheet, runs, shade, shown
from engine.core.messages import PromptInspected
from engine.core.odds import TokenOdds


def inspected(**more):
    given = {
        "request_id": "1",
        "model": "fox",
        "fingerprint": "f",
        "template_hash": "",
        "context": 100,
        "ids": (3, 1, 2, 1),
        "cached": 2,
        "left_out": 0,
        "text": "text",
        "known_ids": (1, 2, 3),
        "texts": (" a", "", "<s>"),
        "bytes_hex": ("2061", "e4", "3c733e"),
        "special": (False, False, True),
        "section_roles": ("template", "user", "assistant"),
        "section_ends": (1, 3, 4),
    }
    return PromptInspected(**{**given, **more})


@pytest.mark.parametrize(
    ("face", "expected"),
    [
        (Face(" the"), "·the"),
        (Face("\n\n\t"), "↵↵⇥"),
        (Face("a\x1b"), "aU+001B"),
        (Face("", "e4bd"), "e4 bd"),
        (Face(""), "∅"),
        (Face("😀"), "😀"),
    ],
)
def test_every_token_can_be_seen(face, expected):
    assert shown(face) == expected


def test_signs_are_told_apart_from_text():
    assert runs(Face(" a b")) == [("·", True), ("a", False), ("·", True), ("b", False)]
    assert runs(Face("·"))[0] == ("·", False)  # A text that is a dot is no space.


def test_sections_count_what_was_cached_and_what_was_not():
    sheet = prompt_sheet(inspected(), faces_of(inspected()), 2, "to read")
    assert [(section.title, section.note) for section in sheet.sections] == [
        ("Added by the template", "1 cached"),
        ("You", "1 cached, 1 to read"),
        ("Assistant", "1 to read"),
    ]
    assert list(sheet.grounds) == [CACHED, CACHED, READ, READ]
    assert [sheet.section_of(index) for index in range(4)] == [0, 1, 1, 2]


def test_sections_count_what_left_the_context():
    sheet = prompt_sheet(inspected(), faces_of(inspected()), 2, "read now", range(1, 4))
    assert [section.note for section in sheet.sections] == [
        "1 cached",
        "1 cached, 1 read now, all left",
        "1 read now, all left",
    ]
    assert [section.note for section in prompt_sheet(inspected(), faces_of(inspected()), 4, "", range(1, 2)).sections][
        1
    ] == "2 cached, 1 left"
    assert list(sheet.grounds) == [CACHED, CACHED, READ, READ], "how they were read stays told"


def test_what_left_the_context_is_said():
    assert reading_of(inspected(left_out=3), None, None).remark.startswith("The 3 oldest messages are left out")
    assert reading_of(inspected(left_out=1), None, None).remark.startswith("The oldest message is left out")


@pytest.mark.parametrize(("probability", "step"), [(0.99, 0), (0.6, 0), (0.59, 1), (0.3, 1), (0.29, 2), (0.1, 2), (0.09, 3)])
def test_shades_follow_the_probability(probability, step):
    assert shade(log(probability)) == step
    odds = TokenOdds(1, (7,), ("a",), (log(probability),), (7,), (0.0,), (7,), ("a",))
    assert list(odds_sheet(odds).grounds) == [SHADES + step]

"""Files as texts: real ones in many encodings, PDFs, and those that are refused by name."""

import contextlib
import os
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chats.attachment import Attachment
from engine.chats.reading import LARGEST_TEXT, decode, read_file
from engine.core.errors import FileRefused, Stopped
from tests.engine.chats.pdfs import locked_pdf, pdf

WORDS = {
    "utf-8": "Grüße aus 東京 \U0001f3fa\n",
    "utf-8-sig": "Grüße aus 東京\n",
    "utf-16": "Grüße aus 東京 \U0001f3fa\n",
    "utf-16-le": "Plain English, without a mark.\n",
    "utf-16-be": "Plain English, without a mark.\n",
    "utf-32": "Grüße aus 東京\n",
    "latin-1": "Gestern aß ich süße Äpfel, schöne Grüße aus Köln. Déjà vu à l'hôtel près de la fenêtre, où il a plu.\n",
    "cp1252": "Déjà vu à l'hôtel près de la fenêtre, où il a plu. Les élèves étaient là.\n",
    "cp1250": "Zażółć gęślą jaźń. Wczoraj jadłem słodkie jabłka, pozdrowienia z Łodzi.\n",
    "cp1251": "Вчера я ел сладкие яблоки, привет из Москвы и Санкт-Петербурга.\n",
    "gbk": "今天天气很好，我们一起去公园散步吧。他说他不想去，因为昨天晚上没有睡好觉。\n",
    "shift_jis": "今日はとても良い天気ですね。一緒に公園へ散歩に行きませんか。カタカナもあります。\n",
    "euc_kr": "오늘은 날씨가 아주 좋습니다. 우리 같이 공원에 산책하러 갑시다.\n",
}


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"\x00\xff\x00\x00" * 1)
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def refusal(path):
    with pytest.raises(FileRefused) as refused:
        read_file(path)
    return refused.value


@pytest.mark.parametrize("encoding", list(WORDS))
def test_a_text_is_read_in_its_encoding(tmp_path, encoding):
    text = WORDS[encoding] * 8
    (tmp_path / "notes.txt").write_bytes(text.encode(encoding))
    assert read_file(tmp_path / "notes.txt") == Attachment("notes.txt", "file", text)


@given(st.text(min_size=1).filter(lambda text: not any(ord(c) < 32 and c not in "\t\n\r" for c in text)))
def test_any_text_in_utf_8_or_with_a_mark_comes_back(text):
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    assert decode("t", text.encode("utf-8-sig")) == lines
    assert decode("t", text.encode("utf-16")) == lines
    if not text.startswith("\ufeff"):
        assert decode("t", text.encode()) == lines


@given(st.binary(max_size=400))
def test_no_bytes_break_it(data):
    with contextlib.suppress(FileRefused):
        assert decode("t", data) or not data


def test_line_ends_become_one_kind(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\rthree\n")
    assert read_file(tmp_path / "a.txt").text == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("name", "data", "words", "hint"),
    [
        ("holiday.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" * 9, "“holiday.jpg” is not a text file.", "no pictures"),
        ("chart.png", png(), "“chart.png” is not a text file.", "no pictures"),
        ("letter.docx", b"PK\x03\x04\x14\x00\x00\x00" * 9, "“letter.docx” is not a text file.", "Save it as a PDF"),
        ("tool", b"\x7fELF\x02\x01\x01\x00\x00" * 9, "“tool” is not a text file.", "Text, code and PDF"),
        ("empty.txt", b"", "“empty.txt” is empty.", "Text, code and PDF"),
        ("blank.txt", b" \n\n", "“blank.txt” is empty.", "Text, code and PDF"),
        ("big.log", b"a line of ten mega\n" * 550_000, "“big.log” is too large: it has 10.4 MB.", "Up to 2 MB"),
        ("big.png", png() + bytes(10_000_000), "“big.png” is not a text file.", "no pictures"),
        ("scan.pdf", pdf("", ""), "“scan.pdf” holds no text.", "text recognition"),
        ("secret.pdf", locked_pdf("Hush"), "“secret.pdf” is locked with a password.", "without the password"),
        ("broken.pdf", b"%PDF-1.7\nnothing of the kind", "“broken.pdf” is damaged", "save it anew"),
        ("cut.pdf", pdf("Hello")[:200], "“cut.pdf”", ""),
    ],
)
def test_what_is_refused_is_named_with_what_to_do(tmp_path, name, data, words, hint):
    (tmp_path / name).write_bytes(data)
    error = refusal(tmp_path / name)
    assert error.text.startswith(words)
    assert hint in error.hint


def test_folders_pipes_and_what_is_gone_are_refused(tmp_path):
    (tmp_path / "src").mkdir()
    assert refusal(tmp_path / "src").text == "“src” is a folder."
    os.mkfifo(tmp_path / "pipe")
    assert "“pipe” is not a file" in refusal(tmp_path / "pipe").text
    assert "“gone.txt” could not be read: No such file" in refusal(tmp_path / "gone.txt").text


def test_a_file_at_the_limit_is_taken(tmp_path):
    (tmp_path / "full.txt").write_bytes(b"x" * LARGEST_TEXT)
    assert len(read_file(tmp_path / "full.txt").text) == LARGEST_TEXT


def test_a_pdfs_pages_are_read_one_after_the_other(tmp_path):
    (tmp_path / "paper.pdf").write_bytes(pdf("Caffeine\nHalf-life", "", "Sleep"))
    told = []
    read = read_file(tmp_path / "paper.pdf", told.append)
    assert read == Attachment("paper.pdf", "pdf", "[Page 1]\nCaffeine\nHalf-life\n\n[Page 3]\nSleep")
    assert told == [0, 1 / 3, 2 / 3]
    (tmp_path / "one.pdf").write_bytes(pdf("Only this"))
    assert read_file(tmp_path / "one.pdf").text == "Only this"


def test_reading_a_pdf_ends_between_two_pages(tmp_path):
    (tmp_path / "paper.pdf").write_bytes(pdf(*["A page"] * 20))
    told = []
    with pytest.raises(Stopped):
        read_file(tmp_path / "paper.pdf", told.append, lambda: len(told) == 3)
    assert len(told) == 3

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chats import json_stream
from engine.chats.json_stream import Piece, pieces
from engine.core.errors import UsageError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.lists(JSON, max_size=5) | st.dictionaries(st.text(max_size=5), JSON, max_size=5)


def whole(found):
    """Put a document's pieces together again."""
    document = {}
    for key, value, inside in found:
        if inside:
            document[key].append(value)
        else:
            document[key] = value
    return document


@settings(max_examples=200)
@given(document=DOCUMENTS, indent=st.none() | st.just(1), ascii_=st.booleans(), step=st.integers(1, 40))
def test_the_pieces_make_the_document_however_it_is_read(document, indent, ascii_, step):
    file = io.BytesIO(json.dumps(document, indent=indent, ensure_ascii=ascii_).encode("utf-8", "surrogatepass"))
    found = whole(pieces(lambda size: file.read(min(size, step))))
    assert found == (document if isinstance(document, dict) else {"": document})


def test_elements_come_one_by_one_before_the_rest_is_read(monkeypatch):
    monkeypatch.setattr(json_stream, "READ_BYTES", 16)
    file = io.BytesIO(json.dumps(list(range(1000))).encode())
    stream = pieces(file.read)
    assert [next(stream) for _ in range(3)] == [Piece("", [], False), Piece("", 0, True), Piece("", 1, True)]
    assert file.tell() <= 64


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"words",
        b'"text"',
        b"5",
        b"[1, 2",
        b"[1,]",
        b"[1 2]",
        b'{"a": 1,}',
        b'{"a" 1}',
        b'{"a": "cut',
        b"[1] 2",
        b"[nope]",
        b"\xff\xfe[\x001\x00]\x00",
        b"[" * 100_000,
        b"[" + b"9" * 10_000 + b"]",
    ],
)
def test_what_is_no_json_is_refused_in_words(text):
    with pytest.raises(UsageError) as caught:
        list(pieces(io.BytesIO(text).read))
    assert caught.value.hint


def test_a_file_cut_short_gives_what_came_before():
    stream = pieces(io.BytesIO(b'[{"a": 1}, {"b": ').read)
    assert next(stream).inside is False
    assert next(stream).value == {"a": 1}
    with pytest.raises(UsageError, match="cut short"):
        next(stream)


def test_a_piece_without_end_is_refused_before_all_of_it_is_read(monkeypatch):
    monkeypatch.setattr(json_stream, "LARGEST_PIECE", 1000)
    monkeypatch.setattr(json_stream, "READ_BYTES", 100)
    read = []

    def endless(size):
        read.append(size)
        return b'["' if len(read) == 1 else b"x" * size

    with pytest.raises(UsageError, match="too large"):
        list(pieces(endless))
    assert sum(read) < 5000


def test_damage_far_from_the_end_is_told_without_reading_on(monkeypatch):
    read = []
    file = io.BytesIO(b"[nope, " + b"1, " * 3_000_000)

    def counted(size):
        read.append(size)
        return file.read(size)

    with pytest.raises(UsageError, match="damaged"):
        list(pieces(counted))
    assert len(read) <= 2

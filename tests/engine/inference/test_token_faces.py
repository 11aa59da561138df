"""How tokens look: their bytes join to the text, for every make of tokenizer whose tokens are bytes."""

import pytest

from engine.inference.token_faces import TokenFaces
from tests.models.tiny_tokenizers import CORPUS, tokenizer_of

TEXT = CORPUS[1] + "<|im_end|>\nnaïve 😀"


@pytest.mark.parametrize("kind", ["byte level", "byte level without merges", "SentencePiece that keeps"])
def test_bytes_of_the_tokens_join_to_the_text(kind):
    tokenizer = tokenizer_of(kind)
    faces = TokenFaces(tokenizer)
    ids = tokenizer.encode(TEXT, add_special_tokens=False)
    assert b"".join(faces.face(index).bytes for index in ids).decode() == TEXT


def test_special_tokens_are_told_apart():
    tokenizer = tokenizer_of("byte level")
    end, letter = tokenizer.convert_tokens_to_ids("<|im_end|>"), tokenizer.encode("a")[0]
    faces = TokenFaces(tokenizer).faces([end, letter, end])
    assert list(faces) == sorted({end, letter})
    assert (faces[end].text, faces[end].special) == ("<|im_end|>", True)
    assert (faces[letter].text, faces[letter].special) == ("a", False)


def test_part_of_a_character_has_bytes_and_no_text():
    tokenizer = tokenizer_of("byte level without merges")
    ids = tokenizer.encode("é", add_special_tokens=False)
    faces = [TokenFaces(tokenizer).face(index) for index in ids]
    assert [(face.text, face.bytes) for face in faces] == [("", b"\xc3"), ("", b"\xa9")]


def test_id_beyond_the_vocabulary_is_nothing():
    face = TokenFaces(tokenizer_of("byte level")).face(10**6)
    assert (face.text, face.bytes, face.special) == ("", b"", False)

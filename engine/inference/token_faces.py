"""How tokens look to people: their text where they are whole characters, their bytes, and whether they are special."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine.inference.token_bytes import TokenBytes


@dataclass(frozen=True)
class Face:
    """One token: `text` is empty where its bytes are only a part of a character."""

    text: str
    bytes: bytes
    special: bool


class TokenFaces:
    """Tells the faces of a transformers fast tokenizer's tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self._backend = tokenizer.backend_tokenizer
        self._bytes = TokenBytes(self._backend)
        self._special = {
            index: token.content for index, token in self._backend.get_added_tokens_decoder().items() if token.special
        }

    def face(self, token_id: int) -> Face:
        """Return a token's face; one beyond the vocabulary (padding of the embedding) has neither text nor bytes."""
        if token_id in self._special:
            content = self._special[token_id]
            return Face(content, content.encode(), True)
        token = self._backend.id_to_token(token_id)
        if token is None:
            return Face("", b"", False)
        raw = self._bytes.of(token)
        if raw is None:
            text = self._bytes.text_of(token)
            return Face(text, text.encode(), False)
        try:
            return Face(raw.decode(), raw, False)
        except UnicodeDecodeError:
            return Face("", raw, False)

    def faces(self, ids: Iterable[int]) -> dict[int, Face]:
        """Return the faces of all different ids, by id."""
        return {index: self.face(index) for index in sorted(set(ids))}

"""What a vocabulary's tokens stand for: bytes, or text that the tokenizer's decoder still changes."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
"""A SentencePiece-style token that stands for one byte."""

SPACE = "▁"
"""What SentencePiece writes for a space."""


class TokenBytes:
    """Tells the bytes of a token by its name in the vocabulary. `backend` is a `tokenizers.Tokenizer`.

    `fallback` says that the vocabulary has a token for every single byte.
    """

    def __init__(self, backend: Any) -> None:
        kinds = set(decoder_kinds(backend.decoder))
        self._byte_level = "ByteLevel" in kinds and kinds <= {"ByteLevel", "Fuse"}
        self.fallback = "ByteFallback" in kinds
        self._spaced = bool(kinds & {"Replace", "Metaspace"})

    def of(self, token: str) -> bytes | None:
        """Return the bytes a token stands for, or None where it stands for text."""
        if self._byte_level:
            # Added tokens may hold letters outside the byte alphabet: those stand for themselves, as in the tokenizers library.
            values = [BYTE_ALPHABET.get(letter) for letter in token]
            return token.encode() if None in values else bytes(cast("list[int]", values))
        match = BYTE_TOKEN.fullmatch(token) if self.fallback else None
        return bytes([int(match[1], 16)]) if match else None

    def text_of(self, token: str) -> str:
        """Return the text of a token that stands for text, as people read it."""
        return token.replace(SPACE, " ") if self._spaced else token


def decoder_kinds(decoder: Any) -> Iterator[str]:
    """Yield the names of a `tokenizers` decoder's steps."""
    if decoder is None:
        return
    waiting = [json.loads(decoder.__getstate__())]
    while waiting:
        step = waiting.pop()
        if step["type"] == "Sequence":
            waiting.extend(step["decoders"])
        else:
            yield step["type"]


def _byte_alphabet() -> Mapping[str, int]:
    """Return byte-level BPE's letters: printable bytes stand for themselves, the others for letters from U+0100 on (GPT-2)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [value for value in range(256) if value not in printable]
    return {chr(value): value for value in printable} | {chr(256 + index): value for index, value in enumerate(others)}


BYTE_ALPHABET = _byte_alphabet()

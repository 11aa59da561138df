"""From token ids to text while they stream: exact, in linear time, and never half a character."""

import codecs
from typing import Any, cast

from engine.inference.reasoning import markers
from engine.inference.token_bytes import TokenBytes

LONGEST_CHARACTER = 4
"""Bytes of the longest UTF-8 character; so an incomplete one has fewer."""

MOST_PENDING = 16
"""Tokens that are decoded together at most while each of them ends inside a character."""

LONGEST_DANGLING = 8
"""Characters held back at most for the one that may follow; real sequences need two."""

REPLACEMENT = "\ufffd"
ZERO_WIDTH_JOINER = "\u200d"


class Detokenizer:
    """Streams the text of a reply from its token ids, for any transformers fast tokenizer.

    The pieces add up to `tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)` wherever that is
    valid text. Special tokens are not shown, but for those that mark the model's reasoning (see `reasoning.markers`), which
    `ReasoningSplitter` takes out.

    A token gives either bytes, which go through an incremental UTF-8 decoder, or text, which is what the tokenizer's own
    decoder makes of it right after the token before.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._backend = tokenizer.backend_tokenizer
        self._bytes = TokenBytes(self._backend)
        marks = "".join(markers(tokenizer) or ())
        added = self._backend.get_added_tokens_decoder()
        self._special = {index: token.content for index, token in added.items() if token.special}
        self._shown = {index: content for index, content in self._special.items() if content in marks}
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._before: int | None = None
        self._pending: list[int] = []
        self._given = 0  # Characters of the pending tokens that were returned already.
        self._held = ""

    def add(self, token_id: int) -> str:
        """Return the text that is complete with this token; empty while a character is not."""
        if token_id in self._shown:
            return self._release(self._flush() + self._shown[token_id])
        token = None if token_id in self._special else self._backend.id_to_token(token_id)
        if token is None:  # Not shown, or padding of the embedding beyond the vocabulary.
            return ""
        raw = self._bytes_of(token)
        if raw is None:
            return self._release(self._utf8.decode(b"", final=True) + self._text_of(token_id))
        self._before = token_id
        return self._release(self._utf8.decode(raw))

    def finish(self) -> str:
        """Return what was held back, but for a character that is not whole: its bytes may come when the reply goes on."""
        self._utf8.reset()
        self._pending.clear()  # All of it that is certain was returned already.
        self._given = 0
        text, self._held = self._held, ""
        return text

    def _bytes_of(self, token: str) -> bytes | None:
        """Return the bytes a token stands for, or None where it stands for text."""
        raw = self._bytes.of(token)
        # A reply's first space may be one that the decoder strips: that one goes through the decoder.
        first = self._before is None and self._bytes.fallback
        return None if raw is not None and first and raw[0] < 0x80 else raw

    def _text_of(self, token_id: int) -> str:
        """Return what a token of text adds after the one before, but for an end that may be half a character."""
        self._pending.append(token_id)
        text = self._pending_text()
        unsure = min(len(text) - len(text.rstrip(REPLACEMENT)), LONGEST_CHARACTER - 1)
        # With bytes told apart above, text can't be half a character. A decoder of another make may work on bytes unseen.
        if unsure and not self._bytes.fallback and len(self._pending) < MOST_PENDING:
            certain = text[self._given : len(text) - unsure]
            self._given += len(certain)
            return certain
        return self._take_pending(text)

    def _pending_text(self) -> str:
        if self._before is None:
            return self._decode(self._pending)
        # Both readings start at the same token, so whatever the decoder does at the start of a text is the same in both.
        return self._decode([self._before, *self._pending])[len(self._decode([self._before])) :]

    def _take_pending(self, text: str) -> str:
        new = text[self._given :]
        self._before = self._pending[-1]
        self._pending.clear()
        self._given = 0
        return new

    def _decode(self, ids: list[int]) -> str:
        return cast(str, self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _flush(self) -> str:
        """Return what is still inside the byte decoder and the pending tokens."""
        text = self._utf8.decode(b"", final=True)
        if self._pending:
            text += self._take_pending(self._pending_text())
        return text

    def _release(self, text: str) -> str:
        buffer = self._held + text
        safe = len(buffer) - _dangling(buffer)
        self._held = buffer[safe:]
        return buffer[:safe]


def _dangling(text: str) -> int:
    """Return how many characters at the end wait for the next: joiners, variation selectors, the first half of a flag."""
    start = len(text)
    while start and (text[start - 1] == ZERO_WIDTH_JOINER or "\ufe00" <= text[start - 1] <= "\ufe0f"):
        start -= 1
    if start == len(text):
        while start and "\U0001f1e6" <= text[start - 1] <= "\U0001f1ff":
            start -= 1
        return (len(text) - start) % 2
    return len(text) - start if len(text) - start <= LONGEST_DANGLING else 0

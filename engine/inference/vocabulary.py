"""Texts of a setting as tokens of the loaded model."""

from collections.abc import Iterable, Iterator
from typing import Any

from engine.core.errors import SettingsError
from engine.core.logit_bias import read_biases
from engine.inference.token_bytes import BYTE_ALPHABET, SPACE, decoder_kinds

_LETTERS = {value: letter for letter, value in BYTE_ALPHABET.items()}


def bias_by_id(setting: str, tokenizer: Any) -> dict[int, float]:
    """Return the biases of the setting by token id; of two for one token the later counts.

    `tokenizer` is a transformers fast tokenizer. Raises `SettingsError` for a text that is not one token, or no id.
    """
    return {_id_of(bias.token, tokenizer): bias.value for bias in read_biases(setting)}


def _id_of(token: str | int, tokenizer: Any) -> int:
    if isinstance(token, int):
        if tokenizer.backend_tokenizer.id_to_token(token) is None:
            raise SettingsError(f"Logit bias: this model has no token #{token}.", "Token ids differ from model to model.")
        return token
    ids = tokenizer.encode(token, add_special_tokens=False)
    if len(ids) != 1:
        parts = ", ".join(f"“{tokenizer.decode([index])}” #{index}" for index in ids[:8])
        raise SettingsError(
            f"Logit bias: “{token}” is not one token of this model but {len(ids)}: {parts}.",
            "Give the bias to one of these, by its text or its #id. A leading space makes another token.",
        )
    return int(ids[0])


def breaker_ids(texts: Iterable[str], tokenizer: Any) -> frozenset[int]:
    """Return the ids that DRY's matches end at: every token that holds one of the texts, and the model's own markers.

    For a text that no token holds, the last token of its encoding stands, as in the original.
    """
    backend = tokenizer.backend_tokenizer
    found = {index for index, token in backend.get_added_tokens_decoder().items() if token.special}
    vocabulary = backend.get_vocab()
    byte_level = "ByteLevel" in decoder_kinds(backend.decoder)
    for text in texts:
        forms = tuple(_forms(text, byte_level=byte_level))
        holding = {index for token, index in vocabulary.items() if any(form in token for form in forms)}
        found |= holding or set(tokenizer.encode(text, add_special_tokens=False)[-1:])
    return frozenset(found)


def _forms(text: str, *, byte_level: bool) -> Iterator[str]:
    """Yield a text as it may stand inside a token of the vocabulary."""
    if byte_level:
        yield "".join(_LETTERS[value] for value in text.encode())
        return
    yield text.replace(" ", SPACE)
    if len(text.encode()) == 1:
        yield f"<0x{ord(text):02X}>"


def token_texts(ids: Iterable[int], before: int | None, tokenizer: Any) -> list[str]:
    """Return what each token would add to a text that ends with the token `before`; a marker is named, not left out."""
    special = {index: token.content for index, token in tokenizer.backend_tokenizer.get_added_tokens_decoder().items()}
    start = [] if before is None else [before]
    known = len(_decode(start, tokenizer))
    return [special.get(index) or _decode([*start, index], tokenizer)[known:] for index in ids]


def _decode(ids: list[int], tokenizer: Any) -> str:
    return str(tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)) if ids else ""

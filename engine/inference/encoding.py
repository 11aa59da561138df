"""Text as token ids, each with where in the text it ends."""

from typing import Any

type Encoded = tuple[list[int], list[int]]
"""Ids, and for each where in the text it ends."""


def encode(tokenizer: Any, text: str) -> Encoded:
    """Return the ids of a text as it stands, no special tokens added. `tokenizer` is a transformers fast tokenizer."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    return list(encoded["input_ids"]), [end for _, end in encoded["offset_mapping"]]

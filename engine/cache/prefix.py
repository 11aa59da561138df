"""The KV cache of the conversation a model saw last, reused as far as the next prompt agrees with it."""

from collections.abc import Sequence
from typing import Any


class PrefixCache:
    """One KV cache per layer and the token ids it holds.

    `layers` is what mlx-lm's models take as `cache`; `tokens` are the ids whose keys and values stand in it, in order.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self.tokens: list[int] = []
        self.layers: list[Any] = []
        self.drop()

    def drop(self) -> None:
        """Forget everything, as after an exception that may have left layers at different offsets."""
        from mlx_lm.models.cache import make_prompt_cache

        self.tokens = []
        self.layers = make_prompt_cache(self._model)

    def reuse(self, ids: Sequence[int]) -> int:
        """Rewind to the longest prefix shared with `ids` and return its length.

        At least the last id is always left to be read, since its logits are needed.
        """
        shared = common_prefix(self.tokens, ids[:-1])
        excess = len(self.tokens) - shared
        if excess and not self._trim(excess):
            self.drop()
            return 0
        del self.tokens[shared:]
        return shared

    def extend(self, ids: Sequence[int]) -> None:
        """Record that the layers now hold `ids` too."""
        self.tokens.extend(ids)

    @property
    def nbytes(self) -> int:
        """Bytes that the layers' arrays take."""
        return sum(int(layer.nbytes) for layer in self.layers)

    def _trim(self, count: int) -> bool:
        if not all(_can_rewind(layer) for layer in self.layers):
            return False
        return all(layer.trim(count) == count for layer in self.layers)


def _can_rewind(layer: Any) -> bool:
    """Return whether a layer still holds all that an earlier position could see.

    A chunked layer of mlx-lm's calls itself trimmable also after it let go of its oldest rows.
    """
    parts = getattr(layer, "caches", (layer,))
    return all(part.is_trimmable() and not getattr(part, "start_position", 0) for part in parts)


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many leading ids two sequences share."""
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length

"""How the KV cache is kept: how long, how precisely, and what is never dropped."""

from dataclasses import dataclass
from typing import Literal

from engine.core.errors import SettingsError

type KVBits = Literal["off", "8", "8/4", "4"]

BITS: dict[str, tuple[int | None, int | None]] = {"off": (None, None), "8": (8, 8), "8/4": (8, 4), "4": (4, 4)}
"""Bits of the keys and of the values; None is the model's own precision."""


@dataclass(frozen=True)
class CachePolicy:
    """What `make_cache` obeys.

    `context` is the number of tokens a query may see, itself included; None lets the cache grow without end. `kv_bits` is the
    precision of keys and values once they are older than the newest few. `pinned` is the number of tokens at the beginning of
    the conversation that stay when older ones are dropped.

    Raises `SettingsError` where the pinned tokens would leave no room for others.
    """

    context: int | None = None
    kv_bits: KVBits = "off"
    pinned: int = 0

    def __post_init__(self) -> None:
        if self.kv_bits not in BITS:
            raise SettingsError(f"The KV precision can be {', '.join(BITS)}, not “{self.kv_bits}”.")
        if self.pinned < 0 or (self.context is not None and self.context < 1):
            raise SettingsError("The context length and the pinned tokens can't be negative, and the context not empty.")
        if self.context is not None and self.pinned >= self.context:
            raise SettingsError(
                f"{self.pinned:,} pinned tokens leave no room in a context of {self.context:,}.",
                "Raise the context length or shorten the system prompt.",
            )

    @property
    def bits(self) -> tuple[int | None, int | None]:
        """Bits of the keys and of the values; None is the model's own precision."""
        return BITS[self.kv_bits]

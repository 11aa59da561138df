"""The state of a cache at one moment: references to its arrays, and plain numbers."""

from dataclasses import dataclass

import mlx.core as mx


@dataclass(frozen=True)
class Snapshot:
    """Arrays by name and numbers by name, as safetensors and its metadata take them.

    The arrays are those of the cache, not copies: they cost nothing until the cache is written to, which then copies them
    once. Evaluate them before another thread uses them.
    """

    arrays: dict[str, mx.array]
    numbers: dict[str, int]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays: what the snapshot holds once the cache has moved on."""
        return sum(array.nbytes for array in self.arrays.values())


def same(array: mx.array) -> mx.array:
    """Return another handle of the same array: writing into one (`array[...] = x`) leaves the other as it was."""
    return array[...]


def within(name: str, inner: Snapshot) -> Snapshot:
    """Return a snapshot's arrays and numbers named as those of a part, `name.…`."""
    return Snapshot(
        {f"{name}.{key}": array for key, array in inner.arrays.items()},
        {f"{name}.{key}": number for key, number in inner.numbers.items()},
    )


def part(name: str, whole: Snapshot) -> Snapshot:
    """Return what `within` named: the snapshot of the part `name`."""
    start = f"{name}."
    return Snapshot(
        {key.removeprefix(start): array for key, array in whole.arrays.items() if key.startswith(start)},
        {key.removeprefix(start): number for key, number in whole.numbers.items() if key.startswith(start)},
    )

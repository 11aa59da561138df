"""What this machine gives a model: how much memory it may take, and how fast that memory is."""

import functools
import sys

from engine.core.record import Record
from engine.hardware.device import Device, read_device
from engine.hardware.meters import read_memory

_GRAIN = 250_000_000


class Machine(Record):
    """Sizes in bytes, bandwidth in bytes a second; None where it is not known.

    `budget` is what a model may take now, `max_buffer` the largest single array, `metal` whether MLX computes on the GPU,
    `memory_bytes` all the memory there is.
    """

    budget: int
    max_buffer: int | None = None
    bandwidth: float | None = None
    metal: bool = False
    memory_bytes: int = 0


def read_machine(budget: int = 0) -> Machine:
    """Return this machine, without importing MLX; `budget` is the engine's own figure where it told one.

    The budget goes up and down with what else runs: it is rounded down, so that not every breath is another machine.
    """
    whole = (budget or read_memory().budget) // _GRAIN * _GRAIN
    return Machine(whole, None, _device().bandwidth_bytes_per_s, sys.platform == "darwin", _device().memory_bytes)


@functools.cache
def _device() -> Device:
    return read_device({})  # It asks other programs, on a Mac: once is enough.

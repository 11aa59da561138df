"""What this machine gives a model: how much memory it may take, and how fast that memory is."""

import sys
from dataclasses import dataclass

from engine.hardware.device import read_device
from engine.hardware.meters import read_memory


@dataclass(frozen=True)
class Machine:
    """Sizes in bytes, bandwidth in bytes a second; None where it is not known.

    `budget` is what a model may take now, `max_buffer` the largest single array, `metal` whether MLX computes on the GPU.
    """

    budget: int
    max_buffer: int | None = None
    bandwidth: float | None = None
    metal: bool = False


def read_machine(budget: int = 0) -> Machine:
    """Return this machine, without importing MLX; `budget` is the engine's own figure where it told one."""
    device = read_device({})
    return Machine(budget or read_memory().budget, None, device.bandwidth_bytes_per_s, sys.platform == "darwin")

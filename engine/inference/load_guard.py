"""Whether a model's memory is there before any of it is read."""

from pathlib import Path

from engine.core.errors import FlintError, OutOfMemory
from engine.core.facts import ModelEntry, Weights
from engine.core.sizes import size_text
from engine.hardware.device import read_device
from engine.hardware.meters import mlx_counters, read_memory
from engine.models.load_plan import plan_load, predict_load

SHORTEST = 256
"""Tokens of context below which a loaded model is of no use."""


def check_room(entry: ModelEntry, weights: Weights) -> None:
    """Raise `OutOfMemory` where the weights of a model, and a short context, take more than the memory budget.

    What the model loaded now holds counts as free, as it is dropped first. A model that can't be judged passes: loading it
    tells what is wrong with it.
    """
    device = read_device()
    budget = read_memory(mlx_counters(), working_set=device.working_set_bytes).budget
    try:
        plan = plan_load(Path(entry.path), metal=device.metal, memory_bytes=device.memory_bytes, weights=weights)
        needed = predict_load(plan, context=SHORTEST, chunk=SHORTEST, metal=device.metal).peak_bytes
    except FlintError:
        return
    if needed <= budget:
        return
    raise OutOfMemory(
        f"{entry.name} needs {size_text(needed, 1)}, and Flint may take {size_text(budget, 1)} here. Nothing has been loaded.",
        "Close other apps or choose a smaller model. With the memory guard off for all chats it is loaded all the same.",
    )

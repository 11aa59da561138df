"""Which model to use when nobody named one."""

from collections.abc import Iterable, Sequence

from engine.core.facts import ModelEntry


def preferred(entries: Sequence[ModelEntry], wanted: Iterable[str] = ()) -> ModelEntry | None:
    """Return the first usable model of the `wanted` ids, else the starter, else the first usable one; None without any."""
    usable = {entry.id: entry for entry in entries if not entry.problem}
    for model_id in wanted:
        if model_id in usable:
            return usable[model_id]
    starter = next((entry for entry in usable.values() if entry.origin == "starter"), None)
    return starter or next(iter(usable.values()), None)

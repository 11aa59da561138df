"""What a model's generation_config.json recommends for sampling."""

from pathlib import Path

from engine.core.json_file import read_object
from engine.core.sampling import Recommended
from engine.core.settings import usable

_MOST_BYTES = 1 << 20


def read_recommended(folder: Path) -> Recommended:
    """Return the sampling that a model folder comes with; empty where it has none, or none that can be used.

    A config that says `do_sample: false` recommends none: its other values are leftovers.
    """
    path = folder / "generation_config.json"
    try:
        if path.stat().st_size > _MOST_BYTES:
            return Recommended()
        stored = read_object(path)
    except (OSError, ValueError):
        return Recommended()
    if stored.get("do_sample") is False:
        return Recommended()
    known = {name: value for name, value in stored.items() if name in Recommended.names() and value is not None}
    return Recommended(**usable(known))  # type: ignore[arg-type]

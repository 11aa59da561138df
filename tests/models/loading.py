"""Model folders loaded the way the engine does it."""

from engine.core.paths import locate
from engine.inference.loader import load
from engine.models.library import Library


def load_folder(folder, weights="auto"):
    """Load a model folder on this thread."""
    return load(Library(locate()).find(str(folder)), weights, lambda fraction, stage: None)

"""Which presets there are, and which is in force."""

from engine.core.presets import BUILT_IN
from engine.core.record import Record

MODEL, CUSTOM = "Model", "Custom"
SEGMENTS = (*(preset.name for preset in BUILT_IN), MODEL, CUSTOM)


class PresetState(Record):
    """What the bar shows: the preset in force, people's `own` ones, and the own one that the values were `changed_from`.

    `has_model` says that the model recommends something, `has_custom` that there are custom values to go back to.
    """

    active: str = "Balanced"
    own: tuple[str, ...] = ()
    changed_from: str = ""
    has_model: bool = False
    has_custom: bool = False

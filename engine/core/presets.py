"""Presets: sampling settings under a name, built in or people's own, which can be shared as a small JSON text."""

import json
from collections.abc import Mapping
from dataclasses import field

from engine.core.errors import SettingsError
from engine.core.preferences import Preferences
from engine.core.record import Record
from engine.core.sampling import Sampling
from engine.core.setting import Value
from engine.core.settings import BY_NAME, GROUPS, usable

SECTION = "presets"
KIND = "flint-sampling-preset"
LONGEST_NAME = 40
LARGEST = 64_000
"""Characters of a preset as text: far more than one needs."""

_LIMITS = ("seed", "max_tokens", "stop", "logit_bias")
NAMES = tuple(name for group in GROUPS if group.values is Sampling for name in group.names if name != "seed")
"""The settings a preset may hold: all of the sampling but the seed."""
SHAPE = tuple(name for name in NAMES if name not in _LIMITS)
"""Those that every preset decides: what it does not name goes to Flint's default."""


class Preset(Record):
    """Values under a name. What of `SHAPE` it does not name has Flint's default; anything else it leaves as it is."""

    name: str
    values: Mapping[str, Value] = field(default_factory=dict)

    def all(self) -> dict[str, Value]:
        """Return every setting that the preset decides."""
        return {**{name: BY_NAME[name].default for name in SHAPE}, **self.values}

    def fits(self, values: Mapping[str, Value]) -> bool:
        """Say whether `values` are the preset's."""
        return all(values.get(name) == value for name, value in self.all().items())


PRECISE = Preset("Precise", {"temperature": 0.2, "top_p": 0.9, "top_k": 20, "min_p": 0.1})
BALANCED = Preset("Balanced")
CREATIVE = Preset("Creative", {"temperature": 1.1, "top_p": 1.0, "top_k": 100, "min_p": 0.05})
BUILT_IN = (PRECISE, BALANCED, CREATIVE)
_RESERVED = {*(preset.name.casefold() for preset in BUILT_IN), "model", "custom"}


def to_text(preset: Preset) -> str:
    """Return a preset as JSON that `from_text` reads."""
    document = {"kind": KIND, "version": 1, "name": preset.name, "values": dict(preset.values)}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def from_text(text: str) -> tuple[Preset, tuple[str, ...]]:
    """Return the preset that a text holds, and the names in it that this Flint does not know.

    Raises `SettingsError` for a text that is none, or a value that cannot be used.
    """
    hint = "Export one from Flint to see how it is written."
    try:
        stored = json.loads(text) if len(text) <= LARGEST else None
    except (ValueError, RecursionError):
        raise SettingsError("This is no preset: it is not JSON.", hint) from None
    if not isinstance(stored, dict) or stored.get("kind") != KIND:
        raise SettingsError("This is JSON, but not a preset of Flint's.", hint)
    values = stored.get("values")
    if not isinstance(values, dict) or not isinstance(stored.get("name"), str):
        raise SettingsError("The preset lacks its name or its values.", hint)
    known = {name: BY_NAME[name].check(value) for name, value in values.items() if name in NAMES}
    return Preset(stored["name"], known), tuple(str(name)[:40] for name in values if name not in NAMES)


class Presets:
    """People's own presets, kept with the preferences. Names differ by more than case."""

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences

    def all(self) -> tuple[Preset, ...]:
        """Return them by name."""
        stored = self._preferences.section(SECTION)
        found = [Preset(name, usable(values)) for name, values in stored.items() if isinstance(values, dict)]
        return tuple(sorted(found, key=lambda preset: preset.name.casefold()))

    def find(self, name: str) -> Preset | None:
        """Return the preset of a name, however its letters are cased."""
        return next((preset for preset in self.all() if preset.name.casefold() == name.strip().casefold()), None)

    def free_name(self, name: str) -> str:
        """Return `name`, with a number where it is taken."""
        base = name.strip()[:LONGEST_NAME].strip() or "Preset"
        names = [base, *(f"{base[: LONGEST_NAME - 4]} {count}" for count in range(2, 1000))]
        return next(name for name in names if not self._is_taken(name))

    def save(self, preset: Preset) -> Preset:
        """Keep a new preset. Raises `SettingsError` for a name that is taken or can't be one, else as `Preferences.set`."""
        name = self._checked(preset.name)
        self._keep({**self._stored(), name: dict(preset.values)})
        return Preset(name, preset.values)

    def update(self, preset: Preset) -> None:
        """Replace the values of the preset of that name. Raises as `Preferences.set`."""
        self._keep({**self._stored(), preset.name: dict(preset.values)})

    def rename(self, old: str, new: str) -> str:
        """Give a preset another name, and return it. Raises as `save`."""
        name = self._checked(new, but=old)
        stored = self._stored()
        self._keep({(name if key == old else key): values for key, values in stored.items()})
        return name

    def delete(self, name: str) -> None:
        """Remove a preset. Raises as `Preferences.set`."""
        self._keep({key: values for key, values in self._stored().items() if key != name})

    def _stored(self) -> dict[str, object]:
        return dict(self._preferences.section(SECTION))

    def _keep(self, content: Mapping[str, object]) -> None:
        self._preferences.set_section(SECTION, content)

    def _is_taken(self, name: str) -> bool:
        return name.casefold() in _RESERVED or self.find(name) is not None

    def _checked(self, name: str, but: str = "") -> str:
        name = " ".join(name.split())
        if not name:
            raise SettingsError("A preset needs a name.", "Type one.")
        if len(name) > LONGEST_NAME:
            raise SettingsError(f"A preset's name has at most {LONGEST_NAME} characters.", "Type a shorter one.")
        if name.casefold() != but.casefold() and self._is_taken(name):
            raise SettingsError(f"There is a preset “{name}” already.", "Type another name.")
        return name

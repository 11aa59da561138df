"""What one setting is: its type, bounds and words, and how a value is checked."""

import enum
import math
from collections.abc import Callable
from dataclasses import field
from typing import Any

from engine.core.errors import SettingsError
from engine.core.record import Record

type Value = bool | int | float | str | None

GB = 10**9
MINUS = "\N{MINUS SIGN}"
"""What stands before a negative number that people read."""
LONGEST_EXCERPT = 60
"""Characters of a wrong value that an error repeats."""


class Applies(enum.Enum):
    """When a changed setting takes effect; the value is what people read."""

    NOW = "at once"
    NEXT_REPLY = "with the next reply"
    NEXT_LOAD = "when a model is loaded next"
    NEXT_START = "when Flint starts next"


class Scope(enum.Enum):
    """Where a setting may be set: for the whole app, or for one chat over the app's value."""

    APP = "app"
    CHAT = "chat"


class Setting(Record):
    """One declared setting.

    `kind` is the plain type; `optional` allows None, which `none_label` names; `choices` pairs stored values with labels;
    `minimum` and `maximum` are inclusive, in `unit`; `logarithmic` asks for a slider that spends its length on ratios. `off` is
    the value at which it does nothing; `rare` asks to be folded away; `form` raises `SettingsError` for a text it can't read.
    """

    name: str
    kind: type[Any]
    default: Value
    label: str
    help: str
    group: str
    scope: Scope
    applies: Applies
    optional: bool = False
    none_label: str = ""
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    unit: str = ""
    logarithmic: bool = False
    multiline: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    short_flag: str = ""
    off: Value = None
    rare: bool = False
    form: Callable[[str], object] | None = None

    @property
    def flag(self) -> str:
        """The command line's name for it, as `--top-k`."""
        return self.short_flag or "--" + self.name.replace("_", "-")

    @property
    def bounds_text(self) -> str:
        """The bounds as people read them, or an empty string."""
        if self.choices:
            return ", ".join(value for value, _ in self.choices)
        if self.minimum is None or self.maximum is None:
            return ""
        return f"{_figure(self.minimum)} to {_figure(self.maximum)}"

    def check(self, value: object) -> Value:
        """Return `value` in the setting's own type; raise `SettingsError` when it is of another kind or out of bounds."""
        if value is None:
            if self.optional:
                return None
            raise SettingsError(f"{self.label} needs a value.")
        converted = self._convert(value)
        if self.choices and converted not in {choice for choice, _ in self.choices}:
            raise SettingsError(f"{self.label} can be {self.bounds_text}, not “{_excerpt(value)}”.")
        if isinstance(converted, int | float) and not isinstance(converted, bool):
            low = -math.inf if self.minimum is None else self.minimum
            high = math.inf if self.maximum is None else self.maximum
            if not low <= converted <= high:
                raise SettingsError(f"{self.label} goes from {self.bounds_text}, not {_excerpt(_figure(converted))}.")
        return converted

    def _convert(self, value: object) -> Value:
        wrong = SettingsError(f"{self.label} can't be “{_excerpt(value)}”.")
        if self.kind is bool:
            if isinstance(value, bool):
                return value
            raise wrong
        if self.kind is str:
            # Half a surrogate pair, as a terminal makes it of bytes that are no text, could not be stored or sent.
            if isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value):
                if self.form is not None:
                    self.form(value)
                return value
            raise wrong
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise wrong
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise wrong from None
        if not math.isfinite(number):
            raise wrong
        if self.kind is int:
            # A seed has 64 bits, more than a float keeps: an int stays as it is.
            if isinstance(value, int):
                return value
            if not number.is_integer():
                raise wrong
            return int(value) if isinstance(value, str) and value.strip().lstrip("+-").isdigit() else int(number)
        return number


def declared(default: Any, **facts: Any) -> Any:
    """Return a dataclass field that declares a setting: its default, and `facts` named as the fields of `Setting`."""
    return field(default=default, metadata=facts)


def _figure(number: float) -> str:
    """Return a number in full, with thousands apart: 0.05, −2, 131,072."""
    return (f"{number:,}" if isinstance(number, int) else f"{number:,g}").replace("-", MINUS)


def _excerpt(value: object) -> str:
    """Return a wrong value as it can be shown: short, and text whatever it was."""
    try:
        text = str(value)
    except ValueError:  # Python does not write out whole numbers of thousands of digits.
        return "a number of thousands of digits"
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= LONGEST_EXCERPT else f"{text[:LONGEST_EXCERPT]}…"

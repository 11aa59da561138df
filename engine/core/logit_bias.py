"""Logit bias as people write it: one `token=bias` a line."""

import math
import re

from engine.core.errors import SettingsError
from engine.core.record import Record
from engine.core.text_lines import unescape

LIMIT = 100.0
"""The largest bias, as the field has it: enough to force a token or to forbid it."""
_ID = re.compile(r"#([0-9]{1,9})")
_HINT = r"Write one token=bias a line: late=-5, or #123=2 for a token's id. A leading space counts; \n is a line break."


class Bias(Record):
    """What is added to one token's logit. `token` is its text exactly, or its id."""

    token: str | int
    value: float


def read_biases(text: str) -> tuple[Bias, ...]:
    """Return the biases of `text`, one a line; the last sign of equality parts token and bias. Raises `SettingsError`."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            token, sign, bias = line.rpartition("=")
            if not sign or not token:
                raise SettingsError(f"Logit bias, line {number}: “{line.strip()[:40]}” is not token=bias.", _HINT)
            found.append(Bias(_token(token), _value(bias, number)))
    return tuple(found)


def _token(text: str) -> str | int:
    name = _ID.fullmatch(text.strip())
    return int(name[1]) if name else unescape(text)


def _value(text: str, number: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not -LIMIT <= value <= LIMIT:
        told = f"“{text.strip()[:40]}”" if text.strip() else "nothing"
        raise SettingsError(f"Logit bias, line {number}: a bias goes from -100 to 100, not {told}.", _HINT)
    return value

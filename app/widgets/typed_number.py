"""Values of settings as people write them."""

import re

from engine.core.setting import MINUS, Setting, Value

# Whole numbers grouped by threes, all with the same mark, as 4,096 or 131 072; then decimals after a point.
_GROUPED = re.compile(r"([+-]?\d{1,3})(?=[,.’'_\s])((?:([,.’'_\s])\d{3})(?:\3\d{3})*)(\.\d+)?")

# A context as its lists write it: 32k is 32,768 to everybody.
_SHORT = re.compile(r"(\d{1,9}(?:[.,]\d{1,9})?)\s?([kKmM])")


def read(setting: Setting, text: str) -> Value:
    """Return what somebody typed as `Setting.check` takes it: thousands' marks gone, a decimal comma made a point, and
    tokens written short, as 32k, in full.

    Marks that do not group by threes stay, for `Setting.check` to refuse: half a token is not five.
    """
    plain = text.strip().replace(MINUS, "-")
    if not plain:
        return None
    if setting.unit == "tokens" and (short := _SHORT.fullmatch(plain)):
        tokens = float(short[1].replace(",", ".")) * (1024 if short[2] in "kK" else 1024 * 1024)
        return int(tokens) if tokens.is_integer() else plain
    if setting.kind is float and plain.count(",") == 1 and "." not in plain and not _is_thousands(setting, plain):
        return plain.replace(",", ".")
    grouped = _GROUPED.fullmatch(plain)
    if not grouped or (setting.kind is float and grouped[3] == "."):
        return plain.replace("_", " ")  # Python would take the underscores of 1_0 away.
    return grouped[1] + grouped[2].replace(grouped[3], "") + (grouped[4] or "")


def _is_thousands(setting: Setting, plain: str) -> bool:
    """Whether a comma marks thousands, as the field itself shows them: 1,000 where a number gets so large, never 0,500."""
    return (setting.maximum or 0) >= 1000 and plain[0] in "123456789" and _GROUPED.fullmatch(plain) is not None

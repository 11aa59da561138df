"""Values of settings as people write and read them."""

import math
import re

from engine.core.setting import Setting, Value

# Whole numbers grouped by threes, all with the same mark, as 4,096 or 131 072; then decimals after a point.
_GROUPED = re.compile(r"([+-]?\d{1,3})(?=[,.’'_\s])((?:([,.’'_\s])\d{3})(?:\3\d{3})*)(\.\d+)?")


def shown(setting: Setting, value: Value) -> str:
    """Return a value as its field shows it: 0.70, 2,048, and nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        # A seed is a name, not a quantity: its digits are copied, so nothing stands between them.
        return str(value) if has_no_scale(setting) else f"{value:,}"
    digits = max(0, math.ceil(-math.log10(setting.step))) if setting.step else 2
    fixed = f"{value:.{digits}f}"
    return fixed if math.isclose(float(fixed), value, abs_tol=1e-12) else f"{value:g}"


def named(setting: Setting, value: Value) -> str:
    """Return a value as a sentence names it: a choice by its label, None by its own, a long text not at all."""
    if value is None:
        return setting.none_label
    if setting.choices:
        return dict(setting.choices)[str(value)]
    if setting.kind is str:
        return ""
    if setting.kind is bool:
        return "on" if value else "off"
    return shown(setting, value)


def read(setting: Setting, text: str) -> Value:
    """Return what somebody typed as `Setting.check` takes it: thousands' marks gone, a decimal comma made a point.

    Marks that do not group by threes stay, for `Setting.check` to refuse: half a token is not five.
    """
    plain = text.strip()
    if not plain:
        return None
    if setting.kind is float and plain.count(",") == 1 and "." not in plain:
        return plain.replace(",", ".")
    grouped = _GROUPED.fullmatch(plain)
    if not grouped or (setting.kind is float and grouped[3] == "."):
        return plain.replace("_", " ")  # Python would take the underscores of 1_0 away.
    return grouped[1] + grouped[2].replace(grouped[3], "") + (grouped[4] or "")


def menu_text(text: str) -> str:
    """Return a text as a menu shows it in full: an ampersand would mark a key."""
    return text.replace("&", "&&")


def has_no_scale(setting: Setting) -> bool:
    """Whether a number's range is too wide for a slider to mean anything, as a seed's."""
    if setting.minimum is None or setting.maximum is None:
        return True
    return setting.maximum - setting.minimum > 2**32

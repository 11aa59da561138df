"""Values of settings as people read them."""

import math

from engine.core.setting import MINUS, Setting, Value


def shown(setting: Setting, value: Value) -> str:
    """Return a value as its field shows it: 0.70, 2,048, and nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        # A seed is a name, not a quantity: its digits are copied, so nothing stands between them.
        return str(value) if has_no_scale(setting) else f"{value:,}".replace("-", MINUS)
    digits = max(0, math.ceil(-math.log10(setting.step))) if setting.step else 2
    exact = math.isclose(round(value, digits), value, abs_tol=1e-12)
    return (f"{value:,.{digits}f}" if exact else f"{value:,g}").replace("-", MINUS)


def unset(setting: Setting) -> str:
    """Return the word for a number that is left to Flint, where one word has to do."""
    return "random" if has_no_scale(setting) else "auto"


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


def menu_text(text: str) -> str:
    """Return a text as a menu shows it in full: an ampersand would mark a key."""
    return text.replace("&", "&&")


def has_no_scale(setting: Setting) -> bool:
    """Whether a number's range is too wide for a slider to mean anything, as a seed's."""
    if setting.minimum is None or setting.maximum is None:
        return True
    return setting.maximum - setting.minimum > 2**32

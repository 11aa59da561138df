"""How Flint looks, from the settings to the theme."""

from typing import cast

from app.theme import Mode, Motion, Theme
from engine.core.preferences import Preferences

SETTINGS = ("theme", "text_size", "motion", "code_lines")
"""The settings that change a theme."""


def dress(theme: Theme, preferences: Preferences) -> None:
    """Give a theme the appearance, text size, motion and way with long lines that are set."""
    theme.set_mode(cast("Mode", preferences.get("theme")))
    theme.set_text_size(cast("int", preferences.get("text_size")))
    theme.set_code_wrap(preferences.get("code_lines") == "wrap")
    theme.set_motion(cast("Motion", preferences.get("motion")))

"""Settings at work: kept where they belong, and applied at once."""

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from app.settings.appearance import SETTINGS as APPEARANCE
from app.settings.appearance import dress
from app.settings.panel import SettingsPanel
from app.theme import Theme
from engine.core.errors import FlintError, describe
from engine.core.messages import SetPrefixCache, SetUnloadAfter
from engine.core.preferences import Preferences
from engine.core.setting import GB, Value
from engine.core.settings import BY_NAME

SECONDS_A_MINUTE = 60
PREFIX_CACHE = ("prefix_cache_memory", "prefix_cache_disk")


class SettingsController(QObject):
    """Connects the panel with the app's preferences; what concerns a chat goes out by signal."""

    chat_changed = Signal(str, object)
    chat_reset = Signal(str)
    failed = Signal(object)

    def __init__(
        self,
        preferences: Preferences,
        panel: SettingsPanel,
        bridge: Bridge,
        theme: Theme,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._panel = panel
        self._bridge = bridge
        self._theme = theme
        self._chat_values: dict[str, Value] = {}
        panel.changed.connect(self._on_changed)
        panel.reset.connect(self._on_reset)
        theme.code_wrap_chosen.connect(lambda wrap: self._on_changed("app", "code_lines", "wrap" if wrap else "scroll"))

    def show_chat(self, values: dict[str, Value]) -> None:
        """Show the values in force, with what the open chat sets for itself."""
        self._chat_values = dict(values)
        self._panel.show_values(self._preferences.values(), self._chat_values)

    def step_text_size(self, steps: int) -> None:
        """Make text larger or smaller by steps, within the setting's bounds; 0 goes back to the default."""
        setting = BY_NAME["text_size"]
        size = float(self._preferences.get("text_size") or 0) + steps * float(setting.step or 1) if steps else setting.default
        least, most = float(setting.minimum or 0), float(setting.maximum or 0)
        self._on_changed("app", "text_size", int(min(most, max(least, float(size or 0)))))

    def _on_changed(self, scope: str, name: str, value: Value) -> None:
        if scope == "chat":
            self._chat_values[name] = value
            self.chat_changed.emit(name, value)
        else:
            self._set(name, value)
        self._panel.show_values(self._preferences.values(), self._chat_values)

    def _on_reset(self, scope: str, name: str) -> None:
        if scope == "chat":
            self._chat_values.pop(name, None)
            self.chat_reset.emit(name)
        else:
            self._set(name, BY_NAME[name].default)
        self._panel.show_values(self._preferences.values(), self._chat_values)

    def _set(self, name: str, value: Value) -> None:
        try:
            self._preferences.set(name, value)
        except (FlintError, OSError) as error:  # It applies all the same, until Flint is closed.
            self.failed.emit(describe(error))
        if name in APPEARANCE:
            dress(self._theme, self._preferences)
        elif name == "unload_after":
            seconds = float(self._preferences.get("unload_after") or 0) * SECONDS_A_MINUTE
            self._bridge.send(SetUnloadAfter(self._bridge.new_id("unload-after"), seconds))
        elif name in PREFIX_CACHE:
            self._bridge.send(SetPrefixCache(self._bridge.new_id("prefix-cache"), *map(self._bytes, PREFIX_CACHE)))

    def _bytes(self, name: str) -> int:
        return int(float(self._preferences.get(name) or 0) * GB)

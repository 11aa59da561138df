"""Settings at work: kept where they belong, and applied at once."""

import contextlib
from collections.abc import Iterator, Mapping

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from app.settings.appearance import SETTINGS as APPEARANCE
from app.settings.appearance import dress
from app.settings.kv_needs import KvModel, KvNeeds
from app.settings.panel import SettingsPanel
from app.settings.preset_controller import PresetController
from app.theme import Theme
from engine.core.errors import FlintError, describe
from engine.core.messages import Event, NextTokens, SetPrefixCache, SetUnloadAfter
from engine.core.preferences import Preferences
from engine.core.setting import GB, Value
from engine.core.settings import BY_NAME

SECONDS_A_MINUTE = 60
MOST_TOLD = 50
"""Replies whose next-token distribution is kept."""
PREFIX_CACHE = ("prefix_cache_memory", "prefix_cache_disk")


class SettingsController(QObject):
    """Connects the panel with the app's preferences; what concerns a chat goes out by signal."""

    chat_changed = Signal(str, object)
    chat_reset = Signal(str)
    chat_replaced = Signal(object)
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
        self._model_id = ""
        self._recommended: Mapping[str, Value] = {}
        self._told: dict[str, NextTokens] = {}
        self.presets = PresetController(preferences, panel, self)
        self._kv_needs = KvNeeds(panel, self)
        panel.changed.connect(self._on_changed)
        panel.reset.connect(self._on_reset)
        theme.code_wrap_chosen.connect(lambda wrap: self._on_changed("app", "code_lines", "wrap" if wrap else "scroll"))
        panel.replaced.connect(self._on_replaced)
        self.presets.failed.connect(self.failed)

    def show_chat(self, values: dict[str, Value]) -> None:
        """Show the values in force, with what the open chat sets for itself."""
        self._chat_values = dict(values)
        self._show()

    def show_model(self, model_id: str, recommended: Mapping[str, Value], kv: KvModel) -> None:
        """Show what is set for the model that answers next, what it recommends, its trained length and what its cache takes.

        An empty id: there is none.
        """
        self._panel.show_trained_length(kv.trained)
        if (model_id, recommended) != (self._model_id, self._recommended):
            self._panel.flush()  # What is being typed is for the model it was typed for.
            self.presets.forget("model")
            self._model_id, self._recommended = model_id, dict(recommended)
            self._show()
        self._kv_needs.show_model(kv)

    def close(self) -> None:
        """Apply what is being typed or dragged, and end the thread that computes."""
        self._panel.flush()
        self._kv_needs.close()

    def take(self, message_id: str, event: Event) -> None:
        """Take the next-token distribution in that a reply tells; `show_reply` shows it."""
        if isinstance(event, NextTokens):
            self._told.pop(message_id, None)
            self._told[message_id] = event
            if len(self._told) > MOST_TOLD:
                del self._told[next(iter(self._told))]

    def show_reply(self, message_id: str, seed: int | None) -> None:
        """Show the next-token distribution of a reply, where it is known, and a seed; an empty id: there is no reply."""
        self._panel.show_tokens(self._told.get(message_id))
        self._panel.show_last_seed(seed)

    def _show(self) -> None:
        model = self._preferences.of_model(self._model_id) if self._model_id else None
        self._panel.show_values(self._preferences.changed(), self._chat_values, model, self._recommended)

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
        elif scope == "model":
            self._keep_for_model({**self._preferences.of_model(self._model_id), name: value})
        else:
            self._set(name, value, explicit=name in self._recommended)
        self._show()

    def _on_reset(self, scope: str, name: str) -> None:
        if scope == "chat":
            self._chat_values.pop(name, None)
            self.chat_reset.emit(name)
        elif scope == "model":
            kept = self._preferences.of_model(self._model_id)
            self._keep_for_model({key: value for key, value in kept.items() if key != name})
        else:
            self._set(name, BY_NAME[name].default)
        self._show()

    def _on_replaced(self, scope: str, values: Mapping[str, Value]) -> None:
        if scope == "chat":
            self._chat_values = dict(values)
            self.chat_replaced.emit(dict(values))
        elif scope == "model":
            self._keep_for_model(values)
        else:
            with self._telling():
                self._preferences.set_all(values)
        self._show()

    def _keep_for_model(self, values: Mapping[str, Value]) -> None:
        with self._telling():
            self._preferences.set_for_model(self._model_id, values)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Tell of what can't be kept; it applies all the same, until Flint is closed."""
        try:
            yield
        except (FlintError, OSError) as error:
            self.failed.emit(describe(error))

    def _set(self, name: str, value: Value, *, explicit: bool = False) -> None:
        with self._telling():
            self._preferences.set(name, value, explicit=explicit)
        if name in APPEARANCE:
            dress(self._theme, self._preferences)
        elif name == "unload_after":
            seconds = float(self._preferences.get("unload_after") or 0) * SECONDS_A_MINUTE
            self._bridge.send(SetUnloadAfter(self._bridge.new_id("unload-after"), seconds))
        elif name in PREFIX_CACHE:
            self._bridge.send(SetPrefixCache(self._bridge.new_id("prefix-cache"), *map(self._bytes, PREFIX_CACHE)))

    def _bytes(self, name: str) -> int:
        return int(float(self._preferences.get(name) or 0) * GB)

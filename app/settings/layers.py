"""Where a setting's value comes from: a chat's own over its model's over all chats', over what the model itself recommends."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.core.setting import Scope, Value
from engine.core.settings import BY_NAME, SETTINGS

SCOPES = ("chat", "model", "app")
"""Where values are set, from the nearest to the widest."""
_WORDS = {"model": "this model", "app": "app default", "recommended": "model default", "default": "app default"}


@dataclass
class Layers:
    """What is set where. A scope that is None cannot be set now: no chat is open, or there is no model."""

    app: dict[str, Value] = field(default_factory=dict)
    model: dict[str, Value] | None = None
    chat: dict[str, Value] | None = None
    recommended: Mapping[str, Value] = field(default_factory=dict)

    def at(self, scope: str) -> dict[str, Value] | None:
        """Return what is set at a scope."""
        return {"app": self.app, "model": self.model, "chat": self.chat}[scope]

    def put(self, name: str, value: Value, scope: str) -> None:
        """Set a value at a scope, where it can be."""
        held = self.at(scope)
        if held is not None:
            held[name] = value

    def value(self, name: str, scope: str) -> Value:
        """Return the value in force as seen from a scope."""
        held = self.at(scope) or {}
        return held[name] if name in held else self.inherited(name, scope)[0]

    def values(self, scope: str) -> dict[str, Value]:
        """Return every value in force as seen from a scope."""
        return {setting.name: self.value(setting.name, scope) for setting in SETTINGS}

    def is_set(self, name: str, scope: str) -> bool:
        """Say whether a setting has a value of its own at a scope."""
        return name in (self.at(scope) or {})

    def inherited(self, name: str, scope: str) -> tuple[Value, str]:
        """Return the value that would stand if none were set at the scope, and in words where that comes from."""
        for wider in SCOPES[SCOPES.index(scope) + 1 :]:
            held = self.at(wider) or {}
            if name in held:
                return held[name], _WORDS[wider]
        if name in self.recommended:
            return self.recommended[name], _WORDS["recommended"]
        return BY_NAME[name].default, "default" if scope == "app" else _WORDS["default"]

    def with_values(self, values: Mapping[str, Value], scope: str) -> dict[str, Value]:
        """Return what is to be set at a scope so that `values` are in force there: nothing where they are inherited."""
        changed = dict(self.at(scope) or {})
        for name, value in values.items():
            if value == self.inherited(name, scope)[0]:
                changed.pop(name, None)
            else:
                changed[name] = value
        return changed


def shows(scope: str, group_scope: Scope) -> bool:
    """Say whether a group of settings can be set at a scope: the app's own only for all chats."""
    return scope == "app" or group_scope is Scope.CHAT

"""The settings panel, made from the declared settings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.settings.layers import Layers, shows
from app.settings.outlook import READS
from app.settings.preset_state import PresetState
from app.theme import Theme
from app.widgets.debounce import Debounce
from app.widgets.frame import draw_hairline
from app.widgets.label import Label
from engine.core.messages import NextTokens
from engine.core.sampling import Sampling
from engine.core.setting import Setting, Value
from engine.core.settings import GROUPS, SETTINGS, KeyValueCache

if TYPE_CHECKING:
    from app.settings.field import Field
    from app.settings.group import Group
    from app.settings.storage import Storage

WIDTH = 320
_HEADER = 40
_STORAGE = "Storage"
_SCOPES = (("chat", "This chat"), ("model", "This model"), ("app", "All chats"))
_SCOPE_HELP = {
    "chat": "What is set for this chat goes before everything else.",
    "model": "What is set for this model holds in every chat with it that sets nothing itself.",
    "app": "What is set for all chats holds where neither the chat nor its model sets anything.",
}


class SettingsPanel(QWidget):
    """Every declared setting: what this chat, this model or all chats set, each over what it inherits, and `Storage`.

    `changed` carries the scope ("chat", "model" or "app"), the setting's name and its checked value; `reset` the scope and the
    name of one that goes back to what it inherits; `replaced` the scope and all that is set there. What a slider passes on its
    way is shown, but not said before it rests. With `later` the fields are made by `fill`, at the latest when the panel is
    shown. `opened` says that the panel is shown, `values_shown` that other values are, `empty_requested` and `clear_requested`
    what `Storage` says, the others what the presets' bar says.
    """

    changed = Signal(str, str, object)
    reset = Signal(str, str)
    replaced = Signal(str, object)
    opened = Signal()
    values_shown = Signal()
    empty_requested = Signal()
    clear_requested = Signal()
    preset_chosen = Signal(str)
    preset_asked = Signal(str, str)
    preset_named = Signal(str)

    def __init__(self, theme: Theme, *, later: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._layers = Layers()
        self._kv_needs = Label(theme, style="caption", role="ink-3", wrap=True, parent=self)
        self._kv_needs.setObjectName("kvNeeds")
        self._kv_needs.hide()
        self._scope = "app"
        self._presets, self._last_seed = PresetState(), cast("int | None", None)
        self._told: NextTokens | None = None
        self._trained = 0
        self.setObjectName("settingsPanel")
        self.setAccessibleName("Settings")
        self.setFixedWidth(WIDTH)
        self._passed: dict[tuple[str, str], Value] = {}
        self._rest = Debounce(self._say_passed, self)
        self._fields: dict[str, Field] = {}
        self._groups: dict[str, Group] = {}
        theme.changed.connect(self.update)
        if not later:
            self.fill()

    def fill(self) -> None:
        """Make the fields, if they are not there yet."""
        from app.settings.sampling_parts import SamplingParts  # Not before they are wanted: the window itself comes sooner.
        from app.settings.storage import Storage

        if not self._fields:
            self._fields = {setting.name: self._field(setting) for setting in SETTINGS}
            self._storage = Storage(self._theme, parent=self)
            self._storage.empty_requested.connect(self.empty_requested)
            self._storage.clear_requested.connect(self.clear_requested)
            self._sampling = SamplingParts(self._theme, self)
            self._sampling.chosen.connect(self.preset_chosen)
            self._sampling.asked.connect(self.preset_asked)
            self._sampling.named.connect(self.preset_named)
            self._lay_out()
            for row in (self._storage, self._sampling.bar, self._sampling.menu):
                self._follow_focus(row)
            self._sampling.show_presets(self._presets)
            self._sampling.picture.show_tokens(self._told)
            self.show_last_seed(self._last_seed)
            self.show_trained_length(self._trained)
            self._show_scope()

    def showEvent(self, event: QShowEvent) -> None:
        self.fill()
        super().showEvent(event)
        self.opened.emit()

    @property
    def storage(self) -> "Storage":
        """The rows of what can be thrown away."""
        self.fill()
        return self._storage

    @property
    def scope(self) -> str:
        """Whose values are shown: "chat", "model" or "app"."""
        return self._scope

    def field(self, name: str) -> "Field":
        """Return a setting's field. Raises `KeyError` for an unknown name."""
        self.fill()
        return self._fields[name]

    # -- values -----------------------------------------------------------------------------------------------------

    def values(self) -> dict[str, Value]:
        """Return the values in force at the scope that is shown."""
        return self._layers.values(self._scope)

    def recommended(self) -> Mapping[str, Value]:
        """Return what the model itself recommends."""
        return self._layers.recommended

    def show_values(
        self,
        app_values: Mapping[str, Value],
        chat_values: Mapping[str, Value] | None,
        model_values: Mapping[str, Value] | None = None,
        recommended: Mapping[str, Value] | None = None,
    ) -> None:
        """Show what is set for all chats, by the open chat, and for its model; None where there is no chat or no model.

        `recommended` is what the model comes with. Call `flush` before showing another chat's: it applies what is being typed
        or dragged to the chat it is meant for.
        """
        opened = self._layers.chat is None and chat_values is not None
        self._layers = Layers(
            app=dict(app_values),
            model=None if model_values is None else dict(model_values),
            chat=None if chat_values is None else dict(chat_values),
            recommended=dict(recommended or {}),
        )
        for (scope, name), value in self._passed.items():
            self._layers.put(name, value, scope)
        self._scope = "chat" if opened else self._possible(self._scope)
        self._show_scope()

    def set_scope(self, scope: str) -> None:
        """Show "chat", "model" or "app"; a chat's or a model's only where there is one."""
        self.flush()
        self._scope = self._possible(scope)
        self._show_scope()

    def put_in_force(self, values: Mapping[str, Value]) -> None:
        """Set what it takes at the scope that is shown so that `values` are in force."""
        self.flush()
        self.replaced.emit(self._scope, self._layers.with_values(values, self._scope))

    def flush(self) -> None:
        """Apply now what is being typed or dragged."""
        for field in self._fields.values():
            field.flush()
        self._rest.flush()

    def _possible(self, scope: str) -> str:
        return scope if self._layers.at(scope) is not None else "app"

    def _field_changed(self, name: str, value: Value) -> None:
        self._show_put(name, value)
        self._passed.pop((self._scope, name), None)
        self.changed.emit(self._scope, name, value)

    def _field_moved(self, name: str, value: Value) -> None:
        self._show_put(name, value)
        self._passed[self._scope, name] = value
        self._rest.touch()
        self.values_shown.emit()

    def _show_put(self, name: str, value: Value) -> None:
        self._layers.put(name, value, self._scope)
        self._show_field(name)
        self._show_derived()

    def _say_passed(self) -> None:
        passed, self._passed = self._passed, {}
        for (scope, name), value in passed.items():
            self.changed.emit(scope, name, value)

    def _field_reset(self, name: str) -> None:
        self._passed.pop((self._scope, name), None)
        held = self._layers.at(self._scope)
        if held is not None:
            held.pop(name, None)
        self._show_field(name)
        self._show_derived()
        self.reset.emit(self._scope, name)

    # -- presets, and what the last reply told --------------------------------------------------------------------------

    def show_presets(self, state: PresetState) -> None:
        """Show which preset is in force, and which there are."""
        self._presets = state
        if self._fields:
            self._sampling.show_presets(state)

    def ask_preset_name(self, start: str) -> None:
        """Ask for a preset's name; `preset_named` carries what was typed."""
        self.fill()
        self._sampling.bar.name_row.open_row(start)

    def refuse_preset_name(self, problem: str) -> None:
        """Say why a preset's name can't be used."""
        self._sampling.bar.name_row.say_problem(problem)

    def end_preset_name(self) -> None:
        """Ask for the name no more."""
        self._sampling.bar.name_row.close_row()

    def show_last_seed(self, seed: int | None) -> None:
        """Show the seed of the last reply; None where there is none."""
        self._last_seed = seed
        if self._fields:
            self._fields["seed"].editor.show_last(seed)

    def show_trained_length(self, tokens: int) -> None:
        """Show how far the model was trained to count; 0 where nothing is known."""
        self._trained = tokens
        if self._fields:
            self._fields["context"].set_fact(f"trained to {tokens:,}" if tokens else "")

    def show_kv_needs(self, line: str) -> None:
        """Show what the KV cache would take with the values on show; empty where that is not known."""
        self._kv_needs.setText(line)
        self._kv_needs.setVisible(bool(line))

    def show_tokens(self, told: NextTokens | None) -> None:
        """Show a reply's next-token distribution; None where none is known."""
        self._told = told
        if self._fields:
            self._sampling.picture.show_tokens(told)

    # -- showing ----------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """320 wide."""
        return QSize(WIDTH, 640)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("panel"))
        line = self._theme.color("separator")
        draw_hairline(painter, QPointF(0, 0), QPointF(0, self.height() - 1), line)
        draw_hairline(painter, QPointF(0, _HEADER - 1), QPointF(self.width() - 1, _HEADER - 1), line)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Bring a field the keyboard goes to into view."""
        if event.type() == QEvent.Type.FocusIn and isinstance(watched, QWidget):
            self._scroll.ensureWidgetVisible(watched, 0, 24)
        return False

    def _field(self, setting: Setting) -> "Field":
        from app.settings.field import Field

        field = Field(self._theme, setting, parent=self)
        field.changed.connect(self._field_changed)
        field.moved.connect(self._field_moved)
        field.editor.rested.connect(self._rest.flush)
        field.reset.connect(self._field_reset)
        self._follow_focus(field)
        return field

    def _follow_focus(self, row: QWidget) -> None:
        for widget in (row, *row.findChildren(QWidget)):
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                widget.installEventFilter(self)

    def _choose_scope(self, scope: str) -> None:
        self.set_scope(scope)

    def _show_scope(self) -> None:
        if self._fields:
            for scope in ("chat", "model"):
                self._scopes.set_choice_enabled(scope, self._layers.at(scope) is not None)
            self._scopes.set_value(self._scope)
            self._scopes.setToolTip(_SCOPE_HELP[self._scope])
            for group in GROUPS:
                self._groups[group.label].setVisible(shows(self._scope, group.scope))
            self._groups[_STORAGE].setVisible(self._scope == "app")
            for name in self._fields:
                self._show_field(name)
            self._show_derived()
        self.values_shown.emit()

    def _show_field(self, name: str) -> None:
        inherited, source = self._layers.inherited(name, self._scope)
        value, is_set = self._layers.value(name, self._scope), self._layers.is_set(name, self._scope)
        self._fields[name].show_value(value, inherited, is_set, source)

    def _show_derived(self) -> None:
        """Show what follows from the fields: the picture, and how many of the folded ones are set."""
        self._sampling.picture.show_values({name: self._layers.value(name, self._scope) for name in READS})
        for label, group in self._groups.items():
            if group.more is not None:
                folded = (each.name for each in _settings(label) if each.rare)
                group.more.say(sum(self._layers.is_set(name, self._scope) for name in folded))

    # -- laying out -------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        from app.widgets.segmented import Segmented

        header = QHBoxLayout()
        header.setContentsMargins(16, 0, 12, 0)
        header.addWidget(Label(self._theme, "Settings", weight=600, parent=self))
        header.addStretch(1)
        self._scopes = Segmented(self._theme, _SCOPES, "Settings of", height=24, parent=self)
        self._scopes.setObjectName("settingsScope")
        self._scopes.chosen.connect(self._choose_scope)
        self._scopes.setFixedWidth(224)
        header.addWidget(self._scopes)
        self._scroll = QScrollArea(self)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        body = self._make_body()
        self._scroll.setWidget(body)
        body.setAutoFillBackground(False)
        self._scroll.viewport().setAutoFillBackground(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 0, 0, 0)
        layout.setSpacing(0)
        holder = QWidget(self)
        holder.setFixedHeight(_HEADER)
        holder.setLayout(header)
        layout.addWidget(holder)
        layout.addWidget(self._scroll, 1)

    def _make_body(self) -> QWidget:
        from app.settings.group import Group, GroupColumn

        body = GroupColumn(WIDTH - 1)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 8)
        column.setSpacing(8)
        for index, group in enumerate(GROUPS):
            rows: Sequence[QWidget] = [self._fields[each.name] for each in _settings(group.label) if not each.rare]
            rare = [self._fields[each.name] for each in _settings(group.label) if each.rare]
            beside = None
            if group.values is Sampling:
                rows, beside = [self._sampling.bar, *rows, self._sampling.picture], self._sampling.beside
            if group.values is KeyValueCache:
                rows = [*rows, self._kv_needs]
            made = Group(self._theme, group.label, rows, rare=rare, beside=beside, line=index > 0, parent=body)
            if made.more is not None:
                self._follow_focus(made.more)
            self._groups[group.label] = made
            column.addWidget(made)
        self._groups[_STORAGE] = Group(self._theme, _STORAGE, [self._storage], parent=body)
        column.addWidget(self._groups[_STORAGE])
        column.addStretch(1)
        return body


def _settings(group: str) -> Iterator[Setting]:
    return (setting for setting in SETTINGS if setting.group == group)

"""The settings panel, made from the declared settings."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.settings.field import Field
from app.settings.storage import Storage
from app.theme import Theme
from app.widgets.frame import draw_hairline
from app.widgets.label import Label
from app.widgets.segmented import Segmented
from engine.core.setting import Scope, Setting, Value
from engine.core.settings import GROUPS, SETTINGS

WIDTH = 320
_HEADER = 40
_MARGIN = 16
_STORAGE = "Storage"


class _Body(QWidget):
    """What scrolls: where a scroll bar takes room, it takes it from the right margin, so that nothing moves."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for group in self.findChildren(_Group):
            group.set_right_margin(max(0, _MARGIN - (WIDTH - 1 - event.size().width())))


class _Group(QWidget):
    """A heading with the fields or rows under it, and a line above that runs through the whole panel."""

    def __init__(self, theme: Theme, label: str, fields: Sequence[QWidget], line: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._line = theme, line
        self.setObjectName(f"group.{label}")
        self.setAccessibleName(label)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_MARGIN, 12, _MARGIN, 4)
        layout.setSpacing(8)
        layout.addWidget(Label(theme, label, style="caption", role="ink-3", weight=600, parent=self))
        for field in fields:
            layout.addWidget(field)
        theme.changed.connect(self.update)

    def set_right_margin(self, margin: int) -> None:
        """Set the room right of the fields."""
        layout = self.layout()
        if layout is not None:
            layout.setContentsMargins(_MARGIN, 12, margin, 4)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._line:
            line = self._theme.color("separator")
            draw_hairline(QPainter(self), QPointF(0, 0), QPointF(self.width() - 1, 0), line)


class SettingsPanel(QWidget):
    """Every declared setting: "This chat" shows what a chat may set over the app, "All chats" all of them, and `Storage`.

    `changed` carries the scope ("app" or "chat"), the setting's name and its checked value; `reset` the scope and the name of
    one that goes back to what it inherits. With `later` the fields are made by `fill`, at the latest when the panel is shown.
    `opened` says that the panel is shown, `empty_requested` and `clear_requested` what `Storage` says.
    """

    changed = Signal(str, str, object)
    reset = Signal(str, str)
    opened = Signal()
    empty_requested = Signal()
    clear_requested = Signal()

    def __init__(self, theme: Theme, *, later: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._app: dict[str, Value] = {setting.name: setting.default for setting in SETTINGS}
        self._chat: dict[str, Value] | None = None
        self._scope = "app"
        self.setObjectName("settingsPanel")
        self.setAccessibleName("Settings")
        self.setFixedWidth(WIDTH)
        self._scopes = Segmented(theme, (("chat", "This chat"), ("app", "All chats")), "Settings of", height=24, parent=self)
        self._scopes.setObjectName("settingsScope")
        self._fields: dict[str, Field] = {}
        self._groups: dict[str, _Group] = {}
        self._scopes.chosen.connect(self._choose_scope)
        theme.changed.connect(self.update)
        if not later:
            self.fill()

    def fill(self) -> None:
        """Make the fields, if they are not there yet."""
        if not self._fields:
            self._fields = {setting.name: self._field(setting) for setting in SETTINGS}
            self._storage = Storage(self._theme, parent=self)
            self._storage.empty_requested.connect(self.empty_requested)
            self._storage.clear_requested.connect(self.clear_requested)
            self._follow_focus(self._storage)
            self._lay_out()
            self._show_scope()

    def showEvent(self, event: QShowEvent) -> None:
        self.fill()
        super().showEvent(event)
        self.opened.emit()

    @property
    def storage(self) -> Storage:
        """The rows of what can be thrown away."""
        self.fill()
        return self._storage

    @property
    def scope(self) -> str:
        """Whose values are shown: "app" or "chat"."""
        return self._scope

    def field(self, name: str) -> Field:
        """Return a setting's field. Raises `KeyError` for an unknown name."""
        self.fill()
        return self._fields[name]

    def show_values(self, app_values: Mapping[str, Value], chat_values: Mapping[str, Value] | None) -> None:
        """Show the app's values and those the open chat sets over them; None where no chat is open.

        Call `flush` before showing another chat's: it applies what is being typed to the chat it was typed for.
        """
        opened = self._chat is None and chat_values is not None
        self._app = {setting.name: app_values.get(setting.name, setting.default) for setting in SETTINGS}
        self._chat = None if chat_values is None else dict(chat_values)
        if self._chat is None:
            self._scope = "app"
        elif opened:
            self._scope = "chat"
        self._show_scope()

    def set_scope(self, scope: str) -> None:
        """Show "app" or "chat"; a chat's only where one is open."""
        self.flush()
        self._scope = scope if self._chat is not None else "app"
        self._show_scope()

    def flush(self) -> None:
        """Apply now what is being typed."""
        for field in self._fields.values():
            field.flush()

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

    def _field(self, setting: Setting) -> Field:
        field = Field(self._theme, setting, parent=self)
        field.changed.connect(self._field_changed)
        field.reset.connect(self._field_reset)
        self._follow_focus(field)
        return field

    def _follow_focus(self, row: QWidget) -> None:
        for widget in row.findChildren(QWidget):
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                widget.installEventFilter(self)

    def _field_changed(self, name: str, value: Value) -> None:
        if self._scope == "app":
            self._app[name] = value
        elif self._chat is not None:
            self._chat[name] = value
        self._show_field(name)
        self.changed.emit(self._scope, name, value)

    def _field_reset(self, name: str) -> None:
        if self._scope == "app":
            self._app[name] = self._fields[name].setting.default
        elif self._chat is not None:
            self._chat.pop(name, None)
        self._show_field(name)
        self.reset.emit(self._scope, name)

    def _choose_scope(self, scope: str) -> None:
        self.set_scope(scope)

    def _show_scope(self) -> None:
        if not self._fields:
            return
        self._scopes.set_choice_enabled("chat", self._chat is not None)
        self._scopes.set_value(self._scope)
        for group in GROUPS:
            self._groups[group.label].setVisible(self._scope == "app" or group.scope is Scope.CHAT)
        self._groups[_STORAGE].setVisible(self._scope == "app")
        for name in self._fields:
            self._show_field(name)

    def _show_field(self, name: str) -> None:
        field = self._fields[name]
        default = field.setting.default
        if self._scope == "chat" and self._chat is not None:
            inherited = self._app[name]
            value = self._chat.get(name, inherited)
            field.show_value(value, inherited, name in self._chat, "app default")
        else:
            value = self._app[name]
            field.show_value(value, default, value != default, "default")

    def _lay_out(self) -> None:
        header = QHBoxLayout()
        header.setContentsMargins(16, 0, 12, 0)
        header.addWidget(Label(self._theme, "Settings", weight=600, parent=self))
        header.addStretch(1)
        self._scopes.setFixedWidth(156)
        header.addWidget(self._scopes)
        body = _Body()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 8)
        column.setSpacing(8)
        for index, group in enumerate(GROUPS):
            fields = [self._fields[setting.name] for setting in SETTINGS if setting.group == group.label]
            self._groups[group.label] = _Group(self._theme, group.label, fields, index > 0, body)
            column.addWidget(self._groups[group.label])
        self._groups[_STORAGE] = _Group(self._theme, _STORAGE, [self._storage], True, body)
        column.addWidget(self._groups[_STORAGE])
        column.addStretch(1)
        self._scroll = QScrollArea(self)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
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

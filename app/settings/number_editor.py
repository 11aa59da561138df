"""A number: a slider with a field beside it."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.settings.editor import Editor
from app.settings.figures import has_no_scale, shown, unset
from app.theme import Theme
from app.widgets.button import Button
from app.widgets.label import Label
from app.widgets.slider import Scale, Slider
from app.widgets.text_field import TextField
from app.widgets.typed_number import read
from engine.core.setting import Setting, Value

_FIELD_WIDTH = 64
_ENDS = (QEvent.Type.MouseButtonRelease, QEvent.Type.KeyRelease, QEvent.Type.FocusOut, QEvent.Type.Hide)
"""What ends a drag, or the repeating of a held key."""


class NumberEditor(Editor):
    """A slider over the bounds and a field 64 px wide, or what the largest value takes; up and down step the field too."""

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(theme, setting, parent)
        low, high = float(setting.minimum or 0.0), float(setting.maximum or 0.0)
        step = float(setting.step or 1.0)
        self._scale = Scale(low, high, step, setting.logarithmic)
        self._value: Value = setting.default
        self.slider = Slider(theme, setting.label, parent=self)
        self.slider.setObjectName(f"slider.{setting.name}")
        self.slider.set_range(low, high, step, setting.logarithmic)
        self.field = TextField(theme, setting.label, width=_FIELD_WIDTH, parent=self)
        self.field.setObjectName(f"setting.{setting.name}")
        self.field.setFixedWidth(max(_FIELD_WIDTH, self.field.room_for(shown(setting, setting.kind(high)))))
        if setting.optional:
            self.field.setPlaceholderText(unset(setting))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self.slider, 1)
        layout.addWidget(self.field)
        self.slider.moved.connect(self._slid)
        self.field.edited.connect(lambda text: self.edited.emit(read(setting, text)))
        self.field.taken_back.connect(lambda: self.edited.emit(self._value))
        self.field.stepped.connect(self._step)
        self.slider.installEventFilter(self)
        self.field.installEventFilter(self)

    @property
    def waiting(self) -> bool:
        return self.field.waiting

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Say when the steps are over."""
        if event.type() in _ENDS and not (isinstance(event, QKeyEvent) and event.isAutoRepeat()):
            self.rested.emit()
        return False

    def show_value(self, value: Value, inherited: Value, changed: bool) -> None:
        self._value = value
        self.slider.set_value(_number(value))
        self.slider.set_inherited(_number(inherited), changed)
        self.field.show_text(shown(self.setting, value))

    def set_refused(self, refused: bool) -> None:
        self.field.set_refused(refused)

    def flush(self) -> None:
        self.field.flush()

    def _slid(self, value: float) -> None:
        self.field.show_text(shown(self.setting, self.setting.check(value)))
        self.moved.emit(value)

    def _step(self, steps: int) -> None:
        start = _number(self._value)
        self.moved.emit(self._scale.move(self._scale.minimum if start is None else start, steps))


class BareNumberEditor(Editor):
    """A number without a scale, as a seed: a wide field that tells the last one drawn, and a button that takes it again."""

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(theme, setting, parent)
        self._value: Value = setting.default
        self.field = TextField(theme, setting.label, parent=self)
        self.field.setObjectName(f"setting.{setting.name}")
        self.field.setPlaceholderText(unset(setting).capitalize() if setting.optional else "")
        self._last: Value = None
        self._told = Label(theme, style="small", role="ink-3", parent=self.field)
        self._told.setObjectName(f"last.{setting.name}")
        self._told.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        inside = QHBoxLayout(self.field)
        inside.setContentsMargins(0, 0, 8, 0)
        inside.addWidget(self._told, 0, Qt.AlignmentFlag.AlignRight)
        self.reuse = Button(theme, "Reuse", small=True, parent=self)
        self.reuse.setObjectName(f"reuse.{setting.name}")
        self.reuse.setFixedWidth(_FIELD_WIDTH)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.reuse)
        self.show_last(None)
        self.field.textChanged.connect(lambda _text: self._tell())
        self.field.edited.connect(lambda text: self.edited.emit(read(setting, text)))
        self.field.taken_back.connect(lambda: self.edited.emit(self._value))
        self.reuse.clicked.connect(lambda: self.edited.emit(self._last))

    @property
    def waiting(self) -> bool:
        return self.field.waiting

    def show_value(self, value: Value, inherited: Value, changed: bool) -> None:  # noqa: ARG002
        self._value = value
        self.field.show_text(shown(self.setting, value))
        self._tell()

    def show_last(self, value: Value) -> None:
        self._last = value
        name = self.setting.label.lower()
        self.reuse.setAccessibleName(f"Reuse the last {name}")
        self.reuse.setToolTip("" if value is None else f"Take {value} again")
        self._tell()

    def set_refused(self, refused: bool) -> None:
        self.field.set_refused(refused)

    def flush(self) -> None:
        self.field.flush()

    def _tell(self) -> None:
        """Tell the last value where the field does not show it, nor anything else that needs the room."""
        self._told.setText("" if self._last is None else f"last was {self._last}")
        needed = self.field.fontMetrics().horizontalAdvance(self.field.text() or self.field.placeholderText())
        room = self.field.width() - needed - 32
        self._told.setVisible(self._last not in (None, self._value) and self._told.sizeHint().width() <= room)
        self.reuse.setEnabled(self._last not in (None, self._value))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tell()


def number_editor(theme: Theme, setting: Setting, parent: QWidget) -> Editor:
    """Return the editor that suits a number's range."""
    kind = BareNumberEditor if has_no_scale(setting) else NumberEditor
    return kind(theme, setting, parent)


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) else None

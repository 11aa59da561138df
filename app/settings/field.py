"""One setting in the panel: its label, help, where its value comes from, and its editor."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.settings.choice_editor import ChoiceEditor
from app.settings.editor import Editor
from app.settings.figures import named, unset
from app.settings.number_editor import number_editor
from app.settings.text_editor import LineEditor, TextEditor, is_folder
from app.theme import Theme
from app.widgets.icon_button import IconButton
from app.widgets.label import Label
from app.widgets.link import Link
from engine.core.errors import SettingsError
from engine.core.presence import folder_there
from engine.core.setting import Setting, Value

# A name for None up to this length stands at the right of the label, a longer one on a line of its own.
_SHORT = 20
# A complaint up to this length stands there too.
_LONGEST_NOTE = 34
_GAP = 4


class Field(QWidget):
    """The field of one setting.

    `changed` carries a name and a checked value, `moved` the same of one on the way to another, as of a slider that is dragged;
    `reset` a name. What can't be used is marked, said beside the label, and not applied.
    """

    changed = Signal(str, object)
    moved = Signal(str, object)
    reset = Signal(str)

    def __init__(self, theme: Theme, setting: Setting, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setting = setting
        self._value: Value = setting.default
        self._inherited: Value = setting.default
        self._from, self._is_changed = "", False
        self._complaint = self._fact = ""
        self.setObjectName(f"row.{setting.name}")
        self.editor = _editor(theme, setting, self)
        self._label = Label(theme, setting.label, style="small", weight=500, parent=self)
        says_unit = setting.unit and setting.unit not in setting.label.lower()
        self._unit = Label(theme, setting.unit, style="small", role="ink-3", parent=self) if says_unit else None
        self._note = Label(theme, style="caption", role="ink-3", parent=self)
        self._note.setObjectName(f"note.{setting.name}")
        self._dot = Label(theme, "·", style="caption", role="ink-3", parent=self)
        self._reset = Link(theme, "reset", style="caption", parent=self)
        self._reset.setObjectName(f"reset.{setting.name}")
        self._reset.setAccessibleName(f"Reset {setting.label}")
        self._help_button = IconButton(
            theme, "help", f"What {setting.label} does", size=16, icon_size=12, role="ink-3", parent=self
        )
        self._help_button.setObjectName(f"help.{setting.name}")
        self._help_button.setCheckable(True)
        self._help = Label(theme, self.help_text, style="caption", role="ink-2", wrap=True, parent=self)
        self._help.setObjectName(f"helpText.{setting.name}")
        self._help.setContentsMargins(0, 2, 0, 4)
        self._none = Label(theme, setting.none_label.capitalize(), style="caption", role="ink-3", wrap=True, parent=self)
        self._none.setObjectName(f"none.{setting.name}")
        self._problem = Label(theme, style="caption", role="critical", wrap=True, parent=self)
        self._problem.setObjectName(f"problem.{setting.name}")
        self._problem.setContentsMargins(0, 2, 0, 0)
        self._lay_out()
        self._help_button.toggled.connect(self._help.setVisible)
        self._reset.clicked.connect(lambda: self.reset.emit(setting.name))
        self.editor.edited.connect(lambda raw: self._take(raw, self.changed))
        self.editor.moved.connect(lambda raw: self._take(raw, self.moved))

    @property
    def value(self) -> Value:
        """The value in force."""
        return self._value

    @property
    def note(self) -> str:
        """What stands at the right of the label: where the value comes from, or why the one typed is not applied."""
        return self._note.text()

    @property
    def help_text(self) -> str:
        """The help that opens under the label."""
        setting = self.setting
        bounds = f" From {setting.bounds_text}." if setting.bounds_text and not setting.choices else ""
        return f"{setting.help}{bounds} Takes effect {setting.applies.value}."

    def show_value(self, value: Value, inherited: Value, changed: bool, source: str) -> None:
        """Show the value in force, the one `source` ("app default") would give, and whether it is set here.

        What was typed and is not applied (yet) stays, unless this says something new.
        """
        known = (self._value, self._inherited, self._is_changed, self._from)
        if (self.editor.waiting or self._complaint) and known == (value, inherited, changed, source):
            return
        self._value, self._inherited, self._is_changed, self._from = value, inherited, changed, source
        self._complaint = ""
        self.editor.show_value(value, inherited, changed)
        self._explain()

    def set_fact(self, fact: str) -> None:
        """Say a fact about the model in place of where the value comes from, as “trained to 131,072”; empty: none."""
        if fact != self._fact:
            self._fact = fact
            self._explain()

    def flush(self) -> None:
        """Apply now what was typed."""
        self.editor.flush()

    def _take(self, raw: object, say: SignalInstance) -> None:
        try:
            value = _check(self.setting, raw)
        except SettingsError as error:
            self._complaint = self.setting.bounds_text or error.text
            self.editor.set_refused(True)
            self._explain()
            return
        self._complaint = ""
        if value == self._value:
            self.editor.show_value(value, self._inherited, self._is_changed)
            self._explain()
            return
        self._value = value
        self._is_changed = value != self._inherited
        self.editor.show_value(value, self._inherited, self._is_changed)
        self._explain()
        say.emit(self.setting.name, value)

    def _explain(self) -> None:
        refused = bool(self._complaint)
        self._note.set_role("critical" if refused else "ink-3")
        self._dot.setVisible(self._is_changed and not refused)
        self._reset.setVisible(self._is_changed and not refused)
        self._none.setVisible(self._value is None and len(self.setting.none_label) > _SHORT)
        long = len(self._complaint) > _LONGEST_NOTE
        self._problem.setText(self._complaint if long else "")
        self._problem.setVisible(long)
        self._note.setText(("not applied" if long else self._complaint) or self._origin())
        self._fit_heading()

    def _origin(self) -> str:
        """Return where the value comes from, and for one that is set here what it would be otherwise."""
        if not self._is_changed:
            none = self.setting.none_label
            if self._fact:
                return self._fact
            if self.setting.off is not None and self._value == self.setting.off:
                return "off"
            return none if self._value is None and 0 < len(none) <= _SHORT else self._from
        setting, value = self.setting, self._inherited
        return f"{self._from} {unset(setting) if value is None else named(setting, value)}".strip()

    def _fit_heading(self) -> None:
        """Leave out the unit, then what the value would be, where the label would be cut."""
        parts: list[QWidget] = [self._label, self._help_button, self._note]
        parts += [widget for widget in (self._dot, self._reset) if not widget.isHidden()]
        room = self.width()
        if self._unit is not None:
            self._unit.setVisible(_breadth([*parts, self._unit]) <= room)
        if self._is_changed and not self._complaint and _breadth(parts) > room:
            self._note.setText(self._from)

    def minimumSizeHint(self) -> QSize:
        """As narrow as the panel is: what stands in the heading follows the room, not the other way round."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._explain()

    def _lay_out(self) -> None:
        setting = self.setting
        heading = QHBoxLayout()
        heading.setSpacing(_GAP)
        heading.addWidget(self._label)
        if self._unit is not None:
            heading.addWidget(self._unit)
        heading.addWidget(self._help_button)
        heading.addStretch(1)
        for widget in (self._note, self._dot, self._reset):
            heading.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(heading)
        layout.addWidget(self._help)
        layout.addWidget(self._none)
        if not _is_slid(setting):
            layout.addSpacing(4)
        layout.addWidget(self.editor)
        layout.addWidget(self._problem)
        self._help.hide()
        self._explain()


def _editor(theme: Theme, setting: Setting, parent: QWidget) -> Editor:
    if setting.choices or setting.kind is bool:
        return ChoiceEditor(theme, setting, parent)
    if setting.kind is not str:
        return number_editor(theme, setting, parent)
    return TextEditor(theme, setting, parent) if setting.multiline else LineEditor(theme, setting, parent)


def _breadth(widgets: Sequence[QWidget]) -> int:
    """Return how wide these are side by side."""
    return sum(max(widget.sizeHint().width(), widget.minimumWidth()) + _GAP for widget in widgets) - _GAP


def _is_slid(setting: Setting) -> bool:
    return setting.kind in (int, float) and not setting.choices


def _check(setting: Setting, raw: object) -> Value:
    value = setting.check(raw if isinstance(raw, bool | int | float | str) else None)
    if is_folder(setting) and value and not folder_there(Path(str(value)).expanduser()):
        raise SettingsError("no such folder")
    return value

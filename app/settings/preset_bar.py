"""Presets as the panel offers them: segments for the built-in ones, a menu for people's own, and a field for a name."""

from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.settings.figures import menu_text
from app.settings.preset_state import CUSTOM, MODEL, SEGMENTS, PresetState
from app.theme import Theme
from app.widgets.button import Button
from app.widgets.icon_button import IconButton
from app.widgets.label import Label
from app.widgets.segmented import Segmented
from app.widgets.text_field import TextField


class PresetMenu(IconButton):
    """The button with people's own presets. `chosen` carries the name of one; `asked` what is to be done with which.

    What: "save", "update", "rename", "delete", "export", "copy", "import" and "paste".
    """

    chosen = Signal(str)
    asked = Signal(str, str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "dots", "Presets", size=24, parent=parent)
        self.setObjectName("presetMenuButton")
        self._state = PresetState()
        self.menu = QMenu(self)
        self.menu.setObjectName("presetMenu")
        self.menu.aboutToShow.connect(self._fill)
        self.clicked.connect(lambda: self.menu.popup(self.mapToGlobal(QPoint(0, self.height() + 2))))

    def show_state(self, state: PresetState) -> None:
        """Offer what there is."""
        self._state = state

    def _fill(self) -> None:
        menu, state = self.menu, self._state
        menu.clear()
        for name in state.own:
            action = menu.addAction(menu_text(name), partial(self.chosen.emit, name))
            action.setCheckable(True)
            action.setChecked(name == state.active)
        if state.own:
            menu.addSeparator()
        self._add("save", "Save as Preset…")
        if state.changed_from:
            self._add("update", f"Update {_quoted(state.changed_from)}", state.changed_from)
        if state.active in state.own:
            menu.addSeparator()
            for what, title in (("rename", "Rename {}…"), ("delete", "Delete {}")):
                self._add(what, title.format(_quoted(state.active)), state.active)
        menu.addSeparator()
        self._add("export", "Export to File…")
        self._add("copy", "Copy for Sharing")
        self._add("import", "Import from File…")
        self._add("paste", "Paste")

    def _add(self, what: str, title: str, name: str = "") -> None:
        action = self.menu.addAction(title, lambda: self.asked.emit(what, name))
        action.setObjectName(f"preset.{what}")


class _NameField(TextField):
    """A field that says when its text is to be taken or not; it is no setting, so nothing is said while it is typed."""

    taken = Signal()
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class NameRow(QWidget):
    """A field for a preset's name with Save beside it; `named` carries what was typed, Escape and Cancel close it."""

    named = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = _NameField(theme, "Name of the preset", parent=self)
        self.field.setObjectName("presetName")
        self.field.setPlaceholderText("Name")
        self._problem = Label(theme, style="caption", role="critical", wrap=True, parent=self)
        self._problem.setObjectName("presetProblem")
        save = Button(theme, "Save", small=True, parent=self)
        save.setObjectName("presetSave")
        cancel = IconButton(theme, "x", "Cancel", size=24, icon_size=14, role="ink-3", parent=self)
        cancel.setObjectName("presetCancel")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.field, 1)
        row.addWidget(save)
        row.addWidget(cancel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self._problem)
        save.clicked.connect(self._say)
        self.field.taken.connect(self._say)
        self.field.left.connect(self.close_row)
        cancel.clicked.connect(self.close_row)
        self.close_row()

    @property
    def problem(self) -> str:
        """Why the name can't be used."""
        return self._problem.text()

    def open_row(self, name: str) -> None:
        """Ask for a name, with one to start from."""
        self.say_problem("")
        self.show()
        self.field.show_text(name)
        self.field.setFocus()
        self.field.selectAll()

    def close_row(self) -> None:
        """Ask no more."""
        self.hide()

    def say_problem(self, text: str) -> None:
        """Say why the name can't be used; empty: nothing is wrong."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))
        self.field.set_refused(bool(text))

    def _say(self) -> None:
        self.named.emit(self.field.text())


class PresetBar(QWidget):
    """The segments, and the row for a name. `chosen` carries the preset somebody wants."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.segments = Segmented(theme, [(name, name) for name in SEGMENTS], "Preset", parent=self)
        self.segments.setObjectName("presets")
        self.name_row = NameRow(theme, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.segments)
        layout.addWidget(self.name_row)
        self.segments.chosen.connect(self.chosen)

    def show_state(self, state: PresetState) -> None:
        """Show which preset is in force; one of people's own is a custom one here."""
        self.segments.set_choice_enabled(MODEL, state.has_model or state.active == MODEL, "The model recommends nothing")
        self.segments.set_choice_enabled(
            CUSTOM, state.has_custom or state.active not in SEGMENTS[:-1], "Nothing else was set yet"
        )
        self.segments.set_value(state.active if state.active in SEGMENTS else CUSTOM)


def own_name(state: PresetState) -> str:
    """Return the name to show beside the heading: that of an own preset in force, or what the values were changed from."""
    if state.active in state.own:
        return state.active
    return f"{state.changed_from}, changed" if state.changed_from else ""


def _quoted(name: str) -> str:
    return f"“{menu_text(name)}”"

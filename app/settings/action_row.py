"""A row of the panel that does something instead of setting something."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.button import Button
from app.widgets.icon_button import IconButton
from app.widgets.label import Label


class ActionRow(QWidget):
    """A label with its help, a note at the right, and under them a button; `pressed` says that somebody wants it done."""

    pressed = Signal()

    def __init__(
        self, theme: Theme, label: str, action: str, help_text: str, *, name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"row.{name}")
        self._label = Label(theme, label, style="small", weight=500, parent=self)
        self._note = Label(theme, style="caption", role="ink-3", parent=self)
        self._note.setObjectName(f"note.{name}")
        self._help_button = IconButton(theme, "help", f"About {label}", size=16, icon_size=12, role="ink-3", parent=self)
        self._help_button.setObjectName(f"help.{name}")
        self._help_button.setCheckable(True)
        self._help = Label(theme, help_text, style="caption", role="ink-2", wrap=True, parent=self)
        self._help.setObjectName(f"helpText.{name}")
        self._help.setContentsMargins(0, 2, 0, 4)
        self._help.hide()
        self._button = Button(theme, action, small=True, parent=self)
        self._button.setObjectName(f"{name}Button")
        self._lay_out()
        self._help_button.toggled.connect(self._help.setVisible)
        self._button.clicked.connect(self.pressed)

    def show_state(self, note: str, possible: bool, spoken: str = "") -> None:
        """Show a note and whether there is anything to do; `spoken` is what assistive tools say of it beside the button."""
        self._note.setText(note)
        self._button.setEnabled(possible)
        self._button.setAccessibleDescription(spoken or note)

    def _lay_out(self) -> None:
        heading = QHBoxLayout()
        heading.setSpacing(4)
        heading.addWidget(self._label)
        heading.addWidget(self._help_button)
        heading.addStretch(1)
        heading.addWidget(self._note)
        foot = QHBoxLayout()
        foot.addWidget(self._button)
        foot.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(heading)
        layout.addWidget(self._help)
        layout.addSpacing(4)
        layout.addLayout(foot)

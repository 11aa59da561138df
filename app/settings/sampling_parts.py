"""What stands among the sampling fields: presets above them, the picture of the next token below."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.settings.next_token_picture import NextTokenPicture
from app.settings.preset_bar import PresetBar, PresetMenu, own_name
from app.settings.preset_state import PresetState
from app.theme import Theme
from app.widgets.label import Label


class SamplingParts(QObject):
    """The presets' `bar`, what goes `beside` the group's heading (their `menu` and an own preset's name), and the `picture`.

    `chosen` carries a preset's name, `asked` what is to be done with which, `named` a name that was typed.
    """

    chosen = Signal(str)
    asked = Signal(str, str)
    named = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.bar = PresetBar(theme, parent)
        self.picture = NextTokenPicture(theme, parent)
        self.beside = QWidget(parent)
        self.menu = PresetMenu(theme, self.beside)
        self._name = Label(theme, style="caption", role="ink-3", parent=self.beside)
        self._name.setObjectName("presetInForce")
        row = QHBoxLayout(self.beside)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self._name)
        row.addWidget(self.menu)
        self.beside.setFixedHeight(20)
        self.beside.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.menu.setFixedSize(24, 20)
        self.bar.chosen.connect(self.chosen)
        self.bar.name_row.named.connect(self.named)
        self.menu.chosen.connect(self.chosen)
        self.menu.asked.connect(self.asked)

    def show_presets(self, state: PresetState) -> None:
        """Show which preset is in force, and which there are."""
        self.bar.show_state(state)
        self.menu.show_state(state)
        self._name.setText(own_name(state))

"""What the models window says while there is no model: how to get a first one."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.label import Label
from engine.core.machine import THIS_MACHINE

_WIDTH = 420
_TITLE = f"No model on {THIS_MACHINE} yet"
_WAYS = (
    "Import a GGUF file: drop it anywhere in this window, or choose it with the button below. Flint converts it once.",
    f"Discover says which models of Hugging Face run on {THIS_MACHINE}, and fetches them. What is in its cache already is "
    "found by itself and used where it is.",
)


class NoModels(QWidget):
    """A column in the middle. `import_requested` and `discover_requested` come from its buttons."""

    import_requested = Signal()
    discover_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("noModels")
        self._icon = QLabel(self)
        self.button = PrimaryButton(theme, "Import a GGUF…", parent=self)
        self.button.setObjectName("importFirst")
        self.button.clicked.connect(self.import_requested)
        self.discover = Button(theme, "Discover models", parent=self)
        self.discover.setObjectName("discoverFirst")
        self.discover.clicked.connect(self.discover_requested)
        column = self._column = QWidget(self)
        lines = QVBoxLayout(column)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(8)
        lines.addWidget(self._icon)
        lines.addWidget(Label(theme, _TITLE, style="read-h3", parent=column))
        for way in _WAYS:
            lines.addWidget(Label(theme, way, style="read-ui", role="ink-2", wrap=True, parent=column))
        lines.addSpacing(8)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.button, self.discover):
            buttons.addWidget(button)
        buttons.addStretch(1)
        lines.addLayout(buttons)
        layout = QVBoxLayout(self)
        layout.addWidget(column, 0, Qt.AlignmentFlag.AlignCenter)
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self._column.setFixedWidth(self._theme.grown(_WIDTH))
        self._icon.setPixmap(self._theme.pixmap("cube", "ink-3", 24, self.devicePixelRatioF()))

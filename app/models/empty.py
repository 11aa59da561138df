"""What the models window says while there is no model: how to get a first one."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.button import PrimaryButton
from app.widgets.label import Label

_WIDTH = 420
_TITLE = "No model on this machine yet"
_WAYS = (
    "Import a GGUF file: drop it anywhere in this window, or choose it with the button below. Flint converts it once.",
    "Models in the Hugging Face cache are found by themselves and used where they are. A terminal gets one there, "
    "for example with",
)
_COMMAND = "hf download mlx-community/Qwen3-0.6B-4bit"


class NoModels(QWidget):
    """A column in the middle. `import_requested` comes from its button."""

    import_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("noModels")
        self._icon = QLabel(self)
        self.button = PrimaryButton(theme, "Import a GGUF…", parent=self)
        self.button.setObjectName("importFirst")
        self.button.clicked.connect(self.import_requested)
        command = Label(theme, _COMMAND, style="code", role="ink-2", parent=self)
        command.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        column = QWidget(self)
        column.setFixedWidth(_WIDTH)
        lines = QVBoxLayout(column)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(8)
        lines.addWidget(self._icon)
        lines.addWidget(Label(theme, _TITLE, style="section", parent=column))
        for way in _WAYS:
            lines.addWidget(Label(theme, way, role="ink-2", wrap=True, parent=column))
        lines.addWidget(command)
        lines.addSpacing(8)
        lines.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        layout = QVBoxLayout(self)
        layout.addWidget(column, 0, Qt.AlignmentFlag.AlignCenter)
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self._icon.setPixmap(self._theme.pixmap("cube", "ink-3", 24, self.devicePixelRatioF()))

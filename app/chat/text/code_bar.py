"""What can be done with a block of code, in its header: break its lines, save it, copy it."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QWidget

from app.chat.text.copy_button import CopyButton
from app.chat.text.save_code import save_code
from app.theme import Theme
from app.widgets.icon_button import IconButton

_HEIGHT, _SPACE = 20, 2
_BREAK, _SCROLL = "Wrap long lines", "Scroll long lines sideways"


class CodeBar(QWidget):
    """Buttons for one block of code; `wrap_chosen` says that its lines are to be broken, or not."""

    wrap_chosen = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.language = ""
        self._wrap = IconButton(theme, "wrap", _BREAK, size=_HEIGHT, icon_size=14, parent=self)
        self._wrap.setObjectName("wrapCode")
        self._wrap.setCheckable(True)
        self._wrap.clicked.connect(self._choose)
        self._save = IconButton(theme, "download", "Save as a file", size=_HEIGHT, icon_size=14, parent=self)
        self._save.setObjectName("saveCode")
        self._save.clicked.connect(lambda: save_code(self.code, self.language, self.window()))
        self._copy = CopyButton(theme, self)
        left = 0
        for button in (self._wrap, self._save, self._copy):
            size = button.sizeHint() if button is self._copy else button.size()
            button.setGeometry(left, 0, size.width(), _HEIGHT)
            left += size.width() + _SPACE
        self.resize(left - _SPACE, _HEIGHT)

    @property
    def code(self) -> str:
        """The code, as it was written."""
        return self._copy.code

    def show_code(self, code: str, language: str, *, wraps: bool, overflows: bool) -> None:
        """Be about this code; where no line is too long there is nothing to wrap."""
        self._copy.code, self.language = code, language
        self._wrap.setVisible(overflows)
        self._wrap.setChecked(wraps)
        self._wrap.setToolTip(_SCROLL if wraps else _BREAK)

    def sizeHint(self) -> QSize:
        """As wide as its buttons."""
        return self.size()

    def _choose(self, wrap: bool) -> None:
        self._wrap.setToolTip(_SCROLL if wrap else _BREAK)
        self.wrap_chosen.emit(wrap)

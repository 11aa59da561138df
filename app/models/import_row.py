"""The row that shows an import under way: what, how far, and a way to stop it."""

from PySide6.QtCore import QPointF, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QWidget

from app.models.words import progress_text
from app.theme import Theme
from app.widgets.frame import draw_frame, draw_hairline
from app.widgets.icon_button import IconButton
from app.widgets.label import Label

_AROUND = 32
_NAME, _BAR, _THICK, _WORDS = 196, 256, 4, 140


class ProgressBar(QProgressBar):
    """A bar 4 px thick; empty while the whole is not known."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName(name)
        self.setTextVisible(False)
        self.setRange(0, 1000)
        self.setFixedHeight(_THICK)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_frame(painter, self.rect(), _THICK / 2, self._theme.color("track"))
        if self.value() > 0:
            width = max(_THICK, round(self.width() * self.value() / self.maximum()))
            draw_frame(painter, QRect(0, 0, width, _THICK), _THICK / 2, self._theme.color("accent"))


class ImportRow(QWidget):
    """52 px high, with a line above it; hidden while nothing is imported. `cancelled` says that somebody wants it stopped."""

    cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("importRow")
        self.setAccessibleName("Import")
        self._name = Label(theme, style="read-ui", weight=500, parent=self)
        self._bar = ProgressBar(theme, "importProgress", self)
        self._words = Label(theme, style="read-small", role="ink-2", parent=self)
        self._cancel = IconButton(theme, "x", "Cancel the import", icon_size=14, parent=self)
        self._cancel.setObjectName("importCancel")
        self._cancel.clicked.connect(self._stop)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(20, 1, 8, 0)
        layout.setSpacing(16)
        self._bar.setMaximumWidth(_BAR)
        for widget, stretch in ((self._name, 0), (self._bar, 2), (self._words, 1), (self._cancel, 0)):
            layout.addWidget(widget, stretch)
        self.hide()
        theme.changed.connect(self._fit)
        self._fit()

    def show_progress(self, name: str, done: int, total: int, words: str = "") -> None:
        """Show `done` of `total` bytes; a total of 0 is one that is not known yet. `words` tell of work that is no import."""
        if not self.isVisibleTo(self.parentWidget() or self):
            self._cancel.setEnabled(True)
        self._bar.setAccessibleName(f"Importing {name}")
        self._bar.setValue(round(1000 * min(done, total) / total) if total > 0 else 0)
        self._name.setToolTip(name)
        self._cut_name()
        if self._cancel.isEnabled():
            self._words.setText(words or (f"Converting, {progress_text(done, total)}" if total > 0 else "Starting"))
        self.show()

    def _fit(self) -> None:
        self.setFixedHeight(self._theme.line("read-ui") + _AROUND)
        self._name.setFixedWidth(self._theme.grown(_NAME))
        self._cut_name()
        self._words.setMinimumWidth(self._theme.grown(_WORDS))
        self.update()

    def _cut_name(self) -> None:
        """Leave the end of a file's name: it says how the model is stored."""
        metrics, room = self._name.fontMetrics(), self._theme.grown(_NAME)
        self._name.setText(metrics.elidedText(self._name.toolTip(), Qt.TextElideMode.ElideMiddle, room))

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_hairline(QPainter(self), QPointF(0, 0), QPointF(self.width(), 0), self._theme.color("separator"))

    def _stop(self) -> None:
        self._cancel.setEnabled(False)
        self._words.setText("Stopping")
        self.cancelled.emit()

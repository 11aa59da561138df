"""The bar that looks for words in the open chat."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import Theme
from app.widgets.frame import draw_frame
from app.widgets.icon_button import IconButton
from app.widgets.label import Label
from app.widgets.line_field import LineField
from app.widgets.shadow import Shadow

HEIGHT = 44
AWAY = 12
_WIDTH, _LEAST = 408, 280
_RADIUS, _COUNT = 8, 84


class FindField(LineField):
    """28 px high. `wanted` carries +1 for Return and -1 for Shift+Return, `left` says Escape."""

    wanted = Signal(int)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent=parent)
        self.setObjectName("findField")
        self.setAccessibleName("Find in this chat")
        self.setPlaceholderText("Find in chat")
        self.setTextMargins(6, 0, _COUNT, 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return goes on, Escape leaves, the rest edits."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.wanted.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """All of it is chosen: what is typed next takes its place."""
        super().focusInEvent(event)
        self.selectAll()


class FindBar(QWidget):
    """Field, count, previous, next, match case, close: at the top right of `area`, its parent.

    `edited` says that words or case changed, `wanted` carries +1 for the next match and -1 for the one before, `closed` that
    the bar was left.
    """

    edited = Signal()
    wanted = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, area: QWidget) -> None:
        super().__init__(area)
        self._theme, self._area = theme, area
        self.setObjectName("findBar")
        self.setAccessibleName("Find in this chat")
        self.field = FindField(theme, self)
        self._count = Label(theme, style="caption", role="ink-3", parent=self.field)
        self._count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._back = self._button("up", "Previous match", "findPrevious")
        self._on = self._button("down", "Next match", "findNext")
        self._case = self._button("case", "Match case", "findCase")
        self._case.setCheckable(True)
        self._close = self._button("x", "Close", "findClose")
        self._lay_out()
        self.field.textChanged.connect(lambda _text: self.edited.emit())
        self._case.toggled.connect(lambda _on: self.edited.emit())
        self.field.wanted.connect(self.wanted)
        self._back.clicked.connect(lambda: self.wanted.emit(-1))
        self._on.clicked.connect(lambda: self.wanted.emit(1))
        self.field.left.connect(self.closed)
        self._close.clicked.connect(self.closed)
        self.show_count(None, 0)
        self.hide()
        self._shadow = Shadow(theme, self, _RADIUS)
        self._shadow.hide()
        area.installEventFilter(self)
        theme.changed.connect(self.update)

    @property
    def words(self) -> str:
        """What is looked for."""
        return self.field.text()

    @property
    def match_case(self) -> bool:
        """Whether case and accents count."""
        return self._case.isChecked()

    @property
    def count(self) -> str:
        """What the bar says of the matches."""
        return self._count.text()

    def show_count(self, current: int | None, total: int, *, searching: bool = False) -> None:
        """Say which match of how many is the current one, from 1 on; or none yet, while some may still be found."""
        if not self.words.strip():
            text = ""
        elif not total:
            text = "Searching…" if searching else "No matches"
        else:
            text = f"{current:,} of {total:,}" if current else f"{total:,}"
            text += "…" if searching else ""
        self._count.setText(text)
        self._count.set_role("critical" if text == "No matches" else "ink-3")
        self.field.setAccessibleDescription(text)
        for button in (self._back, self._on):
            button.setEnabled(total > 0)

    def open(self, *, focus: bool = True) -> None:
        """Show the bar and, with `focus`, type into it."""
        self._place()
        self.show()
        self.raise_()
        if focus:
            self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.field.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves from every button too."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, _watched: object, event: QEvent) -> bool:
        """Stay at the right edge."""
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the count at the right of the field."""
        super().resizeEvent(event)
        self._row.activate()
        self._count.setFixedWidth(_COUNT)
        self._count.move(self.field.width() - _COUNT - 6, (self.field.height() - self._count.height()) // 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the card."""
        painter = QPainter(self)
        draw_frame(painter, self.rect(), _RADIUS, self._theme.color("raised"), self._theme.color("border"))

    def _button(self, icon: str, name: str, handle: str) -> IconButton:
        button = IconButton(self._theme, icon, name, parent=self)
        button.setObjectName(handle)
        return button

    def _lay_out(self) -> None:
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(8, 8, 8, 8)
        row.setSpacing(4)
        row.addWidget(self.field, 1)
        for button in (self._back, self._on, self._case, self._close):
            row.addWidget(button)

    def _place(self) -> None:
        width = max(_LEAST, min(_WIDTH, self._area.width() - 2 * AWAY))
        self.setGeometry(self._area.width() - width - AWAY, AWAY, width, HEIGHT)

"""What is shown when Flint cannot start: what is wrong, and what to do."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMainWindow, QVBoxLayout, QWidget

from app.errors import advice
from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from engine.core.errors import ErrorInfo


class StartupFailure(QMainWindow):
    """A window with one message. After it was closed, `wants_retry` says how."""

    def __init__(self, theme: Theme, error: ErrorInfo) -> None:
        super().__init__()
        self.wants_retry = False
        self.setWindowTitle("Flint")
        self.setObjectName("startupFailure")
        self.resize(640, 320)
        title = QLabel("Flint can't start")
        title.setFont(theme.font("display"))
        text = QLabel(error.text)
        hint = QLabel(advice(error))
        for label, name in ((title, "failureTitle"), (text, "failureText"), (hint, "failureHint")):
            label.setObjectName(name)
        for label in (text, hint):
            label.setFont(theme.font("read"))
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        quit_button = Button(theme, "Quit")
        quit_button.setObjectName("quitButton")
        quit_button.clicked.connect(self.close)
        retry = PrimaryButton(theme, "Try Again")
        retry.setObjectName("retryButton")
        retry.clicked.connect(self._retry)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(quit_button)
        buttons.addWidget(retry)
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(48, 32, 48, 32)
        layout.setSpacing(12)
        for part in (title, text, hint):
            layout.addWidget(part)
        layout.addStretch(1)
        layout.addLayout(buttons)
        self.setCentralWidget(page)
        self.setStyleSheet(theme.stylesheet())
        theme.changed.connect(lambda: self.setStyleSheet(theme.stylesheet()))
        retry.setFocus()

    def raise_window(self) -> None:
        """Bring the window to the front, as another start asks."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return tries again wherever the focus is; Escape quits."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._retry()
        elif event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _retry(self) -> None:
        self.wants_retry = True
        self.close()

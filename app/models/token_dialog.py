"""Asks for a token of the hub, and says where it will be kept."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLayout, QLineEdit, QVBoxLayout, QWidget

from app.errors import advice
from app.models.problem_card import ProblemCard
from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.label import Label
from app.widgets.link import Link
from app.widgets.text_field import TextField
from engine.core.errors import ErrorInfo

WIDTH = 440
TOKENS_PAGE = "https://huggingface.co/settings/tokens"
_WHY = (
    "Gated and private models are fetched under your Hugging Face account. A token with read access is enough. "
    "Saving asks the hub once whether it knows the token."
)
_WHERE = "It is kept in the system’s keychain. Where there is none, in a file that only you can read. It is never in a log."
_SOURCES = {
    "keychain": "There is a token in the keychain. A new one takes its place.",
    "file": "There is no keychain here: a token is kept in a file that only you can read. A new one takes its place.",
    "environment": "The token of HF_TOKEN is in use. One that is saved here does not take its place.",
    "login": "The token of an earlier Hugging Face login is in use. One that is saved here comes first.",
}
KEPT = {
    "keychain": "It is kept in the system’s keychain.",
    "file": "There is no keychain here: it is kept in a file that only you can read.",
    "environment": "HF_TOKEN stays in use while it is set.",
}


class TokenDialog(QDialog):
    """`saved` carries what was entered, empty to forget the token; `page_asked` the address where tokens are made."""

    saved = Signal(str)
    page_asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("tokenDialog")
        self.setAccessibleName("Token for Hugging Face")
        self.setWindowTitle("Token for Hugging Face")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setFixedWidth(WIDTH)
        self.field = TextField(theme, "Token", parent=self)
        self.field.setObjectName("tokenField")
        self.field.setPlaceholderText("hf_…")
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self._state = Label(theme, style="read-small", role="ink-2", wrap=True, parent=self)
        self._state.setObjectName("tokenState")
        self._problem = ProblemCard(theme, self)
        self._problem.setObjectName("tokenProblem")
        self._make = Link(theme, "Make a token on Hugging Face", style="read-small", parent=self)
        self._make.setObjectName("makeToken")
        self._forget = Button(theme, "Forget", parent=self)
        self._forget.setObjectName("forgetToken")
        self._cancel = Button(theme, "Cancel", parent=self)
        self._cancel.setObjectName("cancelToken")
        self._save = PrimaryButton(theme, "Save", parent=self)
        self._save.setObjectName("saveToken")
        self._lay_out()
        self._make.clicked.connect(lambda: self.page_asked.emit(TOKENS_PAGE))
        self._cancel.clicked.connect(self.reject)
        self._save.clicked.connect(self._ask)
        self._forget.clicked.connect(lambda: self.saved.emit(""))
        self.field.textChanged.connect(lambda text: self._save.setEnabled(bool(text.strip())))
        self.field.installEventFilter(self)
        self._save.setEnabled(False)
        self._forget.hide()

    def show_source(self, source: str) -> None:
        """Say whether there is a token already, and where it comes from."""
        self._state.setText(_SOURCES.get(source, ""))
        self._state.setVisible(source in _SOURCES)
        self._forget.setVisible(source in ("keychain", "file"))
        self._fit()

    def show_failure(self, error: ErrorInfo) -> None:
        """Say why the token was not kept; another can be entered."""
        self._problem.show_problem(error.text, advice(error))
        self._save.setText("Save")
        self._save.setEnabled(True)
        self.field.setEnabled(True)
        self.field.setFocus()
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return in the field saves; the field itself would only select."""
        pressed = event.key() if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress else 0
        if pressed in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._ask()
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes; Return is for what has the focus alone."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def _fit(self) -> None:
        """Be as high as what is said in lines of this width: left to itself, the layout wants room for narrower ones."""
        layout = self.layout()
        if layout is not None:
            layout.activate()
            self.setFixedHeight(layout.totalHeightForWidth(WIDTH))

    def _ask(self) -> None:
        token = self.field.text().strip()
        if token and self._save.isEnabled():
            self._problem.show_problem("", "")
            self._save.setText("Asking…")
            self._save.setEnabled(False)
            self.field.setEnabled(False)
            self.saved.emit(token)

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        layout.setContentsMargins(20, 20, 20, 16)
        layout.setSpacing(8)
        layout.addWidget(Label(self._theme, "Token for Hugging Face", style="section", parent=self))
        layout.addWidget(Label(self._theme, _WHY, style="read-small", role="ink-2", wrap=True, parent=self))
        layout.addWidget(self.field)
        layout.addWidget(Label(self._theme, _WHERE, style="read-small", role="ink-3", wrap=True, parent=self))
        layout.addWidget(self._state)
        layout.addWidget(self._problem)
        layout.addWidget(self._make)
        layout.addSpacing(8)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self._forget)
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._save)
        layout.addLayout(buttons)

"""What stands over the list in Discover: what it shows, that the hub is asked, or what went wrong and what to do."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.errors import advice
from app.models.hub_words import TOKEN_ERRORS
from app.models.problem_card import ProblemCard
from app.theme import Theme
from app.widgets.elided_label import ElidedLabel
from app.widgets.label import Label
from app.widgets.link import Link
from app.widgets.spinner import Spinner
from engine.core.errors import ErrorInfo
from engine.core.machine import THIS_MACHINE

_NO_CALL = "Nothing was asked of the network yet. Type a name and press Return to search Hugging Face."
_ROOMY = 360


class SearchState(QWidget):
    """A line or a card. `popular_asked` and `again_asked` are for a search."""

    popular_asked = Signal()
    again_asked = Signal()
    token_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._counts = theme, False
        self.setObjectName("searchState")
        self._spinner = Spinner(theme, "Searching", parent=self)
        self._spinner.stand_on(theme.color("content"))
        theme.changed.connect(lambda: self._spinner.stand_on(theme.color("content")))
        self._title = ElidedLabel(theme, style="read-small", weight=600, parent=self)
        self._title.setObjectName("searchTitle")
        self._popular = Link(theme, "Show popular models", style="read-small", parent=self)
        self._popular.setObjectName("showPopular")
        self._text = Label(theme, style="read-small", role="ink-3", wrap=True, parent=self)
        self._text.setObjectName("searchText")
        self._problem = ProblemCard(theme, self)
        self._problem.setObjectName("searchProblem")
        self._token = Link(theme, "Enter a token…", style="read-small", parent=self)
        self._token.setObjectName("searchToken")
        self._again = Link(theme, "Try again", style="read-small", parent=self)
        self._again.setObjectName("searchAgain")
        self._problem.add_links(self._token, self._again)
        title, self._head = QHBoxLayout(), QBoxLayout(QBoxLayout.Direction.LeftToRight)
        title.setSpacing(8)
        title.addWidget(self._spinner)
        title.addWidget(self._title, 1)
        self._head.addLayout(title, 1)
        self._head.addWidget(self._popular, 0, Qt.AlignmentFlag.AlignLeft)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 4, 16, 4)
        layout.setSpacing(4)
        layout.addLayout(self._head)
        for part in (self._text, self._problem):
            layout.addWidget(part)
        theme.changed.connect(self._arrange)
        self._arrange()
        self._popular.clicked.connect(self.popular_asked)
        self._again.clicked.connect(self.again_asked)
        self._token.clicked.connect(self.token_asked)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Give the link a line of its own where the text is too large for both."""
        narrow = self.width() < self._theme.grown(_ROOMY)
        self._head.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)
        self._head.setSpacing(4 if narrow else 8)

    @property
    def counts(self) -> bool:
        """Whether it says how many were found: not so while the hub is asked, nor where it failed."""
        return self._counts

    @property
    def failed(self) -> bool:
        """Whether the last search failed."""
        return bool(self._problem.text)

    def show_recommended(self) -> None:
        """Say that these are Flint's own recommendations."""
        self._show(f"Recommended for {THIS_MACHINE}", _NO_CALL, popular=True)

    def show_searching(self, query: str) -> None:
        """Say that the hub is asked."""
        self._show(f"Searching for “{query}”" if query else "Asking for popular models", "", spinning=True)

    def show_found(self, query: str, count: int, shown: int, more: bool) -> None:
        """Say how many were found and how many the filters leave."""
        if not count:
            words = "Fewer or other words may help." if query else "The hub lists no models for MLX."
            self._show(f"Nothing found for “{query}”" if query else "Nothing found", words)
        elif not shown:
            self._show(f"{count} found, none of them shown", "The filters hide them all.")
        else:
            known = f"{count} or more found" if more else f"{count} found"
            self._show(known if shown == count else f"{known}, {shown} shown", "")
        self._counts = True

    def show_failure(self, error: ErrorInfo) -> None:
        """Say what went wrong and what to do."""
        self._show("", "", error=error)

    def _show(
        self, title: str, text: str, *, spinning: bool = False, popular: bool = False, error: ErrorInfo | None = None
    ) -> None:
        self._counts = False
        self._title.show_words(title)
        self._title.setVisible(bool(title))
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self._spinner.setVisible(spinning)
        self._popular.setVisible(popular)
        self._problem.show_problem(error.text if error else "", advice(error) if error else "")
        self._token.setVisible(bool(error and error.code in TOKEN_ERRORS))
        self._again.setVisible(error is not None)

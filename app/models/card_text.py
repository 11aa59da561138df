"""A model card as text to be read: its own markdown, with nothing in it that loads, runs or looks like the window's."""

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSizeF, Qt, QUrl, Signal
from PySide6.QtGui import QTextDocument, QWheelEvent
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from app.theme import Theme

if TYPE_CHECKING:
    from markdown_it.token import Token

MOST_LETTERS = 20_000
"""Letters of a card that are shown; what is longer is read on the hub's page."""
_INDENT = 20
_LINKS = ("http://", "https://")
_PLAIN = {
    "paragraph_open": "<p>",
    "paragraph_close": "</p>",
    "heading_open": "<p><b>",
    "heading_close": "</b></p>",
    "bullet_list_open": "<ul>",
    "bullet_list_close": "</ul>",
    "ordered_list_open": "<ol>",
    "ordered_list_close": "</ol>",
    "list_item_open": "<li>",
    "list_item_close": "</li>",
    "blockquote_open": "<blockquote>",
    "blockquote_close": "</blockquote>",
    "table_open": "<table cellspacing='0' cellpadding='4'>",
    "table_close": "</table>",
    "tr_open": "<tr>",
    "tr_close": "</tr>",
    "th_open": "<td><b>",
    "th_close": "</b></td>",
    "td_open": "<td>",
    "td_close": "</td>",
    "hr": "<hr>",
    "strong_open": "<b>",
    "strong_close": "</b>",
    "em_open": "<i>",
    "em_close": "</i>",
    "softbreak": " ",
    "hardbreak": "<br>",
}


def card_html(card: str) -> str:
    """Return a card's markdown as the few tags that text needs. HTML, pictures and addresses that are no web page are left out.

    Not for the window's thread: long cards take a while.
    """
    from markdown_it import MarkdownIt  # Not before a card is read: the window itself comes sooner.

    parser = MarkdownIt("commonmark").enable("table")
    return "".join(_written(parser.parse(card[:MOST_LETTERS])))


def _written(tokens: "Iterable[Token]") -> Iterable[str]:
    links: list[bool] = []
    for token in tokens:
        if token.type in _PLAIN:
            yield "" if token.hidden else _PLAIN[token.type]
        elif token.type == "inline":
            yield from _written(token.children or ())
        elif token.type == "text":
            yield html.escape(token.content)
        elif token.type == "code_inline":
            yield f"<code>{html.escape(token.content)}</code>"
        elif token.type in ("fence", "code_block"):
            yield f"<pre>{html.escape(token.content)}</pre>"
        elif token.type == "link_open":
            address = str(token.attrs.get("href", ""))
            links.append(address.startswith(_LINKS))
            yield f'<a href="{html.escape(address, quote=True)}">' if links[-1] else ""
        elif token.type == "link_close":
            yield "</a>" if links and links.pop() else ""


class CardText(QTextBrowser):
    """As high as its text, on the ground around it. `link_activated` carries an address that somebody clicked."""

    link_activated = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._html = ""
        self.setObjectName("modelCard")
        self.setAccessibleName("From the model card")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(_INDENT)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(self._grow)
        self.anchorClicked.connect(lambda url: self.link_activated.emit(url.toString()))
        theme.changed.connect(self._dress)
        self._dress()

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load nothing, from nowhere."""
        del name
        return "" if kind == QTextDocument.ResourceType.StyleSheetResource.value else None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page around."""
        event.ignore()

    def _grow(self, size: QSizeF) -> None:
        self.setFixedHeight(max(20, round(size.height()) + 2))

    def show_html(self, text: str) -> None:
        """Show what `card_html` made."""
        self._html = text
        self._dress()

    def _dress(self) -> None:
        css = self._theme.css
        self.setStyleSheet(f"QTextBrowser {{ color: {css('ink-2')}; background: transparent; border: none; }}")
        self.setFont(self._theme.font("read-small"))
        self.document().setDefaultFont(self._theme.font("read-small"))
        mono = self._theme.font("code").family()
        self.document().setDefaultStyleSheet(
            f"a {{ color: {css('accent-ink')}; }} b {{ color: {css('ink')}; }} code, pre {{ font-family: '{mono}'; }}"
            " pre { white-space: pre-wrap; } p { margin: 0 0 8px 0; line-height: 150%; } table, ul, ol { margin: 0 0 8px 0; }"
            f" pre {{ margin: 0 0 8px 0; background: {css('inset')}; }}"
        )
        self.setHtml(self._html)

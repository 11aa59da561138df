"""Where a document shows formulas: one character each, as it was written until there is a picture of it."""

from collections.abc import Callable

from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor, QTextDocument

from app.chat.text.blocks import Run
from app.chat.text.formats import Formats
from app.chat.text.formula import Formula
from app.chat.text.formulas import Drawing, formulas
from app.chat.text.math_object import MATH, OBJECT, MathObject, is_drawn, source_of
from app.chat.text.math_syntax import inside

_KEEP = QTextCursor.MoveMode.KeepAnchor


class FormulaPlaces:
    """Inserts the formulas of one document, and puts pictures in their places when those are drawn.

    Without `draws` nobody looks at the document: formulas stay as they were written.
    """

    def __init__(self, document: QTextDocument, formats: Formats, *, draws: bool) -> None:
        self._document = document
        self._formats = formats
        self._draws = draws
        self._object = MathObject(document)
        # The blocks that show a formula as it was written while it is being drawn.
        self._waiting: set[int] = set()
        document.documentLayout().registerHandler(MATH, self._object)

    def restyle(self, formats: Formats) -> None:
        """Use other formats from now on."""
        self._formats = formats

    def cut(self, count: int) -> None:
        """Forget all but the first `count` blocks."""
        self._waiting = {index for index in self._waiting if index < count}
        if not count:
            self._object.clear()

    def insert(self, cursor: QTextCursor, run: Run, index: int, text: QTextCharFormat) -> None:
        """Insert the character that stands for a formula into block `index`, among `text`."""
        form = self._formats.formula(run.text, None, text)
        formula = formulas().get(*inside(run.text)) if self._draws else Drawing.FAILED
        if isinstance(formula, Formula):
            form = self._drawn(run.text, formula, form)
        elif formula is Drawing.PENDING:
            self._waiting.add(index)
        cursor.insertText(OBJECT, form)

    def take(self, text_blocks: Callable[[int], tuple[QTextBlock, QTextBlock]]) -> bool:
        """Put what was drawn by now in its place; return whether anything changed."""
        changed = False
        cursor = QTextCursor(self._document)
        # One edit, so that the text is laid out once.
        cursor.beginEditBlock()
        for index in sorted(self._waiting):
            self._waiting.discard(index)
            for position, source, form in _written(*text_blocks(index)):
                formula = formulas().get(*inside(source))
                if isinstance(formula, Formula):
                    cursor.setPosition(position)
                    cursor.setPosition(position + 1, _KEEP)
                    cursor.setCharFormat(self._drawn(source, formula, form))
                    changed = True
                elif formula is Drawing.PENDING:
                    self._waiting.add(index)
        cursor.endEditBlock()
        return changed

    def _drawn(self, source: str, formula: Formula, form: QTextCharFormat) -> QTextCharFormat:
        self._object.add(source, formula)
        return self._formats.formula(source, formula, form)


def _written(text: QTextBlock, last: QTextBlock) -> list[tuple[int, str, QTextCharFormat]]:
    """Return place, source and format of each formula that is no picture, from one text block to another."""
    found = []
    while text.isValid() and text.position() <= last.position():
        iterator = text.begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            form = fragment.charFormat()
            source = source_of(form)
            if source and not is_drawn(form):
                places = range(fragment.position(), fragment.position() + fragment.length())
                found += [(place, source, form) for place in places]
            iterator += 1
        text = text.next()
    return found

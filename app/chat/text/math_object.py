"""Formulas inside a text document: one character each, drawn on the line's baseline in the text's colour."""

from math import ceil

from PySide6.QtCore import QByteArray, QObject, QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtSvg import QSvgRenderer

from app.chat.text.formula import UNIT, Formula

OBJECT = "\ufffc"
MATH = QTextFormat.ObjectTypes.UserObject + 7
# What was written, delimiters included, and the size of the text around it in pixels.
SOURCE = QTextFormat.Property.UserProperty + 7
SIZE = SOURCE + 1
_DRAWN = SOURCE + 2

_IN_A_CELL = 320.0
# A picture this much smaller than its text can't be read: what was written is shown then, in lines.
_LEAST_SCALE = 0.4
# Bytes of pictures kept for one message.
_KEPT = 8_000_000
# Of the picture's size.
_WRITTEN_SIZE = 0.75
_ENDLESS = 1e6
_WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWrapAnywhere


class MathObject(QPyTextObject):
    """Measures and draws the formulas of one document; `add` tells it of each before it is inserted."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._formulas: dict[str, Formula] = {}
        self._images: dict[tuple[str, float, int], QImage] = {}

    def add(self, source: str, formula: Formula) -> None:
        """Know the formula that `source` stands for."""
        self._formulas[source] = formula

    def clear(self) -> None:
        """Forget all formulas."""
        self._formulas.clear()
        self._images.clear()

    def intrinsicSize(self, doc: QTextDocument, position: int, form: QTextFormat) -> QSizeF:
        """Return a formula's size; one wider than its line is drawn smaller."""
        source = str(form.property(SOURCE))
        formula, scale = self._fitted(source, doc, position, form)
        if formula is None:
            space = QRectF(0, 0, max(_IN_A_CELL / 2, _room(doc, position)), _ENDLESS)
            return QFontMetricsF(_written_font(form)).boundingRect(space, _WRAPPED, _shown(source)).size()
        return QSizeF(formula.width * scale, formula.ascent * scale + _descent(form))

    def drawObject(self, painter: QPainter, rect: QRectF | QRect, doc: QTextDocument, position: int, form: QTextFormat) -> None:
        """Draw a formula, its baseline on the line's; one without a picture as it was written."""
        source = str(form.property(SOURCE))
        formula, scale = self._fitted(source, doc, position, form)
        if formula is None:
            painter.setFont(_written_font(form))
            painter.setPen(form.foreground().color())
            painter.drawText(QRectF(rect), _WRAPPED, _shown(source))
            return
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        image = self._image(source, formula, scale * ratio, form.foreground().color())
        image.setDevicePixelRatio(ratio)
        corner = QPointF(rect.x(), rect.y() + rect.height() - _descent(form) - formula.ascent * scale)
        # On whole device pixels, or it would be blurred.
        to_device = painter.deviceTransform().map(corner)
        moved = QPointF(round(to_device.x()) - to_device.x(), round(to_device.y()) - to_device.y()) / ratio
        painter.drawImage(corner + moved, image)

    def _fitted(self, source: str, doc: QTextDocument, position: int, form: QTextFormat) -> tuple[Formula | None, float]:
        """Return a formula's picture and its scale where it stands; none where it is not drawn or would be too small."""
        formula = self._formulas.get(source)
        if formula is None:
            return None, 1.0
        scale = float(form.property(SIZE)) / UNIT
        fitting = min(1.0, _room(doc, position) / (formula.width * scale))
        return (formula if fitting >= _LEAST_SCALE else None), scale * fitting

    def _image(self, source: str, formula: Formula, scale: float, color: QColor) -> QImage:
        key = (source, round(scale, 3), color.rgba())
        if key not in self._images:
            if sum(image.sizeInBytes() for image in self._images.values()) > _KEPT:
                self._images.clear()
            self._images[key] = _painted(formula, scale, color)
        return self._images[key]


def written_format(text: QTextCharFormat, font: QFont, source: str, size: float) -> QTextCharFormat:
    """Return the format of a formula's character among `text`, shown as it was written in `font`.

    `size` is that of its picture, in pixels.
    """
    form = QTextCharFormat(text)
    form.setObjectType(MATH)
    form.setProperty(SOURCE, source)
    form.setProperty(SIZE, size)
    form.setFont(font)
    form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignBaseline)
    return form


def drawn_format(written: QTextCharFormat, formula: Formula) -> QTextCharFormat:
    """Return the format of the same character as a picture."""
    form = QTextCharFormat(written)
    # Qt puts an object as far under the baseline as its font reaches: a font that reaches as far as the formula does.
    font = form.font()
    per_pixel = QFontMetricsF(font).descent() / font.pixelSize()
    font.setPixelSize(max(1, ceil(formula.descent * float(form.property(SIZE)) / UNIT / per_pixel)))
    form.setFont(font)
    form.setProperty(_DRAWN, True)
    return form


def is_drawn(form: QTextCharFormat) -> bool:
    """Return whether a formula's character is a picture."""
    return form.boolProperty(_DRAWN)


def source_of(form: QTextCharFormat) -> str:
    """Return what was written for a character that is a formula; empty for other text."""
    return str(form.property(SOURCE)) if form.objectType() == MATH else ""


def _room(doc: QTextDocument, position: int) -> float:
    """Return how wide a formula can be where it stands."""
    block = doc.findBlock(position)
    if doc.textWidth() <= 0:
        return _ENDLESS
    if QTextCursor(block).currentTable() is not None:
        return _IN_A_CELL
    return doc.textWidth() - block.blockFormat().leftMargin() - block.blockFormat().rightMargin()


def _written_font(form: QTextFormat) -> QFont:
    font = form.toCharFormat().font()
    font.setPixelSize(max(1, round(float(form.property(SIZE)) * _WRITTEN_SIZE)))
    return font


def _shown(source: str) -> str:
    """Return a formula's source as it can be painted: in lines, and with nothing in it that turns its direction."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in source.replace("\u2028", "\n"))


def _descent(form: QTextFormat) -> float:
    return QFontMetricsF(form.toCharFormat().font()).descent()


def _painted(formula: Formula, scale: float, color: QColor) -> QImage:
    width, height = formula.width * scale, (formula.ascent + formula.descent) * scale
    image = QImage(max(1, ceil(width)), max(1, ceil(height)), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(formula.svg)).render(painter, QRectF(0, 0, width, height))
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(image.rect(), color)
    painter.end()
    return image

"""How a token sheet is painted: chips, headings, links. Widths and looks of a vocabulary's tokens are worked out once."""

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from app.chat.inspector.token_lines import APART
from app.chat.inspector.token_sheet import GROUNDS, READ, SHADES, Face, Run, Section, TokenSheet, runs
from app.theme import Theme
from app.widgets.frame import draw_frame

_PADDING, _RADIUS, _SPECIAL = 4, 4, 11 / 12


class TokenPainter:
    """Paints parts of the sheet it was shown last."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._sheet: TokenSheet | None = None
        self._looks: dict[int, tuple[int, list[tuple[Run, float]]]] = {}
        self._set_fonts()

    def _set_fonts(self) -> None:
        self._font = self._theme.font("token")
        self._special_font = QFont(self._font)
        self._special_font.setPixelSize(round(self._font.pixelSize() * _SPECIAL))
        self.chip = self._theme.line("token")
        self._metrics, self._special_metrics = QFontMetricsF(self._font), QFontMetricsF(self._special_font)

    def show_sheet(self, sheet: TokenSheet | None) -> None:
        """Paint this one from now on."""
        self._sheet = sheet
        self._looks = {}
        self._set_fonts()

    def mark(self, sheet: TokenSheet) -> None:
        """Paint this one, of the same tokens as the one before."""
        self._sheet = sheet

    def width_of(self, token_id: int) -> int:
        """Return the width of a token's chip in pixels."""
        return self._look(token_id)[0]

    def _look(self, token_id: int) -> tuple[int, list[tuple[Run, float]]]:
        found = self._looks.get(token_id)
        if found is None:
            face = self._face(token_id)
            metrics = self._special_metrics if face.special else self._metrics
            parts = [(run, metrics.horizontalAdvance(run[0])) for run in runs(face)]
            found = round(sum(width for _, width in parts) + 2 * _PADDING + 0.4), parts
            self._looks[token_id] = found
        return found

    def _face(self, token_id: int) -> Face:
        return (self._sheet.faces.get(token_id) if self._sheet else None) or Face("")

    def line(self, painter: QPainter, left: int, top: int, tokens: range, hot: int, room: int) -> None:
        """Paint a line of chips; the `hot` one has a frame in the accent. None is wider than `room`."""
        if self._sheet is None:
            return
        x = left
        for index in tokens:
            width, parts = self._look(self._sheet.ids[index])
            self._chip(painter, QRect(x, top, min(width, room), self.chip), index, parts)
            if index == hot:
                draw_frame(painter, QRect(x, top, min(width, room), self.chip), _RADIUS, None, self._theme.color("accent"), 2)
            x += width + APART

    def _chip(self, painter: QPainter, rect: QRect, index: int, parts: list[tuple[Run, float]]) -> None:
        sheet, color = self._sheet, self._theme.color
        if sheet is None:
            return
        special, ground = self._face(sheet.ids[index]).special, sheet.grounds[index]
        read = ground == READ
        role = "" if special and ground < SHADES and not read else GROUNDS[ground]
        line = "accent-line" if special and read else "border" if special else "" if role else "separator"
        draw_frame(painter, rect, _RADIUS, color(role) if role else None, color(line) if line else None)
        font = self._special_font if special else self._font
        painter.setFont(font)
        gone = index in sheet.gone
        ink, x = color("ink-3" if gone else "ink-2" if special else "ink"), float(rect.x() + _PADDING)
        for (text, sign), width in parts:
            if x + width > rect.right() + 1:
                metrics = self._special_metrics if special else self._metrics
                text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.right() - x - _PADDING)
            painter.setPen(color("ink-3") if sign else ink)
            area = QRect(round(x), rect.y(), rect.right() - round(x) + 1, rect.height())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)
            x += width
        if gone:
            painter.fillRect(QRect(rect.x() + 2, rect.center().y(), rect.width() - 4, 1), color("ink-3"))

    def heading(self, painter: QPainter, area: QRect, section: Section, *, closed: bool, ringed: bool) -> None:
        """Paint a section's heading: a chevron, the title, and the note at the right."""
        theme = self._theme
        icon = theme.pixmap("right" if closed else "down", "ink-3", 12, painter.device().devicePixelRatio())
        painter.drawPixmap(QPoint(area.x(), area.y() + 4), icon)
        painter.setFont(theme.font("small", 600))
        painter.setPen(theme.color("ink"))
        painter.drawText(area.adjusted(16, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, section.title)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("ink-3"))
        aligned = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(area, aligned, section.note)
        if ringed:
            draw_frame(painter, area.adjusted(-4, 0, 4, 0), 6, None, theme.color("accent"), 2)

    def link(self, painter: QPainter, area: QRect, text: str, *, under: bool) -> None:
        """Paint the link under a section's lines, underlined while it is `under` the pointer."""
        font = self._theme.font("small", 500)
        font.setUnderline(under)
        painter.setFont(font)
        painter.setPen(self._theme.color("accent-ink"))
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, text)

    def link_width(self, text: str) -> int:
        """Return the width of such a link in pixels."""
        return round(QFontMetricsF(self._theme.font("small", 500)).horizontalAdvance(text)) + 2

"""The card of what else could have been written in the place of a token."""

from math import exp

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.chat.inspector.reply_head import percent
from app.chat.inspector.token_popover import beside
from app.chat.inspector.token_sheet import face_of, shown
from app.theme import Theme
from app.widgets.frame import draw_frame, draw_hairline
from app.widgets.shadow import Shadow
from engine.core.odds import TokenOdds

_WIDTH, _PADDING, _HEAD, _FOOT, _RADIUS = 288, 16, 36, 32, 8
_NAME, _BAR, _BAR_HEIGHT = 88, 88, 6
_STAYS_MS = 250


class OddsPopover(QWidget):
    """Shows the likeliest tokens in one place of a reply. `chosen` carries the place and the id of the one that was picked."""

    chosen = Signal(int, int)

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._over = theme, window
        self._index, self._written, self._total = -1, 0, 0
        self._rows: list[tuple[int, str, float]] = []
        self._row = -1
        self._offers = False
        self._return_to: QWidget | None = None
        self._leaving = QTimer(self, interval=_STAYS_MS, singleShot=True)
        self._leaving.timeout.connect(self.hide)
        self.setObjectName("oddsPopover")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.hide()
        self._shadow = Shadow(theme, self, _RADIUS)
        self._shadow.hide()
        theme.changed.connect(self.update)

    @property
    def index(self) -> int:
        """The token that it is about."""
        return self._index

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What is listed, as (text, percentage)."""
        return [(text, percent(probability)) for _, text, probability in self._rows]

    @property
    def title(self) -> str:
        """What stands over the list."""
        return f"Instead of “{self._name(self._written)}”"

    def show_place(self, odds: TokenOdds, index: int, anchor: QWidget, place: QRect, *, offers: bool) -> None:
        """Show what else could stand at `index`, beside `place` in `anchor`; with `offers` one can be picked."""
        self._leaving.stop()
        self._texts = dict(zip(odds.known_ids, odds.texts, strict=True))
        self._index, self._written, self._total = index, odds.ids[index], len(odds.ids)
        listed = odds.others(index)
        if self._written not in dict(listed):
            listed.append((self._written, odds.logprobs[index]))
        self._rows = [(token, self._name(token), exp(logprob)) for token, logprob in listed]
        self._row, self._offers = -1, offers
        self._describe()
        self.resize(self.sizeHint())
        self.move(beside(self, self._over, anchor, place))
        self.show()
        self.raise_()
        self.update()

    def take_keyboard(self, back_to: QWidget) -> None:
        """Let the arrow keys choose from the list; the focus goes back when it closes."""
        self._return_to = back_to
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._go_to(next((row for row, (token, *_) in enumerate(self._rows) if token == self._written), 0))

    def leave(self) -> None:
        """Close soon, unless the pointer comes here."""
        if not self.hasFocus() and not self.underMouse():
            self._leaving.start()

    def sizeHint(self) -> QSize:
        """288 wide, as high as the list."""
        foot = _FOOT if self._offers else 8
        return QSize(_WIDTH, _HEAD + self._pitch() * len(self._rows) + foot)

    def row_rect(self, row: int) -> QRect:
        """Return where a row is."""
        return QRect(0, _HEAD + row * self._pitch(), self.width(), self._pitch())

    # -- events ---------------------------------------------------------------------------------------------------------

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme, color = self._theme, self._theme.color
        draw_frame(painter, self.rect(), _RADIUS, color("raised"), color("border"))
        head = QRect(_PADDING, 4, self.width() - 2 * _PADDING, _HEAD - 4)
        painter.setFont(theme.font("caption"))
        painter.setPen(color("ink-3"))
        note = f"token {self._index + 1:,} of {self._total:,}"
        painter.drawText(head, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, note)
        room = head.width() - painter.fontMetrics().horizontalAdvance(note) - 8
        painter.setFont(theme.font("small", 600))
        painter.setPen(color("ink"))
        title = painter.fontMetrics().elidedText(self.title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, title)
        for row, (token, text, probability) in enumerate(self._rows):
            self._paint_row(painter, row, text, probability, written=token == self._written)
        if self._offers:
            top = _HEAD + self._pitch() * len(self._rows) + 4
            draw_hairline(painter, QPointF(1, top), QPointF(self.width() - 2, top), color("separator"))
            painter.setFont(theme.font("caption"))
            painter.setPen(color("ink-3"))
            area = QRect(_PADDING, top, self.width() - 2 * _PADDING, self.height() - top)
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, "Choose one to branch from here.")

    def _paint_row(self, painter: QPainter, row: int, text: str, probability: float, *, written: bool) -> None:
        theme, color = self._theme, self._theme.color
        area = self.row_rect(row)
        if row == self._row and self._offers:
            draw_frame(painter, area.adjusted(8, 0, -8, 0), 6, color("hover"))
            if self.hasFocus():
                draw_frame(painter, area.adjusted(8, 0, -8, 0), 6, None, color("accent"), 2)
        painter.setFont(theme.font("token", 600 if written else None))
        painter.setPen(color("ink"))
        name = QRect(_PADDING, area.y(), _NAME - 8, self._pitch())
        text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, name.width())
        painter.drawText(name, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)
        bar = QRect(_PADDING + _NAME, area.y() + (self._pitch() - _BAR_HEIGHT) // 2, _BAR + 24, _BAR_HEIGHT)
        draw_frame(painter, bar, 3, color("track"))
        filled = QRect(bar.x(), bar.y(), max(3, round(bar.width() * probability)), _BAR_HEIGHT)
        draw_frame(painter, filled, 3, color("accent" if written else "m-mac"))
        painter.setFont(theme.font("small", 500 if written else None))
        painter.setPen(color("ink" if written else "ink-2"))
        figure = area.adjusted(0, 0, -_PADDING, 0)
        painter.drawText(figure, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, percent(probability))

    def enterEvent(self, event: QEnterEvent) -> None:
        """Stay while the pointer is here."""
        self._leaving.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Go when it leaves."""
        self.leave()
        super().leaveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Mark the row under the pointer."""
        row = self._row_at(event)
        if row != self._row:
            self._row = row
            self.update()
        pick = row >= 0 and self._offers
        self.setCursor(Qt.CursorShape.PointingHandCursor if pick else Qt.CursorShape.ArrowCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the row under the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pick(self._row_at(event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down choose, Return picks, Escape closes."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._go_to(max(0, min(len(self._rows) - 1, self._row + (1 if event.key() == Qt.Key.Key_Down else -1))))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._pick(self._row)
        elif event.key() == Qt.Key.Key_Escape:
            self._give_back()
            self.hide()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Without the keyboard it is as if it was only pointed at."""
        super().focusOutEvent(event)
        self._return_to = None
        if not self.underMouse():
            self.hide()

    def _row_at(self, event: QMouseEvent) -> int:
        place = event.position().toPoint()
        return next((row for row in range(len(self._rows)) if self.row_rect(row).contains(place)), -1)

    def _pick(self, row: int) -> None:
        if not self._offers or not 0 <= row < len(self._rows):
            return
        token = self._rows[row][0]
        self._give_back()
        self.hide()
        if token != self._written:
            self.chosen.emit(self._index, token)

    def _give_back(self) -> None:
        back, self._return_to = self._return_to, None
        if back is not None:
            back.setFocus(Qt.FocusReason.OtherFocusReason)

    def _go_to(self, row: int) -> None:
        self._row = row
        self._describe()
        self.update()

    def _describe(self) -> None:
        words = "; ".join(f"{text} {figure}" for text, figure in self.rows)
        self.setAccessibleName(f"{self.title}, token {self._index + 1:,} of {self._total:,}")
        chosen = f"{self.rows[self._row][0]} {self.rows[self._row][1]}. " if 0 <= self._row < len(self._rows) else ""
        self.setAccessibleDescription(f"{chosen}{words}")

    def _pitch(self) -> int:
        return self._theme.line("token") + 4  # It grows with the text size.

    def _name(self, token: int) -> str:
        return shown(face_of(self._texts.get(token, "")))

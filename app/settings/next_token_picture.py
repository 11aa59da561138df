"""The picture of the next token: how likely the likeliest were, and which of them the settings keep."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from app.settings.outlook import Outlook, outlook
from app.theme import Theme
from app.widgets.frame import draw_frame, faded
from app.widgets.label import Label
from engine.core.messages import NextTokens
from engine.core.setting import Value
from engine.core.sizes import count_text

BARS = 9
_PITCH, _BAR, _BASE, _TALLEST, _HEIGHT = 32, 24, 48, 36, 64
_LONGEST_BEFORE = 40
_DROPPED = 0.55
"""How strong a bar is whose token the settings drop."""
_SIGNS = {"\n": "↵", "\t": "⇥", " ": "␣", "\r": "␍"}
_NOTHING = "Shown after the next reply: how likely each next token was, and which of them these settings keep."


class Bars(QWidget):
    """The bars. A bar tells its token and its share as a tool tip too."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._outlook: Outlook | None = None
        self.setObjectName("nextTokenBars")
        self.setAccessibleName("Next token with these settings")
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        theme.changed.connect(self.update)

    def show_outlook(self, found: Outlook | None) -> None:
        """Show the likeliest tokens."""
        self._outlook = found
        self.setAccessibleDescription(_NOTHING if found is None else in_words(found))
        self.update()

    def sizeHint(self) -> QSize:
        """64 px high, for nine bars."""
        return QSize(BARS * _PITCH, _HEIGHT)

    def bar_at(self, x: int) -> int:
        """Return which bar is at a place, from 0."""
        return x * BARS // max(1, self.width())

    def event(self, event: QEvent) -> bool:
        """Tell what a bar stands for under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.told_at(event.pos()), self)
            return True
        return super().event(event)

    def told_at(self, place: QPoint) -> str:
        """Return what the bar at a place stands for, in words; empty where there is none."""
        index = self.bar_at(place.x())
        if self._outlook is None or not 0 <= index < min(BARS, len(self._outlook.tokens)):
            return ""
        text, share = self._outlook.tokens[index]
        return f"“{shown(text)}” {share:.2%}, {'kept' if index < self._outlook.kept else 'dropped'}"

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._outlook is None:
            return
        painter = QPainter(self)
        tokens = self._outlook.tokens[:BARS]
        highest = max(share for _, share in tokens) or 1.0
        names = self.names()
        for index, (_, share) in enumerate(tokens):
            self._paint_bar(painter, index, names[index], share, share / highest)
        if self._outlook.kept < len(tokens):
            self._paint_edge(painter, self._outlook.kept)
            self._paint_word(painter, self._outlook.kept, [share / highest for _, share in tokens])

    def _pitch(self) -> float:
        return self.width() / BARS

    def _paint_bar(self, painter: QPainter, index: int, text: str, share: float, height: float) -> None:
        assert self._outlook is not None
        color, kept = self._theme.color, index < self._outlook.kept
        left, pitch = index * self._pitch(), self._pitch()
        tall = max(2, round(height * _TALLEST))
        bar = QRectF(round(left + (pitch - _BAR) / 2), _BASE - tall, _BAR, tall)
        draw_frame(painter, bar, 2, color("accent") if kept else faded(color("m-mac"), _DROPPED))
        figure = QRect(round(left) - 4, _BASE - tall - 15, round(pitch) + 8, 14)
        painter.setFont(self._theme.font("caption"))
        painter.setPen(color("ink-2" if kept else "ink-3"))
        painter.drawText(figure, Qt.AlignmentFlag.AlignCenter, percent(share) + ("%" if index == 0 else ""))
        painter.setFont(self._name_font())
        painter.setPen(color("ink" if kept else "ink-3"))
        painter.drawText(QRect(round(left), _BASE + 1, round(pitch), 15), Qt.AlignmentFlag.AlignCenter, text)

    def _name_font(self) -> QFont:
        font = self._theme.font("token")
        font.setPixelSize(self._theme.font("caption").pixelSize())
        return font

    def names(self) -> list[str]:
        """Return what stands under the bars: the tokens as far as there is room, each told from the others."""
        texts = [shown(text) for text, _ in self._outlook.tokens[:BARS]] if self._outlook else []
        metrics, room = QFontMetrics(self._name_font()), round(self._pitch()) - 2
        return told_apart(texts, lambda text: metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))

    def _paint_edge(self, painter: QPainter, kept: int) -> None:
        x = round(kept * self._pitch())
        pen = QPen(self._theme.color("ink-3"), 1, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([2, 3])
        painter.setPen(pen)
        painter.drawLine(x, 0, x, _BASE + 14)

    def _paint_word(self, painter: QPainter, kept: int, heights: list[float]) -> None:
        """Name what is dropped, over the first bars that are low enough."""
        low = next((index for index in range(kept, len(heights)) if _BASE - heights[index] * _TALLEST - 15 >= 14), None)
        if low is None:
            return
        painter.setPen(self._theme.color("ink-3"))
        painter.setFont(self._theme.font("caption"))
        width = painter.fontMetrics().horizontalAdvance("dropped") + 2
        left = min(round(low * self._pitch()) + 6, self.width() - width)
        if left > kept * self._pitch():
            painter.drawText(QRect(left, 0, width, 14), Qt.AlignmentFlag.AlignVCenter, "dropped")


class NextTokenPicture(QWidget):
    """The bars with their heading: how many tokens stay, and what text they would have gone on from."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._told: NextTokens | None = None
        self._values: Mapping[str, Value] = {}
        self.setObjectName("nextToken")
        self._count = Label(theme, style="caption", role="ink-3", parent=self)
        self._count.setObjectName("nextTokenCount")
        self._where = Label(theme, style="caption", role="ink-3", parent=self)
        self._where.setObjectName("nextTokenWhere")
        self._where.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._nothing = Label(theme, _NOTHING, style="caption", role="ink-3", wrap=True, parent=self)
        self._nothing.setObjectName("nextTokenNothing")
        self.bars = Bars(theme, self)
        heading = QHBoxLayout()
        heading.addWidget(Label(theme, "Next token with these settings", style="small", weight=500, parent=self))
        heading.addStretch(1)
        heading.addWidget(self._count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(heading)
        layout.addWidget(self._where)
        layout.addWidget(self._nothing)
        layout.addWidget(self.bars)
        self._show()

    @property
    def count(self) -> str:
        """How many tokens stay, in words."""
        return self._count.text()

    def show_tokens(self, told: NextTokens | None) -> None:
        """Show the distribution of another reply; None where none is known."""
        if told is not self._told:
            self._told = told
            self._show()

    def show_values(self, values: Mapping[str, Value]) -> None:
        """Show what other settings make of it."""
        if dict(values) != dict(self._values):
            self._values = dict(values)
            self._show()

    def _show(self) -> None:
        found = outlook(self._told, self._values) if self._told and self._values else None
        self.bars.show_outlook(found)
        self.bars.setVisible(found is not None)
        self._where.setVisible(found is not None)
        self._nothing.setVisible(found is None)
        self._count.setText(kept_words(found) if found else "")
        if self._told:
            self._where.setText(where_words(self._told.before))
            self._where.setToolTip(self._told.before)


def told_apart(texts: Sequence[str], cut: Callable[[str], str]) -> list[str]:
    """Return texts as `cut` leaves them; those that would look the same are shown from where they begin to differ."""
    names = [cut(text) for text in texts]
    apart = []
    for text, name in zip(texts, names, strict=True):
        alike = {other for other, cut_other in zip(texts, names, strict=True) if cut_other == name} - {text}
        start = min(len(text) - 1, max((_shared(text, other) for other in alike), default=0))
        apart.append(cut(f"…{text[start:]}") if start > 0 else name)
    return apart


def _shared(one: str, other: str) -> int:
    """Return how many letters two texts begin with alike."""
    return next((index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def kept_words(found: Outlook) -> str:
    """Return how many tokens stay."""
    if found.kept == found.size:
        return "all tokens kept"
    return f"{count_text(found.kept, 'token')} kept"


def where_words(before: str) -> str:
    """Return what text the tokens would have followed: the last words of it."""
    words = " ".join(before.split())
    if not words:
        return "at the start of the reply"
    if len(words) <= _LONGEST_BEFORE:
        return f"after “{words}”"
    end = words[-_LONGEST_BEFORE:]
    return f"after “…{end.partition(' ')[2] or end}”"


def in_words(found: Outlook) -> str:
    """Return the picture in words, for assistive tools."""
    told = [f"{shown(text)} {percent(share)}%" for text, share in found.tokens[:BARS]]
    kept, dropped = ", ".join(told[: found.kept]), ", ".join(told[found.kept :])
    return f"{kept}{f'; dropped: {dropped}' if dropped else ''}. {kept_words(found)}."


def percent(share: float) -> str:
    """Return a share as a whole number of hundredths."""
    whole = f"{share * 100:.0f}"
    return "<1" if whole == "0" and share > 0 else whole


def shown(text: str) -> str:
    """Return a token's text as it can be read alone: without the space before a word, signs for what is not seen."""
    return text.strip() or "".join(_SIGNS.get(letter, letter) for letter in text) or "·"

"""A reply that was refused because its memory is not there: the figures, and the changes that would make it fit."""

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.frame import draw_frame
from engine.core.facts import GuardChoice
from engine.core.messages import MemoryRefused
from engine.core.sizes import size_text

_PADDING, _HEAD, _BAR_TOP, _BAR, _LEGEND, _ROW, _FOOT, _RADIUS = 20, 32, 84, 12, 28, 64, 48, 12
_AXIS = 1.12
_PARTS = (("Weights", "m-weights"), ("KV", "m-kv"), ("Prefill peak", "m-cache"))


class GuardCard(QWidget):
    """`chosen` carries the settings to change, as (name, value) pairs; `ignored` asks to send anyway."""

    chosen = Signal(object)
    ignored = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._refused: MemoryRefused | None = None
        self._uses: list[Button] = []
        self._anyway = Button(theme, "Send Anyway", quiet=True, parent=self)
        self._anyway.setObjectName("guardAnyway")
        self._anyway.clicked.connect(self.ignored)
        self.setObjectName("guardCard")
        self.hide()
        theme.changed.connect(self.update)

    def show_refusal(self, refused: MemoryRefused) -> None:
        """Show why a request was refused, and its choices; the first is the main one."""
        self._refused = refused
        for button in self._uses:
            button.deleteLater()
        self._uses = []
        for index, choice in enumerate(refused.choices):
            button = (Button if index else PrimaryButton)(self._theme, "Use", parent=self)
            button.setObjectName(f"guardUse.{index + 1}")
            button.setAccessibleName(f"Use: {choice.title}")
            button.clicked.connect(lambda _=False, changes=choice.changes: self.chosen.emit(changes))
            button.show()
            self._uses.append(button)
        self.setAccessibleName(f"{self.title} {self.text} " + " ".join(choice.title for choice in refused.choices))
        self.setToolTip("\n".join(refused.arithmetic))
        self.update()

    @property
    def title(self) -> str:
        """How much is missing."""
        return f"This needs {size_text(self._need - self._budget, 1)} more than is safe"

    @property
    def text(self) -> str:
        """The figures in a sentence."""
        context = self._refused.context if self._refused else 0
        return (
            f"With {context:,} tokens of context this peaks at {size_text(self._need, 1)}. Flint may take "
            f"{size_text(self._budget, 1)} here. Nothing has been read yet."
            + ("" if self._refused and self._refused.choices else " No smaller setting would make it fit.")
        )

    @property
    def _need(self) -> int:
        refused = self._refused
        return refused.weights_bytes + refused.kv_bytes + refused.prefill_bytes if refused else 0

    @property
    def _budget(self) -> int:
        return self._refused.budget_bytes if self._refused else 0

    def height_at(self, width: int) -> int:
        """Return the card's height in `width` pixels, and put the buttons in their places."""
        top = self._rows_top(width)
        for index, button in enumerate(self._uses):
            button.resize(button.sizeHint())
            button.move(width - _PADDING - button.width(), top + index * _ROW + (_ROW - button.height()) // 2)
        bottom = top + len(self._uses) * _ROW
        self._anyway.resize(self._anyway.sizeHint())
        self._anyway.move(width - _PADDING - self._anyway.width(), bottom + (_FOOT - self._anyway.height()) // 2)
        return bottom + _FOOT

    def _text_height(self, width: int) -> int:
        metrics = QFontMetrics(self._theme.font("ui"))
        room = QRect(0, 0, max(1, width - 2 * _PADDING), 1000)
        return metrics.boundingRect(room, int(Qt.TextFlag.TextWordWrap), self.text).height()

    def _rows_top(self, width: int) -> int:
        return _PADDING + _HEAD + self._text_height(width) + 12 + _BAR + _LEGEND + 8

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._refused is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color, width = self._theme.color, self.width()
        draw_frame(painter, self.rect(), _RADIUS, color("raised"), color("border"))
        painter.drawPixmap(_PADDING, _PADDING, self._theme.pixmap("guard", "accent-ink", 20, self.devicePixelRatioF()))
        painter.setFont(self._theme.font("section"))
        painter.setPen(color("ink"))
        head = QRect(_PADDING + 30, _PADDING, width - 2 * _PADDING - 30, 20)
        painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, self.title)
        painter.setFont(self._theme.font("ui"))
        painter.setPen(color("ink-2"))
        height = self._text_height(width)
        words = QRect(_PADDING, _PADDING + _HEAD, width - 2 * _PADDING, height)
        painter.drawText(words, int(Qt.TextFlag.TextWordWrap), self.text)
        bar = QRectF(_PADDING, words.bottom() + 13, width - 2 * _PADDING, _BAR)
        sizes = (self._refused.weights_bytes, self._refused.kv_bytes, self._refused.prefill_bytes)
        self._draw_bar(painter, bar, sizes)
        self._draw_legend(painter, bar, sizes)
        top = self._rows_top(width)
        for index, choice in enumerate(self._refused.choices):
            self._draw_choice(painter, QRect(_PADDING, top + index * _ROW, width - 2 * _PADDING, _ROW), choice)
        painter.fillRect(QRectF(1, top + len(self._uses) * _ROW, width - 2, 1), color("separator"))

    def _draw_bar(self, painter: QPainter, bar: QRectF, sizes: tuple[int, int, int]) -> None:
        """The parts up to the budget in their colours, what lies over it in the critical one, and the budget's line."""
        color = self._theme.color
        axis = max(self._budget * _AXIS, sum(sizes)) or 1
        draw_frame(painter, bar, bar.height() / 2, color("m-free"))
        at = bar.left()
        line = bar.left() + bar.width() * self._budget / axis
        for size, (_, role) in zip(sizes, _PARTS, strict=True):
            end = at + bar.width() * size / axis
            if at < line:
                painter.fillRect(QRectF(at, bar.top(), max(2.0, min(end, line) - at - 1), bar.height()), color(role))
            if end > line:
                painter.fillRect(QRectF(max(at, line), bar.top(), end - max(at, line), bar.height()), color("critical"))
            at = end
        painter.fillRect(QRectF(line - 1, bar.top() - 3, 2, bar.height() + 6), color("ink"))

    def _draw_legend(self, painter: QPainter, bar: QRectF, sizes: tuple[int, int, int]) -> None:
        painter.setFont(self._theme.font("caption"))
        x, y = int(bar.left()), int(bar.bottom()) + 8
        over = max(0, self._need - self._budget)
        entries = [(name, role, size) for (name, role), size in zip(_PARTS, sizes, strict=True)]
        for name, role, size in (*entries, ("over the budget", "critical", over)):
            painter.fillRect(QRectF(x, y + 4, 8, 8), self._theme.color(role))
            text = f"{name} {size_text(size, 1)}"
            painter.setPen(self._theme.color("ink-2"))
            width = painter.fontMetrics().horizontalAdvance(text)
            painter.drawText(QRect(x + 14, y, width + 2, 16), Qt.AlignmentFlag.AlignVCenter, text)
            x += 14 + width + 20

    def _draw_choice(self, painter: QPainter, row: QRect, choice: GuardChoice) -> None:
        color = self._theme.color
        painter.fillRect(QRectF(row.left(), row.top(), row.width(), 1), color("separator"))
        painter.setFont(self._theme.font("ui", 600))
        painter.setPen(color("ink"))
        painter.drawText(QRect(row.left(), row.top() + 12, row.width() - 250, 20), Qt.AlignmentFlag.AlignVCenter, choice.title)
        painter.setFont(self._theme.font("small"))
        painter.setPen(color("ink-2"))
        detail = painter.fontMetrics().elidedText(choice.detail, Qt.TextElideMode.ElideRight, row.width() - 250)
        painter.drawText(QRect(row.left(), row.top() + 34, row.width() - 250, 16), Qt.AlignmentFlag.AlignVCenter, detail)
        figures = QRect(row.right() - 240, row.top() + 12, 150, 20)
        painter.setPen(color("ink"))
        painter.drawText(figures, Qt.AlignmentFlag.AlignVCenter, size_text(choice.peak_bytes, 1))
        painter.setPen(color("ink-3"))
        spare = f"{size_text(max(0, self._budget - choice.peak_bytes), 1)} spare"
        painter.drawText(figures, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, spare)
        rest = choice.peak_bytes - choice.weights_bytes - choice.kv_bytes
        bar = QRectF(figures.left(), row.top() + 38, figures.width(), 6)
        self._draw_bar(painter, bar, (choice.weights_bytes, choice.kv_bytes, rest))

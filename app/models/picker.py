"""The model picker of the toolbar: which model, what it does now, and the list to choose another from."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.models.state_glyph import SIZE as GLYPH
from app.models.state_glyph import LoadProgress, ModelState, StateGlyph
from app.theme import Theme
from app.widgets.frame import draw_frame, over
from app.widgets.halo import focus_ring
from engine.core.facts import ModelEntry

if TYPE_CHECKING:
    from app.models.popover import ModelPopover

HEIGHT, MOST, LEAST = 40, 360, 128
_RADIUS, _PADDING, _GAP, _CHEVRON, _CHEVRON_GAP = 8, 8, 8, 12, 4
_TITLE, _LINE = 18, 14

NOTHING_CHOSEN = "Choose a model"
_LINES: dict[ModelState, str] = {
    "none": "No model yet",
    "loading": "Loading",
    "ready": "Ready",
    "failed": "Could not be loaded",
    "writing": "Writing a reply",
    "reading": "Reading the prompt",
}
_MEASURED = ("loading", "reading")
_HELD = ("ready", "writing", "reading")


class ModelPicker(QAbstractButton):
    """40 px high; as wide as its two lines, at most 360. Clicking opens the list of models.

    `model_chosen` carries the id of a model other than the current one.
    """

    model_chosen = Signal(str)
    unload_requested = Signal()
    models_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entries: tuple[ModelEntry, ...] = ()
        self._current: str | None = None
        self._state: ModelState = "none"
        self._name, self._line = "", _LINES["none"]
        self._fraction: float | None = None
        self._popover: ModelPopover | None = None
        self._glyph = StateGlyph(theme, self)
        self._progress = LoadProgress(self)
        self.setObjectName("modelPicker")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMaximumWidth(MOST)
        self._ring = focus_ring(theme, self, _RADIUS)
        self.clicked.connect(self.open_list)
        theme.changed.connect(self.update)
        self._describe()

    @property
    def line(self) -> str:
        """What the second line says."""
        return self._line

    @property
    def popover(self) -> "ModelPopover | None":
        """The list, while it is open."""
        return self._popover

    def set_models(self, entries: Sequence[ModelEntry], current_id: str | None = None) -> None:
        """Offer these models. Without `current_id` the current one is found by the name that `set_state` was given."""
        self._entries = tuple(entries)
        self._current = current_id
        self._feed()

    def set_state(self, state: ModelState, name: str = "", detail: str = "", fraction: float | None = None) -> None:
        """Show what the model does.

        `name` stays until another is given, or until there is none in the state "none". `detail` takes the place of the
        state's own words, as “Importing” or “Unloaded to free memory”; `fraction`, from 0 to 1, is added to it as a
        percentage while loading and reading.
        """
        before = (self._state, self._name, self._line, self._fraction)
        self._state, self._fraction = state, fraction
        self._name = name if name or state == "none" else self._name
        line = detail or _LINES[state]
        if state in _MEASURED and fraction is not None and "%" not in line:
            line = f"{line}, {min(max(fraction, 0.0), 1.0):.0%}"
        self._line = line
        if before == (state, self._name, line, fraction):
            return  # So it is with every token of a reply.
        self._progress.show_fraction(fraction)
        self._progress.setVisible(state == "loading")
        self._glyph.show_state(state)
        self._describe()
        self.updateGeometry()
        self.update()
        self._feed()

    def set_current(self, model_id: str | None) -> None:
        """Say which model the list marks as the one in use."""
        self._current = model_id
        self._feed()

    def open_list(self) -> None:
        """Open the list under the picker; with the list open, close it."""
        if self._popover is not None:
            self._popover.leave()
            return
        from app.models.popover import ModelPopover  # Not before it is wanted: the window itself comes sooner.

        popover = ModelPopover(self._theme, self)
        popover.chosen.connect(self._choose)
        popover.unload_requested.connect(self.unload_requested)
        popover.models_requested.connect(self.models_requested)
        popover.closed.connect(self._forget)
        self._popover = popover
        self._feed()
        popover.open()
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as the longer line; a percentage takes the room of its longest value, so that nothing moves."""
        title = QFontMetrics(self._theme.font("title")).horizontalAdvance(self._title()) + _CHEVRON_GAP + _CHEVRON
        widest = re.sub(r"\d+%", "100%", self._line)
        line = QFontMetrics(self._theme.font("caption")).horizontalAdvance(widest)
        return QSize(min(MOST, self._text_left() + max(title, line) + _PADDING + 1), HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Enough for a few letters; the rest is elided."""
        return QSize(min(LEAST, self.sizeHint().width()), HEIGHT)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow down and Return open the list, as Space does."""
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_list()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the glyph before the text."""
        super().resizeEvent(event)
        spot = QPoint(_PADDING - 1, (self.height() - GLYPH) // 2)
        self._glyph.move(spot)
        self._progress.move(spot)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        behind = color("content")
        if ground := self._ground():
            draw_frame(painter, self.rect(), _RADIUS, color(ground))
            behind = over(color(ground), behind)
        self._glyph.stand_on(behind)
        left, top = self._text_left(), (self.height() - _TITLE - _LINE) // 2
        width = self.width() - left - _PADDING
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(self._theme.font("title"))
        painter.setPen(color("ink" if self.isEnabled() else "ink-off"))
        title = painter.fontMetrics().elidedText(self._title(), Qt.TextElideMode.ElideMiddle, width - _CHEVRON_GAP - _CHEVRON)
        painter.drawText(QRect(left, top, width, _TITLE), middle, title)
        beside = left + painter.fontMetrics().horizontalAdvance(title) + _CHEVRON_GAP
        chevron = self._theme.pixmap("down", "ink-3", _CHEVRON, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(beside, top + (_TITLE - _CHEVRON) // 2), chevron)
        painter.setFont(self._theme.font("caption"))
        painter.setPen(color("critical" if self._state == "failed" else "ink-3"))
        line = painter.fontMetrics().elidedText(self._line, Qt.TextElideMode.ElideRight, width)
        painter.drawText(QRect(left, top + _TITLE, width, _LINE), middle, line)

    def _title(self) -> str:
        return self._name or NOTHING_CHOSEN

    def _text_left(self) -> int:
        return _PADDING - 1 + GLYPH - 1 + _GAP

    def _ground(self) -> str:
        if self.isDown():
            return "pressed"
        if self._popover is not None:
            return "selected"
        return "hover" if self.underMouse() else ""

    def _describe(self) -> None:
        self.setAccessibleName(f"Model: {self._name}" if self._name else "Model: none chosen")
        self.setAccessibleDescription(self._line)
        self.setToolTip(self._name)

    def _current_id(self) -> str:
        if self._current is not None:
            return self._current
        return next((entry.id for entry in self._entries if entry.name == self._name), "")

    def _feed(self) -> None:
        if self._popover is not None:
            held = self._name if self._state in _HELD else ""
            self._popover.set_models(self._entries, self._current_id(), held, can_unload=self._state == "ready")

    def _choose(self, model_id: str) -> None:
        if model_id != self._current_id() or self._state in ("none", "failed"):
            self.model_chosen.emit(model_id)

    def _forget(self) -> None:
        self._popover = None
        self.update()

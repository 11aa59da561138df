"""The list that opens under the model picker."""

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.models.popover_card import PopoverCard
from app.theme import Theme
from app.widgets.shadow import Shadow
from engine.core.facts import ModelEntry

_BELOW, _MARGIN = 8, 8
_RADIUS = 8


class ModelPopover(QWidget):
    """Covers the window without being seen, so that a press beside the card closes it; the card lies under its anchor.

    A part of the window and not a window of its own: a window needs a compositor for its soft shadow and rounded corners, and
    takes the focus from the window it belongs to. `chosen` carries a model's id; the popover closes with every choice.
    """

    chosen = Signal(str)
    unload_requested = Signal()
    models_requested = Signal()
    closed = Signal()

    def __init__(self, theme: Theme, anchor: QWidget) -> None:
        super().__init__(anchor.window())
        self._anchor = anchor
        self._open = False
        self._card = PopoverCard(theme, self)
        self._shadow = Shadow(theme, self._card, _RADIUS)
        self.setObjectName("modelPopover")
        self.setAccessibleName("Models")
        self._card.list.clicked.connect(self._clicked)
        self._card.activated.connect(self._choose)
        self._card.unload.clicked.connect(lambda: self._act(self.unload_requested))
        self._card.models.clicked.connect(lambda: self._act(self.models_requested))
        self._card.resized.connect(self._place)
        self.hide()

    @property
    def card(self) -> PopoverCard:
        """The part that is seen."""
        return self._card

    def set_models(self, entries: Sequence[ModelEntry], current_id: str, held: str, *, can_unload: bool) -> None:
        """Offer these models; `held` is the name of the model in memory, or empty, and `can_unload` whether it may go now."""
        self._card.set_models(entries, current_id, held, can_unload=can_unload)

    def open_under(self, anchor: QWidget) -> None:
        """Show the list under `anchor`, left edges aligned, and take the keyboard."""
        self._anchor, self._open = anchor, True
        self._place()
        self.show()
        self.raise_()
        self._card.take_focus()
        self.window().installEventFilter(self)
        _application().focusChanged.connect(self._follow_focus)

    def close_popover(self) -> None:
        """Take the list away and give the keyboard back to the anchor."""
        if not self._open:
            return
        self._open = False
        _application().focusChanged.disconnect(self._follow_focus)
        self.window().removeEventFilter(self)
        focus = QApplication.focusWidget()
        if focus is None or self.isAncestorOf(focus):
            self._anchor.setFocus(Qt.FocusReason.PopupFocusReason)
        self.hide()
        self.closed.emit()
        self.deleteLater()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press beside the card closes, and does nothing else."""
        if not self._card.geometry().contains(event.position().toPoint()):
            self.close_popover()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes; no other key reaches the window behind."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_popover()
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size; go when the window goes."""
        if event.type() == QEvent.Type.Resize:
            self._place()
        elif event.type() in (QEvent.Type.Hide, QEvent.Type.Close):
            self.close_popover()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        window = self.window()
        self.setGeometry(window.rect())
        corner = self._anchor.mapTo(window, QPoint(0, self._anchor.height() + _BELOW))
        size = self._card.fitting_size(window.height() - corner.y() - _MARGIN)
        left = max(_MARGIN, min(corner.x(), window.width() - size.width() - _MARGIN))
        self._card.setGeometry(QRect(QPoint(left, corner.y()), size))

    def _follow_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        # None: another application is in front. The list waits for its reader to come back.
        if new is not None and new is not self and not self.isAncestorOf(new):
            self.close_popover()

    def _clicked(self, index: QModelIndex) -> None:
        self._choose(index.row())

    def _choose(self, row: int) -> None:
        entry = self._card.entry(row)
        if entry is not None and not entry.problem:
            self.close_popover()
            self.chosen.emit(entry.id)

    def _act(self, signal: SignalInstance) -> None:
        self.close_popover()
        signal.emit()


def _application() -> QApplication:
    return cast("QApplication", QApplication.instance())

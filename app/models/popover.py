"""The list that opens under the model picker."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPoint, QRect, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from app.models.popover_card import PopoverCard
from app.theme import Theme
from app.widgets.cover import Cover
from engine.core.facts import ModelEntry

_BELOW, _MARGIN = 8, 8
_RADIUS = 8


class ModelPopover(Cover):
    """Its card lies under `anchor`. `chosen` carries a model's id; the popover closes, for good, with every choice."""

    chosen = Signal(str)
    unload_requested = Signal()
    models_requested = Signal()

    def __init__(self, theme: Theme, anchor: QWidget) -> None:
        super().__init__(anchor.window())
        self._anchor = anchor
        self._card = PopoverCard(theme, self)
        self.set_seen(theme, self._card, _RADIUS, self._room)
        self.setObjectName("modelPopover")
        self.setAccessibleName("Models")
        self._card.list.clicked.connect(self._clicked)
        self._card.activated.connect(self._choose)
        self._card.unload.clicked.connect(lambda: self._act(self.unload_requested))
        self._card.models.clicked.connect(lambda: self._act(self.models_requested))
        self._card.resized.connect(self.place)
        self.closed.connect(self.deleteLater)

    @property
    def card(self) -> PopoverCard:
        """The part that is seen."""
        return self._card

    def set_models(self, entries: Sequence[ModelEntry], current_id: str, held: str, *, can_unload: bool) -> None:
        """Offer these models; `held` is the name of the model in memory, or empty, and `can_unload` whether it may go now."""
        self._card.set_models(entries, current_id, held, can_unload=can_unload)

    def open(self) -> None:
        """Show the list under the anchor, left edges aligned, and take the keyboard."""
        self.open_over([self._anchor])
        self._card.take_focus()

    def _room(self) -> QRect:
        """Under the anchor, as high as there is room for."""
        window = self.window()
        corner = self._anchor.mapTo(window, QPoint(0, self._anchor.height() + _BELOW))
        size = self._card.fitting_size(window.height() - corner.y() - _MARGIN)
        left = max(_MARGIN, min(corner.x(), window.width() - size.width() - _MARGIN))
        return QRect(QPoint(left, corner.y()), size)

    def _clicked(self, index: QModelIndex) -> None:
        self._choose(index.row())

    def _choose(self, row: int) -> None:
        entry = self._card.entry(row)
        if entry is not None and not entry.problem:
            self.leave()
            self.chosen.emit(entry.id)

    def _act(self, signal: SignalInstance) -> None:
        self.leave()
        signal.emit()

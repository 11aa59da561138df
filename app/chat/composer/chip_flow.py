"""Chips side by side, in as many lines as they need."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.chat.composer.attachment_chip import HEIGHT, AttachmentChip
from app.chat.composer.attachments import Item
from app.theme import Theme
from engine.chats.attachment import Attachment

_APART, _LINES_APART = 8, 4


class ChipFlow(QWidget):
    """Shows what is attached. `opened` carries the place of the chip that was clicked, `remove_requested` its item's number."""

    opened = Signal(int)
    remove_requested = Signal(int)

    def __init__(self, theme: Theme, *, removable: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._removable = theme, removable
        self._chips: list[AttachmentChip] = []
        self._numbers: list[int] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def chips(self) -> Sequence[AttachmentChip]:
        """The chips shown, in order."""
        return self._chips[: len(self._numbers)]

    def show_items(self, items: Sequence[Item]) -> None:
        """Show what is attached to a message that is being written."""
        self._set_count([item.number for item in items])
        for place, (chip, item) in enumerate(zip(self._chips, items, strict=False)):
            if item.attachment:
                chip.show_attachment(place, item.attachment, counted=item.counted or item.attachment.tokens > 0)
            else:
                chip.show_reading(place, item.name, item.fraction)

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Show what went with a message."""
        self._set_count(list(range(len(attachments))))
        for place, (chip, attachment) in enumerate(zip(self._chips, attachments, strict=False)):
            chip.show_attachment(place, attachment)

    def one_line(self) -> int:
        """Return the width of all chips side by side."""
        return sum(chip.sizeHint().width() + _APART for chip in self.chips) - (_APART if self.chips else 0)

    def width_in(self, most: int) -> int:
        """Return the width of the widest line where there are `most` pixels."""
        return max((place.right() + 1 for place in self._places(most)), default=0)

    def _places(self, width: int) -> list[QRect]:
        places = []
        left = top = 0
        for chip in self.chips:
            wanted = min(chip.sizeHint().width(), width)
            if left and left + wanted > width:
                left, top = 0, top + HEIGHT + _LINES_APART
            places.append(QRect(left, top, wanted, HEIGHT))
            left += wanted + _APART
        return places

    def arrange(self, width: int) -> int:
        """Put the chips in lines of `width` pixels and return the height of them all; the widget takes that size."""
        top = 0
        for chip, place in zip(self.chips, self._places(width), strict=True):
            chip.setGeometry(place)
            top = place.top()
        height = top + HEIGHT if self.chips else 0
        self.setFixedSize(QSize(width, height))
        return height

    def _set_count(self, numbers: list[int]) -> None:
        self._numbers = numbers
        while len(self._chips) < len(numbers):
            self._chips.append(self._make(len(self._chips)))
        for place, chip in enumerate(self._chips):
            chip.setVisible(place < len(numbers))
            if place >= len(numbers):
                chip.setObjectName("")

    def _make(self, place: int) -> AttachmentChip:
        chip = AttachmentChip(self._theme, removable=self._removable, parent=self)
        chip.clicked.connect(lambda: self.opened.emit(place))
        chip.remove_pressed.connect(lambda: self.remove_requested.emit(self._numbers[place]))
        return chip

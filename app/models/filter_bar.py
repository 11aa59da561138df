"""What narrows Discover's list: the task, the size, the quantization, the licence, what fits; and its order."""

from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.models.choice_button import ChoiceButton
from app.models.hub_list import ANY, Filters
from app.theme import Theme
from app.widgets.check_box import CheckBox
from engine.core.hub_facts import HubSort, HubTask

_TASKS = ((ANY, "Any task"), ("chat", "Chat"), ("code", "Code"), ("base", "Completion"), ("vision", "Vision"))
_FORMATS = (("mlx", "MLX"), (ANY, "Any format"))
_SIZES = ((ANY, "Any size"), *((f"{size}", f"Up to {size} GB") for size in (2, 4, 8, 16, 32, 64)))
_QUANTIZATIONS = ((ANY, "Any quantization"), ("4", "4-bit or less"), ("8", "8-bit"), ("full", "Full precision"))
_LICENCES = ((ANY, "Any licence"), ("permissive", "Apache, MIT, BSD"), ("open", "Not gated"))
_SORTS = (("downloads", "Popular"), ("updated", "Newest"), ("likes", "Liked"))


class FilterBar(QWidget):
    """Two lines of buttons. `narrowed` says that other rows are to be shown, `asked` that the hub has to be asked for them."""

    narrowed = Signal()
    asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.task_choice = ChoiceButton(theme, "filterTask", "Task", _TASKS, self)
        self.size_choice = ChoiceButton(theme, "filterSize", "Size", _SIZES, self)
        self.format_choice = ChoiceButton(theme, "filterFormat", "Format", _FORMATS, self)
        self.quantization = ChoiceButton(theme, "filterQuantization", "Quantization", _QUANTIZATIONS, self)
        self.licence = ChoiceButton(theme, "filterLicence", "Licence", _LICENCES, self)
        self.sort_choice = ChoiceButton(theme, "sortResults", "Order", _SORTS, self)
        self.fits_only = CheckBox(theme, "Fits only", self)
        self.fits_only.setObjectName("fitsOnly")
        lines = QVBoxLayout(self)
        lines.setContentsMargins(16, 12, 16, 4)
        lines.setSpacing(8)
        first, second = QHBoxLayout(), QHBoxLayout()
        upper = (self.task_choice, self.size_choice, self.format_choice)
        for line, parts in ((first, upper), (second, (self.quantization, self.licence))):
            line.setSpacing(8)
            for part in parts:
                line.addWidget(part)
            line.addStretch(1)
            lines.addLayout(line)
        first.addWidget(self.fits_only)
        second.addWidget(self.sort_choice)
        for button in (self.size_choice, self.quantization, self.licence):
            button.chosen.connect(lambda _value: self.narrowed.emit())
        for button in (self.task_choice, self.format_choice, self.sort_choice):
            button.chosen.connect(lambda _value: self.asked.emit())
        self.fits_only.toggled.connect(lambda _checked: self.narrowed.emit())

    def set_searching(self, searching: bool) -> None:
        """Take whether the hub was searched: it has an order and other formats, the recommendations have not."""
        for button in (self.sort_choice, self.format_choice):
            button.setEnabled(searching)

    @property
    def task(self) -> HubTask | None:
        """What the models are to be for."""
        return None if self.task_choice.value == ANY else cast("HubTask", self.task_choice.value)

    @property
    def mlx_only(self) -> bool:
        """Whether only models for MLX are to be found; else GGUFs and others come after them."""
        return self.format_choice.value == "mlx"

    @property
    def sort(self) -> HubSort:
        """The order of what is found."""
        return cast("HubSort", self.sort_choice.value)

    @property
    def filters(self) -> Filters:
        """Which models of those there are to show."""
        return Filters(
            self.task_choice.value,
            self.size_choice.value,
            self.quantization.value,
            self.licence.value,
            self.fits_only.isChecked(),
        )

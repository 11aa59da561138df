"""What every editor of a setting's value has in common."""

from abc import abstractmethod

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.theme import Theme
from engine.core.setting import Setting, Value


class Editor(QWidget):
    """Shows a value and says, by `edited`, what somebody made of it: not yet checked.

    `moved` says the same of one of many values on the way, as while a slider is dragged; `rested` that no more follow now.
    """

    edited = Signal(object)
    moved = Signal(object)
    rested = Signal()

    def __init__(self, theme: Theme, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme, self.setting = theme, setting

    @property
    def waiting(self) -> bool:
        """Whether something was typed that has not been said yet."""
        return False

    @abstractmethod
    def show_value(self, value: Value, inherited: Value, changed: bool) -> None:
        """Show the value in force, what it would be if it were not set here, and whether it is set here."""

    def set_refused(self, refused: bool) -> None:
        """Mark what stands in the editor as not applied."""

    def show_last(self, value: Value) -> None:
        """Show what the last reply was made with, where the editor has a place for it."""

    def flush(self) -> None:
        """Say now what was typed."""

"""What the inspector says where there is nothing to inspect, with what can be done about it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.button import Button
from app.widgets.label import Label
from app.widgets.segmented import Segmented


class InspectorNote(QWidget):
    """A heading, an explanation, and where it helps the switch that keeps probabilities and a button for another try."""

    keep_chosen = Signal(str)
    again_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspectorNote")
        self._title = Label(theme, weight=600, wrap=True, parent=self)
        self._text = Label(theme, style="small", role="ink-2", wrap=True, parent=self)
        self._switch_label = Label(theme, "Keep probabilities in this chat", style="small", weight=500, parent=self)
        self._switch = Segmented(theme, (("off", "Off"), ("on", "On")), "Keep probabilities", height=24, parent=self)
        self._switch.setObjectName("keepProbabilities")
        self._switch.setFixedWidth(136)
        self._again = Button(theme, "Regenerate with probabilities", icon="redo", parent=self)
        self._again.setObjectName("regenerateWithOdds")
        self._switch.chosen.connect(self.keep_chosen)
        self._again.clicked.connect(self.again_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(self._title)
        column.addWidget(self._text)
        column.addSpacing(4)
        column.addWidget(self._switch_label)
        column.addWidget(self._switch)
        column.addSpacing(4)
        column.addWidget(self._again, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        self.say("", "")

    @property
    def text(self) -> str:
        """What is said."""
        return f"{self._title.text()} {self._text.text()}".strip()

    def say(self, title: str, text: str, *, keep: str | None = None, again: bool = False) -> None:
        """Say this; `keep` is the switch's state, None where there is none; `again` offers the button."""
        self._title.setText(title)
        self._text.setText(text)
        self.setAccessibleName(self.text)
        for part in (self._switch_label, self._switch):
            part.setVisible(keep is not None)
        if keep is not None:
            self._switch.set_value(keep)
        self._again.setVisible(again)

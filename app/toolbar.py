"""The strip over the chat: which model, how full the context is, and ways to the panels."""

import sys

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.models.picker import ModelPicker
from app.theme import Theme
from app.widgets.frame import draw_hairline
from app.widgets.gauge import ContextGauge
from app.widgets.icon_button import IconButton

HEIGHT = 52


class Toolbar(QWidget):
    """Holds the picker, the context gauge and the switches of the sidebar, the inspector and the settings.

    Its empty parts move the window.
    """

    sidebar_toggled = Signal()
    settings_toggled = Signal(bool)
    inspector_toggled = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("toolbar")
        self.setAccessibleName("Toolbar")
        self.setFixedHeight(HEIGHT)
        self.sidebar_button = IconButton(theme, "sidebar", "Show or hide the sidebar", parent=self)
        self.sidebar_button.setObjectName("sidebarButton")
        self.sidebar_button.clicked.connect(self.sidebar_toggled)
        self.picker = ModelPicker(theme, parent=self)
        self.context = ContextGauge(theme, parent=self)
        self.settings_button = IconButton(theme, "sliders", "Settings", parent=self)
        self.settings_button.setObjectName("settingsButton")
        self.settings_button.setCheckable(True)
        self.settings_button.toggled.connect(self.settings_toggled)
        self.inspector_button = IconButton(theme, "eye", "What the model sees", parent=self)
        self.inspector_button.setObjectName("inspectorButton")
        self.inspector_button.setCheckable(True)
        self.inspector_button.toggled.connect(self.inspector_toggled)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 0, 12, 1)
        layout.setSpacing(4)
        layout.addWidget(self.sidebar_button)
        layout.addWidget(self.picker)
        layout.addStretch(1)
        layout.addWidget(self.context)
        layout.addWidget(self.inspector_button)
        layout.addWidget(self.settings_button)
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("content"))
        y = self.height() - 1
        draw_hairline(painter, QPointF(0, y), QPointF(self.width(), y), self._theme.color("separator"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if sys.platform == "darwin" and event.button() == Qt.MouseButton.LeftButton:
            window = self.window().windowHandle()
            if window:
                window.startSystemMove()
        super().mousePressEvent(event)

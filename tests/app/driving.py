"""Witnesses what tests do to widgets: which of them got mouse, keyboard or drop input, by objectName."""

from fnmatch import fnmatchcase

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

INPUT = {
    QEvent.Type.MouseButtonPress,
    QEvent.Type.MouseButtonDblClick,
    QEvent.Type.KeyPress,
    QEvent.Type.ShortcutOverride,
    QEvent.Type.Shortcut,
    QEvent.Type.Wheel,
    QEvent.Type.ContextMenu,
    QEvent.Type.Drop,
    QEvent.Type.InputMethod,
    QEvent.Type.HoverMove,
    QEvent.Type.ToolTip,
}


class Witness(QObject):
    """Notes the objectName of every widget (and of those around it) that gets input, until `stop`."""

    def __init__(self, application):
        super().__init__()
        self._application = application
        self._names = set()
        application.installEventFilter(self)

    def eventFilter(self, watched, event):
        """Note the receiver; let everything pass."""
        if event.type() in INPUT and isinstance(watched, QWidget | QAction):
            while watched is not None:
                if watched.objectName():
                    self._names.add(watched.objectName())
                watched = watched.parent()
        return False

    def saw(self, name):
        """Whether a widget of this name got input; `*` stands for an id, as in "message.*"."""
        return any(fnmatchcase(seen, name) for seen in self._names)

    def stop(self):
        """Note no more."""
        self._application.removeEventFilter(self)

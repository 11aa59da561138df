"""The visible card of the model popover: a filter where there is much to choose from, the models, and two actions."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QVBoxLayout, QWidget

from app.models.menu_row import HEIGHT as ACTION
from app.models.menu_row import MenuRow
from app.models.model_list import ModelList
from app.models.picker_delegate import ROW, PickerDelegate
from app.theme import Theme
from app.widgets.filter_field import FilterField
from app.widgets.frame import draw_frame, draw_hairline
from app.widgets.label import Label
from engine.core.facts import ModelEntry
from engine.core.machine import THIS_MACHINE

WIDTH = 360
FILTER_FROM = 9
MODELS_KEYS = "Ctrl+Shift+M"
_RADIUS, _EDGE, _LINE = 8, 5, 9
_FILTER = 28 + 8
_MOST_ROWS = 9
_NONE_ON_MACHINE = f"No model on {THIS_MACHINE} yet. Open Models to get one."
_NOTHING_FOUND = "No model matches."


class PopoverCard(QFrame):
    """360 px wide. `activated` carries the row that Return chose; `resized` says that another height is wanted.

    Arrows go through models and actions as one list; with nine models or more, typing narrows them.
    """

    activated = Signal(int)
    resized = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = ModelList(only_usable=True, parent=self)
        self._search = QWidget(self)
        self.filter = FilterField(theme, "modelFilter", "Filter models", self._search)
        self.list = QListView(self)
        self.unload = MenuRow(theme, "x", "unloadModel", self)
        self.models = MenuRow(theme, "cube", "openModels", self)
        self._empty = Label(theme, "", style="small", role="ink-3", wrap=True, parent=self)
        self._set_up_list()
        self.models.set_words("Models…", QKeySequence(MODELS_KEYS).toString(QKeySequence.SequenceFormat.NativeText))
        self.filter.textChanged.connect(self._narrow)
        self.filter.moved.connect(self._move)
        for row in (self.unload, self.models):
            row.installEventFilter(self)
        self._lay_out()
        theme.changed.connect(self.update)

    def set_models(self, entries: Sequence[ModelEntry], current_id: str, held: str, *, can_unload: bool) -> None:
        """Show these models and mark the current one; `held` names the one that “Unload” would drop."""
        chosen = self.entry(self.list.currentIndex().row())
        if (tuple(entries), current_id) != (self._model.entries, self._model.current_id):
            self._model.set_entries(entries, current_id)
            self._make_current(chosen.id if chosen else current_id)
        self.unload.set_words(f"Unload {held}")
        self.unload.setVisible(bool(held))
        self.unload.setEnabled(can_unload)
        self.unload.setToolTip("" if can_unload else "The model is at work. Stop the reply first.")
        self._search.setVisible(len(self._model.entries) >= FILTER_FROM)
        self._refit()

    def entry(self, row: int) -> ModelEntry | None:
        """Return the model of a row, or None."""
        return self._model.shown[row] if 0 <= row < len(self._model.shown) else None

    def take_focus(self) -> None:
        """Give the keyboard to the list, at the current model, or to the first action when no model can be chosen."""
        self._make_current(self._model.current_id)
        self._reach_list(self.list.currentIndex().row())

    def fitting_size(self, room: int) -> QSize:
        """Return the card's size where `room` pixels of height are free: the list gives way and scrolls."""
        rest = 2 * _EDGE + _LINE + ACTION
        rest += ACTION if self.unload.isVisibleTo(self) else 0
        wanted = self._rows_height(len(self._model.shown)) or ROW
        if self._search.isVisibleTo(self):
            # The card must not jump under the pointer while somebody types.
            rest += _FILTER
            wanted = ROW * _MOST_ROWS
        return QSize(WIDTH, rest + max(ROW, min(wanted, room - rest)))

    def _rows_height(self, rows: int) -> int:
        return sum(self.list.sizeHintForIndex(self._model.index(row)).height() for row in range(min(rows, _MOST_ROWS)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        draw_frame(painter, self.rect(), _RADIUS, color("raised"), color("border"))
        first = self.unload if self.unload.isVisible() else self.models
        y = first.y() - _LINE // 2 - 1
        draw_hairline(painter, QPointF(1, y), QPointF(self.width() - 2, y), color("separator"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Make list and actions one run for the arrows, and typing in the list a filter."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if watched is self.list:
                return self._key_in_list(event)
            return self._key_in_action(watched, event)
        return super().eventFilter(watched, event)

    def _key_in_list(self, event: QKeyEvent) -> bool:
        row, key = self.list.currentIndex().row(), event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.activated.emit(row)
        elif key == Qt.Key.Key_Down and row == self._last_usable():
            self._first_action().setFocus(Qt.FocusReason.TabFocusReason)
        elif key == Qt.Key.Key_Up and row == self._first_usable() and self.filter.isVisible():
            self.filter.setFocus(Qt.FocusReason.TabFocusReason)
        elif self._is_typing(event) and self.filter.isVisible():
            self.filter.setFocus(Qt.FocusReason.OtherFocusReason)
            self.filter.insert(event.text())
        else:
            return False
        return True

    def _key_in_action(self, watched: QObject, event: QKeyEvent) -> bool:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            (self.unload if watched is self.unload else self.models).click()
        elif key == Qt.Key.Key_Down and watched is self.unload:
            self.models.setFocus(Qt.FocusReason.TabFocusReason)
        elif key == Qt.Key.Key_Up:
            if watched is self.models and self._first_action() is self.unload:
                self.unload.setFocus(Qt.FocusReason.BacktabFocusReason)
            else:
                self._reach_list(self._last_usable())
        elif self._is_typing(event) and self.filter.isVisible() and key != Qt.Key.Key_Space:
            self.filter.setFocus(Qt.FocusReason.OtherFocusReason)
            self.filter.insert(event.text())
        else:
            return key == Qt.Key.Key_Down
        return True

    def _move(self, event: QKeyEvent) -> None:
        """Take a key that the filter passed on."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.activated.emit(self.list.currentIndex().row())
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_PageDown):
            row = self.list.currentIndex().row()
            self._reach_list(row if row >= 0 else self._first_usable())

    def _reach_list(self, row: int) -> None:
        if self._usable(row):
            self.list.setCurrentIndex(self._model.index(row))
            self.list.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self._first_action().setFocus(Qt.FocusReason.TabFocusReason)

    def _first_action(self) -> MenuRow:
        return self.unload if self.unload.isVisible() and self.unload.isEnabled() else self.models

    def _usable(self, row: int) -> bool:
        entry = self.entry(row)
        return entry is not None and not entry.problem

    def _first_usable(self) -> int:
        return next((row for row in range(len(self._model.shown)) if self._usable(row)), -1)

    def _last_usable(self) -> int:
        return next((row for row in reversed(range(len(self._model.shown))) if self._usable(row)), -1)

    def _make_current(self, model_id: str) -> None:
        row = self._model.row_of(model_id)
        row = row if self._usable(row) else self._first_usable()
        self.list.setCurrentIndex(self._model.index(row) if row >= 0 else QModelIndex())

    def _narrow(self, text: str) -> None:
        self._model.set_query(text)
        self._make_current("")
        self._refit()

    def _refit(self) -> None:
        empty = not self._model.shown
        self._empty.setText(_NOTHING_FOUND if self._model.entries else _NONE_ON_MACHINE)
        self._empty.setVisible(empty)
        self.list.setVisible(not empty)
        self.resized.emit()

    def _hover(self, index: QModelIndex) -> None:
        if self._usable(index.row()) and not self.filter.hasFocus():
            self._reach_list(index.row())
        elif self._usable(index.row()):
            self.list.setCurrentIndex(index)

    def _is_typing(self, event: QKeyEvent) -> bool:
        held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        return bool(event.text()) and event.text().isprintable() and not held

    def _set_up_list(self) -> None:
        self.list.setObjectName("modelPickerList")
        self.list.setAccessibleName(f"Models on {THIS_MACHINE}")
        self.list.setModel(self._model)
        self.list.setItemDelegate(PickerDelegate(self._theme, WIDTH - 2, self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.list.entered.connect(self._hover)
        self.list.installEventFilter(self)

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, _EDGE, 1, _EDGE)
        layout.setSpacing(0)
        top = QVBoxLayout(self._search)
        top.setContentsMargins(_EDGE + 2, 3, _EDGE + 2, 5)
        top.addWidget(self.filter)
        layout.addWidget(self._search)
        self._empty.setContentsMargins(16, 0, 16, 0)
        layout.addWidget(self._empty, 1)
        layout.addWidget(self.list, 1)
        layout.addSpacing(_LINE)
        layout.addWidget(self.unload)
        layout.addWidget(self.models)

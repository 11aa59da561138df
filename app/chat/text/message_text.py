"""The text of one message: a browser as tall as its document, which loads nothing and opens nothing."""

from collections.abc import Sequence
from math import ceil
from typing import Any, Protocol

from PySide6.QtCore import QByteArray, QEvent, QMimeData, QPoint, QRect, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QMenu, QTextBrowser, QToolTip, QWidget

from app.chat.text.blocks import Block, Code
from app.chat.text.code_bar import CodeBar
from app.chat.text.decoration import Decoration
from app.chat.text.document import Document
from app.chat.text.footnote_tip import note_under
from app.chat.text.formats import CODE_HEADER, FRAME_LINE, Formats
from app.chat.text.formulas import formulas
from app.chat.text.selection import selected_text
from app.chat.text.side_scroll import SideScroll
from app.theme import Theme

_SLICE_S = 0.005
_CARET_WIDTH, _CARET_HEIGHT = 2, 18
_FOR_THE_LIST = {
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Space,
}


class Selecting(Protocol):
    """Who selects over several texts: told of what the mouse and the keys do in one of them."""

    def press(self, pointer: QPoint, *, extend: bool) -> bool:
        """Start at a place on the screen, or `extend` up to it; return whether the text has nothing to do any more."""

    def drag(self, pointer: QPoint, text: "MessageText | None" = None) -> bool:
        """Follow the pointer; return whether the text has nothing to do any more."""

    def release(self) -> None:
        """Say that the pointer was let go."""

    def note(self, text: "MessageText") -> None:
        """Take over what a text has selected by itself."""

    def take_key(self, event: QKeyEvent) -> bool:
        """Copy or select all, where a key asks for it; return whether it did."""

    def add_actions(self, menu: QMenu, message_id: str = "") -> None:
        """Put what can be done with a selection into a context menu."""


class MessageText(QTextBrowser):
    """Shows blocks; `quiet` in the secondary ink. `link_activated` carries an address; nobody but the listener opens it."""

    link_activated = Signal(str)
    # The context menu before it is shown, so that others can add to it.
    menu_made = Signal(object)
    # What is shown takes another height than before, though nobody asked for it: formulas were drawn.
    height_changed = Signal()

    def __init__(self, theme: Theme, *, quiet: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._quiet = theme, quiet
        self.selecting: Selecting | None = None
        formats = Formats(theme, quiet)
        self._shown = Document(self.document(), formats)
        self._decoration = Decoration(theme, self.document(), self._shown)
        self._sides = SideScroll(self, self._shown, self._decoration)
        self._bars: dict[int, CodeBar] = {}
        self._streaming, self._stale = False, False
        self._caret = QRect()
        self._slice = QTimer(self)
        self._slice.setSingleShot(True)
        self._slice.setInterval(0)
        self._slice.timeout.connect(self._colour)
        self._set_up(formats)
        theme.changed.connect(self._restyle_when_seen)
        formulas().drawn.connect(self._take_formulas)

    def _set_up(self, formats: Formats) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(self._theme.font("read"))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self.setOpenLinks(False)
        # Shift and the arrows select; where they start is where the mouse was last, without a caret in a text to read.
        self.setTextInteractionFlags(self.textInteractionFlags() | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        self.setCursorWidth(0)
        self.setTabStopDistance(formats.tab_width)
        self.anchorClicked.connect(lambda url: self.link_activated.emit(url.toString()))

    @property
    def blocks(self) -> Sequence[Block]:
        """What is shown."""
        return self._shown.blocks

    @property
    def shown(self) -> Document:
        """The document as it is built."""
        return self._shown

    def show_blocks(self, blocks: Sequence[Block], unchanged: int = 0) -> None:
        """Show `blocks`, the first `unchanged` of which are known to be shown already."""
        self.grow(blocks, unchanged)
        self._colour()
        self._follow_caret()

    def grow(self, blocks: Sequence[Block], unchanged: int) -> None:
        """Show the beginning of a long text, as `show_blocks`; its code has no colours before all is shown."""
        self._shown.show(blocks, unchanged)
        self._place_buttons(unchanged)

    def set_streaming(self, streaming: bool) -> None:
        """Show a caret at the end while more is to come."""
        self._streaming = streaming
        self._follow_caret()

    def height_at(self, width: int) -> int:
        """Take `width` pixels and return the height the text needs."""
        if self._stale:
            self._restyle()
        if self.width() != width:
            self.resize(width, max(1, self.height()))
        # A widget that is not shown tells neither its document nor its viewport of a new width before it is.
        if self.document().textWidth() != width:
            self.document().setTextWidth(width)
            self._fit()
        return ceil(self.document().size().height()) + self._shown.overhang

    def _restyle_when_seen(self) -> None:
        self._stale = True
        if self.isVisible():
            self._restyle()

    def showEvent(self, event: QShowEvent) -> None:
        """Take over a theme that changed while the text was out of sight."""
        super().showEvent(event)
        if self._stale:
            self._restyle()

    def _restyle(self) -> None:
        self._stale = False
        formats = Formats(self._theme, self._quiet)
        self._shown.restyle(formats)
        self._place_buttons(0)
        self._colour()
        self.viewport().update()

    def position_at(self, y: int) -> int:
        """Return the text position that stands `y` pixels under the top."""
        return self.cursorForPosition(QPoint(0, y)).position()

    def place_under(self, point: QPoint) -> int:
        """Return the text position that is seen at a point of the view."""
        with self._sides.scrolled(self._sides.offset_at(point)):
            return self.cursorForPosition(point).position()

    def top_of(self, position: int) -> int:
        """Return how many pixels under the top a text position stands."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(max(0, min(position, self.document().characterCount() - 1)))
        return self.cursorRect(cursor).top()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the buttons in the code headers follow the right edge; nothing is laid out again that has this width."""
        known = self.document().textWidth() == event.size().width()
        before = QSize(event.size().width(), event.oldSize().height()) if known else event.oldSize()
        super().resizeEvent(QResizeEvent(event.size(), before))
        if not known:
            self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint frames, bars and bullets, the text over them, and the caret last."""
        spaces = list(self._decoration.visible(event.rect()))
        painter = QPainter(self.viewport())
        self._decoration.paint(painter, event.rect(), spaces)
        painter.end()
        for band, offset in self._sides.bands(event.rect(), spaces):
            with self._sides.scrolled(offset):
                super().paintEvent(QPaintEvent(band))
        if self._streaming:
            caret = self._end()
            if caret != self._caret:
                # What was written moved it: the next frame paints both places.
                self.viewport().update(self._caret.united(caret))
                self._caret = caret
            painter = QPainter(self.viewport())
            painter.fillRect(caret, self._theme.color("accent"))

    def loadResource(self, _kind: int, _name: QUrl | str) -> Any:
        """Load nothing, ever: an answer of nothing, since without one Qt would read a local file by itself."""
        return QByteArray()

    def viewportEvent(self, event: QEvent) -> bool:
        """Let the pointer act on what it sees where that is scrolled sideways."""
        if not isinstance(event, QMouseEvent | QContextMenuEvent | QHelpEvent):
            return super().viewportEvent(event)
        place = event.position().toPoint() if isinstance(event, QMouseEvent) else event.pos()
        if isinstance(event, QHelpEvent):
            note = note_under(self, self._shown.blocks, place)
            if note:
                QToolTip.showText(event.globalPos(), note, self.viewport())
                return True
        with self._sides.scrolled(self._sides.offset_at(place)):
            return super().viewportEvent(event)

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """Scroll nothing: the list scrolls, and what is wider than the text scrolls for itself."""
        bar = self.horizontalScrollBar()
        if bar.value():
            bar.setValue(0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the list, but for what is wider than the text: that goes sideways."""
        turned = event.pixelDelta() if not event.pixelDelta().isNull() else event.angleDelta() / 2
        sideways = turned.x() or (turned.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        if abs(sideways) >= abs(turned.y()) and sideways and self._sides.scroll_at(event.position().toPoint(), -sideways):
            event.accept()
        else:
            event.ignore()

    def show_sideways(self, position: int) -> None:
        """Scroll a wide block so that a text position in it can be seen."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(max(0, min(position, self.document().characterCount() - 1)))
        self._sides.reveal(self.cursorRect(cursor))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the keys that scroll to the list; with Shift they select."""
        if self.selecting is not None and self.selecting.take_key(event):
            return
        if event.key() in _FOR_THE_LIST and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            event.ignore()
        else:
            before = self.textCursor()
            super().keyPressEvent(event)
            now = self.textCursor()
            self._sides.reveal(self.cursorRect())
            if self.selecting is not None and (before.anchor(), before.position()) != (now.anchor(), now.position()):
                self.selecting.note(self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start to select, or with Shift select up to here."""
        if self.selecting is not None and event.button() == Qt.MouseButton.LeftButton:
            extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            if self.selecting.press(event.globalPosition().toPoint(), extend=extend):
                return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word."""
        super().mouseDoubleClickEvent(event)
        if self.selecting is not None:
            self.selecting.note(self)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select, up to other messages too."""
        held = bool(event.buttons() & Qt.MouseButton.LeftButton)
        if self.selecting is None or not held:
            super().mouseMoveEvent(event)
        elif not self.selecting.drag(event.globalPosition().toPoint(), self):
            super().mouseMoveEvent(event)
            self.selecting.note(self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a selection or follow a link."""
        super().mouseReleaseEvent(event)
        if self.selecting is not None:
            self.selecting.release()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy: the selection, a link's address."""
        menu = self.make_menu(self.anchorAt(event.pos()))
        self.menu_made.emit(menu)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def make_menu(self, address: str = "") -> QMenu:
        """Return the context menu; `address` is the link it was asked for on."""
        menu = QMenu(self)
        if self.selecting is not None:
            self.selecting.add_actions(menu, self._message_id())
        else:
            menu.addAction("Copy", self.copy).setEnabled(self.textCursor().hasSelection())
            menu.addSeparator()
            menu.addAction("Select All", self.selectAll)
        if address:
            link = QAction("Copy Link Address", menu)
            link.triggered.connect(lambda: QGuiApplication.clipboard().setText(address))
            menu.insertAction(next(action for action in menu.actions() if action.isSeparator()), link)
        return menu

    def _message_id(self) -> str:
        """Return the message that this is the text of; a view's name holds it."""
        widget: QWidget | None = self
        while widget is not None and not widget.objectName().startswith("message."):
            widget = widget.parentWidget()
        return widget.objectName().removeprefix("message.") if widget is not None else ""

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selection as plain text, bullets and numbers included."""
        data = QMimeData()
        data.setText(selected_text(self.textCursor(), self._shown))
        return data

    def _take_formulas(self) -> None:
        if self._shown.take_formulas():
            self._place_buttons(0)
            self.viewport().update()
            self.height_changed.emit()

    def _colour(self) -> None:
        self._shown.colour(_SLICE_S)
        if self._shown.waiting:
            self._slice.start()

    def _place_buttons(self, first: int) -> None:
        blocks = self._shown.blocks
        self._sides.arrange(first)
        for index in [index for index in self._bars if index >= len(blocks) or not isinstance(blocks[index], Code)]:
            bar = self._bars.pop(index)
            bar.hide()
            bar.deleteLater()
        for index in range(first, len(blocks)):
            block = blocks[index]
            if not isinstance(block, Code):
                continue
            bar = self._bars.get(index) or self._make_bar(index)
            sideways = self._shown.sideways
            wraps, overflows = sideways.wraps(index), sideways.overflows(index, block)
            bar.show_code(block.text, block.language, wraps=wraps, overflows=overflows)
            space = self._decoration.extent(index)
            top = space.top() + FRAME_LINE + (CODE_HEADER - bar.height()) // 2
            bar.move(space.right() - 4 - bar.width(), top)
            bar.show()

    def _make_bar(self, index: int) -> CodeBar:
        bar = CodeBar(self._theme, self.viewport())
        bar.wrap_chosen.connect(lambda wrap: self._wrap(index, wrap))
        self._bars[index] = bar
        return bar

    def _wrap(self, index: int, wrap: bool) -> None:
        """Break a code block's long lines or not, and do so with those to come."""
        self._shown.wrap(index, wrap)
        self._theme.choose_code_wrap(wrap)
        self._place_buttons(index)
        self.viewport().update()
        self.height_changed.emit()

    def _fit(self) -> None:
        """Follow the width of the text."""
        self._shown.fit_tables()
        self._place_buttons(0)

    def _follow_caret(self) -> None:
        if not self._streaming and self._caret.isNull():
            return
        self.viewport().update(self._caret)
        if not self._streaming:
            self._caret = QRect()
            return
        self._caret = self._end()
        self.viewport().update(self._caret)

    def _end(self) -> QRect:
        """Return where the caret stands: after the last character, on its line."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        line = cursor.block().layout().lineForTextPosition(cursor.positionInBlock())
        place = self.cursorRect(cursor)
        baseline = place.top() + (line.ascent() if line.isValid() else place.height())
        left = place.left()
        if left > self.viewport().width():
            left -= self._sides.offset_at(place.center())
        scale = self._theme.text_size / 100
        return QRect(left + 2, round(baseline - 15 * scale), _CARET_WIDTH, round(_CARET_HEIGHT * scale))

"""The keyboard's way through a conversation: from message to message, and from control to control as they stand."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from app.chat.conversation.transcript import Transcript


class MessageFocus(QObject):
    """Remembers which message the focus was in last. `left` says that somebody went on past the last message."""

    left = Signal()

    def __init__(self, transcript: "Transcript") -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._last = ""

    @property
    def message_id(self) -> str:
        """The message that has the focus, itself or something in it; or nothing."""
        view = self._transcript.view_around(self._transcript.window().focusWidget())
        return view.message_id if view is not None else ""

    def step(self, by: int) -> None:
        """Give the focus to the message `by` places further down; the first time, to one that is in view."""
        messages, visible = self._transcript.messages, self._transcript.visible()
        if not messages or not self._transcript.isVisible():
            return
        focus = self._transcript.window().focusWidget()
        # A message that was scrolled out of view has left its focus to the list.
        known = self.message_id or (self._last if focus is self._transcript else "")
        here = self._transcript.index_of(known)
        if here is None:
            here = visible.stop if by < 0 else self._first_in_view(visible) - 1
        there = here + by
        if there >= len(messages):
            self.left.emit()
            return
        self.focus(max(0, there))

    def _first_in_view(self, visible: range) -> int:
        """Return the first message whose beginning is in view, or what is there of one that fills it."""
        views = [(index, self._transcript.view(self._transcript.messages[index].id)) for index in visible]
        return next((index for index, view in views if view is not None and view.y() >= 0), visible.start)

    def focus(self, index: int) -> None:
        """Give the focus to a message, and bring it into view."""
        view = self._transcript.bring_in(index)
        self._last = view.message_id
        view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def go_on(self, *, forward: bool) -> bool:
        """Give the focus to the next control, as they stand on the screen; return False where nothing takes it."""
        here = self._transcript.window().focusWidget()
        controls = self._controls()
        target = _beside(here, controls, self._transcript, forward=forward)
        if target is None and not forward and here is not self._transcript:
            # Not as if by Shift+Tab: that would lead to the last control again.
            self._transcript.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        if target is None:
            return self.pass_by(self._transcript, forward=forward)
        view = self._transcript.view_around(target)
        if view is not None:
            self._last = view.message_id
            self._transcript.reveal(view.message_id, target.mapTo(view, QPoint(0, 0)).y(), min(target.height(), 40))
        target.setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
        return True

    def enter_from_below(self) -> None:
        """Give the focus to the last control, for somebody who comes from what follows."""
        controls = self._controls()
        if controls:
            controls[-1].setFocus(Qt.FocusReason.BacktabFocusReason)

    def _controls(self) -> list[QWidget]:
        """Return what Tab stops at, in order: what lies over the list, the messages top to bottom, what lies under them."""
        found = [widget for widget in self._transcript.findChildren(QWidget) if _stops_tab(widget)]
        return sorted(found, key=self._place)

    def _place(self, widget: QWidget) -> tuple[int, int, int]:
        corner = widget.mapTo(self._transcript, QPoint(0, 0))
        if self._transcript.viewport().isAncestorOf(widget):
            return 1, corner.y(), corner.x()
        return (0 if corner.y() < self._transcript.height() // 2 else 2), corner.y(), corner.x()

    def pass_by(self, start: QWidget | None, *, forward: bool) -> bool:
        """Give the focus to what comes after `start` in the window, but to nothing in the list: return False for nothing.

        Qt goes in the order in which widgets were made, and those of messages are made at any time. Its own chain is not asked:
        PySide takes what `nextInFocusChain` returns for a child, and forgets it when the one that was asked is deleted.
        """
        window, area = self._transcript.window(), self._transcript
        found = [each for each in window.findChildren(QWidget) if _stops_tab(each) and each.window() is window]
        stops = [each for each in found if each is area or not area.isAncestorOf(each)]
        if start not in stops or len(stops) < 2:
            return False
        target = stops[(stops.index(start) + (1 if forward else -1)) % len(stops)]
        target.setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
        return True


def _stops_tab(widget: QWidget) -> bool:
    takes = bool(widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value)
    return takes and widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None and not widget.isWindow()


def _beside(here: QWidget | None, controls: list[QWidget], area: QWidget, *, forward: bool) -> QWidget | None:
    """Return the control after (before) the one that has the focus; a message stands before what is in it."""
    if here is None or here is area:
        return controls[0] if forward and controls else None
    if here in controls:
        index = controls.index(here) + (1 if forward else -1)
    else:
        inside = [index for index, widget in enumerate(controls) if here.isAncestorOf(widget)]
        index = (inside[0] if forward else inside[0] - 1) if inside else -1
    return controls[index] if 0 <= index < len(controls) else None

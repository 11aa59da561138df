"""Finding words in the open chat: every message is searched, shown or not, without making a widget for it."""

import time
from collections import deque
from collections.abc import Generator, Sequence
from typing import NoReturn

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.chat.conversation.find_bar import AWAY, HEIGHT, FindBar
from app.chat.conversation.find_marks import FindMarks
from app.chat.conversation.found import Found, Places
from app.chat.conversation.message import MessageView
from app.chat.conversation.needle import Needle, as_searched
from app.chat.conversation.transcript import Transcript
from app.chat.conversation.unshown import Unshown
from app.chat.text.message_text import MessageText
from app.theme import Theme
from app.widgets.announcement import announce
from engine.chats.records import StoredMessage

_DEBOUNCE_MS, _AGAIN_MS = 120, 250
_SLICE_S = 0.006
_LONGEST_PREFILL = 100
# How often what is being brought into its widget is asked for.
_COMES_MS = 30

type _Texts = tuple[str, str]
# Yields after every few milliseconds of work, or a time to wait first in ms, and returns something in the end.
type _Look[Result] = Generator[int | None, None, Result]


class Finder(QObject):
    """Looks for the bar's words in slices of time, nearest to the reader first, and marks what is in view.

    A reply that streams is searched again four times a second; another chat closes the bar.
    """

    def __init__(self, theme: Theme, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._theme, self._transcript = theme, transcript
        self._bar: FindBar | None = None
        self._unshown = Unshown(theme, self)
        self._marks = FindMarks(theme)
        self._needle = Needle("", match_case=False)
        self._found = Found(0)
        self._texts: dict[str, tuple[StoredMessage, _Texts]] = {}
        self._waiting: deque[int] = deque()
        self._work = self._look()
        self._changed: set[str] = set()
        self._origin = (0, 0, 0)
        self._chat_id = ""
        self._before: QWidget | None = None
        # Whether words are looked for that were not before: what is found of them is gone to, and said.
        self._anew = False
        # The message whose match is to be gone to once all of it is there.
        self._awaited = ""
        self._typing = self._timer(_DEBOUNCE_MS, self._search)
        self._slices = self._timer(0, self._go_on)
        self._again = self._timer(_AGAIN_MS, self._look_again)
        transcript.placed.connect(self._mark)
        transcript.view_filled.connect(self._take_filled)
        transcript.text_changed.connect(self._take_change)
        theme.changed.connect(self._restyle)

    @property
    def active(self) -> bool:
        """Whether the bar is shown."""
        return self._bar is not None and not self._bar.isHidden()

    @property
    def searching(self) -> bool:
        """Whether something is still to be searched."""
        return bool(self._waiting) or self._typing.isActive() or self._again.isActive()

    def open(self, words: str = "", *, focus: bool = True) -> None:
        """Show the bar, for `words` or else for a few that are selected; nothing where no chat is shown.

        `focus` moves the keyboard there.
        """
        if not self._transcript.isVisible() or not self._transcript.messages:
            return
        if self._bar is None:
            self._bar = FindBar(self._theme, self._transcript)
            self._bar.edited.connect(self._typing.start)
            self._bar.wanted.connect(self.step)
            self._bar.closed.connect(self.close)
        if not self.active:
            self._before = self._transcript.window().focusWidget()
            self._chat_id = self._transcript.messages[0].chat_id
        words = words or self._transcript.selection.words()
        if words and "\u2029" not in words and len(words) <= _LONGEST_PREFILL:
            self._bar.field.setText(words)
        self._bar.open(focus=focus)
        self._transcript.set_room_above(HEIGHT + AWAY)
        self._typing.start()

    def step(self, by: int) -> None:
        """Go to the next match (1) or the one before (-1); opens the bar where it is closed."""
        if not self.active:
            self.open()
            return
        if self._typing.isActive():
            self._typing.stop()
            self._search()
            return
        self._found.step(by)
        self._show_current()
        self._say()

    def close(self) -> None:
        """Hide the bar, take the marks away, and give the focus back to what had it."""
        if self._bar is None or self._bar.isHidden():
            return
        before, self._before = self._before, None
        usable = before is not None and isValid(before) and before.isVisible() and not self._bar.isAncestorOf(before)
        (before if usable and before is not None else self._transcript).setFocus(Qt.FocusReason.OtherFocusReason)
        self._bar.hide()
        self._transcript.set_room_above(0)
        for timer in (self._typing, self._slices, self._again):
            timer.stop()
        self._marks.clear()
        self._texts.clear()
        self._wait_for(())
        self._changed.clear()
        self._found = Found(0)
        self._awaited = ""

    # -- searching --------------------------------------------------------------------------------------------------------

    def _search(self) -> None:
        if self._bar is None:
            return
        self._needle = Needle(self._bar.words, match_case=self._bar.match_case)
        self._origin = self._place_of_current() or self._place_in_view()
        count = len(self._transcript.messages)
        self._found = Found(count)
        self._changed.clear()
        first = self._origin[0]
        self._wait_for([*range(first, count), *range(first)] if self._needle else ())
        self._anew = True
        self._go_on()

    def _wait_for(self, indices: Sequence[int]) -> None:
        """Search these messages and nothing else."""
        self._waiting, self._work = deque(indices), self._look()

    def _go_on(self) -> None:
        """Search for one slice of time."""
        until = time.perf_counter() + _SLICE_S
        chosen = self._found.current
        pause = None
        while self._waiting:
            pause = next(self._work)
            if pause or time.perf_counter() >= until:
                break
        if self._anew and chosen is None and self._found.total:
            self._choose()
            self._show_current()
        self._tell()
        if self._waiting:
            self._slices.start(pause or 0)
        elif self._anew:
            self._anew = False
            self._say()

    def _look(self) -> _Look[NoReturn]:
        """Look into what waits, one after another, for as long as somebody goes on with it."""
        while True:
            yield from self._look_into(self._waiting[0])
            self._waiting.popleft()
            yield None

    def _look_into(self, index: int) -> _Look[None]:
        messages = self._transcript.messages
        while index < len(messages) and self._comes(messages[index]):
            yield _COMES_MS
        if index < len(messages):
            thought, answer = yield from self._texts_of(messages[index])
            self._found.put(index, Places(self._needle.spans(thought), self._needle.spans(answer)))

    def _choose(self) -> None:
        index, part, start = self._origin
        places = self._found[index]
        before = [*((0, span[0]) for span in places.thought), *((1, span[0]) for span in places.answer)]
        self._found.choose_from(index, sum(place < (part, start) for place in before))

    def _take_change(self, message_id: str) -> None:
        if not self.active:
            return
        messages = self._transcript.messages
        if not messages or messages[0].chat_id != self._chat_id:
            self.close()
        elif message_id:
            self._changed.add(message_id)
            if not self._again.isActive():
                self._again.start()
        else:
            self._wait_for(())
            self._typing.start()

    def _look_again(self) -> None:
        for message_id in self._changed:
            index = self._transcript.index_of(message_id)
            if index is not None and self._needle:
                self._waiting.append(index)
        self._changed.clear()
        self._go_on()

    # -- texts ------------------------------------------------------------------------------------------------------------

    def _comes(self, message: StoredMessage) -> bool:
        """Return whether a message is being brought into its widget, where it is found for less than by building it again."""
        view = self._transcript.view(message.id)
        return view is not None and view.busy

    def _texts_of(self, message: StoredMessage) -> _Look[_Texts]:
        """Return the texts of what was thought and of the answer, place by place as their documents have them."""
        view = self._transcript.view(message.id)
        if message.state == "streaming" and view is not None:
            return _live(view, message)
        kept = self._texts.get(message.id)
        if kept is None or kept[0] is not message:
            answer = view.body.shown if view is not None else (yield from self._unshown.answer(message))
            text, thought = as_searched(answer.document.toRawText()), ""
            if message.reasoning:
                thought = as_searched((yield from self._unshown.thought(message)).document.toRawText())
            kept = self._texts[message.id] = (message, (thought, text))
        return kept[1]

    # -- showing ----------------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        if self._bar is not None:
            self._bar.show_count(self._found.rank, self._found.total, searching=bool(self._waiting))
        self._mark()

    def _say(self) -> None:
        if self._bar is not None:
            announce(self._bar, self._bar.count)

    def _take_filled(self, view: MessageView) -> None:
        self._marks.forget(view)
        if self._awaited == view.message_id and not view.busy:
            self._show_current()

    def _show_current(self) -> None:
        self._awaited = ""
        self._tell()
        if self._found.current is None:
            return
        index, number = self._found.current
        places = self._found[index]
        view = self._transcript.measured(index)
        if number < len(places.thought):
            view.thought.open()
            self._transcript.measured(index)
        if view.busy:
            self._awaited = view.message_id
            return
        start = [*places.thought, *places.answer][number][0]
        text = view.thought.text if number < len(places.thought) else view.body
        if text is not None:
            top = text.mapTo(view, text.rect().topLeft()).y() + text.top_of(start)
            text.show_sideways(start)
            self._transcript.reveal(view.message_id, top, self._theme.line("read"))
            text.show_sideways(start)
        self._mark()

    def _mark(self) -> None:
        if not self.active:
            return
        current = self._found.current
        for index in self._transcript.visible():
            view = self._transcript.view(self._transcript.messages[index].id)
            if view is None:
                continue
            places = self._found[index]
            number = current[1] if current is not None and current[0] == index else None
            self._marks.show(view.body, places.answer, None if number is None else number - len(places.thought))
            if view.thought.text is not None and view.thought.opened:
                self._marks.show(view.thought.text, places.thought, number)

    def _restyle(self) -> None:
        self._marks.clear()
        self._mark()

    def _place_of_current(self) -> tuple[int, int, int] | None:
        if self._found.current is None:
            return None
        index, number = self._found.current
        places = self._found[index]
        part = 0 if number < len(places.thought) else 1
        return index, part, [*places.thought, *places.answer][number][0]

    def _place_in_view(self) -> tuple[int, int, int]:
        index = self._transcript.visible().start
        messages = self._transcript.messages
        view = self._transcript.view(messages[index].id) if index < len(messages) else None
        return (index, 1, view.position_at(-view.y())) if view is not None and view.y() < 0 else (index, 0, 0)

    def _timer(self, interval: int, work: object) -> QTimer:
        timer = QTimer(self, interval=interval, singleShot=True)
        timer.timeout.connect(work)
        return timer


def _live(view: MessageView, message: StoredMessage) -> _Texts:
    return _thought(view.thought.text if view.thought.opened else None, message), as_searched(view.body.document().toRawText())


def _thought(text: MessageText | None, message: StoredMessage) -> str:
    return as_searched(text.document().toRawText()) if text is not None else message.reasoning

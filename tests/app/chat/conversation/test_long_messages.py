"""Long messages: they come in small slices of work, while everything else goes on, and nothing that is seen jumps."""

from math import ceil

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.chat.conversation import find_marks, selection_copy
from app.chat.conversation import finder as finding
from app.chat.conversation.finder import Finder
from app.chat.conversation.message import MessageView
from app.chat.conversation.unshown import Unshown
from app.chat.text import filling, markdown
from app.chat.text.document import Document
from app.chat.text.markdown import StreamReader
from tests.app.chat.conversation.clipboard import clipboard
from tests.app.chat.settling import all_there, built
from tests.app.chat.stored import asked, replied, writing
from tests.benchmarks.replies import mixed

REPLY = mixed(20)
NAMED_FIRST = "\n\n".join(f"See [note {n}][n{n}] and a claim.[^c{n}]" for n in range(200)) + "".join(
    f"\n\n[^c{n}]: Why {n}.\n\n[n{n}]: https://example.org/{n}" for n in range(200)
)
TEXTS = {
    "reply": REPLY,
    "code": "```python\n" + "".join(f"    total[{n}] = sum(value * {n} for value in row)\n" for n in range(400)) + "```\nDone.",
    "table": "| step | cost |\n|---|--:|\n" + "".join(f"| step {n} of many | {n * 3} ms |\n" for n in range(300)),
    "named first": NAMED_FIRST,
    "carriage returns": REPLY.replace("\n", "\r\n"),
}
# Characters, of which a table's rows, 16 at a time, are the most that come at once; and those that are read at once.
A_SLICE, A_READING = 3_000, 3_000


@pytest.fixture
def slices(monkeypatch):
    """Let each slice be of one step only; note how many characters each shows, and the most that is read, or built, at once."""
    noted = {"shown": [], "read": 0, "built": 0}
    take, parsed, whole, show = filling.Filling._take_slice, StreamReader._parsed, markdown.read, Document.show

    def take_and_note(self):
        before = self._text.document().characterCount()
        take(self)
        noted["shown"].append(self._text.document().characterCount() - before)

    def note_parsed(self, tail):
        noted["read"] = max(noted["read"], len(tail))
        return parsed(self, tail)

    def note_whole(text):
        noted["read"] = max(noted["read"], len(text))
        return whole(text)

    def note_built(self, *args):
        before = self.document.characterCount()
        show(self, *args)
        noted["built"] = max(noted["built"], self.document.characterCount() - before)

    for module in (filling, finding, selection_copy):
        monkeypatch.setattr(module, "_SLICE_S", -1.0)
    monkeypatch.setattr(Document, "show", note_built)
    monkeypatch.setattr(filling.Filling, "_take_slice", take_and_note)
    monkeypatch.setattr(StreamReader, "_parsed", note_parsed)
    monkeypatch.setattr(markdown, "read", note_whole)
    return noted


def raw(text):
    return text.document().toRawText()


def opened(transcript, *messages):
    """Open a chat, and look at it once, without waiting for what is still to come."""
    transcript.set_messages(messages)
    transcript.viewport().repaint()
    return transcript.view(messages[-1].id)


@pytest.mark.parametrize("name", TEXTS)
def test_a_long_reply_comes_in_small_slices_and_is_what_it_is_at_once(transcript, theme, qtbot, slices, name):
    view = opened(transcript, asked("q"), replied("r", TEXTS[name]))
    assert view.busy
    assert len(raw(view.body)) == 0
    all_there(transcript, qtbot)
    assert len(slices["shown"]) > len(TEXTS[name]) / A_SLICE
    assert max(slices["shown"]) <= A_SLICE
    if name != "code":  # The end of a fence is found by reading its lines again, which takes next to nothing.
        assert slices["read"] <= A_READING
    whole = built(Unshown(theme, transcript).answer(replied("r", TEXTS[name])))
    assert view.body.blocks == list(whole.blocks)
    assert raw(view.body) == whole.document.toRawText()
    assert view.body.height() == view.body.height_at(transcript.column_width())


def test_what_a_user_pasted_comes_in_slices_too(transcript, qtbot, slices):
    pasted = "\n".join(f"line {n} of a log" for n in range(2_000))
    view = opened(transcript, asked("q", pasted))
    assert view.busy
    all_there(transcript, qtbot)
    assert max(slices["shown"]) <= A_SLICE
    assert view.body.toPlainText() == pasted


def test_what_was_thought_comes_in_slices_when_it_is_opened(transcript, qtbot, slices):
    view = opened(transcript, asked("q"), replied("r", "Yes.", reasoning=REPLY))
    assert not view.busy
    view.thought.open()
    assert view.busy
    height = view.height()
    all_there(transcript, qtbot)
    assert max(slices["shown"]) <= A_SLICE
    assert view.height() > height + 5_000


@pytest.mark.parametrize("characters", [2_000, 4_001, 6_000])
def test_a_message_that_takes_some_frames_is_there_at_once(transcript, characters):
    view = opened(transcript, asked("q"), replied("r", REPLY[:characters]))
    assert not view.busy
    assert view.body.height() == view.body.height_at(transcript.column_width())


def test_at_the_end_of_a_chat_nothing_moves_but_the_text_that_comes(transcript, qtbot, slices):
    view = opened(transcript, asked("q"), replied("r", REPLY))
    bottom = view.geometry().bottom()
    while view.busy:
        assert transcript.at_bottom
        assert view.geometry().bottom() == bottom
        QApplication.processEvents()
    assert view.geometry().bottom() == bottom
    assert view.body.visibleRegion().boundingRect().height() > 400


def test_what_is_read_under_a_long_message_that_comes_stays_where_it_is(transcript, qtbot, slices):
    transcript.set_messages([asked("q"), replied("long", REPLY), asked("p"), replied("r", mixed(2))])
    bar = transcript.verticalScrollBar()
    while transcript.view("long") is None:
        bar.setValue(bar.value() - 10)
    tops = [transcript.view(name).y() for name in ("p", "r")]
    assert transcript.view("long").busy
    while transcript.view("long").busy:
        QApplication.processEvents()
        assert [transcript.view(name).y() for name in ("p", "r")] == tops


def test_the_top_of_a_long_message_stays_where_it_was_gone_to(transcript, qtbot, slices):
    transcript.set_messages([asked("q"), replied("long", REPLY), asked("p"), *[replied(f"r{n}", mixed(3)) for n in range(9)]])
    transcript.scroll_to("long")
    view = transcript.view("long")
    assert view.busy
    top = view.y()
    all_there(transcript, qtbot)
    assert view.y() == top
    assert view.body.visibleRegion().boundingRect().height() > 400


def test_a_match_in_a_message_that_is_not_there_yet_is_gone_to_when_it_is(transcript, theme, qtbot, slices, monkeypatch):
    monkeypatch.setattr(finding, "_SLICE_S", 60.0)
    place = REPLY.index("## Reading the prompt, part 9\n")
    text = f"{REPLY[:place]}Here is the needle.\n\n{REPLY[place:]}"
    transcript.set_messages([asked("q"), replied("long", text), *[replied(f"r{n}", mixed(3)) for n in range(9)]])
    finder = Finder(theme, transcript)
    finder.open("needle")
    qtbot.waitUntil(lambda: not finder.searching)
    view = transcript.view("long")
    assert view.busy
    all_there(transcript, qtbot)
    (mark,) = view.body.extraSelections()
    assert mark.cursor.selectedText() == "needle"
    top = view.body.mapTo(transcript.viewport(), view.body.cursorRect(mark.cursor).topLeft()).y()
    assert 0 < top < transcript.viewport().height() - 24


def test_what_is_looked_for_in_a_message_that_comes_is_found_when_it_is_there(transcript, theme, qtbot, slices, monkeypatch):
    place = REPLY.index("## Reading the prompt, part 9\n")
    view = opened(transcript, asked("q"), replied("r", f"{REPLY[:place]}Here is the needle.\n\n{REPLY[place:]}"))
    finder = Finder(theme, transcript)
    unseen, answer = [], finder._unshown.answer
    finder._unshown.answer = lambda message: unseen.append(message.id) or answer(message)
    finder._typing.setInterval(0)
    laid = []
    monkeypatch.setattr(find_marks, "_in_view", lambda text: laid.append(view.busy) or (0, 1 << 30))
    finder.open("needle")
    qtbot.waitUntil(lambda: not finder._typing.isActive())
    assert view.busy
    while view.busy:
        assert finder._bar.count == "Searching…"
        finder.step(1)
        QApplication.processEvents()
    qtbot.waitUntil(lambda: not finder.searching)
    assert finder._bar.count == "1 of 1"
    assert unseen == ["q"]
    assert True not in laid
    (mark,) = view.body.extraSelections()
    top = view.body.mapTo(transcript.viewport(), view.body.cursorRect(mark.cursor).topLeft()).y()
    assert 0 < top < transcript.viewport().height() - 24


@pytest.mark.parametrize("name", TEXTS)
def test_what_was_never_shown_is_searched_in_small_slices(transcript, theme, qtbot, slices, name):
    transcript.set_messages([replied("long", TEXTS[name], reasoning=REPLY), *[replied(f"r{n}", mixed(3)) for n in range(9)]])
    finder = Finder(theme, transcript)
    finder.open("Nobody wrote this")
    qtbot.waitUntil(lambda: not finder.searching)
    assert transcript.view("long") is None
    assert finder._bar.count == "No matches"
    assert 0 < slices["built"] <= A_SLICE
    if name != "code":
        assert slices["read"] <= A_READING


def test_what_a_reply_says_later_is_counted_and_moves_nothing(transcript, theme, qtbot):
    transcript.set_messages([asked("q"), replied("r", REPLY), writing("w", "Well.")])
    all_there(transcript, qtbot)
    finder = Finder(theme, transcript)
    finder.open("needle")
    qtbot.waitUntil(lambda: not finder.searching)
    transcript.verticalScrollBar().setValue(100)
    transcript.add_text("w", " A needle.")
    qtbot.waitUntil(lambda: not finder.searching)
    assert finder._bar.count == "1"
    assert transcript.verticalScrollBar().value() == 100


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_not_there_yet_is_copied_in_small_slices(transcript, theme, qtbot, slices, name):
    view = opened(transcript, replied("long", TEXTS[name]), *[replied(f"r{n}", REPLY) for n in range(3)])
    transcript.selection.select_all()
    transcript.selection.copy()
    assert view.busy
    assert transcript.view("long") is None
    data = clipboard(transcript).mimeData()
    assert slices["built"] <= A_SLICE
    if name != "code":
        assert slices["read"] <= A_READING
    transcript.measured(0)
    all_there(transcript, qtbot)
    copied = data.text()
    transcript.selection.copy()
    assert clipboard(transcript).text() == copied


def test_a_message_that_is_not_there_yet_is_copied_whole(transcript, qtbot, slices):
    view = opened(transcript, asked("q"), replied("r", REPLY))
    transcript.selection.select_all()
    transcript.selection.copy()
    assert view.busy
    data = clipboard(transcript).mimeData()
    assert bytes(data.data("text/markdown")).decode() == f"A question?\n\n{REPLY.strip()}"
    assert data.text().count("The template makes text of the messages.") == 20
    all_there(transcript, qtbot)
    cursor = view.body.textCursor()
    assert cursor.selectionEnd() - cursor.selectionStart() == len(raw(view.body))


def test_another_chat_in_the_middle_leaves_nothing_going_on(transcript, qtbot, slices):
    view = opened(transcript, asked("q"), replied("r", REPLY))
    for _ in range(30):
        QApplication.processEvents()
    assert view.busy
    other = opened(transcript, asked("a", chat_id="other"), replied("b", "Short.", chat_id="other"))
    assert not any(each.busy for each in transcript.findChildren(MessageView))
    assert other.body.toPlainText() == "Short."
    again = opened(transcript, asked("q"), replied("r", REPLY))
    assert raw(again.body) == ""
    all_there(transcript, qtbot)
    assert again.body.toPlainText().count("The template makes text of the messages.") == 20


@pytest.mark.parametrize("ends", [False, True])
def test_what_is_written_while_the_reply_so_far_comes_is_appended(transcript, theme, qtbot, slices, ends):
    view = opened(transcript, asked("q"), writing("r", REPLY))
    more = [f"More {n} **bold**.\n\n" for n in range(30)]
    for piece in more:
        assert view.busy
        transcript.add_text("r", piece)
        QApplication.processEvents()
    text = REPLY + "".join(more)
    if ends:
        transcript.finish(replied("r", text))
    all_there(transcript, qtbot)
    if not ends:
        transcript.add_text("r", "The end.")
        text += "The end."
        transcript.finish(replied("r", text))
    whole = built(Unshown(theme, transcript).answer(replied("r", text)))
    assert view.body.blocks == list(whole.blocks)
    assert raw(view.body) == whole.document.toRawText()


def test_what_was_given_late_is_put_in_once_the_reply_is_done_without_a_wait(transcript, theme, qtbot, slices):
    view = opened(transcript, asked("q"), writing("r", ""))
    for start in range(0, len(NAMED_FIRST), 100):
        transcript.add_text("r", NAMED_FIRST[start : start + 100])
    before = raw(view.body)
    seen = {before}
    transcript.finish(replied("r", NAMED_FIRST))
    while view.busy:
        seen.add(raw(view.body))
        assert view.body.isVisible()
        QApplication.processEvents()
    assert slices["read"] <= A_READING
    whole = built(Unshown(theme, transcript).answer(replied("r", NAMED_FIRST)))
    assert view.body.blocks == list(whole.blocks)
    assert seen == {before, whole.document.toRawText()}  # Never a part of it.


def test_a_reply_that_is_gone_on_with_stays_in_sight(transcript, qtbot, slices):
    view = opened(transcript, asked("q"), replied("r", REPLY))
    all_there(transcript, qtbot)
    seen, height = raw(view.body), view.height()
    view = opened(transcript, asked("q"), writing("r", REPLY))
    while view.busy:
        assert view.body.isVisible()
        assert (raw(view.body), view.height()) == (seen, height)
        QApplication.processEvents()


def test_what_was_thought_stays_in_sight_as_its_reply_is_gone_on_with(transcript, qtbot, slices):
    view = opened(transcript, asked("q"), replied("r", "Yes.", reasoning=REPLY))
    view.thought.open()
    all_there(transcript, qtbot)
    seen, height = raw(view.thought.text), view.height()
    view = opened(transcript, asked("q"), writing("r", "Yes.", reasoning=REPLY))
    while view.busy:
        assert (raw(view.thought.text), view.height()) == (seen, height)
        QApplication.processEvents()
    assert (raw(view.thought.text), view.height()) == (seen, height)


def sights(transcript, view):
    """Yield what is seen of a message in each turn, until all of it is there."""
    while True:
        yield raw(view.body), view.body.visibleRegion().boundingRect().height() > 400, transcript.verticalScrollBar().maximum()
        if not view.busy:
            return
        QApplication.processEvents()


@pytest.mark.parametrize("state", [writing, replied])
def test_what_was_shown_a_moment_ago_is_there_when_its_chat_is_shown_again(transcript, qtbot, slices, state):
    opened(transcript, asked("q"), state("r", REPLY))
    all_there(transcript, qtbot)
    (before,) = sights(transcript, transcript.view("r"))
    for other in ("a", "b", "c"):
        opened(transcript, asked(f"{other}q", chat_id=other), replied(f"{other}r", f"# {other}\n\n{REPLY}", chat_id=other))
        all_there(transcript, qtbot)
    more = "" if state is replied else "More **bold** words.\n\n" * 5
    text, seen, range_ = zip(*sights(transcript, opened(transcript, asked("q"), state("r", REPLY + more))), strict=True)
    assert all(seen)
    assert all(each.startswith(before[0]) for each in text)
    assert text[-1].count("More bold words.") == more.count("More")
    assert list(range_) == sorted(range_)
    assert range_[0] == before[2]


def test_what_opened_by_itself_while_the_model_thought_is_closed_when_its_chat_is_shown_again(transcript, qtbot, slices):
    view = opened(transcript, asked("q"), writing("r", "", reasoning=REPLY))
    all_there(transcript, qtbot)
    assert view.thought.opened
    opened(transcript, asked("a", chat_id="other"), replied("b", "Short.", chat_id="other"))
    assert opened(transcript, asked("q"), writing("r", "", reasoning=REPLY)).thought.opened
    opened(transcript, asked("a", chat_id="other"), replied("b", "Short.", chat_id="other"))
    assert not opened(transcript, asked("q"), writing("r", "Yes.", reasoning=REPLY)).thought.opened


def test_as_many_long_texts_are_kept_as_a_person_goes_to_and_fro_between(transcript, qtbot):
    for n in range(20):
        opened(transcript, asked(f"q{n}", chat_id=f"c{n}"), replied(f"r{n}", REPLY[: 6_001 + n], chat_id=f"c{n}"))
        all_there(transcript, qtbot)
    assert len(transcript.findChildren(MessageView)) <= 12


def bars(view, height=500):
    """Return the tops and the heights of what stands on the ground in one column of the last pixels of a message's text."""
    picture = view.grab(QRect(0, view.body.geometry().bottom() - height, view.width(), height)).toImage()
    ground = picture.pixel(view.body.x() - 1, height - 1)
    inked = [picture.pixel(view.body.x() + 30, y) != ground for y in range(height)]
    tops = [y for y in range(1, height) if inked[y] and not inked[y - 1]]
    return [(top, inked[top:].index(False)) for top in tops if False in inked[top:]]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_lines_stand_where_text_is_to_come(transcript, theme, qtbot, slices, mode, role):
    theme.set_mode(mode)
    make = asked if role == "user" else replied
    view = opened(transcript, make("r", "A few words of a line.\n\n" * 400))
    assert view.busy
    lines = bars(view)
    theme.set_mode("light")
    assert len(lines) > 10
    assert {height for _, height in lines} == {10}
    assert {(top - lines[0][0]) % theme.line("read") for top, _ in lines} == {0}
    all_there(transcript, qtbot)
    assert not {(top, height) for top, height in bars(view) if height == 10}


def test_what_is_there_of_a_long_message_is_seen_from_its_top_on_while_it_grows(transcript, qtbot, slices):
    text = "".join(f"Paragraph {n} of some words.\n\n" for n in range(400))
    transcript.set_messages([replied("long", text), *[replied(f"r{n}", mixed(3)) for n in range(9)]])
    transcript.scroll_to("long")
    view = transcript.view("long")
    tops, parts = {view.y()}, []
    while view.busy:
        built = ceil(view.body.document().size().height()) if view.body.blocks else 0
        if 0 < built < view.body.height():
            parts.append((built, view.body.grab(QRect(0, 0, 600, built)).toImage()))
            assert view.body.visibleRegion().contains(QPoint(10, 10))
        tops.add(view.y())
        QApplication.processEvents()
    assert len(parts) > 5
    assert len(tops) == 1
    for built, part in parts:
        assert part == view.body.grab(QRect(0, 0, 600, built)).toImage()


def test_a_message_laid_out_out_of_sight_is_laid_out_once(transcript, qtbot, monkeypatch):
    """What is shown for the first time is told of its width by Qt, and would lay out all of it again."""
    transcript.set_messages([asked("q"), replied("long", REPLY), *[replied(f"r{n}", mixed(3)) for n in range(9)]])
    view = transcript.measured(1)
    assert view.isHidden()
    all_there(transcript, qtbot)
    laid = []
    view.body.document().documentLayout().update.connect(lambda *_: laid.append(1))
    transcript.scroll_to("long")
    assert view.isVisible()
    assert not laid


def test_keys_and_clicks_are_taken_while_a_long_message_comes(transcript, qtbot, slices):
    view = opened(transcript, asked("q"), *[replied(f"r{n}", REPLY) for n in range(3)])
    assert view.busy
    bar = transcript.verticalScrollBar()
    QTest.keyClick(transcript, Qt.Key.Key_Home)
    QApplication.processEvents()
    assert bar.value() == 0
    assert transcript.view("q").isVisible()
    assert isinstance(transcript.view("q"), QWidget)

"""Files and long texts that go with a message, in the real window with real files."""

import threading
import time

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QPlainTextEdit, QWidget

from app.chat.composer.attachment_dialog import MOST_SHOWN
from app.chat.composer.attachments import MOST, MOST_TOLD, Attachments
from app.chat.composer.message_field import LONG_TEXT, LONGEST_PLAIN
from engine.chats.attachment import Attachment
from engine.chats.reading import read_file
from engine.chats.store import ChatStore
from engine.core.paths import locate
from tests.app.window_driver import open_window, remember
from tests.engine.chats.pdfs import locked_pdf, pdf
from tests.engine.chats.test_reading import WORDS, png


@pytest.fixture
def flint(qtbot, flint_home):
    with open_window(qtbot) as driver:
        yield driver


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()

    def write(name, data):
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return folder / name

    return write


def mime(*paths, text=None, image=False):
    data = QMimeData()
    if paths:
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    if text is not None:
        data.setText(text)
    if image:
        picture = QImage(4, 4, QImage.Format.Format_RGB32)
        picture.fill(Qt.GlobalColor.red)
        data.setImageData(picture)
    return data


def drop(target, *paths):
    data = mime(*paths)
    where = target.rect().center()
    nothing, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(where, Qt.DropAction.CopyAction, data, left, nothing)
    QApplication.sendEvent(target, enter)
    event = QDropEvent(QPointF(where), Qt.DropAction.CopyAction, data, left, nothing)
    QApplication.sendEvent(target, event)
    return enter.isAccepted(), event.isAccepted()


def paste(flint, data, key=Qt.Key.Key_V, modifiers=Qt.KeyboardModifier.ControlModifier):
    QGuiApplication.clipboard().setMimeData(data)
    flint.part("composer").setFocus()
    flint.key(key, modifiers)


def attached(flint):
    return flint.window.page.composer.attachments


def names(flint):
    return [one.name for one in attached(flint).attachments]


def settled(flint):
    flint.wait(lambda: not attached(flint).reading)


def dialog():
    return next(widget for widget in QApplication.topLevelWidgets() if widget.objectName() == "attachmentDialog")


# -- ways in ---------------------------------------------------------------------------------------------------------------


@pytest.mark.drives("chatPage", "attachment.*", "removeAttachment.*")
def test_files_dropped_anywhere_on_the_chat_become_chips(flint, files):
    one, two = files("week-29.csv", "day,cups\n"), files("notes.md", "# Notes\n")
    assert drop(flint.part("chatPage"), one, two) == (True, True)
    settled(flint)
    assert names(flint) == ["week-29.csv", "notes.md"]
    assert "week-29.csv, about" in flint.part("attachment.0").words
    assert flint.part("sendButton").isEnabled()
    QTest.mouseClick(flint.part("removeAttachment.0"), Qt.MouseButton.LeftButton)
    assert names(flint) == ["notes.md"]
    QTest.keyClick(flint.part("attachment.0"), Qt.Key.Key_Delete)
    assert names(flint) == []
    assert not flint.part("sendButton").isEnabled()
    assert flint.part("composer").hasFocus()


def test_the_composer_says_that_something_can_be_dropped(flint, files):
    path = files("a.txt", "a")
    page, where = flint.part("chatPage"), QPoint(50, 50)
    data = mime(path)
    enter = QDragEnterEvent(where, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(page, enter)
    assert flint.window.page.composer.note == "Drop to attach"
    QApplication.sendEvent(page, QDragLeaveEvent())
    assert flint.window.page.composer.note == ""
    words = mime(text="words")
    text = QDragEnterEvent(where, Qt.DropAction.CopyAction, words, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(page, text)
    assert flint.window.page.composer.note == ""


@pytest.mark.drives("attachButton")
@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_files_are_picked(flint, files, by):
    path = files("picked.py", "print(1)\n")
    if by == "mouse":
        flint.click("attachButton")
    else:
        flint.part("attachButton").setFocus(Qt.FocusReason.TabFocusReason)
        flint.key(Qt.Key.Key_Space, name="attachButton")
    picker = flint.part("attachDialog", QFileDialog)
    picker.setDirectory(str(path.parent))
    picker.findChild(QLineEdit).setText(path.name)
    picker.accept()
    settled(flint)
    assert names(flint) == ["picked.py"]


@pytest.mark.drives("composer", "attachDialog")
def test_the_picker_opens_by_its_shortcut_and_closes_by_escape(flint):
    flint.key(Qt.Key.Key_U, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(flint.part("attachDialog", QFileDialog), Qt.Key.Key_Escape)
    flint.wait(lambda: flint.part("composer").hasFocus())


@pytest.mark.drives("composer")
def test_copied_files_are_pasted(flint, files):
    paste(flint, mime(files("a.txt", "A"), files("b.txt", "B")))
    settled(flint)
    assert names(flint) == ["a.txt", "b.txt"]
    assert flint.window.page.composer.text == ""


@pytest.mark.drives("mainWindow")
@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "gbk", "shift_jis", "utf-8-sig"])
def test_a_files_encoding_is_found(flint, files, encoding):
    text = WORDS[encoding] * 8
    drop(flint.part("chatPage"), files("text.txt", text.encode(encoding)))
    settled(flint)
    assert attached(flint).attachments == (Attachment("text.txt", "file", text),)


def test_a_pdf_is_attached_by_its_text(flint, files):
    drop(flint.part("chatPage"), files("paper.pdf", pdf("Caffeine", "Sleep")))
    settled(flint)
    assert attached(flint).attachments[0].text == "[Page 1]\nCaffeine\n\n[Page 2]\nSleep"


def test_what_cannot_be_attached_is_told_and_the_rest_is(flint, files, tmp_path):
    (tmp_path / "src").mkdir()
    refused = [
        files("holiday.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"),
        files("chart.png", png()),
        files("big.log", b"line\n" * 2_100_000),
        files("empty.txt", b""),
        files("secret.pdf", locked_pdf("x")),
        tmp_path / "src",
    ]
    drop(flint.part("chatPage"), *refused, files("good.txt", "good"))
    settled(flint)
    assert names(flint) == ["good.txt"]
    ((title, told),) = flint.toasts()
    assert title == "Some files could not be attached."
    assert all(f"“{path.name}”" in told for path in refused)
    assert "“src” is a folder." in told
    (toast,) = flint.window.toaster.toasts
    assert toast.timer.isActive()  # Nothing failed: it goes by itself.
    drop(flint.part("chatPage"), tmp_path / "src")
    settled(flint)
    assert flint.toasts()[-1][0] == "“src” is a folder."
    assert "Attach the files in it" in flint.toasts()[-1][1]


def test_of_a_great_many_refused_files_some_are_named_and_the_rest_counted(flint, files):
    drop(flint.part("chatPage"), *(files(f"{number}.txt", b"") for number in range(MOST_TOLD + 3)))
    flint.wait(flint.toasts)
    ((_, told),) = flint.toasts()
    assert (told.count("is empty"), told.endswith("3 more were refused.")) == (MOST_TOLD, True)


def test_a_file_that_is_taken_away_while_others_are_read_keeps_no_refusal_from_being_told(flint, files, slowly):
    drop(flint.part("chatPage"), files("empty.txt", b""), files("late.txt", "late"))
    items = attached(flint).items
    attached(flint).remove(items[1].number)
    slowly.set()
    flint.wait(flint.toasts)
    assert [title for title, _ in flint.toasts()] == ["“empty.txt” is empty."]


def test_the_same_file_twice_is_recognised(flint, files):
    path = files("a.txt", "A")
    drop(flint.part("chatPage"), path, path)
    settled(flint)
    assert names(flint) == ["a.txt"]
    assert flint.window.page.composer.note == "a.txt is attached already"


def test_there_is_an_end_to_how_many(qtbot, files):
    attachments = Attachments()
    failed = []
    attachments.failed.connect(failed.append)
    attachments.attach_files([files(f"{number}.txt", f"text {number}") for number in range(MOST + 2)])
    qtbot.waitUntil(lambda: not attachments.reading)
    assert len(attachments.attachments) == MOST
    assert len(failed) == 1


# -- long pastes -----------------------------------------------------------------------------------------------------------


@pytest.mark.drives("attachment.*", "attachmentInsert")
def test_a_long_paste_becomes_a_chip_and_can_be_put_into_the_text(flint):
    text = "A line of the paste.\n" * 300
    assert len(text) > LONG_TEXT
    paste(flint, mime(text=text))
    assert names(flint) == ["Pasted text"]
    assert flint.window.page.composer.text == ""
    assert "pastes it into the text" in flint.window.page.composer.note
    QTest.mouseClick(flint.part("attachment.0"), Qt.MouseButton.LeftButton, pos=QPoint(20, 12))
    flint.press(dialog(), "attachmentInsert")
    assert names(flint) == []
    assert flint.window.page.composer.text == text


def test_a_long_paste_goes_into_the_text_where_that_is_asked(flint):
    text = "x" * (LONG_TEXT + 1)
    paste(flint, mime(text=text), modifiers=Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert (names(flint), flint.window.page.composer.text) == ([], text)


def test_a_short_paste_is_text_and_undone_as_one(flint):
    paste(flint, mime(text="short"))
    assert flint.window.page.composer.text == "short"
    flint.key(Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert flint.window.page.composer.text == ""


def test_two_pastes_have_two_names_and_the_same_one_is_recognised(flint):
    for text in ("a" * 5000, "b" * 5000, "a" * 5000):
        paste(flint, mime(text=text))
    assert names(flint) == ["Pasted text", "Pasted text 2"]
    assert flint.window.page.composer.note == "This text is attached already"


def test_a_huge_paste_does_not_stop_the_window(flint):
    for modifiers in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
        text = f"{modifiers} and a line of five megabytes\n" * 110_000
        paste(flint, mime(text=text), modifiers=Qt.KeyboardModifier.ControlModifier | modifiers)
    # Neither lands in the text field, which would take seconds to lay it out.
    assert len(names(flint)) == 2
    assert flint.window.page.composer.text == ""


@pytest.mark.parametrize("length", [LONG_TEXT + 1, LONGEST_PLAIN, LONGEST_PLAIN + 1, 60_000])
def test_the_hint_offers_the_text_only_what_the_text_takes(flint, length):
    paste(flint, mime(text="x" * length))
    offered = "pastes it into the text" in flint.window.page.composer.note
    assert offered or "the text takes 50,000 characters" in flint.window.page.composer.note
    paste(flint, mime(text="x" * length), modifiers=Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert (len(flint.window.page.composer.text) == length) == offered
    assert offered or "attached already; the text takes 50,000 characters" in flint.window.page.composer.note


def test_a_picture_is_refused_and_rich_text_is_pasted_plain(flint):
    paste(flint, mime(image=True))
    assert flint.window.page.composer.note == "Pictures can't be attached: the model reads text"
    rich = mime(text="bold")
    rich.setHtml("<b>bold</b>")
    paste(flint, rich)
    assert flint.window.page.composer.text == "bold"
    assert not flint.part("composer").textCursor().charFormat().font().bold()


def test_what_is_too_long_to_lay_out_is_shown_in_part_and_copied_whole(flint):
    text = "0123456789\n" * 60_000
    attached(flint).attach_text(text)
    flint.part("attachment.0").click()
    shown = dialog()
    assert shown.findChild(QWidget, "attachmentInsert") is None
    assert len(shown.findChild(QPlainTextEdit, "attachmentText").toPlainText()) == MOST_SHOWN
    flint.press(shown, "attachmentCopy")
    assert QGuiApplication.clipboard().text() == text
    flint.press(shown, "attachmentClose")


# -- while a file is read --------------------------------------------------------------------------------------------------


def test_the_window_goes_on_while_a_file_is_read_and_lets_go_of_it(flint, files, monkeypatch):
    started, go_on = threading.Event(), threading.Event()
    threads = []

    def slow(path, progress, cancelled):
        threads.append(threading.current_thread().name)
        progress(0.5)
        started.set()
        while not (cancelled() or go_on.is_set()):
            time.sleep(0.01)
        return Attachment(path.name, "file", "late")

    monkeypatch.setattr("app.chat.composer.file_reader.read_file", slow)
    drop(flint.part("chatPage"), files("slow.pdf", pdf("x")))
    flint.wait(started.is_set)
    flint.wait(lambda: "50%" in flint.part("attachment.0").words)
    assert threads == ["flint-files"]
    flint.window.models.model_id = "some"
    flint.window.page.composer.set_blocked("")
    flint.send("Read it")
    assert flint.window.page.composer.note == "Wait until slow.pdf is read"
    assert flint.window.page.composer.text == "Read it"
    QTest.mouseClick(flint.part("removeAttachment.0"), Qt.MouseButton.LeftButton)
    assert attached(flint).items == []
    go_on.set()
    QTest.qWait(50)
    assert names(flint) == []


@pytest.fixture
def slowly(monkeypatch):
    """Have every file read only once this is set."""
    go_on = threading.Event()

    def slow(path, progress, cancelled):
        while not (cancelled() or go_on.is_set()):
            time.sleep(0.01)
        return read_file(path, progress, cancelled)

    monkeypatch.setattr("app.chat.composer.file_reader.read_file", slow)
    yield go_on
    go_on.set()


def two_chats():
    with ChatStore(locate().chats) as store:
        return store.create_chat("One").id, store.create_chat("Two").id


def of_draft(chat):
    with ChatStore(locate().chats) as store:
        return [one.name for one in store.draft_attachments(chat)]


def test_a_file_is_read_to_the_end_for_the_chat_it_was_attached_to(qtbot, flint_home, files, slowly):
    one, two = two_chats()
    with open_window(qtbot) as flint:
        for chat, name in ((None, "new.txt"), (one, "one.txt"), (two, "two.txt")):
            flint.window.chat.open(chat)
            drop(flint.part("chatPage"), files(name, name))
            assert [item.name for item in attached(flint).items] == [name]
        flint.window.chat.open(one)
        assert [item.name for item in attached(flint).items] == ["one.txt"]  # Still being read.
        slowly.set()
        settled(flint)
        assert names(flint) == ["one.txt"]
        flint.wait(lambda: (of_draft(None), of_draft(one), of_draft(two)) == (["new.txt"], ["one.txt"], ["two.txt"]))
        flint.window.chat.open(two)
        assert names(flint) == ["two.txt"]
        flint.window.chat.open(None)
        assert names(flint) == ["new.txt"]


def test_what_is_attached_already_stays_before_what_is_read_elsewhere(qtbot, flint_home, files, slowly):
    one, _ = two_chats()
    with open_window(qtbot) as flint:
        flint.window.chat.open(one)
        attached(flint).attach_text("pasted")
        drop(flint.part("chatPage"), files("late.txt", "late"))
        flint.window.chat.open(None)
        slowly.set()
        flint.wait(lambda: of_draft(one) == ["Pasted text", "late.txt"])


def test_a_file_that_fails_while_another_chat_is_shown_is_told(qtbot, flint_home, files, slowly):
    one, two = two_chats()
    with open_window(qtbot) as flint:
        flint.window.chat.open(one)
        drop(flint.part("chatPage"), files("empty.txt", b""))
        flint.window.chat.open(two)
        slowly.set()
        flint.wait(lambda: any("empty.txt" in text for text, _ in flint.toasts()))
        flint.window.chat.open(one)
        assert attached(flint).items == []


@pytest.mark.parametrize("shown", [True, False])
def test_a_file_that_was_being_read_when_the_window_closed_is_read_again(qtbot, flint_home, files, slowly, shown):
    one, two = two_chats()
    with open_window(qtbot) as flint:
        flint.window.chat.open(one)
        drop(flint.part("chatPage"), files("late.txt", "late"))
        if not shown:
            flint.window.chat.open(two)
    assert of_draft(one) == []
    slowly.set()
    with open_window(qtbot) as flint:
        flint.window.chat.open(one)
        flint.wait(lambda: names(flint) == ["late.txt"])
        flint.wait(lambda: of_draft(one) == ["late.txt"])
    with open_window(qtbot) as flint:
        flint.window.chat.open(one)
        assert (names(flint), attached(flint).reading) == (["late.txt"], "")


def test_a_file_that_is_gone_by_the_next_start_is_told(qtbot, flint_home, files, slowly):
    path = files("late.txt", "late")
    with open_window(qtbot) as flint:
        drop(flint.part("chatPage"), path)
    path.unlink()
    slowly.set()
    with open_window(qtbot) as flint:
        flint.wait(lambda: any("late.txt" in text for text, _ in flint.toasts()))
        assert attached(flint).items == []


def test_a_file_being_read_stays_when_a_card_of_the_welcome_is_sent(qtbot, flint_home, files, slowly):
    with open_window(qtbot) as flint:
        drop(flint.part("chatPage"), files("late.txt", "late"))
        flint.window.chat.send("From a card")
        chat = flint.window.chat.chat_id
        flint.window.chat.open(None)
        assert attached(flint).items == []
        slowly.set()
        flint.wait(lambda: of_draft(chat) == ["late.txt"])
        assert of_draft(None) == []


# -- kept ------------------------------------------------------------------------------------------------------------------


def test_what_is_attached_is_kept_with_the_draft(qtbot, flint_home, files):
    with open_window(qtbot) as flint:
        drop(flint.part("chatPage"), files("a.txt", "A"))
        settled(flint)
        flint.type("And")

        def stored():
            with ChatStore(locate().chats) as store:  # As after a crash: nothing was closed.
                return store.draft_attachments(None)

        flint.wait(lambda: stored() == (Attachment("a.txt", "file", "A"),))
    with open_window(qtbot) as flint:
        assert names(flint) == ["a.txt"]
        assert flint.window.page.composer.text == "And"


def test_each_chat_has_its_own(qtbot, flint_home, files):
    with ChatStore(locate().chats) as store:
        chat = store.create_chat("Sleep").id
        store.set_draft_attachments(chat, [Attachment("sleep.txt", "file", "zzz")])
    remember(chat=chat)
    with open_window(qtbot) as flint:
        assert names(flint) == ["sleep.txt"]
        flint.window.chat.open(None)
        assert names(flint) == []
        flint.open_chat(chat)
        assert names(flint) == ["sleep.txt"]


@pytest.mark.drives("attachmentDialog", "attachment.*", "attachmentCopy", "attachmentClose", "attachmentText")
def test_a_chip_in_a_sent_message_opens_its_text(qtbot, flint_home):
    with ChatStore(locate().chats) as store:
        chat = store.create_chat("Sleep").id
        kept = Attachment("week.csv", "file", "day,cups\n", 288)
        message = store.add_message(chat, "user", "Look at it", attachments=[kept])
        store.add_message(chat, "user", "", attachments=[kept])
    remember(chat=chat)
    with open_window(qtbot) as flint:
        view = flint.view(message)
        chip = view.findChild(QWidget, "attachment.0")
        assert chip.words == "week.csv, 288 tokens"
        assert view.accessibleDescription() == "Look at it\nAttached: week.csv"
        assert view.rect().contains(chip.geometry().translated(chip.parentWidget().pos()))
        for open_it in (
            lambda: QTest.mouseClick(chip, Qt.MouseButton.LeftButton),
            lambda: QTest.keyClick(chip, Qt.Key.Key_Return),
        ):
            open_it()
            shown = dialog()
            text = shown.findChild(QPlainTextEdit, "attachmentText")
            QTest.keyClick(text, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
            assert text.toPlainText() == "day,cups\n"
            flint.press(shown, "attachmentCopy")
            assert QGuiApplication.clipboard().text() == "day,cups\n"
            flint.press(shown, "attachmentClose")
            flint.wait(lambda shown=shown: not shown.isVisible())
            qtbot.wait(10)

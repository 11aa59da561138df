"""The frame of an attachment: it can be read back whatever the text holds, and nothing inside can close it."""

from hypothesis import given
from hypothesis import strategies as st

from engine.chats.attachment import Attachment, framed, with_attachments
from engine.core.facts import Message
from tests.app.chat.stored import asked

KINDS = st.sampled_from(["file", "pdf", "pasted"])
PIECES = st.lists(
    st.sampled_from(["`", "``", "```", "````", "\n", "a", " ", "~~~", "```py\n", "\r\n", "é"]) | st.text(max_size=5)
)
TEXTS = PIECES.map("".join)
ATTACHMENTS = st.builds(Attachment, st.text(max_size=20), KINDS, TEXTS)


def read_back(frame):
    """Return what a strict reader finds in a frame: the heading, and the text up to the first line that is the fence."""
    heading, opening, *rest = frame.split("\n")
    fence = opening[: len(opening) - len(opening.lstrip("`"))]
    closing = rest.index(fence)
    assert closing == len(rest) - 1, "something in the text closes the frame"
    return heading, "\n".join(rest[:closing])


@given(ATTACHMENTS)
def test_a_frame_ends_at_its_end_and_holds_the_text_as_it_is(attachment):
    heading, text = read_back(framed(attachment))
    assert text == attachment.text.removesuffix("\n")
    assert "\r" not in heading


@given(st.lists(ATTACHMENTS, max_size=3), st.text(min_size=1).filter(str.strip))
def test_the_words_come_last_and_as_they_are(attachments, words):
    turn = with_attachments(words, attachments)
    assert turn.endswith(words)
    assert turn.removesuffix(words) == "".join(framed(one) + "\n\n" for one in attachments)


def test_a_frame_names_file_and_language():
    assert framed(Attachment("week 29.CSV", "file", "a,b\n1,2\n")) == "File: week 29.CSV\n```csv\na,b\n1,2\n```"
    assert framed(Attachment("paper.pdf", "pdf", "Abstract")) == "Text of the PDF: paper.pdf\n```\nAbstract\n```"
    assert framed(Attachment("Pasted text", "pasted", "x")) == "Pasted text\n```\nx\n```"
    assert framed(Attachment("notes.md", "file", "```\ncode\n```")) == "File: notes.md\n````md\n```\ncode\n```\n````"
    assert framed(Attachment("two\nlines", "file", "")) == "File: two lines\n```\n\n```"


def test_a_stored_message_becomes_a_turn_with_its_frames():
    from engine.chats.turns import turns

    message = asked(1, text="What is in it?", attachments=(Attachment("a.txt", "file", "one"),))
    assert turns([message]) == (Message("user", "File: a.txt\n```txt\none\n```\n\nWhat is in it?"),)
    alone = asked(1, text="", attachments=(Attachment("a.txt", "file", "one"),))
    assert turns([alone]) == (Message("user", "File: a.txt\n```txt\none\n```"),)

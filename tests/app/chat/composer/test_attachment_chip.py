"""A chip shows its whole name where there is room for it."""

import pytest

from app.chat.composer.attachment_chip import WIDEST, AttachmentChip
from app.chat.composer.attachment_dialog import AttachmentDialog
from app.chat.composer.chip_flow import ChipFlow
from app.chat.composer.token_estimate import about
from engine.chats.attachment import Attachment, with_attachments

NAMES = [
    "lat.txt",
    "a.md",
    "notes.txt",
    "WAVE.py",
    "iiiiii.c",
    "Überblick.csv",
    "報告.txt",
    *(f"{'file'[:n]}{n}.log" for n in range(1, 5)),
]


def attachment(name, text="some text", tokens=0):
    return Attachment(name, "file", text, tokens)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("removable", [False, True])
def test_a_name_that_has_room_is_whole(qtbot, theme, name, removable):
    chip = AttachmentChip(theme, removable=removable)
    qtbot.addWidget(chip)
    for text in ("x", "some text", "word " * 57):
        chip.show_attachment(0, attachment(name, text))
        chip.resize(chip.sizeHint())
        assert chip.width() < WIDEST
        assert chip.shown_name == name


def test_a_name_that_has_none_is_cut_in_its_middle(qtbot, theme):
    chip = AttachmentChip(theme, removable=True)
    qtbot.addWidget(chip)
    chip.show_attachment(0, attachment("long " * 40 + ".txt"))
    assert chip.width() == WIDEST
    assert "…" in chip.shown_name
    assert chip.shown_name.endswith(".txt")


def test_side_by_side_they_need_what_they_ask_for(qtbot, theme):
    flow = ChipFlow(theme, removable=False)
    qtbot.addWidget(flow)
    flow.show_attachments([attachment(name) for name in NAMES[:4]])
    flow.arrange(flow.one_line())
    assert [chip.shown_name for chip in flow.chips] == NAMES[:4]


@pytest.mark.parametrize("kind", ["file", "pdf", "pasted"])
def test_what_is_not_counted_is_estimated_with_its_frame_as_the_composer_does(qtbot, theme, kind):
    short = Attachment("a-name-that-is-longer-than-its-text.txt", kind, "hi")
    expected = about(with_attachments("", (short,)))
    chip = AttachmentChip(theme, removable=False)
    dialog = AttachmentDialog(theme, short)
    for part in (chip, dialog):
        qtbot.addWidget(part)
    chip.show_attachment(0, short)
    assert chip.words == f"{short.name}, {expected}"
    assert dialog.about.text() == f"1 line, {expected}"

"""A text that goes with a message: a file, what a PDF says, or a long paste; and the frame in which the model reads it."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Literal

from engine.core.record import Record

type AttachmentKind = Literal["file", "pdf", "pasted"]

_FENCES = re.compile(r"`{3,}")
_SUFFIX = re.compile(r"\.([A-Za-z0-9+#_-]{1,12})\Z")


class Attachment(Record):
    """`text` is all that is kept of what was attached; `tokens` what it came to when it was sent, 0 where nobody counted."""

    name: str
    kind: AttachmentKind
    text: str
    tokens: int = 0


def framed(attachment: Attachment) -> str:
    """Return an attachment as the model reads it: its name, then its text in a fence that nothing inside can close.

    The fence is one backtick longer than the longest run of them in the text. A file's suffix names the language.
    """
    name = " ".join(attachment.name.split()) or "Attachment"
    suffix = _SUFFIX.search(PurePath(name).name) if attachment.kind == "file" else None
    runs = _FENCES.findall(attachment.text) if "```" in attachment.text else []
    longest = max((len(run) for run in runs), default=2)
    fence = "`" * (longest + 1)
    end = "" if attachment.text.endswith("\n") else "\n"
    title = {"file": "File", "pdf": "Text of the PDF", "pasted": "Pasted text"}[attachment.kind]
    heading = title if attachment.kind == "pasted" and name == title else f"{title}: {name}"
    return f"{heading}\n{fence}{suffix[1].lower() if suffix else ''}\n{attachment.text}{end}{fence}"


def with_attachments(text: str, attachments: Iterable[Attachment]) -> str:
    """Return a message's turn as the model reads it: what is attached in its frames, a blank line between, then the words.

    The words come last: while they change, all that stands before them stays read.
    """
    return "\n\n".join((*(framed(one) for one in attachments), *([text] if text.strip() else [])))


def names(attachments: Sequence[Attachment]) -> str:
    """Return the names of what is attached, a line each."""
    return "\n".join(one.name for one in attachments)

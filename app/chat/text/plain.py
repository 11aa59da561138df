"""A person's own text, in blocks as a reply's."""

from app.chat.text.blocks import Gap, Paragraph, Place, Run


def plain_blocks(text: str) -> tuple[Paragraph, ...]:
    """Return a user's text as it was typed: a paragraph a line."""
    place = Place(gap=Gap.NONE)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(Paragraph(place, (Run(line),) if line else ()) for line in lines)

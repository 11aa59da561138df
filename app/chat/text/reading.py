"""Reading a finished text in pieces, each of which takes a few milliseconds."""

from collections.abc import Generator, Sequence

from app.chat.text.blocks import Block
from app.chat.text.markdown import StreamReader

# Characters.
_PIECE = 1_000


def read_in_pieces(text: str) -> Generator[None, None, Sequence[Block]]:
    """Return what `markdown.read` does, yielding now and then."""
    reader = StreamReader()
    yield from _feed(reader, text)
    informed = reader.informed()
    if informed is not None:
        reader = informed
        yield from _feed(reader, text)
    reader.finish()
    return reader.blocks


def _feed(reader: StreamReader, text: str) -> Generator[None]:
    start = 0
    while start < len(text):
        end = start + max(_PIECE, reader.unsettled)
        reader.feed(text[start:end])
        start = end
        yield

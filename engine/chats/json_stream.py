"""A large JSON file piece by piece: its elements or fields, one at a time, so that nothing has to wait for the whole of it."""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from engine.core.errors import UsageError

READ_BYTES = 1 << 18
LARGEST_PIECE = 1 << 28
"""Characters: one element that is longer is refused."""

_SPACE = re.compile(r"[ \t\r\n]*")
_HINT = "Choose the file as it was exported."
_LONGEST_TOKEN = 4096


class Piece(NamedTuple):
    """One field of a document that is an object, or, `inside`, one element of a list: of the field's, or of the document's own.

    A list is announced by a piece of its own, an empty list that is not `inside`. `key` is "" where the document is a list.
    """

    key: str
    value: Any
    inside: bool


def pieces(read: Callable[[int], bytes]) -> Iterator[Piece]:
    """Yield the pieces of the JSON document that `read` gives the bytes of.

    Raises `UsageError` for anything but UTF-8 JSON, after the pieces before the damage.
    """
    text = _Text(read)
    first = text.peek()
    if first == "[":
        yield from _elements(text, "")
    elif first == "{":
        yield from _fields(text)
    else:
        raise UsageError("This is not a JSON file.", _HINT)
    if text.peek():
        raise UsageError("This JSON file goes on after its end.", _HINT)


def _fields(text: "_Text") -> Iterator[Piece]:
    text.take("{")
    while text.peek() != "}":
        key = str(text.value())
        text.take(":")
        if text.peek() == "[":
            yield from _elements(text, key)
        else:
            yield Piece(key, text.value(), False)
        if not text.goes_on("}"):
            break
    text.take("}")


def _elements(text: "_Text", key: str) -> Iterator[Piece]:
    text.take("[")
    yield Piece(key, [], False)
    while text.peek() != "]":
        yield Piece(key, text.value(), True)
        if not text.goes_on("]"):
            break
    text.take("]")


class _Text:
    """The part of the document that is being read: from `_place` in `_held` on."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._held = ""
        self._place = 0
        self._ended = False

    def peek(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while True:
            space = _SPACE.match(self._held, self._place)
            self._place = space.end() if space else self._place
            if self._place < len(self._held) or self._ended:
                return self._held[self._place : self._place + 1]
            self._fill()

    def take(self, character: str) -> None:
        """Step over a character that has to come next."""
        if self.peek() != character:
            raise _damaged(self._ended and self._place >= len(self._held))
        self._place += 1

    def goes_on(self, end: str) -> bool:
        """Step over a comma; return whether there was one, False before `end`."""
        if self.peek() == end:
            return False
        self.take(",")
        if self.peek() == end:
            raise _damaged(False)
        return True

    def value(self) -> Any:
        """Return the next value. More is read, twice as much each time, until it is whole."""
        self.peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._held, self._place)
            except json.JSONDecodeError as error:
                near_end = len(self._held) - error.pos < _LONGEST_TOKEN or error.msg.startswith("Unterminated string")
                if self._ended or not near_end:
                    raise _damaged(self._ended and near_end) from error
            except (RecursionError, ValueError) as error:  # A number with thousands of digits is a ValueError.
                raise _damaged(False) from error
            else:
                if end < len(self._held) or self._ended:  # A number at the end may go on.
                    self._place = end
                    return value
            if len(self._held) - self._place > LARGEST_PIECE:
                raise UsageError("This JSON file holds one piece that is too large to be a chat.", _HINT)
            self._fill()

    def _fill(self) -> None:
        rest = self._held[self._place :]
        wanted = max(READ_BYTES, len(rest))
        read = []
        while wanted > 0 and not self._ended:
            data = self._read(min(wanted, READ_BYTES))
            try:
                read.append(self._decoder.decode(data, final=not data))
            except UnicodeDecodeError as error:
                raise UsageError("This file holds no text in UTF-8.", _HINT) from error
            self._ended = not data
            wanted -= len(data)
        self._held, self._place = rest + "".join(read), 0


def _damaged(short: bool) -> UsageError:
    if short:
        return UsageError("This JSON file was cut short.", "Export or download it again.")
    return UsageError("This is not a JSON file, or it is damaged.", _HINT)

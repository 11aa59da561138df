"""Turns an error into what a person is shown: one sentence, what to do, and whether it stays. Never a traceback."""

import contextlib
import re
from collections.abc import Iterator
from typing import Literal

from PySide6.QtCore import SignalInstance

from engine.core import errors
from engine.core.errors import ErrorInfo, FlintError, describe
from engine.core.machine import THIS_MACHINE
from engine.core.record import Record

type Place = Literal["", "models", "settings"]

MOST_LETTERS = 300
_UNKNOWN = "Something went wrong inside Flint."
_TRACEBACK = re.compile(r"Traceback \(most recent call last\)|^\s*File \".*\", line \d+", re.MULTILINE)
_COMMAND = re.compile(r"`flint (?!doctor`)")

# The engine's standing hints are for a terminal too; in the window the same advice names the window's own ways.
_WINDOW_HINTS = {
    errors.UsageError.code: "Check what was entered, then try again.",
    errors.SettingsError.code: "Choose a value inside the bounds shown beside the setting.",
    errors.ModelNotFound.code: f"Models shows what is on {THIS_MACHINE}. It may have been moved or deleted.",
    errors.NoModelLoaded.code: "Choose a model at the top of the window.",
    errors.EngineStopped.code: "Close Flint and open it again. What was written is saved.",
}
_ENGINE_HINTS = {
    kind.code: kind.default_hint
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.FlintError)
}
_PLACES: dict[str, Place] = {
    errors.ModelNotFound.code: "models",
    errors.ModelBroken.code: "models",
    errors.ModelUnsupported.code: "models",
    errors.TemplateError.code: "models",
    errors.NoModelLoaded.code: "models",
    errors.SettingsError.code: "settings",
    errors.ContextFull.code: "settings",
}
# Nothing failed and nothing was lost: somebody is told what comes first, or what can't be.
_PASSING = {errors.NoModelLoaded.code, errors.SettingsError.code, errors.FileRefused.code}


class Notice(Record):
    """What is shown of an error.

    `title` is one sentence, `hint` what to do; `stays` says that it is shown until somebody closes it; `place` names the part
    of the window where it can be mended, or is empty.
    """

    title: str
    hint: str
    stays: bool
    place: Place

    @property
    def kind(self) -> Literal["error", "refusal"]:
        """The kind of toast: errors stay, refusals go after a while."""
        return "error" if self.stays else "refusal"

    @property
    def action(self) -> str:
        """The words of a link to `place`, or nothing."""
        return {"models": "Open Models", "settings": "Open Settings", "": ""}[self.place]


@contextlib.contextmanager
def telling(failed: SignalInstance) -> Iterator[None]:
    """Tell by a signal, as an `ErrorInfo`, what goes wrong inside."""
    try:
        yield
    except FlintError as error:
        failed.emit(error.info())


def notice(error: ErrorInfo | BaseException) -> Notice:
    """Return what to show of an error, as it came in an event or was raised here."""
    info = describe(error) if isinstance(error, BaseException) else error
    return Notice(
        title=_sentence(info.text) or _UNKNOWN,
        hint=advice(info),
        stays=info.code not in _PASSING,
        place=_PLACES.get(info.code, ""),
    )


def advice(error: ErrorInfo | FlintError) -> str:
    """Return what to do about an error, in the window's own ways."""
    standing = _ENGINE_HINTS.get(error.code, "")
    return in_window(error.hint.replace(standing, _WINDOW_HINTS.get(error.code, standing)))


def in_window(text: str) -> str:
    """Return text without the sentences that name a command of Flint's: a window has ways of its own, save for the doctor's."""
    sentences = re.split(r"(?<=[.?!])\s+", text)
    return _plain(" ".join(sentence for sentence in sentences if not _COMMAND.search(sentence)))


def _sentence(text: str) -> str:
    """Return the part of `text` that a person can read as one sentence, with its full stop; nothing of a traceback."""
    before = _TRACEBACK.split(text, maxsplit=1)[0]
    line = _plain(before)
    if len(line) > MOST_LETTERS:
        line = line[: MOST_LETTERS - 1].rsplit(" ", 1)[0].rstrip(" .,;:") + "…"
    if not line:
        return ""
    return line if line[-1] in ".!?…" else f"{line}."


def _plain(text: str) -> str:
    """Return text on one line, commands in quotes instead of back ticks."""
    return re.sub(r"`([^`]*)`", "“\\1”", " ".join(text.split()))

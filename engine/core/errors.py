"""The error tree. An error says what happened, what to do about it, and how a shell or an HTTP client should see it."""

from typing import ClassVar

from engine.core.machine import THIS_MACHINE
from engine.core.record import Record


class ErrorInfo(Record):
    """An error as it travels in an event: plain data, the same facts as the exception it came from.

    `link` is a page that helps, or "".
    """

    code: str
    text: str
    hint: str
    exit_code: int
    http_status: int
    link: str = ""


class FlintError(Exception):
    """Base of everything Flint raises on purpose.

    `code` is a stable name, `text` a sentence for people, `hint` what to do next, `exit_code` the command line's status,
    `http_status` the endpoint's.
    """

    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    default_hint: ClassVar[str] = "Try again. If it happens again, run `flint doctor` and report what it prints."

    def __init__(self, text: str, hint: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.hint = self.default_hint if hint is None else hint

    def info(self) -> ErrorInfo:
        """Return the error as plain data."""
        return ErrorInfo(self.code, self.text, self.hint, self.exit_code, self.http_status)


class Stopped(Exception):
    """Raised by a progress callback to end what reports to it, because somebody asked; no error, so nobody is told."""


class UsageError(FlintError):
    """The request itself is wrong: a value out of bounds, an option that does not exist."""

    code = "usage"
    exit_code = 2
    http_status = 400
    default_hint = "See `flint --help`."


class SettingsError(UsageError):
    """A setting has a value that it cannot have."""

    code = "bad-setting"
    exit_code = 3
    default_hint = "Choose a value inside the bounds that the settings panel and `flint chat --help` show."


class ModelNotFound(FlintError):
    """No model of that name is on this machine."""

    code = "model-not-found"
    exit_code = 10
    http_status = 404
    default_hint = f"`flint models list` shows the models on {THIS_MACHINE}."


class ModelBroken(FlintError):
    """The model's files are incomplete or damaged."""

    code = "model-broken"
    exit_code = 11
    http_status = 422
    default_hint = "Download or import the model again."


class ModelUnsupported(FlintError):
    """The model is whole, but of a kind that Flint cannot run."""

    code = "model-unsupported"
    exit_code = 12
    http_status = 422
    default_hint = "Choose a model of an architecture that mlx-lm runs."


class TemplateError(FlintError):
    """The model's chat template is missing, does not parse or refuses the conversation."""

    code = "bad-template"
    exit_code = 13
    http_status = 422
    default_hint = "Choose a chat model (often named “instruct” or “chat”): a base model has no chat template."


class NoModelLoaded(FlintError):
    """Something needs a model and none is loaded."""

    code = "no-model"
    exit_code = 14
    http_status = 409
    default_hint = "Choose a model first."


class ContextFull(FlintError):
    """The conversation does not fit into the model's context."""

    code = "context-full"
    exit_code = 15
    http_status = 413
    default_hint = "Raise the context length, shorten the message, or start a new chat."


class OutOfMemory(FlintError):
    """The machine has not enough memory for the work."""

    code = "out-of-memory"
    exit_code = 16
    http_status = 507
    default_hint = "Close other apps, choose a smaller model or a shorter context."


class GenerationFailed(FlintError):
    """The model raised while it read or wrote; the caches it may have harmed were dropped."""

    code = "generation-failed"
    exit_code = 17
    default_hint = "Send the message again. The model's cache was reset, so nothing wrong is kept."


class EngineStopped(FlintError):
    """The engine is shutting down or has ended."""

    code = "engine-stopped"
    exit_code = 18
    http_status = 503
    default_hint = "Start Flint again."


class DiskFull(FlintError):
    """A write failed for lack of space."""

    code = "disk-full"
    exit_code = 20
    http_status = 507
    default_hint = "Free some space, then try again. Nothing half-made was kept."


class ReadOnly(FlintError):
    """A folder that Flint must write to cannot be written, or a file of its own not be read."""

    code = "read-only"
    exit_code = 21
    default_hint = "Make the folder writable, or set FLINT_HOME to one that is."


class StoreTooNew(FlintError):
    """The chat database was written by a newer Flint."""

    code = "store-too-new"
    exit_code = 22
    default_hint = "Update Flint. The database was left as it is."


class StoreBroken(FlintError):
    """The chat database cannot be read."""

    code = "store-broken"
    exit_code = 23
    default_hint = "The file was left as it is. Restore it from a backup, or move it away to start afresh."


class StoreBusy(FlintError):
    """Another process holds the chat database and did not let go in time."""

    code = "store-busy"
    exit_code = 25
    http_status = 503
    default_hint = "Try again in a moment. If it lasts, close the other Flint window or command."


class ChatNotFound(FlintError):
    """No chat has that id."""

    code = "chat-not-found"
    exit_code = 24
    http_status = 404
    default_hint = "The id may be of a chat that was deleted; look in the trash."


class FileRefused(FlintError):
    """A file that can't go with a message: it is no text, too large, locked or damaged."""

    code = "file-refused"
    exit_code = 27
    http_status = 415
    default_hint = "Text, code and PDF files can be attached."


def describe(error: BaseException) -> ErrorInfo:
    """Return any exception as an `ErrorInfo`; one that Flint did not raise is told in one plain line, never a traceback."""
    if isinstance(error, FlintError):
        return error.info()
    text = f"Something went wrong inside Flint ({type(error).__name__})."
    return FlintError(text).info()

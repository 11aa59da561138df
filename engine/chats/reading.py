"""Files as texts that can go with a message: whatever their encoding, PDFs too; what is no text is refused by name."""

import codecs
import io
import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path

from engine.chats.attachment import Attachment
from engine.core.errors import FileRefused, Stopped
from engine.core.sizes import size_text

LARGEST_TEXT = 2_000_000
"""Bytes of a text file, and characters of a PDF's text."""
LARGEST_PDF = 100_000_000

_SNIFFED = 4096
_TEXT_ONLY = "Text, code and PDF files can be attached."
_PICTURE = "The model reads text, no pictures. Text, code and PDF files can be attached."
_OFFICE = "Save it as a PDF or as plain text and attach that."
# The longer one first: the UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PICTURES = frozenset(["jpg", "jpeg", "png", "gif", "webp", "heic", "tiff", "tif", "bmp", "ico", "svgz", "psd", "avif"])
_OFFICES = frozenset(["doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "pages", "numbers", "key", "epub"])
# What no text holds: control characters but for tab, line and page breaks, backspace and escape.
_CONTROLS = bytes(set(range(32)) - {8, 9, 10, 12, 13, 27})


def read_file(
    path: Path, progress: Callable[[float], None] = lambda _: None, cancelled: Callable[[], bool] = lambda: False
) -> Attachment:
    """Return the text of a file. `progress` is told how much of it is read, 0 to 1.

    Raises `FileRefused`, and `Stopped` once `cancelled` says so.
    """
    name = path.name or str(path)
    try:
        _check_kind(path, name)
        with path.open("rb") as file:
            head = file.read(_SNIFFED)
            pdf = b"%PDF-" in head[:1024]
            size = os.fstat(file.fileno()).st_size
            if not pdf and _is_binary(head):
                raise _no_text(name)
            largest = LARGEST_PDF if pdf else LARGEST_TEXT
            if size > largest:
                hint = f"Up to {size_text(largest)} can be attached. Paste the part that matters, or attach a part of it."
                raise FileRefused(f"“{name}” is too large: it has {size_text(size, 1)}.", hint)
            data = head + file.read(largest + 1 - len(head))
    except OSError as error:
        raise FileRefused(f"“{name}” could not be read: {error.strerror or error}.", "Check that it is still there.") from error
    if cancelled():
        raise Stopped
    text = _pdf_text(name, data, progress, cancelled) if pdf else decode(name, data)
    if not text.strip():
        raise FileRefused(f"“{name}” is empty.", _TEXT_ONLY)
    return Attachment(name, "pdf" if pdf else "file", text)


def decode(name: str, data: bytes) -> str:
    """Return the text in a file's bytes, its line ends as \\n: by its byte order mark, as UTF-8, or in the likeliest encoding.

    Raises `FileRefused` where it is no text.
    """
    text = _marked(data)
    if text is None and not _is_binary(data):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = _guessed(data)
    if text is None:
        raise _no_text(name)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_kind(path: Path, name: str) -> None:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise FileRefused(f"“{name}” is a folder.", "Attach the files in it that matter.")
    if not stat.S_ISREG(mode):  # Reading a pipe would wait for ever.
        raise FileRefused(f"“{name}” is not a file that can be read.", _TEXT_ONLY)


def _no_text(name: str) -> FileRefused:
    suffix = Path(name).suffix.lower().removeprefix(".")
    hint = _PICTURE if suffix in _PICTURES else _OFFICE if suffix in _OFFICES else _TEXT_ONLY
    return FileRefused(f"“{name}” is not a text file.", hint)


def _marked(data: bytes) -> str | None:
    """Return the text of data whose byte order mark, or whose zeros, tell its encoding; None for other data."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                return None
    encoding = _wide(data)
    try:
        return data.decode(encoding) if encoding else None
    except UnicodeDecodeError:
        return None


def _wide(data: bytes) -> str:
    """Return which UTF-16 data without a mark is in, where mostly every other byte is zero; else nothing."""
    sample = data[: _SNIFFED - _SNIFFED % 2]
    if len(sample) < 4 or len(data) % 2:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.4 * half and not even:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 * half and not odd else ""


def _is_binary(data: bytes) -> bool:
    """Return whether data holds what no text in an encoding of single bytes or of UTF-8 holds."""
    if any(data.startswith(mark) for mark, _ in _MARKS) or _wide(data):
        return False
    return len(data.translate(None, _CONTROLS)) != len(data)


def _guessed(data: bytes) -> str | None:
    from charset_normalizer import from_bytes  # On first use: it brings tables of every encoding.

    # Enough to tell the language by; the whole is then decoded in what that was found to be.
    found = from_bytes(data[:64_000])
    best = found.best()
    if best is None:
        return None
    # French looks the better to it the rarer the encoding: where the usual one of the West is nearly as good, it is meant.
    western = [one for one in found if "cp1252" in (one.encoding, *one.could_be_from_charset)]
    usual = any(one.chaos <= best.chaos + 0.1 and one.coherence >= best.coherence - 0.01 for one in western)
    encoding = "cp1252" if usual else best.encoding
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return data.decode(best.encoding, "replace")


def _pdf_text(name: str, data: bytes, progress: Callable[[float], None], cancelled: Callable[[], bool]) -> str:
    import pypdf  # On first use: few messages bring a PDF.
    from pypdf.errors import DependencyError

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # It tells of every small fault that it mends.
    locked = FileRefused(f"“{name}” is locked with a password.", "Save a copy without the password and attach that.")
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        try:
            if reader.is_encrypted and not reader.decrypt(""):
                raise locked
            count = len(reader.pages)
        except DependencyError as error:
            raise locked from error
        pages: list[str] = []
        length = 0
        for number in range(count):
            if cancelled():
                raise Stopped
            progress(number / count)
            pages.append(reader.pages[number].extract_text().replace("\x00", "").strip())
            length += len(pages[-1])
            if length > LARGEST_TEXT:
                hint = "Save the pages that matter as a PDF of their own and attach that."
                raise FileRefused(f"“{name}” has more text than can be attached, over {LARGEST_TEXT:,} characters.", hint)
    except (FileRefused, Stopped):
        raise
    except Exception as error:  # What is wrong with a damaged PDF is told in many ways.
        raise FileRefused(f"“{name}” is damaged and can't be read.", "Open it in a PDF reader and save it anew.") from error
    if count and not length:
        hint = "Its pages may be scanned pictures: run text recognition on it first."
        raise FileRefused(f"“{name}” holds no text.", hint)
    if count == 1:
        return pages[0]
    return "\n\n".join(f"[Page {number}]\n{page}" for number, page in enumerate(pages, 1) if page)

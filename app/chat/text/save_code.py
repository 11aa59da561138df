"""Saving a block of code as a file: what it would be called, and where it goes."""

import re
from functools import lru_cache
from pathlib import Path

from PySide6.QtWidgets import QMessageBox, QWidget

from app.chat.text.code import find_lexer
from app.errors import notice
from app.widgets.file_dialogs import ask_where_to_save
from engine.core.chosen_file import write_chosen
from engine.core.errors import FlintError

_NAMED = re.compile(r"(?:^|[\s:\"'=])([\w.-]*\w\.\w{1,8})(?=$|[\s\"'}])")
_FIRST_LINE = re.compile(r"(?:#|//|--|;|/\*|<!--|%)+\s*(?:file(?:name)?:\s*)?(\S+?\.\w{1,8})\s*(?:\*/|-->)?")
_WHOLE_NAMES = {
    "dockerfile": "Dockerfile",
    "docker": "Dockerfile",
    "makefile": "Makefile",
    "make": "Makefile",
    "cmake": "CMakeLists.txt",
}
_LONGEST = 80


def suggested_name(language: str, code: str) -> str:
    """Return what a file of this code would be called: as the block says, or after its language."""
    info = language.strip()
    first = code.split("\n", 1)[0].strip()
    for found in (_NAMED.search(info.partition(" ")[2] or info.partition(":")[2]), _FIRST_LINE.fullmatch(first)):
        name = _safe(found.group(1)) if found else ""
        if name:
            return name
    word = info.split(" ")[0].split(":")[0].strip("{}.").lower()
    return _WHOLE_NAMES.get(word) or f"code{_ending(word)}"


def save_code(code: str, language: str, parent: QWidget) -> None:
    """Ask where to save code, and save it there as UTF-8; a failure is told."""
    name = suggested_name(language, code)
    ask_where_to_save(parent, "saveCodeDialog", "Save code", "", name, lambda path: _write(path, code, parent))


def _write(path: Path, code: str, parent: QWidget) -> None:
    try:
        write_chosen(path, [code if code.endswith("\n") else f"{code}\n"])
    except FlintError as error:
        told = notice(error)
        box = QMessageBox(parent)
        box.setObjectName("saveCodeFailed")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(told.title)
        box.setInformativeText(told.hint)
        box.open()


def _safe(name: str) -> str:
    """Return the last part of a name where it is one that a file can have; hidden files and folders are none."""
    last = re.split(r"[/\\]", name)[-1]
    return last if len(last) <= _LONGEST and re.fullmatch(r"\w[\w.-]*", last) else ""


@lru_cache(64)
def _ending(word: str) -> str:
    lexer = find_lexer(word)
    for pattern in lexer.filenames if lexer is not None else ():
        if re.fullmatch(r"\*\.\w+", pattern):
            return str(pattern[1:])
    return ".txt"

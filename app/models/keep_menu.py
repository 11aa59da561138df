"""What can be done with a model that is here: name, notes, chat template, update, quantize, move to the trash."""

import re
from collections.abc import Callable

from PySide6.QtWidgets import QMenu

from app.models.words import size_text
from engine.core.facts import ModelEntry

type Wish = Callable[[str, str], object]
"""Takes what is wanted, and the bits of a copy."""

_BITS = re.compile(r"(\d+(?:\.\d+)?)-bit(?:, groups of (\d+))?")
_STORED = {"F32": 32.0}
_FULL = 16.0
_GROUP = 64
_CHOICES = (("8", 8.0), ("6", 6.0), ("mixed", 4.6), ("4", 4.0), ("3", 3.0))
_ON_THEIR_OWN = {"lmstudio": "LM Studio", "ollama": "Ollama"}


def fill_keep_menu(menu: QMenu, entry: ModelEntry, wish: Wish, show_folder: Callable[[], object], show_words: str) -> None:
    """Fill a menu for a model; `show_words` names what `show_folder` does on this system."""
    menu.addAction(show_words).triggered.connect(lambda: show_folder())
    menu.addAction("Name and Notes…").triggered.connect(lambda: wish("notes", ""))
    template = menu.addAction("Chat Template…")
    template.setEnabled(entry.kind == "mlx" and not entry.problem)
    template.triggered.connect(lambda: wish("template", ""))
    if entry.origin == "huggingface":
        menu.addAction("Check for a Newer Version").triggered.connect(lambda: wish("update", ""))
    copies = menu.addMenu("Make a Smaller Copy")
    for bits, size in smaller_copies(entry):
        words = "4 and 6 bits mixed" if bits == "mixed" else f"{bits} bits"
        copies.addAction(f"{words}, about {size_text(size)}").triggered.connect(lambda _=False, b=bits: wish("quantize", b))
    copies.setEnabled(not copies.isEmpty())
    menu.addSeparator()
    owner = _ON_THEIR_OWN.get(entry.origin)
    remove = menu.addAction(f"Kept by {owner}: Delete It There" if owner else "Move to Trash…")
    remove.setEnabled(owner is None and entry.origin != "folder" and not (entry.origin == "starter" and entry.kind == "gguf"))
    remove.triggered.connect(lambda: wish("trash", ""))


def smaller_copies(entry: ModelEntry) -> list[tuple[str, int]]:
    """Return the bits that a model can be quantized to, each with the bytes that this comes to; none for one that can't."""
    if entry.kind != "mlx" or entry.problem:
        return []
    match = _BITS.match(entry.quantization)
    now = float(match[1]) if match else _STORED.get(entry.quantization, _FULL)
    stored = now + 32 / int(match[2] or _GROUP) if match else now
    floor = {"mixed": 4.0}
    return [
        (bits, round(entry.size_bytes * (size + 32 / _GROUP) / stored))
        for bits, size in _CHOICES
        if floor.get(bits, size) < now
    ]

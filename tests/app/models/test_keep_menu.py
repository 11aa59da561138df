"""What the menu of a model offers, by whose it is and how it is stored."""

import dataclasses

import pytest
from PySide6.QtWidgets import QMenu

from app.models.keep_menu import fill_keep_menu, smaller_copies
from engine.core.facts import ModelEntry

FULL = ModelEntry("org/full", "Full", "/m/full", "huggingface", "mlx", 16_000_000_000, "llama", 8192, "BF16")


def menu_for(qtbot, entry):
    menu = QMenu()
    qtbot.addWidget(menu)
    wishes = []
    fill_keep_menu(menu, entry, lambda *wish: wishes.append(wish), lambda: wishes.append("folder"), "Open folder")
    return menu, wishes


def action(menu, start):
    return next(each for each in menu.actions() if each.text().startswith(start))


def test_each_entry_is_a_wish(qtbot):
    menu, wishes = menu_for(qtbot, FULL)
    for start in ("Open folder", "Name and Notes", "Chat Template", "Check for", "Move to Trash"):
        action(menu, start).trigger()
    action(action(menu, "Make a Smaller").menu(), "4 bits, about 4.5 GB").trigger()
    assert wishes == ["folder", ("notes", ""), ("template", ""), ("update", ""), ("trash", ""), ("quantize", "4")]


@pytest.mark.parametrize(("origin", "words"), [("lmstudio", "Kept by LM Studio"), ("ollama", "Kept by Ollama")])
def test_what_others_keep_is_deleted_there(qtbot, origin, words):
    menu, _ = menu_for(qtbot, dataclasses.replace(FULL, origin=origin))
    assert not action(menu, words).isEnabled()
    assert all(not each.text().startswith("Check") for each in menu.actions())


@pytest.mark.parametrize(
    ("quantization", "bits"),
    [
        ("BF16", ["8", "6", "mixed", "4", "3"]),
        ("8-bit, groups of 64", ["6", "mixed", "4", "3"]),
        ("4-bit, groups of 32", ["3"]),
        ("3-bit, groups of 64", []),
    ],
)
def test_copies_are_smaller_than_what_is_there(quantization, bits):
    copies = smaller_copies(dataclasses.replace(FULL, quantization=quantization))
    assert [bits for bits, _ in copies] == bits
    assert all(0 < size < FULL.size_bytes for _, size in copies)


def test_a_gguf_or_a_broken_model_has_no_copies(qtbot):
    assert smaller_copies(dataclasses.replace(FULL, kind="gguf")) == []
    menu, _ = menu_for(qtbot, dataclasses.replace(FULL, problem="cut short"))
    assert not action(menu, "Make a Smaller").isEnabled()

"""The menu of a message: everything that can be done with it, and what can't be done now greyed."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QMenu

from engine.chats.continuing import is_cut
from engine.chats.records import StoredMessage
from engine.core.facts import ModelEntry
from engine.core.record import Record
from engine.core.setting import Value
from engine.core.settings import BY_NAME, Sampling

STEP = 0.3


class Offer(Record):
    """What a menu is made for: `last` says that nothing follows the message, `busy` that a reply is on its way."""

    message: StoredMessage
    last: bool
    busy: bool
    models: Sequence[ModelEntry]
    model_id: str
    sampling: Sampling


class Deeds(Record):
    """What the entries of a menu do; those with arguments get the model's id, the settings or the step."""

    copy: Callable[[], object]
    edit: Callable[[], object]
    regenerate: Callable[[], object]
    regenerate_with: Callable[[str, dict[str, Value]], object]
    go_on: Callable[[], object]
    switch: Callable[[int], object]
    fork: Callable[[], object]
    run_again: Callable[[], object]
    inspect: Callable[[], object]
    measured: Callable[[], object]
    delete: Callable[[], object]


def fill(menu: QMenu, offer: Offer, deeds: Deeds) -> None:
    """Add what can be done with a message to a menu."""
    message = offer.message
    reply = message.role == "assistant"
    written = message.state != "streaming"
    free = written and not offer.busy
    _add(menu, "Copy Message", deeds.copy, bool(message.text))
    _add(menu, "Edit…", deeds.edit, written)
    menu.addSeparator()
    _add(menu, "Regenerate" if reply else "Write Another Reply", deeds.regenerate, free)
    if reply:
        _add_regenerate_with(menu, offer, deeds, free)
    if written and is_cut(message):
        _add(menu, "Continue", deeds.go_on, free and offer.last)
    if message.sibling_count > 1:
        _add(menu, "Earlier Version", lambda: deeds.switch(-1), free and message.sibling_index > 0)
        _add(menu, "Later Version", lambda: deeds.switch(1), free and message.sibling_index < message.sibling_count - 1)
    menu.addSeparator()
    _add(menu, "Fork Chat from Here", deeds.fork, written)
    if reply and message.facts is not None:
        _add(menu, "Run Again Exactly…", deeds.run_again, free)
        _add(menu, "What the Model Saw", deeds.inspect, True)
        _add(menu, "What Was Measured", deeds.measured, True)
    menu.addSeparator()
    _add(menu, "Delete", deeds.delete, free)


def presets(sampling: Sampling) -> list[tuple[str, dict[str, Value]]]:
    """Return other ways to draw a reply than `sampling`, in words and as settings."""
    setting = BY_NAME["temperature"]
    least, most = float(setting.minimum or 0), float(setting.maximum or 2)
    hotter = min(most, round(sampling.temperature + STEP, 2))
    colder = max(least, round(sampling.temperature - STEP, 2))
    found: list[tuple[str, dict[str, Value]]] = []
    if hotter > sampling.temperature:
        found.append((f"Hotter: Temperature {hotter:g}", {"temperature": hotter}))
    if colder < sampling.temperature:
        found.append((f"Colder: Temperature {colder:g}", {"temperature": colder}))
    if sampling.temperature > 0 and colder > 0:
        found.append(("Likeliest Tokens: Temperature 0", {"temperature": 0.0}))
    if sampling.temperature > 0:
        found.append(("A New Seed", {"seed": None}))
    return found


def _add_regenerate_with(menu: QMenu, offer: Offer, deeds: Deeds, free: bool) -> None:
    inner = menu.addMenu("Regenerate With")
    inner.setObjectName("regenerateMenu")
    inner.setEnabled(free)
    for title, given in presets(offer.sampling):
        inner.addAction(title, partial(deeds.regenerate_with, "", given))
    usable = [entry for entry in offer.models if not entry.problem]
    if usable:
        inner.addSection("Model")
    for entry in usable:
        action = inner.addAction(entry.name, partial(deeds.regenerate_with, entry.id, {}))
        action.setCheckable(entry.id == offer.model_id)
        action.setChecked(entry.id == offer.model_id)


def _add(menu: QMenu, title: str, deed: Callable[[], object], enabled: bool) -> None:
    menu.addAction(title, deed).setEnabled(enabled)

"""What becomes of another program's chat: one of Flint's, and how much of it had no place there."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from engine.chats.export import is_id
from engine.chats.records import ChatTree, MessageNode
from engine.core.record import Record

_MILLISECONDS = 1e11
"""Times above it are not seconds: they would lie beyond the year 5000."""


class Converted(Record):
    """`skipped` counts messages that could not be read, and steps of tools."""

    tree: ChatTree
    skipped: int


def time_of(value: Any, default: float) -> float:
    """Return a time as Unix seconds, also from milliseconds; `default` where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return default
    return float(value / 1000 if value > _MILLISECONDS else value)


def text_of(value: Any) -> str:
    """Return a text, "" where the value is none."""
    return value if isinstance(value, str) else ""


def id_of(value: Any) -> str:
    """Return an id that Flint can keep, "" where the value is none."""
    return value if is_id(value) else ""


def object_of(value: Any) -> dict[str, Any]:
    """Return a JSON object, an empty one where the value is none."""
    return value if isinstance(value, dict) else {}


def with_names(text: str, names: Iterable[str]) -> str:
    """Return a message's text with a line for each file that went with it: only its name is known."""
    lines = [f"[Attached: {' '.join(name.split())}]" for name in names if name.strip()]
    return "\n\n".join(part for part in (text.strip("\n"), "\n".join(lines)) if part)


def one_active(nodes: list[MessageNode], depths: dict[str, int]) -> tuple[MessageNode, ...]:
    """Mark one message of each group of siblings as shown: the one furthest along the active path (`depths`), else the last."""
    shown: dict[str | None, MessageNode] = {}
    for node in nodes:
        before = shown.get(node.parent_id)
        if before is None or depths.get(node.id, -1) >= depths.get(before.id, -1):
            shown[node.parent_id] = node
    return tuple(replace(node, active=shown[node.parent_id] is node) for node in nodes)

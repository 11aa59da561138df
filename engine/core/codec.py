"""Messages as lines of JSON, and back: what a process that is another one's engine reads and writes."""

import dataclasses
import functools
import json
import types
import typing
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from engine.core.messages import COMMANDS, EVENTS, Command, Event

_BY_TAG = {kind.__name__: kind for kind in (*COMMANDS, *EVENTS)}


def to_json(message: Command | Event) -> str:
    """Return a message as one line of ASCII JSON, whatever its texts hold; its `type` is the class's name."""
    return json.dumps({"type": type(message).__name__, **dataclasses.asdict(message)})


def from_json(line: str) -> Command | Event:
    """Return the message that `to_json` wrote; raise `ValueError` for anything else."""
    try:
        raw = json.loads(line)
        kind = _BY_TAG[raw.pop("type")]
        return typing.cast("Command | Event", restore(kind, raw))
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not a message: {line[:200]!r}") from error


def restore(kind: Any, raw: Any) -> Any:
    """Rebuild a value of type `kind` (dataclasses, tuples, unions with None, plain types) from what `json.loads` gave.

    Raises `TypeError` or `KeyError` when `raw` does not have that shape.
    """
    if isinstance(kind, typing.TypeAliasType):
        return restore(kind.__value__, raw)
    if dataclasses.is_dataclass(kind):
        hints = _field_types(typing.cast("Any", kind))
        values = {name: restore(hints[name], value) for name, value in raw.items() if name in hints}
        return typing.cast("type[Any]", kind)(**values)
    origin = get_origin(kind)
    if origin is tuple:
        if not isinstance(raw, list):
            raise TypeError(f"{raw!r} is not a list")
        return tuple(restore(get_args(kind)[0], item) for item in raw)
    if origin in (Union, types.UnionType):
        inner = [part for part in get_args(kind) if part is not type(None)]
        return None if raw is None else restore(inner[0], raw)
    if origin is Literal:
        if raw not in get_args(kind):
            raise TypeError(f"{raw!r} is not one of {get_args(kind)}")
        return raw
    if kind is float and type(raw) is int:
        return float(raw)
    if not isinstance(raw, kind) or (isinstance(raw, bool) and kind is not bool):
        raise TypeError(f"{raw!r} is not {kind}")
    return raw


@functools.cache
def _field_types(kind: Any) -> dict[str, Any]:
    """Return a dataclass's field types by name; worked out once, for a chat restores one record a reply."""
    hints = get_type_hints(kind)
    return {entry.name: hints[entry.name] for entry in dataclasses.fields(kind)}

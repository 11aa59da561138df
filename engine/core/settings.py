"""Every setting, declared once. The panel, the command line, the settings file and the engine all derive from here."""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from engine.core.errors import SettingsError
from engine.core.record import Record
from engine.core.sampling import Sampling as Sampling
from engine.core.setting import Applies, Scope, Setting, Value
from engine.core.setting import declared as _setting


class Conversation(Record):
    """What a conversation is held with."""

    system_prompt: str = _setting(
        "",
        multiline=True,
        label="System prompt",
        short_flag="--system",
        help="Instructions the model reads before the conversation. Empty leaves the model's own default.",
    )
    context: int | None = _setting(
        None,
        minimum=256,
        maximum=1_048_576,
        step=256,
        unit="tokens",
        logarithmic=True,
        label="Context length",
        none_label="as large as the model allows, at most 32,768",
        help="How many tokens of the conversation the model sees at once. More needs more memory.",
    )


class KeyValueCache(Record):
    """How the KV cache is kept, and what happens when the context is full."""

    kv_bits: Literal["off", "8", "8/4", "4"] = _setting(
        "off",
        label="KV precision",
        labels={"off": "Off", "8": "8/8", "8/4": "8/4", "4": "4/4"},
        help="Bits of the keys and values the model keeps of the conversation. Fewer bits take less memory; 8/8 is nearly "
        "exact, 4/4 is noticeable. The newest 64 tokens always stay exact.",
    )
    prefill_chunk: int | None = _setting(
        None,
        minimum=16,
        maximum=2048,
        step=16,
        unit="tokens",
        logarithmic=True,
        label="Largest chunk",
        none_label="as many as 0.3 s of work",
        help="How many tokens of a prompt are read at once, at most. Fewer take less memory and are read more slowly.",
    )
    when_full: Literal["stop", "roll", "compact"] = _setting(
        "roll",
        label="When full",
        labels={"stop": "Stop", "roll": "Roll", "compact": "Compact"},
        help="Stop ends with a clear message when the context is full. Roll keeps the system prompt and the newest "
        "messages, and marks in the chat what the model no longer sees. Compact lets the model summarise the older messages; "
        "the summary is shown and can be changed.",
    )
    memory_guard: Literal["ask", "adapt", "off"] = _setting(
        "ask",
        label="Memory guard",
        labels={"ask": "Ask", "adapt": "Adapt", "off": "Off"},
        help="Flint works out what a reply takes before it is begun. Ask shows the figures and what would fit. Adapt takes the "
        "first that fits: smaller chunks, then fewer bits, then a shorter context. Off takes the memory all the same: a Mac "
        "that runs out of it can stop. For loading a model, what is set for all chats counts.",
    )


class Engine(Record):
    """How a model is held in memory."""

    weights: Literal["auto", "as-stored", "dense"] = _setting(
        "auto",
        label="Weights",
        labels={"auto": "Automatic", "as-stored": "As stored", "dense": "Dense"},
        help="Automatic keeps weights quantized on a GPU; on a CPU it unpacks them when they fit in a quarter of the memory, "
        "which is faster there.",
        applies=Applies.NEXT_LOAD,
    )
    unload_after: int = _setting(
        15,
        minimum=0,
        maximum=1440,
        step=5,
        unit="minutes",
        label="Unload when idle for",
        help="Gives the memory back when nothing was asked for this long. 0 keeps the model loaded.",
        applies=Applies.NOW,
    )


class Memory(Record):
    """What is kept of conversations that were read, so that they are not read again."""

    prefix_cache_memory: float = _setting(
        2.0,
        minimum=0.0,
        maximum=256.0,
        step=0.5,
        unit="GB",
        label="Other chats in memory",
        help="Memory for chats and branches besides the open one, so that going back to one reads nothing again. 0 keeps none.",
    )
    prefix_cache_disk: float = _setting(
        8.0,
        minimum=0.0,
        maximum=1024.0,
        step=1.0,
        unit="GB",
        label="Chats kept on disk",
        help="Disk space for what the model has read, so that a chat goes on at once after a restart. 0 keeps nothing and "
        "removes what is there.",
    )


class Inspection(Record):
    """What is kept of a reply for the inspector."""

    keep_probabilities: Literal["off", "on"] = _setting(
        "off",
        label="Keep probabilities",
        labels={"off": "Off", "on": "On"},
        help="Keeps how likely each written token was, and the five likeliest in its place, by the model's own odds before "
        "temperature and the other sampling settings. It sorts the whole vocabulary once a token, which makes writing a "
        "little slower, and takes about 50 bytes of disk a token.",
    )


class Appearance(Record):
    """How Flint looks."""

    theme: Literal["system", "light", "dark"] = _setting(
        "system",
        label="Appearance",
        labels={"system": "System", "light": "Light", "dark": "Dark"},
        help="Light, dark, or as the system says.",
    )
    text_size: int = _setting(
        100,
        minimum=80,
        maximum=200,
        step=10,
        unit="%",
        label="Text size",
        help="How large messages, what you write and what is told of models are shown.",
    )
    motion: Literal["system", "reduced", "full"] = _setting(
        "system",
        label="Motion",
        labels={"system": "System", "reduced": "Reduced", "full": "Full"},
        help="Reduced lets nothing turn or slide: a spinner stands still, messages come at once.",
    )
    code_lines: Literal["scroll", "wrap"] = _setting(
        "scroll",
        label="Long lines of code",
        labels={"scroll": "Scroll", "wrap": "Wrap"},
        help="Lines wider than the text are scrolled sideways, or broken. The header of each block of code changes it too.",
    )


class Folders(Record):
    """Where large things are kept."""

    models_folder: str = _setting(
        "",
        label="Models folder",
        help="Where imported and downloaded models are kept. Empty means Flint's own folder.",
        applies=Applies.NEXT_START,
    )


class Group(Record):
    """A heading of the settings panel and the dataclass that declares what stands under it."""

    label: str
    values: type[Any]
    scope: Scope
    applies: Applies

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its settings."""
        return tuple(entry.name for entry in fields(self.values))


GROUPS = (
    Group("Sampling", Sampling, Scope.CHAT, Applies.NEXT_REPLY),
    Group("Context", Conversation, Scope.CHAT, Applies.NEXT_REPLY),
    Group("KV cache", KeyValueCache, Scope.CHAT, Applies.NEXT_REPLY),
    Group("Inspector", Inspection, Scope.CHAT, Applies.NEXT_REPLY),
    Group("Engine", Engine, Scope.APP, Applies.NEXT_LOAD),
    Group("Memory", Memory, Scope.APP, Applies.NOW),
    Group("Appearance", Appearance, Scope.APP, Applies.NOW),
    Group("Folders", Folders, Scope.APP, Applies.NOW),
)


def _all() -> Iterator[Setting]:
    for group in GROUPS:
        hints = get_type_hints(group.values)
        for entry in fields(group.values):
            facts = dict(entry.metadata)
            labels = facts.pop("labels", {})
            facts.setdefault("applies", group.applies)
            hint = hints[entry.name]
            kinds = get_args(hint) if get_origin(hint) not in (None, Literal) else (hint,)
            literal = get_args(hint) if get_origin(hint) is Literal else ()
            yield Setting(
                name=entry.name,
                kind=str if literal else next(kind for kind in kinds if kind is not type(None)),
                default=cast("Value", entry.default),
                group=group.label,
                scope=group.scope,
                optional=type(None) in kinds,
                choices=tuple((value, labels[value]) for value in literal),
                **facts,
            )


SETTINGS: tuple[Setting, ...] = tuple(_all())
BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


def build[T](kind: type[T], values: Mapping[str, object]) -> T:
    """Return an instance of a settings dataclass from checked `values`; names it does not declare are ignored.

    Raises `SettingsError` for a value out of bounds.
    """
    names = {entry.name for entry in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: BY_NAME[name].check(value) for name, value in values.items() if name in names})


def usable(values: Mapping[str, object]) -> dict[str, Value]:
    """Return those of stored `values` that are declared and in bounds, so that a newer or damaged record still works."""
    found: dict[str, Value] = {}
    for name, value in values.items():
        with contextlib.suppress(KeyError, SettingsError):
            found[name] = BY_NAME[name].check(value)
    return found

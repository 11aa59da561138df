"""A model's facts in words and figures, as the models window and `flint models info` tell them."""

import datetime
from collections.abc import Iterable
from pathlib import Path

from engine.core.errors import FlintError
from engine.core.facts import ModelEntry
from engine.core.sizes import file_size_text
from engine.models.facts import Facts, read_facts

_TRILLION, _BILLION, _MILLION = 10**12, 10**9, 10**6
ORIGINS = {
    "flint": "Flint",
    "huggingface": "Hugging Face cache",
    "starter": "Starter",
    "folder": "Folder",
    "lmstudio": "LM Studio",
    "ollama": "Ollama",
}
_ORIGIN_FACTS = {
    "flint": "Flint’s own folder",
    "huggingface": "Hugging Face cache",
    "starter": "Came with Flint",
    "folder": "A folder of yours",
    "lmstudio": "LM Studio’s folder",
    "ollama": "Ollama’s folder",
}
_REMEDIES = {
    "flint": "Import or download it again, or delete its folder.",
    "huggingface": "Download it again: the Hugging Face cache keeps what is already whole.",
    "starter": "Install Flint again to get the starter back.",
    "folder": "Put the missing or damaged files back, or choose another folder.",
    "lmstudio": "Finish or repeat its download in LM Studio, or choose another model.",
    "ollama": "Finish its download in Ollama (ollama pull), or choose another model.",
}


def facts_of(entry: ModelEntry) -> list[tuple[str, str]]:
    """Return names and values, "" for what is not known; what its config says is read from the disk."""
    facts = _read(entry)
    context = entry.context or (facts.context if facts else 0)
    return [
        ("Architecture", entry.architecture),
        ("Parameters", parameters_text(facts.parameters) if facts else ""),
        ("Quantization", entry.quantization),
        ("Trained to", f"{context:,} tokens" if context else ""),
        ("Layers", f"{facts.layers}" if facts and facts.layers else ""),
        ("Heads", heads_text(facts.heads, facts.kv_heads) if facts else ""),
        ("KV a token", f"{facts.kv_bytes_per_token():,} B" if facts and facts.kv_bytes_per_token() else ""),
        ("Size on disk", file_size_text(entry.disk_bytes) if entry.disk_bytes else ""),
        ("Older versions", f"{file_size_text(entry.older_bytes)} of it" if entry.older_bytes else ""),
        ("From", origin_fact(entry)),
        ("Also in", copies_fact(entry)),
        ("Last used", used_fact(entry)),
    ]


def parameters_text(count: int) -> str:
    """Return a number of parameters as “135 M” or “8.0 B”; empty where it is not known."""
    if count <= 0:
        return ""
    for unit, letter in ((_TRILLION, "T"), (_BILLION, "B")):
        if count >= unit - unit // 2000:
            return f"{count / unit:.1f} {letter}"
    return f"{count / _MILLION:.0f} M" if count >= _MILLION else f"{count:,}"


def heads_text(heads: int, kv_heads: int) -> str:
    """Return attention heads as “32 query, 8 KV”, or their number where all have keys of their own; empty where not known."""
    if not heads:
        return ""
    return f"{heads}" if heads == kv_heads else f"{heads} query, {kv_heads} KV"


def origin_badge(entry: ModelEntry) -> str:
    """Return where a model came from in a word or three, for a badge."""
    return ORIGINS[entry.origin]


def origin_fact(entry: ModelEntry) -> str:
    """Return where a model came from, for the table of facts."""
    return _ORIGIN_FACTS[entry.origin]


def copies_fact(entry: ModelEntry) -> str:
    """Return where else a model is; "" where it is in one place."""
    return ", ".join(dict.fromkeys(ORIGINS[copy.origin] for copy in entry.copies))


def used_fact(entry: ModelEntry) -> str:
    """Return the day a model was last used; "" where it never was."""
    return datetime.date.fromtimestamp(entry.used_at).strftime("%-d %B %Y") if entry.used_at else ""


def remedy(entry: ModelEntry) -> str:
    """Return what to do about a model that can't be used."""
    if entry.download:
        again = f"Go on with it under Discover. In a terminal, `flint models pull {entry.id}` does."
        return "It can be used as soon as it is here." if entry.download == "running" else again
    return "Choose another model: Flint does not run this kind yet." if entry.unsupported else _REMEDIES[entry.origin]


def total_bytes(entries: Iterable[ModelEntry]) -> int:
    """Return what all models take on the disk, each copy counted."""
    return sum(entry.disk_bytes + sum(copy.size_bytes for copy in entry.copies) for entry in entries)


def _read(entry: ModelEntry) -> Facts | None:
    """Return what the folder's config says; None where it can't be read, which the entry's own facts stand in for."""
    if entry.kind != "mlx":
        return None
    try:
        return read_facts(Path(entry.path))
    except (FlintError, OSError):
        return None

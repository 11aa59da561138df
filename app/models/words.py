"""A model's facts in words and figures: sizes, context lengths, where it came from, what to do when it can't be used."""

import datetime
from collections.abc import Sequence

from engine.core import sizes
from engine.core.facts import ModelEntry
from engine.core.sizes import GIGABYTE, MEGABYTE

_TRILLION, _BILLION, _MILLION = 10**12, 10**9, 10**6

SEPARATOR = "  ·  "
_ORIGINS = {
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


def size_text(size: int) -> str:
    """Return a file's size in bytes as “4.5 GB”, “144 MB”, or “under 1 MB”."""
    return sizes.size_text(size) if size >= MEGABYTE else "under 1 MB"


def progress_text(done: int, total: int) -> str:
    """Return how much of a work of `total` bytes is done, as “102 of 144 MB”; of `done` alone while the total is not known."""
    if total <= 0:
        return size_text(max(done, 0))
    done = min(done, total)
    if total >= GIGABYTE - MEGABYTE // 2:
        return f"{done / GIGABYTE:.1f} of {size_text(total)}"
    if total >= MEGABYTE:
        return f"{done / MEGABYTE:.0f} of {size_text(total)}"
    return size_text(total)


def context_text(tokens: int) -> str:
    """Return a context length as rows show it: “8k context”, “1M context”; empty where it is not known."""
    if tokens <= 0:
        return ""
    if tokens >= 1024 * 1024:
        return f"{tokens // (1024 * 1024)}M context"
    return f"{tokens // 1024}k context" if tokens >= 1024 else f"{tokens} context"


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
    return _ORIGINS[entry.origin]


def origin_fact(entry: ModelEntry) -> str:
    """Return where a model came from, for the table of facts."""
    return _ORIGIN_FACTS[entry.origin]


def copies_fact(entry: ModelEntry) -> str:
    """Return where else a model is; "" where it is in one place."""
    return ", ".join(dict.fromkeys(_ORIGINS[copy.origin] for copy in entry.copies))


def unbroken(name: str) -> str:
    """Return a model's name for a heading that wraps: no line ends inside “4-bit”."""
    return name.replace("-", "\N{NON-BREAKING HYPHEN}")


def disk_use(entries: Sequence[ModelEntry]) -> str:
    """Return what all models take on the disk, each copy counted: “7 models, 16.9 GB on disk”; "" without any."""
    if not entries:
        return ""
    total = sum(entry.size_bytes + sum(copy.size_bytes for copy in entry.copies) for entry in entries)
    return f"{sizes.count_text(len(entries), 'model')}, {size_text(total)} on disk"


def used_fact(entry: ModelEntry) -> str:
    """Return the day a model was last used; "" where it never was."""
    return datetime.date.fromtimestamp(entry.used_at).strftime("%-d %B %Y") if entry.used_at else ""


def remedy(entry: ModelEntry) -> str:
    """Return what to do about a model that can't be used."""
    return "Choose another model: Flint does not run this kind yet." if entry.unsupported else _REMEDIES[entry.origin]


def stored_as(entry: ModelEntry) -> str:
    """Return how the weights are stored, short: “4-bit”, “Q4_1 GGUF”, “BF16”; empty where it is not known."""
    kind = entry.quantization.partition(",")[0]
    return f"{kind} GGUF".strip() if entry.kind == "gguf" else kind


def row_facts(entry: ModelEntry) -> str:
    """Return the second line of a row in the picker: size, quantization and context, or why the model can't be used."""
    if entry.problem:
        return entry.problem
    known = size_text(entry.size_bytes) if entry.size_bytes > 0 else ""
    return SEPARATOR.join(part for part in (known, stored_as(entry), context_text(entry.context)) if part)


def matches(entry: ModelEntry, query: str) -> bool:
    """Return whether every word of `query` is found in the model's name, id, architecture, quantization or origin."""
    facts = (entry.name, entry.id, entry.architecture, entry.quantization, origin_badge(entry))
    text = " ".join(facts).casefold()
    return all(word in text for word in query.casefold().split())

"""A model in the words and figures of rows: sizes, progress, context lengths; its facts are told as the engine words them."""

from collections.abc import Sequence

from engine.core import sizes
from engine.core.facts import ModelEntry
from engine.core.sizes import GIGABYTE, MEGABYTE, file_size_text
from engine.models.fact_words import origin_badge, total_bytes

SEPARATOR = "  ·  "
size_text = file_size_text


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


def unbroken(name: str) -> str:
    """Return a model's name for a heading that wraps: no line ends inside “4-bit”."""
    return name.replace("-", "\N{NON-BREAKING HYPHEN}")


def disk_use(entries: Sequence[ModelEntry]) -> str:
    """Return what all models take on the disk, each copy counted: “7 models, 16.9 GB on disk”; "" without any."""
    if not entries:
        return ""
    return f"{sizes.count_text(len(entries), 'model')}, {size_text(total_bytes(entries))} on disk"


def stored_as(entry: ModelEntry) -> str:
    """Return how the weights are stored, short: “4-bit”, “Q4_1 GGUF”, “BF16”; empty where it is not known."""
    kind = entry.quantization.partition(",")[0]
    return f"{kind} GGUF".strip() if entry.kind == "gguf" else kind


def row_facts(entry: ModelEntry) -> str:
    """Return the second line of a row in the picker: size, quantization and context, or why the model can't be used."""
    if entry.problem:
        return entry.problem
    known = size_text(entry.disk_bytes) if entry.disk_bytes > 0 else ""
    return SEPARATOR.join(part for part in (known, stored_as(entry), context_text(entry.context)) if part)


def matches(entry: ModelEntry, query: str) -> bool:
    """Return whether every word of `query` is found in the model's name, id, architecture, quantization or origin."""
    facts = (entry.name, entry.id, entry.architecture, entry.quantization, origin_badge(entry))
    text = " ".join(facts).casefold()
    return all(word in text for word in query.casefold().split())

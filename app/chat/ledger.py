"""Where the tokens of a reply's context came from and went, in words."""

from engine.core.facts import ReplyFacts
from engine.core.sizes import size_text

PRECISIONS = {
    "off": "full precision",
    "8": "8-bit keys and values",
    "8/4": "8-bit keys, 4-bit values",
    "4": "4-bit keys and values",
}

type Row = tuple[str, str]


def ledger(facts: ReplyFacts) -> list[Row]:
    """Return the rows of a reply's ledger: what was known, read, written and has left the context, and what the cache takes."""
    rows = [
        ("Prompt", f"{facts.prompt_tokens:,} tokens"),
        ("Known from the cache", f"{facts.cached_tokens:,}"),
        ("Read now", f"{facts.prompt_tokens - facts.cached_tokens:,}"),
        ("Written", f"{facts.output_tokens:,}"),
        ("Left the context", f"{facts.dropped_tokens:,}" if facts.dropped_tokens else "none"),
        ("Context", f"{facts.context:,} tokens"),
        ("KV cache", f"{size_text(facts.kv_bytes, 1)}, {PRECISIONS.get(facts.kv_bits, facts.kv_bits)}"),
        ("Seed", str(facts.seed)),
        ("Model", facts.model),
    ]
    if facts.dropped_messages:
        rows.insert(5, ("Messages out of sight", f"the first {facts.dropped_messages:,}"))
    return rows


def context_rows(used: int, limit: int, facts: ReplyFacts | None) -> list[Row]:
    """Return what the context gauge says of itself: tokens used and free, and the last reply's share of them."""
    rows = [("In use", f"{used:,} of {limit:,} tokens"), ("Free", f"{max(0, limit - used):,}")]
    if facts is None:
        return rows
    rows.append(("Left the context", f"{facts.dropped_tokens:,} tokens" if facts.dropped_tokens else "nothing"))
    rows.append(("KV cache", f"{size_text(facts.kv_bytes, 1)}, {PRECISIONS.get(facts.kv_bits, facts.kv_bits)}"))
    return rows

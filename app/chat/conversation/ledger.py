"""Everything that was measured about a reply, in words."""

import dataclasses

from engine.core.facts import ReplyFacts
from engine.core.settings import BY_NAME, Sampling
from engine.core.sizes import size_text

PRECISIONS = {
    "off": "full precision",
    "8": "8-bit keys and values",
    "8/4": "8-bit keys, 4-bit values",
    "4": "4-bit keys and values",
}
ENDS = {
    "stop": "the model ended its turn",
    "length": "at the token limit",
    "context": "where the context was full",
    "cancelled": "stopped by you",
}
_MOST_CHUNKS = 4
# Where a setting does nothing at another value than nothing, and settings that do nothing without another one.
_OFF = {"top_p": 1.0, "repetition_penalty": 1.0}
_NEEDS = {"repetition_window": "repetition_penalty", "xtc_": "xtc_probability", "dry_": "dry_multiplier"}

type Row = tuple[str, str]


def ledger(facts: ReplyFacts) -> list[Row]:
    """Return the rows of a reply's ledger: where its tokens came from and went, how long that took, and with which settings.

    A row without a value heads those under it.
    """
    return [
        ("Model", facts.model),
        ("Ended", ENDS.get(facts.finish_reason, facts.finish_reason)),
        *_tokens(facts),
        *_times(facts),
        *_memory(facts),
        *_sampling(facts),
        *((("Made with", ""), *facts.made_with) if facts.made_with else ()),
    ]


def _tokens(facts: ReplyFacts) -> list[Row]:
    begun = facts.resumed[-1] if facts.resumed else 0
    rows = [
        ("Tokens", ""),
        ("Prompt", f"{facts.prompt_tokens:,} tokens"),
        ("Known from the cache", f"{facts.cached_tokens:,}"),
        ("Read now", f"{max(0, facts.prompt_tokens + begun - facts.cached_tokens):,}"),
    ]
    if facts.resumed:  # What was known and read is of the last stretch, to whose prompt the reply so far belongs.
        rows.insert(2, ("Written before", f"{begun:,} tokens, gone on with {_times_over(len(facts.resumed))}"))
    if facts.chunks:
        rows.append(("Read in", _chunks(facts.chunks)))
    rows.append(("Written", f"{facts.output_tokens:,}"))
    if facts.reread:
        rows.append(("Read again meanwhile", _chunks(facts.reread)))
    rows.append(("Left the context", f"{facts.dropped_tokens:,}" if facts.dropped_tokens else "none"))
    if facts.dropped_messages:
        rows.append(("Messages out of sight", f"the first {facts.dropped_messages:,}"))
    return [*rows, ("Context", f"{facts.context:,} tokens")]


def _times_over(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _chunks(chunks: tuple[int, ...]) -> str:
    if len(chunks) <= _MOST_CHUNKS:
        return " + ".join(f"{length:,}" for length in chunks)
    return f"{len(chunks):,} chunks of {min(chunks):,} to {max(chunks):,}"


def _times(facts: ReplyFacts) -> list[Row]:
    rows = [("Time", "")]
    if facts.ttft_s > 0:
        rows.append(("First token", f"{facts.ttft_s:.2f} s"))
    rows.append(("Reading", _time(facts.prefill_s, facts.prefill_tps)))
    if facts.reasoning_s > 0:
        rows.append(("Thinking", f"{facts.reasoning_s:.2f} s"))
    rows.append(("Writing", _time(facts.decode_s, facts.decode_tps)))
    return rows


def _time(seconds: float, rate: float) -> str:
    return f"{seconds:.2f} s, {rate:,.1f} tok/s" if rate > 0 else f"{seconds:.2f} s"


def _memory(facts: ReplyFacts) -> list[Row]:
    return [
        ("Memory", ""),
        ("Weights", size_text(facts.weights_bytes, 1)),
        ("KV cache", f"{size_text(facts.kv_bytes, 1)}, {PRECISIONS.get(facts.kv_bits, facts.kv_bits)}"),
        ("Peak", size_text(facts.peak_bytes, 1)),
    ]


def _sampling(facts: ReplyFacts) -> list[Row]:
    """Return the seed and every setting that had an effect."""
    values = {entry.name: getattr(facts.sampling, entry.name) for entry in dataclasses.fields(Sampling)}
    active = {
        name: value for name, value in values.items() if name == "temperature" or value not in (None, "", _OFF.get(name, 0))
    }
    rows = [("Settings", ""), ("Seed", str(facts.seed))]
    for name, value in active.items():
        needed = next((other for start, other in _NEEDS.items() if name.startswith(start) and name != other), "")
        if name == "seed" or (needed in values and needed not in active):
            continue
        rows.append((BY_NAME[name].label, _setting(value, BY_NAME[name].unit)))
    return rows


def _setting(value: object, unit: str) -> str:
    if isinstance(value, str):
        return ", ".join(f"“{line}”" for line in value.splitlines())
    text = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return f"{text} {unit}" if unit else text


def context_rows(used: int, limit: int, facts: ReplyFacts | None) -> list[Row]:
    """Return what the context gauge says of itself: tokens used and free, and the last reply's share of them."""
    rows = [("In use", f"{used:,} of {limit:,} tokens"), ("Free", f"{max(0, limit - used):,}")]
    if facts is None:
        return rows
    rows.append(("Left the context", f"{facts.dropped_tokens:,} tokens" if facts.dropped_tokens else "nothing"))
    rows.append(("KV cache", f"{size_text(facts.kv_bytes, 1)}, {PRECISIONS.get(facts.kv_bits, facts.kv_bits)}"))
    return rows

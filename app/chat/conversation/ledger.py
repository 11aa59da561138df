"""Everything that was measured about a reply, in words."""

import dataclasses
from collections.abc import Sequence

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
    rows = [("Tokens", ""), ("Prompt", f"{facts.prompt_tokens:,} tokens")]
    written = ("Written", _written(facts))
    # What was known and read is of the last part of a reply that went on, to whose prompt the reply so far belongs.
    rows += [written] if facts.resumed else [*_read(facts), written, *_read_again(facts)]
    rows.append(("Left the context", f"{facts.dropped_tokens:,}" if facts.dropped_tokens else "none"))
    if facts.dropped_messages:
        rows.append(("Messages out of sight", f"the first {facts.dropped_messages:,}"))
    rows.append(("Context", f"{facts.context:,} tokens"))
    if facts.resumed:
        so_far = facts.prompt_tokens + facts.resumed[-1]
        rows += [("Read for the last part", ""), ("Prompt and reply so far", f"{so_far:,} tokens")]
        rows += [*_read(facts), *_read_again(facts)]
    return rows


def _written(facts: ReplyFacts) -> str:
    """Return how much was written, of a reply that went on each time; the parts add up."""
    if not facts.resumed:
        return f"{facts.output_tokens:,}"
    stops = (*facts.resumed, facts.output_tokens)
    parts = [stop - start for start, stop in zip((0, *stops), stops, strict=False)]
    total = f"{facts.output_tokens:,}, continued {_times_over(len(facts.resumed))}"
    return f"{_sum(parts)} = {total}" if len(parts) <= _MOST_CHUNKS else total


def _read(facts: ReplyFacts) -> list[Row]:
    begun = facts.resumed[-1] if facts.resumed else 0
    read = max(0, facts.prompt_tokens + begun - facts.cached_tokens)
    if facts.finish_reason == "cancelled" and not facts.ttft_s:
        read = sum(facts.chunks)  # It was stopped while it read.
    rows = [("Known from the cache", f"{facts.cached_tokens:,}"), ("Read now", f"{read:,}")]
    if len(facts.chunks) > 1:
        last = read - sum(facts.chunks)  # The last token is read by the step that writes the first.
        rows.append(("In chunks of", _chunks((*facts.chunks, last) if last > 0 else facts.chunks)))
    return rows


def _read_again(facts: ReplyFacts) -> list[Row]:
    return [("Read again meanwhile", f"{sum(facts.reread):,}")] if facts.reread else []


def _times_over(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _chunks(chunks: tuple[int, ...]) -> str:
    if len(chunks) <= _MOST_CHUNKS:
        return _sum(chunks)
    return f"{min(chunks):,} to {max(chunks):,}, {len(chunks):,} in all"


def _sum(parts: Sequence[int]) -> str:
    return " + ".join(f"{part:,}" for part in parts)


def _times(facts: ReplyFacts) -> list[Row]:
    """Return the times; those of a reply that went on are of all its parts, but for the first token."""
    rows = [("Time of all parts" if facts.resumed else "Time", "")]
    if facts.ttft_s > 0:
        rows.append(("First token", f"{facts.ttft_s:.2f} s{', of the first part' if facts.resumed else ''}"))
    # The rate is of what the last part read, so it says nothing about the time of them all.
    rows.append(("Reading", _time(facts.prefill_s, 0.0 if facts.resumed else facts.prefill_tps)))
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
    rows = [("Settings of the last part" if facts.resumed else "Settings", ""), ("Seed", str(facts.seed))]
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

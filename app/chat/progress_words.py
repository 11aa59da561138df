"""What a reply on its way is doing, in words."""

from engine.core.messages import ImportProgress, LoadProgress, PrefillProgress
from engine.core.sizes import count_text

WAIT = "Wait for the reply or stop it first"


def reading(progress: PrefillProgress) -> str:
    """Return the status line of a prefill, as `Reading 1,842 of 3,210 new tokens, about 2 s left`."""
    total = max(1, progress.total)
    text = f"Reading {progress.done:,} of {count_text(total, 'new token')}"
    if progress.rate > 0 and progress.done:
        left = (progress.total - progress.done) / progress.rate
        if left >= 1:
            text += f", about {left:,.0f} s left"
    return text


def waiting(progress: LoadProgress | ImportProgress) -> str:
    """Return the status line of a reply whose model is not ready yet."""
    if isinstance(progress, ImportProgress):
        return f"Waiting for the model: importing, {percent(progress.done_bytes, progress.total_bytes)}"
    return f"Waiting for the model: loading, {progress.fraction:.0%}"


def percent(done: float, total: float) -> str:
    """Return `71%`; 0% where there is nothing to do."""
    return f"{done / total:.0%}" if total else "0%"

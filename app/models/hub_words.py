"""What the hub says, in the words of the window: licences, quantizations, downloads under way."""

import re

from app.errors import advice
from app.models.words import progress_text, size_text
from engine.core.errors import ErrorInfo
from engine.core.hub_facts import Download, HubModel

_LICENCES = {
    "apache-2.0": "Apache 2.0",
    "mit": "MIT",
    "gemma": "Gemma",
    "llama2": "Llama 2",
    "llama3": "Llama 3",
    "llama3.1": "Llama 3.1",
    "llama3.2": "Llama 3.2",
    "llama3.3": "Llama 3.3",
    "llama4": "Llama 4",
    "bsd-3-clause": "BSD 3-Clause",
    "cc-by-4.0": "CC BY 4.0",
    "cc-by-nc-4.0": "CC BY-NC 4.0",
    "cc-by-nc-sa-4.0": "CC BY-NC-SA 4.0",
    "other": "Other licence",
}
_TASKS = {"chat": "Chat", "base": "Completion", "code": "Code", "vision": "Vision"}
PERMISSIVE = ("apache-2.0", "mit", "bsd")
_BITS = re.compile(r"(\d+(?:\.\d+)?)-bit")
_FAILED_BADGES = {
    "hub-licence": ("Licence not accepted", "lock"),
    "hub-no-token": ("Needs a token", "lock"),
    "hub-token-refused": ("Token refused", "lock"),
    "hub-access-pending": ("Access pending", "lock"),
    "hub-access-denied": ("Access denied", "lock"),
    "disk-full": ("Disk full", "warn"),
}
TOKEN_ERRORS = ("hub-no-token", "hub-token-refused", "hub-licence")
_MINUTE, _HOUR = 60, 3600


def licence_text(licence: str) -> str:
    """Return a licence's name: “Apache 2.0”; what is not known as it is."""
    return _LICENCES.get(licence, licence)


def task_text(model: HubModel) -> str:
    """Return what a model is for: “Chat, Code”; the hub's own word where Flint does not run it."""
    return ", ".join(_TASKS[task] for task in model.tasks) or model.task


def task_notice(model: HubModel) -> str:
    """Return what Flint can not do with a model that others can; empty for one that only writes text."""
    if "vision" in model.tasks:
        return "It sees pictures too; Flint runs its text alone."
    if model.task and not model.tasks:
        return f"Flint runs models that write text. The hub lists this one for {model.task}."
    return ""


def bits_of(quantization: str) -> float:
    """Return the bits a weight takes, 16 where it is not quantized."""
    found = _BITS.search(quantization)
    if found:
        return float(found[1])
    return 4.0 if "fp4" in quantization.casefold() else 16.0


def time_text(seconds: float) -> str:
    """Return how long something takes: “8 s”, “2 min”, “3 h 20 min”."""
    if seconds < _MINUTE:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / _MINUTE)
    if minutes < _MINUTE:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def download_text(download: Download) -> str:
    """Return how a download stands: “10.5 of 16.9 GB, 48 MB/s, 2 min left”."""
    so_far = progress_text(download.done_bytes, download.total_bytes) if download.total_bytes else ""
    match download.state:
        case "queued":
            return f"Waits for its turn, {so_far}" if download.done_bytes else "Waits for its turn"
        case "running":
            return _running(download, so_far)
        case "waiting":
            why = download.error.text if download.error else "The hub can’t be reached."
            return f"{why} Tries again in {time_text(download.left_s)}." if download.left_s else f"{why} Tries again."
        case "verifying":
            return "Checking the files"
        case "paused":
            return f"Paused at {so_far}" if so_far else "Paused"
        case "failed":
            return failure_text(download.error)
        case _:
            return f"Ready, {size_text(download.total_bytes)}"


def failure_text(error: ErrorInfo | None) -> str:
    """Return what went wrong and what to do about it; what the badge says already is not said again."""
    if error and error.code in _FAILED_BADGES and advice(error):
        return advice(error)
    return " ".join(part for part in (error.text, advice(error)) if part) if error else "It failed."


def failed_badge(error: ErrorInfo | None) -> tuple[str, str]:
    """Return a short name of what went wrong, and its icon."""
    return _FAILED_BADGES.get(error.code if error else "", ("Stopped", "warn"))


def downloads_summary(downloads: tuple[Download, ...]) -> str:
    """Return how many downloads stand how: “1 running, 1 paused, 1 stopped”."""
    names = {
        "running": "running",
        "verifying": "running",
        "queued": "next",
        "waiting": "waiting",
        "paused": "paused",
        "failed": "stopped",
        "done": "ready",
    }
    counts: dict[str, int] = {}
    for download in downloads:
        counts[names[download.state]] = counts.get(names[download.state], 0) + 1
    return ", ".join(f"{counts[name]} {name}" for name in dict.fromkeys(names.values()) if name in counts)


def _running(download: Download, so_far: str) -> str:
    if not download.total_bytes:
        return "Starting"
    parts = [so_far]
    if download.rate:
        parts.append(f"{size_text(round(download.rate))}/s")
    if download.left_s is not None:
        parts.append(f"{time_text(download.left_s)} left")
    return ", ".join(parts)

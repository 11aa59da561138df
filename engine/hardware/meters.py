"""How much memory there is, what this process takes of it, and what a model may take."""

import os
import re
import struct
import sys
from pathlib import Path

from engine.core.facts import MemoryReading
from engine.hardware.cgroup import cgroup_memory

RESERVE_BYTES = 3 * 1024**3
"""What is left to the rest of the system at most; a small machine leaves an eighth of its memory."""

_RUSAGE_INFO_V4 = 4
_RUSAGE_BYTES = 512  # rusage_info_v4 has 296; the rest is room for a kernel that writes more
_FOOTPRINT_OFFSET = 16 + 7 * 8  # after the uuid, the eighth 64-bit field: ri_phys_footprint


def footprint_bytes() -> int:
    """Return this process's memory as the system's memory killer counts it; 0 where it cannot be read.

    macOS: `ri_phys_footprint`, what Activity Monitor shows. Linux: resident memory, swap and page tables, which is what its
    out-of-memory killer weighs (`oom_badness` in the kernel's mm/oom_kill.c).
    """
    if sys.platform == "darwin":
        return _mac_footprint()
    try:
        return parse_status(Path("/proc/self/status").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        import psutil  # Lazily, as below: it takes a while, and the first window can do without.

        return int(psutil.Process().memory_info().rss)


def _mac_footprint() -> int:
    import ctypes

    buffer = ctypes.create_string_buffer(_RUSAGE_BYTES)
    failed = ctypes.CDLL(None).proc_pid_rusage(os.getpid(), _RUSAGE_INFO_V4, ctypes.byref(buffer))
    return 0 if failed else parse_rusage(buffer.raw)


def parse_rusage(buffer: bytes) -> int:
    """Return `ri_phys_footprint` in bytes from a `rusage_info_v4` as `proc_pid_rusage` filled it.

    Raises `struct.error` when the buffer is too short to hold it.
    """
    return int(struct.unpack_from("<Q", buffer, _FOOTPRINT_OFFSET)[0])


def parse_status(status: str) -> int:
    """Return resident memory + swap + page tables in bytes from the text of Linux's `/proc/<pid>/status`."""
    counted = re.findall(r"^(?:VmRSS|VmSwap|VmPTE):\s+(\d+) kB$", status, re.MULTILINE)
    return sum(int(kilobytes) for kilobytes in counted) * 1024


def total_bytes() -> int:
    """Return the machine's memory in bytes, or the control group's limit where that is lower."""
    return system_memory()[0]


def available_bytes() -> int:
    """Return what the system says it would still give without swapping, in bytes; a control group's limit is respected."""
    return system_memory()[1]


def system_memory() -> tuple[int, int]:
    """Return `total_bytes()` and `available_bytes()` of one moment: both come from the same files, read once."""
    import psutil

    memory = psutil.virtual_memory()
    total, available = int(memory.total), int(memory.available)
    group = cgroup_memory()
    return (total, available) if group is None else (min(total, group.limit), min(available, group.available))


def budget_bytes(working_set: int | None, available: int, total: int, held: int = 0) -> int:
    """Return what a model may take here, in bytes: min(working set, available − min(3 GiB, total / 8)), never below 0.

    `held` is what this process's own model already holds. It counts as takeable, since loading another model gives it back
    and the loaded one needs no second helping: so the budget does not shrink while a model fills it, and the same figure
    bounds the weights and cache in use. `working_set` None means that Metal gives no limit.
    """
    left = min(available + held, total) - min(RESERVE_BYTES, total // 8)
    return max(0, left if working_set is None else min(working_set, left))


def mlx_counters() -> tuple[int, int, int]:
    """Return MLX's own counters in bytes: active, cached (freed by arrays, kept for reuse) and peak."""
    import mlx.core as mx  # lazily: the app reads this module too

    return mx.get_active_memory(), mx.get_cache_memory(), mx.get_peak_memory()


def read_memory(
    counters: tuple[int, int, int] = (0, 0, 0), *, weights: int = 0, kv: int = 0, working_set: int | None = None
) -> MemoryReading:
    """Return a `MemoryReading` of this moment, in bytes. It takes about a millisecond.

    `counters` are `mlx_counters()`, or zeros in a process without MLX; `weights` and `kv` what the loaded model takes;
    `working_set` the device's limit. Of MLX's memory no more counts as held than the process really has.
    """
    active, cached, peak = counters
    footprint, (total, available) = footprint_bytes(), system_memory()
    budget = budget_bytes(working_set, available, total, held=min(active + cached, footprint))
    return MemoryReading(footprint, active, cached, peak, weights, kv, total, available, budget)

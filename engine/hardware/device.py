"""What this machine is: chip, unified memory, the limits Metal gives, and the published memory bandwidth."""

import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.paths import resource
from engine.hardware.meters import total_bytes

_GIGABYTE = 1_000_000_000


@dataclass(frozen=True)
class Device:
    """The machine a model runs on. Sizes in bytes, bandwidth in bytes a second; None where the figure is not known.

    `working_set_bytes` is what Metal recommends the GPU to hold at most, `max_buffer_bytes` the largest single buffer;
    `bandwidth_bytes_per_s` is the published peak, never a measured one. `metal` says that MLX computes on the GPU.
    """

    chip: str
    architecture: str
    gpu_cores: int | None
    memory_bytes: int
    working_set_bytes: int | None
    max_buffer_bytes: int | None
    bandwidth_bytes_per_s: float | None
    metal: bool


def read_device(facts: Mapping[str, Any] | None = None, *, gpu_cores: int | None = None) -> Device:
    """Return this machine as a `Device`.

    `facts` is what `mx.device_info()` says; left out, MLX is imported and asked (0.1 s at the first import). Pass an empty
    mapping to learn what can be known without MLX. `gpu_cores` left out is read from the system, on a Mac.
    """
    facts = mlx_device_facts() if facts is None else facts
    metal = "max_recommended_working_set_size" in facts
    chip = str(facts.get("device_name") or "") if metal else cpu_name() or str(facts.get("device_name") or "")
    if gpu_cores is None and sys.platform == "darwin":
        gpu_cores = read_gpu_cores()
    return Device(
        chip=chip or "unknown",
        architecture=str(facts.get("architecture") or platform.machine()),
        gpu_cores=gpu_cores,
        memory_bytes=_positive(facts, "memory_size") or total_bytes(),
        working_set_bytes=_positive(facts, "max_recommended_working_set_size"),
        max_buffer_bytes=_positive(facts, "max_buffer_length"),
        bandwidth_bytes_per_s=published_bandwidth(chip, gpu_cores),
        metal=metal,
    )


def mlx_device_facts() -> Mapping[str, Any]:
    """Return what MLX says of its default device. On a CPU that is only `architecture` and `device_name`."""
    import mlx.core as mx  # lazily: the app reads this module too

    facts: Mapping[str, Any] = mx.device_info()
    return facts


def published_bandwidth(chip: str, gpu_cores: int | None) -> float | None:
    """Return the published peak bandwidth of `chip` in bytes a second.

    None for a chip that is not in `resources/chips.toml`, and for one sold with different bandwidths when the number of GPU
    cores is unknown or fits none of them.
    """
    chips = tomllib.loads(resource("chips.toml").read_text(encoding="utf-8"))
    known = chips.get(chip, {})
    figure = known.get("bandwidth", known.get("bandwidth_by_gpu_cores", {}).get(str(gpu_cores)))
    return None if figure is None else figure * _GIGABYTE


def read_gpu_cores() -> int | None:
    """Return the number of GPU cores of this Mac, from the IO registry; None where it cannot be read."""
    try:
        done = subprocess.run(
            ["/usr/sbin/ioreg", "-rc", "AGXAccelerator", "-d1"], capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_gpu_cores(done.stdout)


def parse_gpu_cores(ioreg: str) -> int | None:
    """Return the `gpu-core-count` that `ioreg -rc AGXAccelerator -d1` printed; None when it is not there."""
    found = re.search(r'"gpu-core-count"\s*=\s*(\d+)', ioreg)
    return int(found[1]) if found else None


def cpu_name() -> str:
    """Return the processor's name as the system gives it; empty where it gives none."""
    if sys.platform == "darwin":
        try:
            asked = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(asked, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return ""
    try:
        return parse_cpu_name(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""


def parse_cpu_name(cpuinfo: str) -> str:
    """Return the first `model name` of Linux's `/proc/cpuinfo`; empty when it has none (most ARM boards)."""
    found = re.search(r"^model name\s*:[ \t]*(.*\S)", cpuinfo, re.MULTILINE)
    return found[1] if found else ""


def _positive(facts: Mapping[str, Any], name: str) -> int | None:
    value = int(facts.get(name) or 0)
    return value if value > 0 else None

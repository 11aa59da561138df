"""The memory limit of a Linux control group (a container, a systemd slice), which the machine's own figures do not show."""

from pathlib import Path

from engine.core.record import Record


class CgroupMemory(Record):
    """A control group's memory in bytes: its `limit`, and what may still be taken before it is reached."""

    limit: int
    available: int


class _Hierarchy(Record):
    """How one version of control groups names things."""

    folder: str
    limit: str
    usage: str
    reclaimable: str


_V2 = _Hierarchy("", "memory.max", "memory.current", "inactive_file")
_V1 = _Hierarchy("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def cgroup_memory(membership: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")) -> CgroupMemory | None:
    """Return the tightest memory limit this process stands under, or None where there is none.

    Every ancestor's limit counts (a parent may be tighter than its child). Pages of files that the kernel can drop at once
    count as available, as in `MemAvailable`.
    """
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found = [memory for line in lines for memory in _limits(line, mount)]
    if not found:
        return None
    return CgroupMemory(min(memory.limit for memory in found), min(memory.available for memory in found))


def _limits(line: str, mount: Path) -> list[CgroupMemory]:
    """Return the limits along one line of `/proc/self/cgroup` (`id:controllers:path`)."""
    number, _, rest = line.partition(":")
    controllers, _, path = rest.partition(":")
    if number == "0" and not controllers:
        kind = _V2
    elif "memory" in controllers.split(","):
        kind = _V1
    else:
        return []
    root = mount / kind.folder
    # Inside a container the path may be the host's, or lead out of what is mounted: the root is then the container's own group.
    group = root if ".." in path.split("/") else root / path.strip("/")
    folders = [folder for folder in (group, *group.parents) if folder == root or root in folder.parents]
    return [memory for folder in folders if (memory := _read(folder, kind)) is not None]


def _read(folder: Path, kind: _Hierarchy) -> CgroupMemory | None:
    try:
        limit = int((folder / kind.limit).read_text())  # "max" is no number: no limit here
        usage = int((folder / kind.usage).read_text())
        stat = dict(line.split(maxsplit=1) for line in (folder / "memory.stat").read_text().splitlines())
        reclaimable = int(stat.get(kind.reclaimable, 0))
    except (OSError, ValueError):
        return None
    return CgroupMemory(limit, max(0, limit - max(0, usage - reclaimable)))

"""`flint doctor`: what this machine is, what works, what does not, and what to do about it."""

import dataclasses
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from engine.cache.disk import DiskCache, prefix_folder
from engine.chats.store import ChatStore
from engine.cli.models import open_library
from engine.cli.output import plain, print_json
from engine.core.disk import check_readable
from engine.core.errors import FlintError
from engine.core.machine import THIS_MACHINE
from engine.core.paths import Paths, locate, resource
from engine.core.preferences import Preferences
from engine.core.setting import GB
from engine.core.sizes import count_text, size_text
from engine.hardware.device import read_device
from engine.hardware.meters import read_memory
from engine.inference.blas import prefer_system_blas

PACKAGES = ("flint", "mlx", "mlx-lm", "transformers", "PySide6-Essentials")
SIGNS = {"ok": ("✓", "green"), "note": ("–", "yellow"), "problem": ("✗", "red")}


@dataclass(frozen=True)
class Check:
    """One finding: what was looked at, whether it is well, what was seen, and what to do."""

    name: str
    state: Literal["ok", "note", "problem"]
    detail: str
    hint: str = ""


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print every check; the exit status is 1 when one of them is a problem."""
    fast_blas = prefer_system_blas()
    paths = locate()
    checks = [check for part in _parts(paths, fast_blas) for check in _guarded(part)]
    if as_json:
        print_json({"checks": [dataclasses.asdict(check) for check in checks]})
    else:
        console = Console(highlight=False, soft_wrap=True)
        for check in checks:
            sign, colour = SIGNS[check.state]
            console.print(Text.assemble((f"{sign} ", colour), (plain(f"{check.name}: "), "bold"), plain(check.detail)))
            if check.hint:
                console.print(Text(plain(f"    {check.hint}")))
    if any(check.state == "problem" for check in checks):
        raise typer.Exit(1)


def _parts(paths: Paths, fast_blas: bool) -> Iterator[Callable[[], Iterator[Check]]]:
    yield _system
    yield lambda: _machine(fast_blas)
    yield _resources
    yield lambda: _folders(paths)
    yield lambda: _settings(paths)
    yield lambda: _chats(paths)
    yield lambda: _prefix_cache(paths)
    yield _models


def _guarded(part: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """Run one part; whatever it raises becomes a finding, since the doctor must not fall ill itself."""
    try:
        yield from part()
    except FlintError as error:
        yield Check(error.code.replace("-", " ").capitalize(), "problem", error.text, error.hint)
    except Exception as error:
        yield Check("Doctor", "problem", f"A check failed ({type(error).__name__}: {error}).", "Please report this.")


def _system() -> Iterator[Check]:
    system = f"macOS {platform.mac_ver()[0]}" if sys.platform == "darwin" else platform.platform()
    yield Check("System", "ok", f"{system}, {platform.machine()}, Python {platform.python_version()}")
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            yield Check(package, "problem", "is not installed", "Install Flint again.")
    yield Check("Packages", "ok", ", ".join(found))


def _machine(fast_blas: bool) -> Iterator[Check]:
    device = read_device()
    cores = f", {device.gpu_cores} GPU cores" if device.gpu_cores else ""
    yield Check("Chip", "ok", f"{device.chip}{cores}, {size_text(device.memory_bytes)} of memory")
    reading = read_memory(working_set=device.working_set_bytes)
    yield Check("Memory", "ok", f"{size_text(reading.available)} available, a model may take {size_text(reading.budget)}")
    bandwidth = device.bandwidth_bytes_per_s
    if bandwidth:
        yield Check("Bandwidth", "ok", f"{bandwidth / 1e9:.0f} GB/s published")
    else:
        yield Check("Bandwidth", "note", "no published figure for this chip, so no limit is shown beside the speed")
    if device.metal:
        limit = f", working set up to {size_text(device.working_set_bytes)}" if device.working_set_bytes else ""
        yield Check("GPU", "ok", f"Metal{limit}")
        return
    yield Check("GPU", "note", "none that MLX can use: models run on the CPU", "Flint is made for Macs with Apple Silicon.")
    if sys.platform.startswith("linux") and not fast_blas:
        yield Check("OpenBLAS", "note", "is not here, so prompts are read slowly", "Debian: apt install libopenblas0")
    if not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        yield Check("C++ compiler", "note", "is not here, so MLX can't fuse operations", "Debian: apt install g++")


def _resources() -> Iterator[Check]:
    for parts in (("chips.toml",), ("icons", "mark.svg"), ("changelog.md",)):
        resource(*parts)
    yield Check("Flint's own files", "ok", str(resource("chips.toml").parent))


def _folders(paths: Paths) -> Iterator[Check]:
    for name, folder in (("Data folder", paths.data), ("Cache folder", paths.cache), ("Settings folder", paths.config)):
        existing = next(parent for parent in (folder, *folder.parents) if os.access(parent, os.F_OK))
        if not os.access(existing, os.R_OK | os.W_OK | os.X_OK):
            yield Check(
                name, "problem", f"{folder} can't be written", "Make it writable, or set FLINT_HOME to a folder that is."
            )
            continue
        yield Check(name, "ok", f"{folder}, {size_text(shutil.disk_usage(existing).free)} free")


def _settings(paths: Paths) -> Iterator[Check]:
    check_readable(paths.settings)
    if not paths.settings.exists():
        yield Check("Settings", "ok", "all at their defaults")
        return
    preferences = Preferences(paths.settings)
    changed = ", ".join(preferences.changed()) or "none"
    yield Check("Settings", "note" if preferences.notice else "ok", preferences.notice or f"changed: {changed}")


def _chats(paths: Paths) -> Iterator[Check]:
    check_readable(paths.chats)
    if not paths.chats.exists():
        yield Check("Chats", "ok", "none yet")
        return
    store = ChatStore(paths.chats)
    try:
        yield Check("Chats", "ok", f"{len(store.chats())}, {len(store.trash())} in the trash, {paths.chats}")
    finally:
        store.close()


def _prefix_cache(paths: Paths) -> Iterator[Check]:
    """What is kept of chats that were read; the folder holds what people wrote, so nobody else may look into it."""
    limit = int(float(Preferences(paths.settings).get("prefix_cache_disk") or 0) * GB)
    disk = DiskCache(prefix_folder(paths), limit)
    check_readable(disk.root)
    use = disk.use()
    bound = f"at most {size_text(limit)}" if limit else "turned off"
    detail = f"{count_text(use.files, 'file')}, {size_text(use.size_bytes)}, {bound}, {disk.root}"
    if disk.root.exists() and disk.root.stat().st_mode & 0o077:
        yield Check("Prefix cache", "problem", f"{detail}: others can read it", f"Close it: chmod 700 {disk.root}")
        return
    yield Check("Prefix cache", "ok", detail, "To remove it: flint cache clear" if use.files else "")


def _models() -> Iterator[Check]:
    library = open_library()
    for folder in library.closed_folders():
        yield Check("Models", "problem", f"{folder} can't be read", "Give yourself the right to read it.")
    entries = library.entries()
    usable = [entry for entry in entries if not entry.problem]
    if not usable:
        yield Check("Models", "note", f"none on {THIS_MACHINE}", "Import one: flint models import FILE.gguf")
    else:
        yield Check("Models", "ok", f"{len(usable)}: " + ", ".join(entry.name for entry in usable[:8]))
    for entry in entries:
        if entry.problem:
            yield Check(entry.name, "note", entry.problem, f"It is in {Path(entry.path)}.")

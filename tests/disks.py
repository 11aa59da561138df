"""Real disks that are full or read-only; a test that needs one skips visibly where mounting is not possible."""

import contextlib
import subprocess

import pytest


def _mount(*arguments):
    try:
        done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("mounting is not possible here: there is no mount command")
    if done.returncode:
        pytest.skip(f"mounting is not possible here: {done.stderr.strip()}")


@contextlib.contextmanager
def small_disk(folder, size):
    """Mount an empty disk of `size` (as “3m”) at `folder`, which is created."""
    folder.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def read_only(folder):
    """Make an existing `folder` a read-only disk, with what is in it, until the context ends."""
    _mount("--bind", str(folder), str(folder))
    try:
        _mount("-o", "remount,ro,bind", str(folder))
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)

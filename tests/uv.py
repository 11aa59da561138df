"""The `uv` the tests run: the one that runs them, else the one on the path."""

import os
import shutil
import subprocess

import pytest

_OFFLINE = ("error sending request", "dns error", "failed to connect", "network is unreachable", "connection refused")


def uv(*arguments, cwd, environ=None):
    """Run uv and return what it did; skip, saying so, where there is no uv or it cannot reach its registry."""
    program = os.environ.get("UV") or shutil.which("uv")
    if not program:
        pytest.skip("uv is not installed")
    command = [program, *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=os.environ | (environ or {}), capture_output=True, text=True)
    if done.returncode and any(sign in done.stderr.lower() for sign in _OFFLINE):
        pytest.skip(f"the package registry cannot be reached: {done.stderr.strip().splitlines()[-1]}")
    return done

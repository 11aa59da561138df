"""Starts `first_paint.py` in fresh processes, as somebody would start the app for the second time."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("first_paint.py")
TIMEOUT_S = 300


class FreshProcess:
    """Runs windows one after the other, with compiled modules kept in `bytecode`, so that only the first run compiles."""

    def __init__(self, bytecode: Path) -> None:
        self._environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
        self._environ.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(self, *arguments: str) -> dict[str, Any]:
        """Run the script with `arguments`; return what it printed, with `seconds` from the process's start to its first paint."""
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, str(SCRIPT), *arguments], env=self._environ, capture_output=True, text=True, timeout=TIMEOUT_S
        )
        if done.returncode or not done.stdout.strip():
            sys.exit(f"Error: no window came up.\n{done.stderr}")
        facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return {**facts, "seconds": facts["painted_at"] - started}

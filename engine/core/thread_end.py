"""The true end of a thread that computed with MLX."""

import sys
import threading
import time
from pathlib import Path

PATIENCE_S = 5.0
POLL_S = 0.001
GRACE_S = 0.05
"""Where the system can't be asked: far longer than the destructors take, and short for whoever quits."""


def wait_until_gone(thread: threading.Thread) -> None:
    """Wait until the operating system has ended a thread that was joined; from Python 3.13 on `join` does that itself.

    Before, `join` returns while destructors of the thread's C++ objects still run. Those of MLX's compile cache take the
    interpreter's lock, and one that meets the interpreter's end aborts the process (github.com/ml-explore/mlx/pull/4110).
    """
    if sys.version_info >= (3, 13) or thread.native_id is None:
        return
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        time.sleep(GRACE_S)
        return
    deadline = time.monotonic() + PATIENCE_S
    while (tasks / str(thread.native_id)).exists() and time.monotonic() < deadline:
        time.sleep(POLL_S)

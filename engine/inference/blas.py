"""The faster matrix library of the system, where MLX would use a slow one."""

import ctypes
import sys


def prefer_system_blas() -> bool:
    """Load the system's OpenBLAS ahead of MLX on Linux; return whether it is there.

    MLX's Linux wheel carries the reference BLAS. Symbols loaded globally before it win, which makes prefill about ten times
    faster. It has an effect only before MLX is imported for the first time; on macOS nothing is to be done.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        ctypes.CDLL("libopenblas.so.0", mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True

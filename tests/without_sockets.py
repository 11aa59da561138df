"""Runs pytest where no socket of the internet's can be made: `python -m tests.without_sockets ARGUMENT…`.

On Linux the kernel itself ends the process at the first one, whoever makes it: Python, Qt, or any library's own code.
Elsewhere Python's audit events are all there is.
"""

import ctypes
import os
import platform
import signal
import socket
import struct
import sys
import traceback

INTERNET = (socket.AF_INET, socket.AF_INET6)
_SET_SECCOMP, _NO_NEW_PRIVILEGES, _FILTER = 22, 38, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_KILL, _ALLOW = 0x80000000, 0x7FFF0000
# What the kernel calls each machine, and the number of its call `socket`.
_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}


def forbid_in_kernel():
    """Have the kernel end this process when it makes a socket of the internet's; return whether it will."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return False
    machine, call = _MACHINES[platform.machine()]
    steps = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 0, 5, machine),
        (_LOAD, 0, 0, 0),
        (_EQUAL, 0, 3, call),
        (_LOAD, 0, 0, 16),
        (_EQUAL, 2, 0, int(socket.AF_INET)),
        (_EQUAL, 1, 0, int(socket.AF_INET6)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _KILL),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    call_kernel = ctypes.CDLL(None, use_errno=True).prctl
    return call_kernel(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and call_kernel(_SET_SECCOMP, _FILTER, program, 0, 0) == 0


def tell(event, arguments):
    """Say who makes such a socket, and end the process as the kernel does."""
    if event == "socket.__new__" and arguments[1] in INTERNET:
        traceback.print_stack()
        os.kill(os.getpid(), signal.SIGSYS)


def main():
    """Run what the arguments name: pytest, or with `--probe` one socket made behind Python's back."""
    in_kernel = forbid_in_kernel()
    if sys.argv[1:] == ["--probe"]:
        print("kernel" if in_kernel else "python", flush=True)
        return ctypes.CDLL(None).socket(int(socket.AF_INET), int(socket.SOCK_STREAM), 0)
    sys.addaudithook(tell)
    import pytest

    return pytest.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

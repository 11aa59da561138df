"""Without a network everything local works, and no call is even tried: the kernel ends a process that makes such a socket."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def without_sockets(*arguments):
    command = [sys.executable, "-m", "tests.without_sockets", *arguments]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=280, check=False)


def test_a_socket_that_nobody_may_make_is_noticed_also_behind_pythons_back():
    tried = without_sockets("--probe")
    if tried.stdout.strip() == "python":
        pytest.skip("only Linux's kernel can be asked to refuse")
    assert tried.returncode == -signal.SIGSYS


def test_what_is_done_on_this_machine_makes_no_socket_of_the_internets():
    done = without_sockets("-n0", "-q", "-x", "tests/local_life.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_the_guard_over_all_tests_refuses_a_call_and_remembers_it(request):
    guard = request.config.network_guard
    for call in (
        lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
        lambda: socket.getaddrinfo("example.org", 443),
        lambda: socket.create_connection(("127.0.0.1", 9)),
    ):
        with pytest.raises(OSError, match="the tests have no network"):
            call()
    assert len(guard.tried) >= 3
    guard.tried.clear()

"""One window for one data folder."""

import os
import subprocess
import sys

import pytest
from PySide6.QtCore import QLockFile
from PySide6.QtNetwork import QLocalSocket

from app.instance import Instance
from tests.app.processes import ROOT

ASK = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.instance import Instance
application = QCoreApplication([])
instance = Instance(Path(sys.argv[1]))
print(instance.acquire() and "acquired" or instance.ask_to_raise() and "raised" or "no answer", flush=True)
if sys.argv[2:] == ["stay"]:
    sys.stdin.read()
"""


@pytest.fixture
def data(tmp_path):
    return tmp_path / "not" / "there yet ü"


@pytest.fixture
def first(qapp, data):
    instance = Instance(data)
    assert instance.acquire()
    yield instance
    instance.release()


def other(data, *arguments):
    """Another process that wants the window of the same data."""
    return subprocess.Popen(
        [sys.executable, "-c", ASK, str(data), *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_second_process_raises_the_first(qtbot, first, data):
    for _ in range(2):  # And again.
        with qtbot.waitSignal(first.raise_requested):
            process = other(data)
        assert process.communicate(timeout=60)[0] == "raised\n"


def test_window_of_other_data_is_another_window(first, data, tmp_path):
    process = other(tmp_path / "other data")
    assert process.communicate(timeout=60)[0] == "acquired\n"


def test_released_window_can_be_had_again(qapp, data):
    instance = Instance(data)
    assert instance.acquire()
    instance.release()
    again = Instance(data)
    assert again.acquire()
    again.release()


def test_lock_of_a_killed_process_is_taken_over(qapp, data):
    process = other(data, "stay")
    assert process.stdout.readline() == "acquired\n"
    process.kill()
    process.communicate()
    assert (data / "window.lock").exists()
    instance = Instance(data)
    assert instance.acquire()
    instance.release()


@pytest.mark.parametrize(
    "left",
    [
        "{pid}\npython3\nanother-network\n\n\n",  # The machine's name changed since: Qt can't tell whether the process lives.
        "1\nsystemd\n{host}\n\n\n",  # The process id is another program's by now.
        "",
        "no lock at all",
    ],
)
def test_stale_lock_of_any_kind_does_not_keep_the_window_from_opening(qapp, data, left):
    probe = QLockFile(str(data.parent / "probe.lock"))
    data.mkdir(parents=True)
    probe.tryLock(0)
    host = probe.getLockInfo()[1]
    probe.unlock()
    (data / "window.lock").write_text(left.format(pid=os.getpid(), host=host))
    instance = Instance(data)
    assert instance.acquire()
    instance.release()


def test_socket_left_by_a_crash_does_not_hide_the_window(qtbot, qapp, data):
    process = other(data, "stay")
    process.stdout.readline()
    process.kill()  # Its socket stays behind.
    process.communicate()
    instance = Instance(data)
    assert instance.acquire()
    with qtbot.waitSignal(instance.raise_requested):
        second = other(data)
    assert second.communicate(timeout=60)[0] == "raised\n"
    instance.release()


def test_noise_on_the_socket_raises_nothing(qtbot, first):
    qtbot.waitUntil(lambda: first._server is not None)
    socket = QLocalSocket()
    socket.connectToServer(first._name)
    assert socket.waitForConnected(5000)
    with qtbot.assertNotEmitted(first.raise_requested, wait=200):
        socket.write(b"GET / HTTP/1.1\r\n\r\n")
        socket.flush()
    socket.abort()


def test_folder_that_can_not_be_written_counts_as_ours(qapp, tmp_path):
    (tmp_path / "file").write_text("")
    instance = Instance(tmp_path / "file")
    assert instance.acquire()  # What is wrong with it is told by whoever writes there.
    instance.release()

"""Threads that the program's end does not wait for, and that do their work as Python's own do."""

import subprocess
import sys
import threading
import weakref

import pytest

from engine.core.daemon_pool import DaemonPool

LONG_S = 120
ENDLESS = """
import threading
from engine.core.daemon_pool import DaemonPool
pool, begun = DaemonPool(2, "test"), threading.Event()
pool.submit(lambda: (begun.set(), threading.Event().wait()))
begun.wait()
pool.shutdown(wait=False, cancel_futures=True)
pool.join(0)
"""


def test_the_program_ends_while_work_is_under_way():
    assert subprocess.run([sys.executable, "-c", ENDLESS], timeout=LONG_S, check=False).returncode == 0


def test_results_come_in_order_and_errors_as_they_were_raised():
    with DaemonPool(3, "test") as pool:
        assert list(pool.map(lambda number: number * number, range(50))) == [number * number for number in range(50)]
        with pytest.raises(ZeroDivisionError):
            pool.submit(lambda: 1 // 0).result()
        assert pool.submit(len, "four").result() == 4
    with pytest.raises(RuntimeError):
        pool.submit(len, "")


def test_no_more_threads_run_than_it_may_have():
    gate, running, most = threading.Lock(), [], []

    def work():
        with gate:
            running.append(1)
            most.append(len(running))
        both.wait(LONG_S)
        with gate:
            running.pop()

    both = threading.Barrier(2)
    with DaemonPool(2, "test") as pool:
        for _ in range(6):
            pool.submit(work)
    assert (max(most), len(most)) == (2, 6)


def test_what_waits_is_cancelled_on_request_and_what_runs_is_waited_for():
    go, begun = threading.Event(), threading.Event()
    pool = DaemonPool(1, "test")
    first = pool.submit(lambda: (begun.set(), go.wait(LONG_S))[1])
    begun.wait(LONG_S)
    told = []
    second = pool.submit(told.append, 1)
    second.add_done_callback(lambda future: told.append(future.cancelled()))
    pool.shutdown(wait=False, cancel_futures=True)
    assert told == [True]
    go.set()
    pool.join(None)
    assert first.result() is True


@pytest.mark.parametrize("cancelled", [False, True])
def test_an_idle_thread_keeps_nothing_alive(cancelled):
    class Work:
        def __call__(self):
            pass

    begun, hold = threading.Event(), threading.Event()
    pool = DaemonPool(1, "test")
    pool.submit(lambda: (begun.set(), hold.wait(LONG_S)))
    begun.wait(LONG_S)
    gone, work = threading.Event(), Work()
    weakref.finalize(work, gone.set)
    future = pool.submit(work)
    if cancelled:
        future.cancel()
    del work, future
    hold.set()
    assert gone.wait(LONG_S)
    pool.shutdown()

import os
import signal
import threading

import pytest

from engine.cli.interrupt import StopOnInterrupt


@pytest.fixture(autouse=True)
def as_in_a_terminal():
    """A shell starts what it runs in the background with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_interrupt_asks_and_the_second_one_interrupts():
    asked = []
    before = signal.getsignal(signal.SIGINT)
    with StopOnInterrupt(lambda: asked.append(1)):
        interrupt()
        assert asked == [1]
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert asked == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_wish_of_another_program_to_end_is_one_too_and_its_second_ends_the_process():
    asked = []
    before = signal.getsignal(signal.SIGTERM)
    with StopOnInterrupt(lambda: asked.append(1)):
        os.kill(os.getpid(), signal.SIGTERM)
        assert asked == [1]
        assert signal.getsignal(signal.SIGTERM) is before
    with StopOnInterrupt(lambda: None):
        pass
    assert signal.getsignal(signal.SIGTERM) is before


def test_without_an_interrupt_nothing_is_asked_and_all_is_as_before():
    asked = []
    before = signal.getsignal(signal.SIGINT)
    with StopOnInterrupt(lambda: asked.append(1)):
        assert signal.getsignal(signal.SIGINT) is not before
    assert asked == []
    assert signal.getsignal(signal.SIGINT) is before


def test_an_ignored_interrupt_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with StopOnInterrupt(lambda: pytest.fail("asked")):
            interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_on_another_thread_nothing_is_touched():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def elsewhere():
        with StopOnInterrupt(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [before]

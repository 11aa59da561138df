"""Work beside the window's thread."""

import threading

from app.background import Background


def test_only_the_newest_work_of_a_key_is_told(qtbot):
    work, gate, told = Background(), threading.Event(), []
    work.done.connect(lambda key, result: told.append((key, result)))
    work.run("a", gate.wait)
    work.run("a", lambda: "old")
    work.run("a", lambda: "new")
    work.run("b", lambda: 1 / 0)
    gate.set()
    qtbot.waitUntil(lambda: len(told) == 2)
    assert told == [("a", "new"), ("b", None)]
    work.close()
    work.run("a", lambda: "late")
    assert len(told) == 2

"""A consumer's end: nothing that is put in is lost, whoever rests, waits or drains."""

import threading

import pytest

from engine.core.connection import Connection
from engine.core.errors import EngineStopped
from engine.core.messages import Cancelled, Failed, Finished, ModelUnloaded, UnloadModel


def closed(command, connection):
    raise AssertionError("nothing is sent in this test")


def test_a_command_goes_to_the_route_with_the_connection_it_came_from():
    routed = []
    connection = Connection(lambda command, origin: routed.append((command, origin)))
    connection.send(UnloadModel("a"))
    assert routed == [(UnloadModel("a"), connection)]


def test_drain_gives_what_waits_in_order_and_returns():
    connection = Connection(closed)
    events = [ModelUnloaded("a"), Finished("a"), ModelUnloaded("", idle=True)]
    for event in events:
        connection.put(event)
    assert list(connection.drain()) == events
    assert list(connection.drain()) == []


@pytest.mark.parametrize("end", [Finished("a"), Cancelled("a"), Failed("a", EngineStopped("x").info())])
def test_waiting_gives_a_requests_events_up_to_its_end(end):
    connection = Connection(closed)
    for event in (ModelUnloaded("a"), end, ModelUnloaded("a")):
        connection.put(event)
    assert list(connection.wait("a", 1)) == [ModelUnloaded("a"), end]


def test_waiting_for_one_request_keeps_the_events_of_another_for_later():
    connection = Connection(closed)
    for event in (ModelUnloaded("b"), ModelUnloaded("a"), Finished("b"), Finished("a"), Finished("c")):
        connection.put(event)
    assert list(connection.wait("a", 1)) == [ModelUnloaded("a"), Finished("a")]
    assert list(connection.wait("b", 1)) == [ModelUnloaded("b"), Finished("b")]
    assert list(connection.drain()) == [Finished("c")]


def test_waiting_drops_what_belongs_to_no_request():
    connection = Connection(closed)
    for event in (ModelUnloaded("", idle=True), Finished("a")):
        connection.put(event)
    assert list(connection.wait("a", 1)) == [Finished("a")]
    assert list(connection.drain()) == []


def test_waiting_again_goes_on_after_an_interruption():
    connection = Connection(closed)
    for event in (ModelUnloaded("a"), ModelUnloaded("b"), ModelUnloaded("a", idle=True), Finished("a"), Finished("b")):
        connection.put(event)
    interrupted = connection.wait("a", 1)
    assert next(interrupted) == ModelUnloaded("a")
    interrupted.close()
    assert list(connection.wait("a", 1)) == [ModelUnloaded("a", idle=True), Finished("a")]
    assert list(connection.wait("b", 1)) == [ModelUnloaded("b"), Finished("b")]


def test_a_wait_that_is_left_in_the_middle_of_what_was_kept_loses_none_of_it():
    connection = Connection(closed)
    for event in (ModelUnloaded("b"), ModelUnloaded("b", idle=True), Finished("b"), Finished("a")):
        connection.put(event)
    list(connection.wait("a", 1))
    interrupted = connection.wait("b", 1)
    assert next(interrupted) == ModelUnloaded("b")
    interrupted.close()
    assert list(connection.wait("b", 1)) == [ModelUnloaded("b", idle=True), Finished("b")]


def test_silence_is_told_after_the_time_given():
    with pytest.raises(TimeoutError, match="said nothing"):
        next(Connection(closed).wait("a", 0.01))


def test_who_rests_is_woken_once_by_the_next_event():
    woken = []
    connection = Connection(closed, lambda: woken.append(1))
    connection.put(Finished("a"))
    assert woken == []
    list(connection.drain())
    connection.rest()
    assert woken == []
    connection.put(Finished("b"))
    connection.put(Finished("c"))
    assert woken == [1]


def test_who_rests_while_something_waits_is_woken_at_once():
    woken = []
    connection = Connection(closed, lambda: woken.append(1))
    connection.put(Finished("a"))
    connection.rest()
    assert woken == [1]
    connection.put(Finished("b"))
    assert woken == [1]


def test_resting_without_a_wake_is_harmless():
    connection = Connection(closed)
    connection.rest()
    connection.put(Finished("a"))
    assert list(connection.drain()) == [Finished("a")]


def test_no_event_is_lost_between_the_last_look_and_the_rest():
    """The consumer looks only when woken, as the window does; events come at any moment."""
    count = 3000
    awake = threading.Event()
    awake.set()
    connection = Connection(closed, awake.set)

    def produce():
        for number in range(count):
            connection.put(ListModelsEnd(number))

    producer = threading.Thread(target=produce)
    producer.start()
    seen = []
    while len(seen) < count:
        assert awake.wait(30), f"asleep with {count - len(seen)} events to come"
        awake.clear()
        seen.extend(event.request_id for event in connection.drain())
        connection.rest()
    producer.join()
    assert seen == [str(number) for number in range(count)]


def ListModelsEnd(number):
    return Finished(str(number))


def test_who_left_is_woken_no_more():
    woken = []
    connection = Connection(closed, lambda: woken.append(1))
    connection.rest()
    connection.leave()
    connection.put(Finished("a"))
    connection.rest()
    assert woken == []


def test_leaving_waits_for_whoever_is_waking():
    """What `wake` leads to may be gone the moment after: another thread must not be in the middle of it."""
    waking, go_on = threading.Event(), threading.Event()
    order = []

    def wake():
        waking.set()
        go_on.wait(30)
        order.append("woken")

    connection = Connection(closed, wake)
    connection.rest()
    threading.Thread(target=connection.put, args=(Finished("a"),)).start()
    waking.wait(30)
    leaving = threading.Thread(target=lambda: (connection.leave(), order.append("left")))
    leaving.start()
    leaving.join(0.1)
    assert leaving.is_alive()
    go_on.set()
    leaving.join(30)
    assert order == ["woken", "left"]

import pytest

from engine.core.connection import Connection
from engine.core.messages import Cancel, Cancelled, Finished, ModelUnloaded


def connected(wake=None):
    sent = []
    return Connection(lambda command, origin: sent.append((command, origin)), wake), sent


def test_a_command_is_routed_with_where_it_came_from():
    connection, sent = connected()
    connection.send(Cancel("1", "2"))
    assert sent == [(Cancel("1", "2"), connection)]


def test_draining_gives_what_waits_in_order_and_ends():
    connection, _ = connected()
    connection.put(ModelUnloaded("1"))
    connection.put(Finished("1"))
    assert list(connection.drain()) == [ModelUnloaded("1"), Finished("1")]
    assert list(connection.drain()) == []


def test_waiting_gives_one_requests_events_up_to_its_end():
    connection, _ = connected()
    for event in (ModelUnloaded("other"), ModelUnloaded("1"), Cancelled("1"), Finished("2")):
        connection.put(event)
    assert list(connection.wait("1")) == [ModelUnloaded("1"), Cancelled("1")]
    assert list(connection.drain()) == [Finished("2")]


def test_waiting_for_nothing_times_out():
    connection, _ = connected()
    with pytest.raises(TimeoutError):
        next(connection.wait("1", timeout=0.01))


def test_a_consumer_that_looks_is_not_woken():
    woken = []
    connection, _ = connected(lambda: woken.append(1))
    connection.put(ModelUnloaded("1"))
    assert woken == []


def test_a_resting_consumer_is_woken_once():
    woken = []
    connection, _ = connected(lambda: woken.append(1))
    connection.rest()
    assert woken == []
    connection.put(ModelUnloaded("1"))
    connection.put(Finished("1"))
    assert woken == [1]


def test_what_came_just_before_resting_wakes_at_once():
    woken = []
    connection, _ = connected(lambda: woken.append(1))
    connection.put(ModelUnloaded("1"))
    connection.rest()
    assert woken == [1]

"""The engine thread: what is sent is answered once, stops take effect at once, and memory comes back."""

import gc
import threading
from dataclasses import replace

import mlx.core as mx
import pytest

from engine.core.connection import Connection
from engine.core.facts import Message
from engine.core.messages import (
    Cancel,
    Cancelled,
    Failed,
    Finished,
    ImportModel,
    ImportProgress,
    InspectPrompt,
    LoadModel,
    LoadProgress,
    MemoryMeasured,
    ModelLoaded,
    ModelUnloaded,
    NextTokens,
    PrefillProgress,
    PromptInspected,
    SetUnloadAfter,
    Shutdown,
    TextDelta,
    UnloadModel,
)
from engine.core.paths import locate
from engine.models.library import Library
from engine.worker import Worker
from tests.engine.engines import PATIENCE_S, Reacting, break_model, ends, finish, generate, install
from tests.models.tiny import tiny_llama
from tests.models.tiny_gguf import tiny_gguf


@pytest.fixture
def worker(flint_home, tiny_folders):
    install(tiny_folders, flint_home, one="growing", two="sliding", broken="growing")
    break_model(flint_home, "broken")
    paths = locate()
    made = Worker(Library(paths), paths.models)
    made.start()
    yield made
    made.close()


def kinds(events):
    return [type(event) for event in events if not isinstance(event, MemoryMeasured)]


def without_memory(events):
    return [event for event in events if not isinstance(event, MemoryMeasured)]


def test_a_reply_loads_the_model_it_names_by_itself(worker):
    events = without_memory(finish(worker.connect(), generate("a")))
    order = list(dict.fromkeys(kinds(events)))
    assert order == [LoadProgress, ModelLoaded, PrefillProgress, TextDelta, NextTokens, Finished]
    assert events[-1].reply.model == "one"
    assert [event.fraction for event in events if isinstance(event, LoadProgress)] == sorted(
        event.fraction for event in events if isinstance(event, LoadProgress)
    )
    assert events[-1].reply.output_tokens == 8


def test_the_second_reply_loads_nothing_and_reuses_the_cache(worker):
    connection = worker.connect()
    finish(connection, generate("a"))
    events = finish(connection, generate("b"))
    assert LoadProgress not in kinds(events)
    assert events[-1].reply.cached_tokens == events[-1].reply.prompt_tokens - 1


def test_another_model_takes_the_place_of_the_one_before(worker):
    connection, other = worker.connect(), worker.connect()
    assert finish(connection, generate("a", "one"))[-1].reply.model == "one"
    assert finish(connection, generate("b", "two"))[-1].reply.model == "two"
    assert finish(connection, generate("c", "one"))[-1].reply.cached_tokens == 0
    assert [event.model.id for event in other.drain() if isinstance(event, ModelLoaded)] == ["one", "two", "one"]


def test_the_same_model_is_loaded_again_when_its_weights_are_wanted_otherwise(worker):
    connection = worker.connect()
    finish(connection, LoadModel("a", "one"))
    assert LoadProgress not in kinds(finish(connection, LoadModel("b", "one")))
    assert LoadProgress in kinds(finish(connection, LoadModel("c", "one", "as-stored")))


def test_a_reply_without_a_model_takes_the_loaded_one(worker):
    connection = worker.connect()
    finish(connection, LoadModel("a", "two"))
    assert finish(connection, generate("b", ""))[-1].reply.model == "two"


def test_a_gguf_given_by_its_path_is_imported_once_and_kept_loaded(worker, tmp_path):
    path = tmp_path / "größe eins.gguf"
    tiny_gguf(path)
    connection = worker.connect()
    first = finish(connection, generate("a", str(path)))
    assert isinstance(first[-1], Finished), first[-1]
    again = finish(connection, generate("b", str(path)))
    assert LoadProgress not in kinds(again)
    assert again[-1].reply.cached_tokens > 0
    by_name = finish(connection, generate("c", next(event for event in first if isinstance(event, ModelLoaded)).model.id))
    assert LoadProgress not in kinds(by_name)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (LoadModel("x", "nowhere"), "model-not-found"),
        (LoadModel("x", "broken"), "model-broken"),
        (generate("x", "broken"), "model-broken"),
        (generate("x", "one", text=()), "bad-template"),
        (ImportModel("x", "/nowhere/at-all.gguf"), None),
    ],
)
def test_what_cannot_be_done_fails_once_with_a_hint_and_the_engine_goes_on(worker, command, code):
    connection = worker.connect()
    failed = finish(connection, command)[-1]
    assert isinstance(failed, Failed)
    assert failed.error.hint
    assert code in (None, failed.error.code)
    assert isinstance(finish(connection, generate("after"))[-1], Finished)


def test_a_model_that_fails_before_anything_was_dropped_leaves_the_loaded_one(worker):
    connection = worker.connect()
    finish(connection, generate("a"))
    finish(connection, LoadModel("x", "broken"))
    assert finish(connection, generate("b"))[-1].reply.cached_tokens > 0


# -- stopping -----------------------------------------------------------------------------------------------------------


def test_a_cancel_takes_effect_with_the_next_token(worker):
    def react(connection, event):
        if isinstance(event, TextDelta) and event.output_tokens == 5:
            connection.send(Cancel("stop", "a"))

    events = finish(Reacting(worker, react), generate("a", tokens=400))
    assert isinstance(events[-1], Cancelled)
    assert events[-1].reply.output_tokens == 6
    assert events[-1].reply.finish_reason == "cancelled"
    again = finish(worker.connect(), generate("b"))[-1].reply
    assert again.cached_tokens == again.prompt_tokens - 1


def test_a_cancel_takes_effect_with_the_next_chunk(worker):
    def react(connection, event):
        if isinstance(event, PrefillProgress) and event.done:
            connection.send(Cancel("stop", "a"))

    long = generate("a", text=(Message("user", "hello " * 90),))
    end = finish(Reacting(worker, react), long)[-1]
    assert isinstance(end, Cancelled)
    assert end.reply.chunks == (64,)
    assert end.reply.output_tokens == 0


def test_a_prompt_is_shown_while_a_reply_is_written_and_the_reply_goes_on(worker):
    def react(connection, event):
        if isinstance(event, TextDelta) and event.output_tokens == 3:
            connection.send(InspectPrompt("look", generate("shown")))

    connection = Reacting(worker, react)
    reply = finish(connection, generate("a", tokens=12))
    shown = list(connection.wait("look", PATIENCE_S))
    assert kinds(shown) == [PromptInspected, Finished]
    assert reply[-1].reply.output_tokens == 12
    assert shown[0].cached == reply[-1].reply.prompt_tokens - 1
    assert without_memory(connection.drain()) == []  # The engine at rest tells of it now and then.


def test_without_a_model_there_is_no_prompt_to_show(worker):
    end = finish(worker.connect(), InspectPrompt("look", generate("shown")))[-1]
    assert (type(end), end.error.code) == (Failed, "no-model")
    finish(worker.connect(), generate("a"))
    assert kinds(finish(worker.connect(), InspectPrompt("look", generate("shown")))) == [PromptInspected, Finished]


@pytest.mark.parametrize("step", range(1, 6))
def test_a_load_is_cancelled_between_two_steps_and_nothing_stays(worker, step):
    heard = []

    def react(connection, event):
        heard.extend([event] if isinstance(event, LoadProgress) and event.request_id == "b" else [])
        if len(heard) == step and event is heard[-1]:
            connection.send(Cancel("stop", "b"))

    connection = Reacting(worker, react)
    finish(connection, LoadModel("a", "one"))
    events = finish(connection, LoadModel("b", "two"))
    assert kinds(events) == [LoadProgress] * step + [ModelUnloaded, Cancelled]
    assert isinstance(finish(connection, generate("c"))[-1], Finished)


def test_an_import_is_cancelled_and_nothing_of_it_is_kept(worker, tmp_path, flint_home):
    tiny_gguf(tmp_path / "x.gguf")
    before = sorted((flint_home / "models").glob("[!.]*"))

    def react(connection, event):
        if isinstance(event, ImportProgress):
            connection.send(Cancel("stop", event.request_id))

    connection = Reacting(worker, react)
    assert kinds(finish(connection, ImportModel("a", str(tmp_path / "x.gguf")))) == [ImportProgress, Cancelled]
    assert kinds(finish(connection, generate("b", str(tmp_path / "x.gguf")))) == [ImportProgress, Cancelled]
    assert sorted((flint_home / "models").glob("[!.]*")) == before
    assert [path.name for path in (flint_home / "models").glob(".*")] in ([], [".import.lock"])


def test_a_request_that_waits_is_cancelled_at_once_and_the_running_one_is_not(worker):
    order = []

    def react(connection, event):
        if isinstance(event, TextDelta) and event.output_tokens == 2:
            connection.send(generate("waits"))
            connection.send(Cancel("stop", "waits"))
        if ends([event], event.request_id):
            order.append((event.request_id, type(event)))

    connection = Reacting(worker, react)
    assert isinstance(finish(connection, generate("runs", tokens=20))[-1], Finished)
    assert ("waits", Cancelled) in order
    assert order.index(("waits", Cancelled)) < order.index(("runs", Finished))


def test_a_cancel_of_what_is_over_or_unknown_ends_politely(worker):
    connection = worker.connect()
    finish(connection, generate("a"))
    for target in ("a", "never"):
        assert kinds(finish(connection, Cancel(f"stop-{target}", target))) == [Finished]
    assert isinstance(finish(connection, generate("b"))[-1], Finished)


def test_a_shutdown_stops_the_reply_within_a_token_and_ends_what_waits(worker):
    def react(connection, event):
        if isinstance(event, TextDelta) and event.output_tokens == 5:
            connection.send(generate("waits"))
            connection.send(Shutdown("down"))

    connection = Reacting(worker, react)
    end = finish(connection, generate("a", tokens=400))[-1]
    assert isinstance(end, Cancelled)
    assert end.reply.output_tokens == 6
    assert list(connection.wait("waits", PATIENCE_S))[-1].error.code == "engine-stopped"
    assert kinds(connection.wait("down", PATIENCE_S)) == [Finished]
    worker._thread.join(PATIENCE_S)
    assert not worker._thread.is_alive()


# -- closing ------------------------------------------------------------------------------------------------------------


def test_close_ends_the_reply_and_joins_and_can_be_called_again(worker):
    connection = worker.connect()
    connection.send(generate("a", tokens=400))
    next(event for event in connection.wait("a", PATIENCE_S) if isinstance(event, TextDelta))
    worker.close()
    worker.close()
    assert not worker._thread.is_alive()
    assert len(ends(connection.drain(), "a")) == 1


def test_what_is_sent_after_close_fails_politely(worker):
    connection = worker.connect()
    worker.close()
    for command in (generate("a"), UnloadModel("b"), Cancel("c", "a"), Shutdown("d")):
        (failed,) = finish(connection, command)
        assert failed.error.code == "engine-stopped"
        assert failed.error.hint


def test_a_worker_that_was_never_started_ends_what_was_sent_when_it_is_closed(flint_home):
    paths = locate()
    idle = Worker(Library(paths), paths.models)
    connection = idle.connect()
    connection.send(generate("a"))
    idle.close()
    assert [event.error.code for event in connection.wait("a", PATIENCE_S)] == ["engine-stopped"]


def test_no_command_is_lost_between_the_last_look_and_the_end(flint_home):
    """Many threads send while another closes: each command still ends, exactly once."""
    paths = locate()
    for _ in range(5):
        busy = Worker(Library(paths), paths.models)
        busy.start()
        connections = [busy.connect() for _ in range(4)]
        senders = [
            threading.Thread(target=lambda mine=mine: [mine.send(UnloadModel(f"r{number}")) for number in range(60)])
            for mine in connections
        ]
        for sender in senders:
            sender.start()
        busy.close()
        for sender in senders:
            sender.join()
        for connection in connections:
            events = list(connection.drain())
            assert [len(ends(events, f"r{number}")) for number in range(60)] == [1] * 60


def test_a_consumer_whose_wake_fails_does_not_harm_the_engine(worker):
    def gone():
        raise RuntimeError("Signal source has been deleted")

    dead = worker.connect(gone)
    dead.rest()
    assert isinstance(finish(worker.connect(), generate("a"))[-1], Finished)


def test_memory_that_cannot_be_read_does_not_end_a_reply(worker, monkeypatch):
    def unreadable(*_, **__):
        raise OSError("/proc is gone")

    monkeypatch.setattr("engine.resident.read_memory", unreadable)
    events = finish(worker.connect(), generate("a"))
    assert isinstance(events[-1], Finished)
    assert MemoryMeasured not in [type(event) for event in events]


# -- memory -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def large(flint_home, worker):
    """A model of some megabytes, so that its memory shows."""
    tiny_llama(flint_home / "models" / "large", hidden=256, layers=4, inner=512)
    gc.collect()
    mx.clear_cache()
    return worker


def settled_memory(connection):
    """MLX's active bytes once the engine thread has nothing left to do."""
    finish(connection, Cancel("settle", "nothing"))
    return mx.get_active_memory()


def test_unloading_gives_the_memory_back(large):
    connection = large.connect()
    finish(connection, UnloadModel("first"))
    before = settled_memory(connection)
    facts = finish(connection, generate("a", "large", tokens=4))[-1].reply
    held = settled_memory(connection)
    assert held - before > 0.9 * facts.weights_bytes > 2_000_000
    events = finish(connection, UnloadModel("u"))
    assert kinds(events) == [ModelUnloaded, Finished]
    assert settled_memory(connection) - before < 200_000
    reading = next(event.reading for event in events if isinstance(event, MemoryMeasured))
    assert (reading.weights, reading.kv) == (0, 0)


def test_an_idle_model_is_unloaded_and_everybody_is_told(large):
    connection, other = large.connect(), large.connect()
    before = settled_memory(connection)
    finish(connection, generate("a", "large", tokens=4))
    finish(connection, SetUnloadAfter("s", 0.2))
    for each in (connection, other):
        told = next(
            event
            for event in iter(lambda each=each: each.events.get(timeout=PATIENCE_S), None)
            if isinstance(event, ModelUnloaded)
        )
        assert told.idle
        assert told.request_id == ""
    assert settled_memory(connection) - before < 200_000
    assert LoadProgress in kinds(finish(connection, generate("b", "large", tokens=4)))


def test_a_switch_does_not_hold_two_models(large):
    connection = large.connect()
    finish(connection, LoadModel("a", "one"))
    small = settled_memory(connection)
    finish(connection, LoadModel("b", "large"))
    finish(connection, LoadModel("c", "one"))
    assert settled_memory(connection) - small < 200_000


def test_a_load_that_fails_late_gives_its_memory_back(large, flint_home):
    import json

    config = flint_home / "models" / "large" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "num_hidden_layers": 5}))  # One more than is stored.
    connection = large.connect()
    finish(connection, LoadModel("first", "one"))
    finish(connection, UnloadModel("u"))
    before = settled_memory(connection)
    events = finish(connection, LoadModel("a", "large"))
    assert isinstance(events[-1], Failed)
    assert ModelUnloaded in kinds(events)
    assert settled_memory(connection) - before < 200_000


def test_a_model_that_does_not_fit_is_not_loaded_and_the_one_before_stays(worker, monkeypatch):
    import engine.inference.load_guard as guard

    connection = worker.connect()
    finish(connection, LoadModel("a", "one"))
    real = guard.read_memory
    monkeypatch.setattr(guard, "read_memory", lambda *a, **k: replace(real(*a, **k), budget=1000))
    events = finish(connection, LoadModel("b", "two"))
    assert events[-1].error.code == "out-of-memory"
    assert "two needs" in events[-1].error.text
    assert "guard off" in events[-1].error.hint
    assert ModelUnloaded not in kinds(events)
    assert LoadProgress not in kinds(finish(connection, LoadModel("c", "one")))
    assert ModelLoaded in kinds(finish(connection, LoadModel("d", "two", memory_guard="off")))


def test_memory_is_measured_with_every_end_of_a_reply(worker):
    events = finish(worker.connect(), generate("a"))
    reading = [event for event in events if isinstance(event, MemoryMeasured)][-1].reading
    assert reading.weights == events[-1].reply.weights_bytes
    assert 0 < events[-1].reply.kv_bytes <= reading.kv, "what is seen lies in the room that the cache takes"
    assert reading.active >= reading.weights + reading.kv


def test_a_consumer_hears_only_its_own_requests_and_what_concerns_everybody(worker):
    mine, other = worker.connect(), worker.connect()
    finish(mine, generate("a"))
    assert {type(event) for event in other.drain()} <= {ModelLoaded, MemoryMeasured}


def test_a_plain_connection_can_send_too(worker):
    connection = Connection(worker.post)
    assert isinstance(finish(connection, generate("a"))[-1], Finished)

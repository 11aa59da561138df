"""Between the engine's threads and the window: nothing lost, nothing late, and no work while nothing happens."""

import threading

import pytest
from PySide6.QtCore import QThread

from app.bridge import Bridge, joined
from engine.core.errors import EngineStopped
from engine.core.facts import Message
from engine.core.hub_messages import DescribeHub
from engine.core.messages import (
    Cancelled,
    Failed,
    Finished,
    Generate,
    ListModels,
    LoadModel,
    MemoryMeasured,
    ModelLoaded,
    ModelsListed,
    ModelUnloaded,
    SetUnloadAfter,
    TextDelta,
)
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.settings import Sampling
from engine.host import Host
from tests.app.window_driver import give_model
from tests.hub.server import Hub
from tests.models.speaking import FOX


def delta(request_id, text, count, reasoning=""):
    return TextDelta(request_id, text, reasoning, count, float(count), 10 + count, 0.25, 8192)


# -- joining -------------------------------------------------------------------------------------------------------------


def test_text_of_one_drain_is_joined_and_carries_the_newest_figures():
    (whole,) = joined([delta("r", "The ", 1, "hm"), delta("r", "quick ", 2, "mm"), delta("r", "fox", 3)])
    assert (whole.text, whole.reasoning) == ("The quick fox", "hmmm")
    assert (whole.output_tokens, whole.rate, whole.context_used) == (3, 3.0, 13)


def test_joining_keeps_the_order_and_mixes_no_requests():
    end, listed = Finished("r"), ModelsListed("list", ())
    events = [listed, delta("r", "a", 1), delta("r", "b", 2), end, delta("s", "c", 1), delta("s", "d", 2), delta("t", "e", 1)]
    assert [getattr(event, "text", type(event)) for event in joined(events)] == [ModelsListed, "ab", Finished, "cd", "e"]
    assert list(joined([])) == []


# -- with the real engine ------------------------------------------------------------------------------------------------


class Ears:
    """Keeps what the bridge delivers, and on which thread."""

    def __init__(self, qtbot, bridge):
        self.qtbot, self.bridge = qtbot, bridge
        self.events = []
        self.threads = set()
        bridge.received.connect(self.take)

    def take(self, event):
        self.events.append(event)
        self.threads.add(threading.get_ident())

    def wait(self, condition):
        self.qtbot.waitUntil(condition)

    def end(self, request_id):
        ends = [
            event
            for event in self.events
            if event.request_id == request_id and isinstance(event, Finished | Failed | Cancelled)
        ]
        assert len(ends) <= 1, "a request ended twice"
        return ends[0] if ends else None


@pytest.fixture
def ears(qtbot):
    bridge = Bridge(lambda: Host(locate(), Preferences(locate().settings)))
    bridge.start()
    yield Ears(qtbot, bridge)
    bridge.close()


def ask(ears, model_id, request_id="r", max_tokens=2048):
    ears.bridge.send(Generate(request_id, model_id, (Message("user", "Hello"),), Sampling(max_tokens=max_tokens)))


def test_ids_are_never_used_twice(ears):
    ids = [ears.bridge.new_id("reply") for _ in range(3)] + [ears.bridge.new_id("load")]
    assert len(set(ids)) == 4
    assert ids[0].startswith("reply-")


def test_events_arrive_on_the_gui_thread_and_every_request_ends_once(ears, fox):
    ask(ears, give_model(fox))
    ears.bridge.send(ListModels("list"))
    ears.wait(lambda: ears.end("r") and ears.end("list"))
    assert ears.threads == {threading.get_ident()}
    assert QThread.currentThread() is ears.bridge.thread()
    assert "".join(event.text for event in ears.events if isinstance(event, TextDelta)) == FOX
    assert any(isinstance(event, ModelLoaded) for event in ears.events)


def test_failure_arrives_as_an_event_never_as_an_exception(ears):
    ears.bridge.send(LoadModel("load", "no-such-model"))
    ears.wait(lambda: ears.end("load"))
    assert isinstance(ears.end("load"), Failed)
    assert ears.end("load").error.code == "model-not-found"


def test_timer_rests_while_nothing_runs_and_wakes_when_the_engine_has_something_to_say(ears, fox):
    ask(ears, give_model(fox))
    timer = ears.bridge._timer
    assert timer.isActive()
    ears.wait(lambda: ears.end("r"))
    ears.wait(lambda: not timer.isActive())
    ears.bridge._host._worker._inbox.put((SetUnloadAfter("quietly", 0.05), ears.bridge._connection))
    # The command went past the bridge, so its timer is at rest: only the engine itself can wake it.
    ears.wait(lambda: any(isinstance(event, ModelUnloaded) and event.idle for event in ears.events))
    ears.wait(lambda: not timer.isActive())


def test_timer_runs_on_while_a_request_is_open(ears, endless):
    ask(ears, give_model(endless), max_tokens=30_000)
    ears.wait(lambda: any(isinstance(event, TextDelta) for event in ears.events))
    assert ears.bridge._timer.isActive()
    ears.bridge.cancel("r")
    ears.wait(lambda: ears.end("r"))
    ears.wait(lambda: not ears.bridge._timer.isActive())


def test_gauges_hear_of_memory_also_while_nothing_runs(ears):
    ears.wait(lambda: any(isinstance(event, MemoryMeasured) for event in ears.events))
    reading = next(event.reading for event in ears.events if isinstance(event, MemoryMeasured))
    assert reading.footprint > 0
    assert reading.budget > 0


def test_closing_ends_what_runs_and_what_waits_and_delivers_their_ends(ears, endless):
    model = give_model(endless)
    ask(ears, model, "running", max_tokens=30_000)
    ask(ears, model, "waiting")
    ears.wait(lambda: any(isinstance(event, TextDelta) for event in ears.events))
    ears.bridge.close()
    assert isinstance(ears.end("running"), Cancelled)
    assert isinstance(ears.end("waiting"), Failed)
    assert not ears.bridge._timer.isActive()
    assert not any(thread.name == "flint-engine" for thread in threading.enumerate())
    ears.bridge.close()  # A second time does nothing.


def test_command_after_closing_fails_instead_of_hanging(ears):
    ears.bridge.close()
    ears.bridge.send(ListModels("late"))
    ears.bridge.send(LoadModel("later", "x"))
    ears.wait(lambda: ears.end("late") and ears.end("later"))
    assert ears.end("late").error.code == ears.end("later").error.code == "engine-stopped"


def test_what_was_sent_before_the_start_is_done_after_it(qtbot):
    bridge = Bridge(lambda: Host(locate(), Preferences(locate().settings)))
    ears = Ears(qtbot, bridge)
    bridge.send(ListModels("early"))
    bridge.start()
    ears.wait(lambda: ears.end("early"))
    assert isinstance(ears.end("early"), Finished)
    bridge.close()


def test_what_was_sent_to_an_engine_that_never_started_fails_when_it_is_closed(qtbot):
    bridge = Bridge(lambda: pytest.fail("made"))
    ears = Ears(qtbot, bridge)
    bridge.send(ListModels("early"))
    bridge.close()
    bridge.send(ListModels("late"))
    assert ears.end("early").error.code == ears.end("late").error.code == "engine-stopped"


def test_bridge_that_was_never_started_can_be_closed():
    bridge = Bridge(lambda: Host(locate(), Preferences(locate().settings)))
    bridge.close()
    assert not any(thread.name == "flint-engine" for thread in threading.enumerate())


def test_an_answer_of_the_hubs_after_the_closing_wakes_nobody(ears, qtbot, monkeypatch):
    """The window is gone by then, and what would be woken with it: a thread that is at it then can crash."""
    asked, answer = threading.Event(), threading.Event()
    monkeypatch.setattr("engine.models.hub.Hub.describe", lambda *_: (asked.set(), answer.wait()))
    ears.bridge.send(DescribeHub("asked", "org/model"))
    qtbot.waitUntil(asked.is_set)
    ears.bridge.close()
    woken = []
    ears.bridge._woken.connect(lambda: woken.append(1))
    answer.set()
    answers = ears.bridge._connection.events
    qtbot.waitUntil(lambda: not answers.empty())
    qtbot.wait(50)
    assert woken == []


def test_what_the_hub_is_asked_ends_with_the_closing(ears, qtbot, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with Hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.base)
        hub.fault("", hang=True)
        ears.bridge.send(DescribeHub("asked", "org/model"))
        qtbot.waitUntil(lambda: bool(hub.asked))
        ears.bridge.close()
        assert ears.end("asked").error.code == EngineStopped.code

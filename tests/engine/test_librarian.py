"""The hub's commands through the whole engine: search, facts, downloads that are paused, resumed, cancelled and outlive it."""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from engine.core.hub_messages import (
    AskHubAccount,
    CancelDownload,
    DescribeHub,
    DownloadChanged,
    DownloadsListed,
    FindVariants,
    HubAccount,
    HubDescribed,
    HubFound,
    HubVariants,
    ListDownloads,
    PauseDownload,
    SearchHub,
    SetHubToken,
    StartDownload,
)
from engine.core.messages import Failed, Finished
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.host import Host
from engine.models import transfer
from engine.models.download_note import arriving
from engine.models.huggingface_cache import cache_folder, cached_repositories
from engine.models.repository_download import repository_folder
from engine.models.transfer import PARTIAL
from tests.hub.repositories import MadeUp, Repository
from tests.hub.server import Hub as Server
from tests.models.tiny_gguf import tiny_gguf

NAME = "org/model"
SIZE = 3_000_000
LONG_S = 60


@pytest.fixture
def server(monkeypatch):
    from huggingface_hub import close_session

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(transfer, "CHUNK", 100_000)
    repository = Repository(NAME, tags=["mlx"]).add("config.json", {"model_type": "llama", "num_hidden_layers": 2})
    repository.add("tokenizer.json", "{}")
    with Server(repository.add("model.safetensors", MadeUp(SIZE))) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.base)
        yield server
    close_session()


class Engine:
    """A host and one consumer of it."""

    def __init__(self):
        paths = locate()
        self.host = Host(paths, Preferences(paths.settings))
        self.host.start()
        self.connection = self.host.connect()
        self.number = self.heard = 0
        self.told = []

    def ask(self, kind, *values, **more):
        """Send a command and return its events."""
        self.number += 1
        self.connection.send(kind(f"r{self.number}", *values, **more))
        events = []
        end = time.monotonic() + LONG_S
        while not events or not isinstance(events[-1], Finished | Failed):
            self.look()
            events = [event for event in self.told if event.request_id == f"r{self.number}"]
            assert time.monotonic() < end, "no answer"
            time.sleep(0.005)
        return events

    def look(self):
        self.told += self.connection.drain()

    def changes(self):
        self.look()
        return [event for event in self.told if isinstance(event, DownloadChanged)]

    def wait(self, condition):
        """Wait for a word of a download that meets `condition`, the first after what was waited for before; return it."""
        end = time.monotonic() + LONG_S
        while True:
            changes = self.changes()
            for change in changes[self.heard :]:
                self.heard += 1
                if condition(change):
                    return change
            assert time.monotonic() < end, changes[-1:]
            time.sleep(0.005)

    def close(self):
        """Close the host, and wait until nothing is fetched any more."""
        self.host.close()
        for thread in threading.enumerate():
            if thread.name == "flint-downloads":
                thread.join(LONG_S)

    def state(self, *states):
        return self.wait(lambda change: change.download.state in states and not change.gone).download


@pytest.fixture
def engine(server):
    engine = Engine()
    yield engine
    engine.close()


def slow(server):
    """Have half of each file come, and no whole one."""
    server.fault("cdn/", crawl_from=SIZE // 2, times=None)


def wait_until(condition):
    end = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def sent_since(server, before):
    """Bytes of files for what was asked since: a connection that was given up may pour out the rest of its own meanwhile."""
    return sum(asked.sent for asked in server.asked[before:] if asked.path.startswith("/cdn/"))


def test_a_search_is_told_at_once_and_then_with_what_the_configs_say(engine, server):
    server.repositories[NAME].tags.append("license:mit")
    *found, end = engine.ask(SearchHub, "model")
    assert isinstance(end, Finished)
    assert all(isinstance(event, HubFound) for event in found)
    assert [model.id for model in found[-1].models] == [NAME]
    assert json.loads(found[-1].models[0].config)["num_hidden_layers"] == 2


def test_other_quantizations_are_told_or_why_they_are_not(engine, server):
    server.add(Repository(f"{NAME}-8bit", tags=["mlx"]))
    found, end = engine.ask(FindVariants, NAME)
    assert isinstance(end, Finished)
    assert isinstance(found, HubVariants)
    assert [model.id for model in found.models] == [NAME, f"{NAME}-8bit"]
    server.fault("/api/models", status=503)
    (failed,) = engine.ask(FindVariants, NAME)
    assert isinstance(failed, Failed)
    assert failed.error.code == "hub-trouble"


def test_once_closed_the_hub_is_asked_nothing_more(engine, server):
    """A search goes on to the configs of what it found, a description to the card: each is a call of its own."""
    for number in range(20):
        server.add(Repository(f"org/found-{number}", tags=["mlx"]).add("config.json", {"model_type": "llama"}))
    served = threading.Event()
    server.fault("/api/models", change=lambda: served.wait(30))
    engine.connection.send(SearchHub("search", "found"))
    while not server.asked:
        time.sleep(0.005)
    engine.host.close()
    served.set()
    end = time.monotonic() + LONG_S
    while not any(event.request_id == "search" and isinstance(event, Finished | Failed) for event in engine.told):
        engine.look()
        assert time.monotonic() < end
        time.sleep(0.005)
    assert [asked.path for asked in server.asked] == ["/api/models"]


def test_a_repository_is_described(engine):
    described, _ = engine.ask(DescribeHub, NAME)
    assert isinstance(described, HubDescribed)
    assert described.detail.model.id == NAME


def test_what_goes_wrong_ends_the_request_with_what_to_do(engine):
    (failed,) = engine.ask(DescribeHub, "org/nothing")
    assert failed.error.code == "hub-no-repository"
    assert failed.error.hint


def test_a_download_is_told_of_and_ends_in_the_cache(engine):
    engine.ask(StartDownload, NAME)
    done = engine.state("done")
    assert (done.done_bytes, done.error) == (done.total_bytes, None)
    (found,) = cached_repositories(cache_folder(os.environ))
    assert done.folder == str(found.snapshot)
    listed, _ = engine.ask(ListDownloads)
    assert isinstance(listed, DownloadsListed)
    assert [one.state for one in listed.downloads] == ["done"]
    assert listed.free_bytes > 0


def test_paused_and_resumed_it_fetches_only_what_is_missing(engine, server):
    slow(server)
    engine.ask(StartDownload, NAME)
    engine.wait(lambda change: change.download.done_bytes >= SIZE // 2)
    engine.ask(PauseDownload, NAME)
    engine.state("paused")
    server.faults.clear()
    before = len(server.asked)
    engine.ask(StartDownload, NAME)
    engine.state("done")
    assert SIZE // 3 < sent_since(server, before) <= SIZE // 2


def test_a_list_is_never_older_than_what_was_told_before_it(engine, server, monkeypatch):
    slow(server)
    engine.ask(StartDownload, NAME)
    engine.state("running")
    queue = engine.host._librarian._queue
    monkeypatch.setattr("engine.librarian._free_bytes", lambda _folder: queue.pause(NAME) or 1)
    listed = engine.ask(ListDownloads)[0]
    assert engine.changes()[-1].download.state == "paused"
    assert [download.state for download in listed.downloads] == ["paused"]


def test_cancelled_it_leaves_nothing(engine, server):
    slow(server)
    engine.ask(StartDownload, NAME)
    engine.wait(lambda change: change.download.done_bytes > SIZE // 4)
    engine.ask(CancelDownload, NAME)
    engine.wait(lambda change: change.gone)
    end = time.monotonic() + LONG_S
    while list(cached_repositories(cache_folder(os.environ))) and time.monotonic() < end:
        time.sleep(0.01)  # Its thread lets go of the files first.
    assert not list(cached_repositories(cache_folder(os.environ)))
    assert engine.ask(ListDownloads)[0].downloads == ()


def test_of_two_files_of_a_repository_one_is_cancelled_and_the_other_goes_on(engine, server, tmp_path):
    repository = server.add(Repository("org/ggufs", tags=["gguf"]))
    for number, kind in enumerate(("Q4_0", "Q8_0")):
        tiny_gguf(tmp_path / f"M-{kind}.gguf", kind=kind)
        model = (tmp_path / f"M-{kind}.gguf").read_bytes()
        repository.add(f"M-{kind}.gguf", model + MadeUp(SIZE, number).read(0, SIZE))
    first, second = (f"org/ggufs/M-{kind}.gguf" for kind in ("Q4_0", "Q8_0"))
    slow(server)
    for name in (first, second):
        engine.ask(StartDownload, name)
        engine.wait(lambda change, name=name: change.download.model_id == name and change.download.done_bytes > SIZE // 4)
        engine.ask(PauseDownload, name)
        engine.state("paused")
    before = len(server.asked)
    engine.ask(CancelDownload, first)
    server.faults.clear()
    engine.ask(StartDownload, second)
    done = engine.wait(lambda change: change.download.model_id == second and change.download.state == "done").download
    assert [path.name for path in Path(done.folder).iterdir()] == ["M-Q8_0.gguf"]
    assert sent_since(server, before) < SIZE  # What it had was kept.


def test_it_goes_on_by_itself_after_a_restart_and_a_paused_one_does_not(engine, server):
    slow(server)
    engine.ask(StartDownload, NAME)
    engine.wait(lambda change: change.download.done_bytes > SIZE // 4)
    engine.close()
    server.faults.clear()
    again = Engine()
    try:
        listed, _ = again.ask(ListDownloads)
        assert listed.downloads[0].state in ("queued", "running", "done")
        again.state("done")
        again.ask(PauseDownload, NAME)  # Done already: nothing to pause.
        assert again.ask(ListDownloads)[0].downloads[0].state == "done"
    finally:
        again.close()


def test_without_being_asked_for_the_list_nothing_goes_on(engine, server):
    slow(server)
    engine.ask(StartDownload, NAME)
    engine.wait(lambda change: change.download.done_bytes > SIZE // 4)
    engine.close()
    before = len(server.requests())
    again = Engine()
    try:
        time.sleep(0.3)
        assert len(server.requests()) == before
    finally:
        again.close()


def test_it_waits_for_the_hub_and_says_so(engine, server):
    server.fault("cdn/", status=429, headers={"Retry-After": "1"}, times=1)
    engine.ask(StartDownload, NAME)
    waiting = engine.state("waiting")
    assert waiting.error.code == "hub-rate-limit"
    assert waiting.left_s <= 1
    assert engine.state("done").error is None


def test_it_waits_where_the_hub_cannot_even_be_asked(engine, server):
    server.fault("/api/models/", status=503, headers={"Retry-After": "0"}, times=3)
    engine.ask(StartDownload, NAME)
    engine.state("done")
    assert any(change.download.state == "waiting" for change in engine.changes())


def test_what_was_fetched_and_can_not_be_used_is_not_told_as_done(engine, server):
    server.repositories[NAME].add("model-2.safetensors", b"no header at all")
    engine.ask(StartDownload, NAME)
    failed = engine.state("failed")
    assert failed.error.code == "model-broken"
    assert "can't be used: model-2.safetensors" in failed.error.text
    assert not any(change.download.state == "done" for change in engine.changes())


def test_a_repository_without_a_config_is_refused_before_its_weights_are_asked_for(engine, server):
    del server.repositories[NAME].files["config.json"]
    engine.ask(StartDownload, NAME)
    assert "has no config.json" in engine.state("failed").error.text
    assert server.requests("/resolve/") == []


def test_a_gate_stops_it_with_the_page_that_opens_it(engine, server):
    server.tokens.add("good")
    repository = server.repositories[NAME]
    repository.gated = "auto"
    engine.ask(SetHubToken, "good")
    engine.ask(StartDownload, NAME)
    failed = engine.state("failed")
    assert (failed.error.code, failed.error.link) == ("hub-licence", f"{server.base}/{NAME}")
    repository.allowed.add("good")
    engine.ask(StartDownload, NAME)
    engine.state("done")


def test_a_refused_download_and_its_row_leave_nothing(engine, server):
    server.repositories[NAME].gated = "auto"
    engine.ask(StartDownload, NAME)
    engine.state("failed")
    engine.ask(CancelDownload, NAME)
    assert [*cache_folder(os.environ).rglob("*")] == []


@pytest.mark.parametrize("when", ["at once", "later", "after a restart"])
def test_a_paused_download_that_is_cancelled_leaves_nothing(engine, server, when):
    slow(server)
    folder = repository_folder(cache_folder(os.environ), NAME)
    engine.ask(StartDownload, NAME)
    engine.wait(lambda change: change.download.done_bytes > SIZE // 4)
    engine.ask(PauseDownload, NAME)
    engine.state("paused")
    if when != "at once":
        wait_until(lambda: not arriving(folder).running)
        assert [path for path in folder.glob("blobs/*") if ".flint." not in path.name], "a file that came whole"
        assert [*folder.glob(f"blobs/*{PARTIAL}")]
    if when == "after a restart":
        engine.close()
        engine.__init__()
    engine.ask(CancelDownload, NAME)
    wait_until(lambda: [*cache_folder(os.environ).rglob("*")] == [])


def test_a_token_is_kept_private_and_one_that_is_refused_is_not(engine, server):
    server.tokens.add("hf_good")
    (failed,) = engine.ask(SetHubToken, "hf_bad")
    assert failed.error.code == "hub-token-refused"
    (failed,) = engine.ask(SetHubToken, "hf_ü")
    assert failed.error.code == "hub-token-refused"
    assert engine.ask(AskHubAccount)[0].source == ""
    account, _ = engine.ask(SetHubToken, " hf_good ")
    assert isinstance(account, HubAccount)
    assert (account.source, account.name) == ("file", "somebody")
    (file,) = locate().config.glob("hub-token*")
    assert file.stat().st_mode & 0o777 == 0o600
    assert "hf_good" not in repr(engine.told)
    assert engine.ask(SetHubToken, "")[0].source == ""
    assert not file.exists()


def test_several_run_one_after_the_other_and_all_end(engine, server):
    for number in range(3):
        more = Repository(f"org/more-{number}").add("config.json", {"model_type": "llama"}).add("tokenizer.json", "{}")
        server.add(more.add("model.safetensors", MadeUp(50_000, number)))
        engine.ask(StartDownload, f"org/more-{number}")
    end = time.monotonic() + LONG_S
    while time.monotonic() < end:
        listed = engine.ask(ListDownloads)[0].downloads
        if all(one.state == "done" for one in listed):
            break
        assert sum(one.state in ("running", "waiting", "verifying") for one in listed) <= 1
    assert [one.state for one in listed] == ["done"] * 3


def test_what_is_asked_at_once_ends_once_each(engine, server):
    def ask(command, *values):
        threading.Thread(target=lambda: engine.connection.send(command(*values))).start()

    for number in range(10):
        ask(StartDownload, f"s{number}", NAME)
        ask(PauseDownload, f"p{number}", NAME)
        ask(CancelDownload, f"c{number}", NAME)
    end = time.monotonic() + LONG_S
    names = {f"{kind}{number}" for kind in "spc" for number in range(10)}
    while time.monotonic() < end:
        engine.look()
        ended = [event.request_id for event in engine.told if isinstance(event, Finished | Failed)]
        if set(ended) >= names:
            break
        time.sleep(0.01)
    assert sorted(ended) == sorted(names)
    engine.ask(StartDownload, NAME)
    engine.state("done")


def test_a_name_that_is_none_is_refused(engine):
    for name in ("model", "", "a/b/c", "/x"):
        (failed,) = engine.ask(StartDownload, name)
        assert failed.error.code == "usage"


def test_a_damaged_list_of_downloads_is_no_obstacle(server):
    path = locate().data / "downloads.json"
    path.parent.mkdir(parents=True)
    path.write_text(
        '[{"model_id": 3}, null, {"model_id": "org/model", "name": "m", "state": "paused", "done_bytes": 1, "total_bytes": 2}]'
    )
    engine = Engine()
    try:
        assert [one.model_id for one in engine.ask(ListDownloads)[0].downloads] == [NAME]
    finally:
        engine.host.close()

"""Downloads against the hub on loopback: what arrives, what each fault costs, and what is on the disk afterwards."""

import hashlib
import threading

import pytest

from engine.core.errors import DiskFull, Stopped
from engine.core.hub_errors import AccessDenied, ChangedUpstream, FileDamaged, LicenceNotAccepted
from engine.core.hub_facts import HubFile
from engine.models import backoff, transfer
from engine.models.hub import Hub
from engine.models.hub_facts import wanted_files
from engine.models.huggingface_cache import cached_repositories
from engine.models.repository_download import RepositoryDownload, repository_folder
from engine.models.transfer import PARTIAL, SURE
from tests.hub.repositories import MadeUp, Repository
from tests.hub.server import Hub as Server

NAME = "org/model"
SIZE = 700_000
CHUNK = 100_000


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(transfer, "CHUNK", CHUNK)
    monkeypatch.setattr(backoff, "FIRST_PAUSE_S", 0.01)


@pytest.fixture
def server():
    from huggingface_hub import close_session

    repository = Repository(NAME).add("config.json", {"model_type": "llama"}).add("tokenizer.json", "{}")
    repository.add("model-1.safetensors", MadeUp(SIZE, 1)).add("model-2.safetensors", MadeUp(SIZE // 2, 2))
    with Server(repository) as server:
        yield server
    close_session()


def download(server, cache, token="", **more):
    hub = Hub(lambda: token, {"HF_ENDPOINT": server.base})
    return RepositoryDownload(hub, cache, hub.describe(NAME), free_bytes=lambda _: 1 << 40, **more)


def check(server, cache):
    """Every file of the repository is in the cache, linked, with its hash."""
    (found,) = cached_repositories(cache)
    assert (found.id, found.unfinished) == (NAME, 0)
    for path, stored in server.repositories[NAME].files.items():
        here = found.snapshot / path
        assert here.is_symlink()
        assert here.read_bytes() == stored.content.read(0, stored.content.size)
        assert here.resolve().name == stored.etag
    assert not list(repository_folder(cache, NAME).glob(f"blobs/*{PARTIAL}"))
    assert not list(repository_folder(cache, NAME).glob(f"blobs/*{SURE}"))


def whole(server):
    return sum(stored.content.size for stored in server.repositories[NAME].files.values())


def test_a_repository_arrives_whole_in_the_layout_that_other_tools_read(server, tmp_path, monkeypatch):
    from huggingface_hub import hf_hub_download

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)  # Else it asks the real hub something else.
    told = []
    fetched = download(server, tmp_path)
    fetched.changed = lambda: told.append(fetched.done_bytes)
    assert fetched.run() == fetched.snapshot
    check(server, tmp_path)
    assert fetched.done_bytes == fetched.total_bytes == whole(server)
    assert told == sorted(told)
    before = server.bytes_sent()
    there = hf_hub_download(NAME, "model-1.safetensors", cache_dir=tmp_path, endpoint=server.base, token=False)
    assert there == str(fetched.snapshot / "model-1.safetensors")
    assert server.bytes_sent() == before


def test_what_is_there_is_not_fetched_again(server, tmp_path):
    download(server, tmp_path).run()
    before = server.bytes_sent(r"/cdn/")
    download(server, tmp_path).run()
    assert server.bytes_sent(r"/cdn/") == before


def test_an_update_fetches_what_changed_and_takes_the_old_snapshot_away_once_it_is_whole(server, tmp_path, monkeypatch):
    old = download(server, tmp_path).run()
    server.repositories[NAME].add("model-2.safetensors", MadeUp(1234, 9))
    before = server.bytes_sent(r"/cdn/")
    linked = RepositoryDownload._link

    def whole(work):
        assert (old / "model-2.safetensors").read_bytes() == MadeUp(SIZE // 2, 2).read(0, SIZE)
        linked(work)

    monkeypatch.setattr(RepositoryDownload, "_link", whole)
    new = download(server, tmp_path).run()
    assert server.bytes_sent(r"/cdn/") - before == 1234
    assert old != new
    assert not old.exists()
    check(server, tmp_path)


def test_of_several_models_each_is_updated_alone_and_leaves_nothing_behind(server, tmp_path):
    several = server.repositories[NAME] = Repository(NAME, tags=["gguf"])

    def publish(seed):
        for name in "AB":
            several.add(f"{name}.gguf", MadeUp(SIZE, seed + ord(name)))

    def fetch(name):
        hub = Hub(lambda: "", {"HF_ENDPOINT": server.base})
        return RepositoryDownload(hub, tmp_path, hub.describe(f"{NAME}/{name}.gguf"), free_bytes=lambda _: 1 << 40).run()

    publish(1)
    old = {fetch(name) for name in "AB"}
    publish(5)
    new = fetch("A")
    assert [sorted(path.name for path in folder.iterdir()) for folder in (new, *old)] == [["A.gguf"], ["B.gguf"]]
    assert fetch("B") == new
    assert list((repository_folder(tmp_path, NAME) / "snapshots").iterdir()) == [new]
    assert len(list((repository_folder(tmp_path, NAME) / "blobs").iterdir())) == 2


@pytest.mark.parametrize("at", [0, 1, CHUNK - 1, CHUNK, 3 * CHUNK + 17, SIZE - 1])
def test_a_connection_cut_anywhere_costs_only_what_is_missing(server, tmp_path, at):
    server.fault("cdn/.*model-1", cut_after=at)
    download(server, tmp_path).run()
    check(server, tmp_path)
    # What the socket held when it was cut may be lost, but never more than was sent.
    assert SIZE <= server.bytes_sent("cdn/.*model-1") <= SIZE + at


def test_connections_cut_again_and_again_end_with_every_byte(server, tmp_path):
    for _ in range(12):
        server.fault("cdn/", cut_after=CHUNK + 3)
    download(server, tmp_path).run()
    check(server, tmp_path)


@pytest.mark.parametrize(
    "how",
    [
        {"status": 500},
        {"status": 503, "headers": {"Retry-After": "0"}},
        {"status": 429, "headers": {"Retry-After": "0"}},
        {"drop": True},
        {"short_by": 1000},
        {"trickle_s": 0.0005, "piece": 20_000},
        {"flip_at": 5},
        {"flip_at": SIZE // 3},
        {"ignore_range": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("skip", [0, 1])
def test_every_fault_that_passes_ends_with_the_right_bytes(server, tmp_path, how, skip):
    server.fault("cdn/.*model-1", cut_after=2 * CHUNK + 5)
    server.fault("model-1", skip=skip, times=2, **how)
    download(server, tmp_path).run()
    check(server, tmp_path)


def test_a_range_that_is_ignored_starts_the_file_anew(server, tmp_path):
    server.fault("cdn/.*model-1", cut_after=3 * CHUNK)
    server.fault("cdn/.*model-1", ignore_range=True)
    download(server, tmp_path).run()
    check(server, tmp_path)


def test_a_damaged_file_is_fetched_again_and_no_other(server, tmp_path):
    server.fault("cdn/.*model-2", flip_at=100)
    download(server, tmp_path).run()
    check(server, tmp_path)
    assert server.bytes_sent("cdn/.*model-2") == 2 * (SIZE // 2)
    assert server.bytes_sent("cdn/.*model-1") == SIZE


def test_a_file_that_is_always_damaged_is_given_up_and_the_rest_kept(server, tmp_path):
    server.fault("cdn/.*model-2", flip_at=100, times=None)
    with pytest.raises(FileDamaged, match=r"model-2\.safetensors"):
        download(server, tmp_path).run()
    assert next(iter(cached_repositories(tmp_path)), None) is None or not next(iter(cached_repositories(tmp_path))).snapshot
    server.faults.clear()
    before = server.bytes_sent("cdn/.*model-1")
    download(server, tmp_path).run()
    check(server, tmp_path)
    assert server.bytes_sent("cdn/.*model-1") - before <= SIZE


def test_a_file_changed_between_two_requests_is_told(server, tmp_path):
    fetched = download(server, tmp_path)
    server.fault("resolve/.*model-1", etag="0" * 64, times=None)
    with pytest.raises(ChangedUpstream):
        fetched.run()


def test_what_a_paused_quantization_has_outlives_another_one(server, tmp_path):
    repository = server.add(Repository("org/quants-GGUF"))
    for name, seed in (("a-Q4_K_M.gguf", 4), ("a-Q8_0.gguf", 8)):
        repository.add(name, MadeUp(SIZE, seed))
    hub = Hub(lambda: "", {"HF_ENDPOINT": server.base})

    def fetch(name):
        detail = hub.describe(f"org/quants-GGUF/{name}")
        return RepositoryDownload(hub, tmp_path, detail, free_bytes=lambda _: 1 << 40).run()

    server.fault("cdn/.*Q8", cut_after=2 * CHUNK)
    server.fault("resolve/.*Q8", skip=1, status=403)
    with pytest.raises(AccessDenied):
        fetch("a-Q8_0.gguf")
    fetch("a-Q4_K_M.gguf")
    fetch("a-Q8_0.gguf")
    assert server.bytes_sent("cdn/.*Q8") == SIZE


def test_a_repository_that_is_another_by_now_is_told(server, tmp_path):
    fetched = download(server, tmp_path)
    server.repositories[NAME].add("model-1.safetensors", MadeUp(99, 7))
    with pytest.raises(ChangedUpstream):
        fetched.run()


def test_a_gate_is_told_at_once_and_opens_later(server, tmp_path):
    server.tokens.add("good")
    repository = server.repositories[NAME]
    repository.gated = "manual"
    fetched = download(server, tmp_path, token="good")
    with pytest.raises(LicenceNotAccepted) as raised:
        fetched.run()
    assert raised.value.link == f"{server.base}/{NAME}"
    repository.allowed.add("good")
    fetched.run()
    check(server, tmp_path)


def test_stopped_and_gone_on_with_loses_nothing(server, tmp_path):
    fetched = download(server, tmp_path)
    server.fault("cdn/", trickle_s=0.01, piece=10_000, times=4)
    fetched.changed = lambda: fetched.stop() if fetched.done_bytes > 3 * CHUNK else None
    with pytest.raises(Stopped):
        fetched.run()
    server.faults.clear()
    kept = fetched.done_bytes
    again = download(server, tmp_path)
    before = server.bytes_sent(r"cdn/|resolve/.*json")
    again.run()
    check(server, tmp_path)
    assert server.bytes_sent(r"cdn/|resolve/.*json") - before == whole(server) - kept


def test_stopping_while_it_waits_for_the_network_ends_at_once(server, tmp_path):
    server.fault("cdn/", status=503, headers={"Retry-After": "3000"}, times=None)
    fetched = download(server, tmp_path)
    waited = []
    waits = threading.Event()

    def look():
        if fetched.waiting:
            waited.append(fetched.waiting[0].code)
            waits.set()

    fetched.changed = look
    threading.Thread(target=lambda: waits.wait(30) and fetched.stop()).start()
    with pytest.raises(Stopped):
        fetched.run()
    assert waited[0] == "hub-trouble"


def test_too_small_a_disk_is_told_before_anything_is_fetched(server, tmp_path):
    fetched = download(server, tmp_path)
    fetched.free_bytes = lambda _: 1000
    with pytest.raises(DiskFull, match="500 MB have to stay free, and 0 MB are free"):
        fetched.run()
    assert not server.requests("cdn/")


def test_what_the_disk_did_not_get_for_sure_is_fetched_again(server, tmp_path):
    server.fault("cdn/.*model-1", cut_after=4 * CHUNK)
    server.fault("cdn/.*model-1", status=403, times=None)
    with pytest.raises(AccessDenied):
        download(server, tmp_path).run()
    partial = repository_folder(tmp_path, NAME) / "blobs" / f"{MadeUp(SIZE, 1).sha256}{PARTIAL}"
    with partial.open("r+b") as file:  # As after a power cut: grown, but with zeros.
        file.seek(transfer.sure_bytes(partial))
        file.write(bytes(50_000))
    server.faults.clear()
    download(server, tmp_path).run()
    check(server, tmp_path)


def test_removing_takes_what_was_fetched_and_nothing_that_is_shared(server, tmp_path):
    old = download(server, tmp_path).run()
    server.repositories[NAME].add("model-2.safetensors", MadeUp(SIZE, 9))
    server.fault("cdn/.*model-2", cut_after=CHUNK)
    server.fault("cdn/.*model-2", status=403, times=None)
    update = download(server, tmp_path)
    with pytest.raises(AccessDenied):
        update.run()
    update.remove()
    assert not list(repository_folder(tmp_path, NAME).glob(f"blobs/*{PARTIAL}"))
    assert (old / "model-1.safetensors").read_bytes() == MadeUp(SIZE, 1).read(0, SIZE)
    assert hashlib.sha256((old / "model-2.safetensors").read_bytes()).hexdigest() == MadeUp(SIZE // 2, 2).sha256


def test_removing_a_first_download_leaves_nothing(server, tmp_path):
    server.fault("cdn/.*model-1", cut_after=CHUNK)
    server.fault("cdn/.*model-1", status=403, times=None)
    fetched = download(server, tmp_path)
    with pytest.raises(AccessDenied):
        fetched.run()
    fetched.remove()
    assert not repository_folder(tmp_path, NAME).exists()


@pytest.mark.parametrize(
    "path", ["../x.json", "/etc/x.json", "a/../../x.json", "a//x.json", "a\\x.json", "./x.json", "x\0.json"]
)
def test_names_that_lead_out_of_the_folder_are_not_fetched(path):
    assert wanted_files([HubFile(path, 1, "a" * 40)]) == ()
    assert wanted_files([HubFile("x.json", 1, "../" + "a" * 37)]) == ()
    assert len(wanted_files([HubFile("a/x.json", 1, "a" * 40)])) == 1

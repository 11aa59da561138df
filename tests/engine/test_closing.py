"""The end of the program while a hub does not answer: the process goes, and what was fetched stays."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.core.codec import to_json
from engine.core.hub_messages import DescribeHub, SearchHub, SetHubToken, StartDownload
from engine.models.hub import Hub
from engine.models.huggingface_cache import cache_folder
from engine.models.repository_download import RepositoryDownload
from engine.models.transfer import PARTIAL, sure_bytes
from tests.hub.repositories import MadeUp, Repository
from tests.hub.server import Hub as Server

ROOT = Path(__file__).parents[2]
NAME, SIZE, HALF = "org/model", 3_000_000, 1_500_000
UNSEEN = 1 << 16
"""More than what a file that is being written holds back."""
LONG_S = 120

SEARCH, DESCRIBE, FETCH = SearchHub("1", "model"), DescribeHub("1", NAME), StartDownload("1", NAME)
STALLS = {
    "a search": (SEARCH, "/api/models$"),
    "the configs of what was found": (SEARCH, "/resolve/.*config"),
    "a description": (DESCRIBE, "/api/models/org"),
    "a card": (DESCRIBE, "/resolve/.*README"),
    "a token": (SetHubToken("1", "hf_somebody"), "/whoami"),
    "what there is to fetch": (FETCH, "/api/models/org"),
    "a file": (FETCH, "/cdn/"),
}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    repository = Repository(NAME, tags=["mlx"]).add("config.json", {"model_type": "llama"}).add("README.md", "# A model")
    with Server(repository.add("tokenizer.json", "{}").add("model.safetensors", MadeUp(SIZE))) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.base)
        yield server


def closed_while(command, stalled):
    """Have an engine carry a command out, close it once `stalled`, and return how its process ended."""
    arguments = [sys.executable, "-m", "tests.engine.stalled_host", to_json(command)]
    with subprocess.Popen(arguments, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            end = time.monotonic() + LONG_S
            while not stalled():
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.01)
            _, err = process.communicate("close\n", timeout=LONG_S)
            return process.returncode, err
        finally:
            process.kill()


@pytest.mark.parametrize("what", STALLS)
def test_the_process_ends_though_the_hub_never_answers(server, what):
    command, path = STALLS[what]
    server.fault(path, hang=True, times=None)
    assert closed_while(command, lambda: server.requests(path)) == (0, "")


def test_a_download_keeps_what_it_has_and_is_gone_on_with(server):
    server.fault("/cdn/", stall_after=HALF)
    assert closed_while(FETCH, lambda: fetched_bytes() > HALF - UNSEEN) == (0, "")
    (partial,) = partials()
    kept = sure_bytes(partial)
    assert kept > HALF - UNSEEN
    hub, cache = Hub(lambda: None), cache_folder(os.environ)
    folder = RepositoryDownload(hub, cache, hub.describe(NAME)).run()
    assert (folder / "model.safetensors").read_bytes() == MadeUp(SIZE).read(0, SIZE)
    assert server.bytes_sent("/cdn/") == HALF + SIZE - kept


def partials():
    return list(cache_folder(os.environ).glob(f"models--*/blobs/*{PARTIAL}"))


def fetched_bytes():
    return sum(path.stat().st_size for path in partials())

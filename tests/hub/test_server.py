"""The loopback hub itself: what the real client gets from it is what the real one gives."""

from pathlib import Path

import pytest

from tests.hub.repositories import MadeUp, Repository
from tests.hub.server import Hub


@pytest.fixture
def hub(monkeypatch):
    with Hub() as hub:
        hub.add(
            Repository("org/tiny", downloads=5, tags=["mlx"])
            .add("config.json", {"model_type": "llama"})
            .add("a.safetensors", MadeUp(300_000))
        )
        hub.add(Repository("org/gated", gated="manual").add("config.json", "{}"))
        yield hub


def api(hub, token=None):
    from huggingface_hub import HfApi

    return HfApi(endpoint=hub.base, token=token or False)


@pytest.fixture(autouse=True)
def online(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    # Else the client's own functions ask the real hub of programs that could have started this one.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)


def test_search_pages_and_describes(hub):
    for number in range(130):
        hub.add(Repository(f"many/model-{number:03}", downloads=number))
    found = list(api(hub).list_models(search="model", sort="downloads", limit=120))
    assert len(found) == 120
    assert found[0].id == "many/model-129"
    assert [one.id for one in api(hub).list_models(filter="mlx")] == ["org/tiny"]


def test_files_have_their_sizes_and_hashes(hub):
    info = api(hub).model_info("org/tiny", files_metadata=True)
    weights = next(one for one in info.siblings if one.rfilename == "a.safetensors")
    assert weights.lfs.sha256 == MadeUp(300_000).sha256
    assert info.sha == hub.repositories["org/tiny"].commit


def test_the_real_download_gets_every_byte(hub, tmp_path):
    from huggingface_hub import hf_hub_download

    path = hf_hub_download("org/tiny", "a.safetensors", endpoint=hub.base, cache_dir=tmp_path, token=False)
    assert Path(path).read_bytes() == MadeUp(300_000).read(0, 300_000)
    assert hub.bytes_sent(r"/cdn/") == 300_000


def test_each_refusal_is_the_one_the_client_knows(hub):
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    with pytest.raises(RepositoryNotFoundError):
        api(hub).model_info("org/nothing")
    with pytest.raises(GatedRepoError):
        get_hf_file_metadata(hf_hub_url("org/gated", "config.json", endpoint=hub.base), token=False)
    with pytest.raises(HfHubHTTPError, match="Invalid user token"):
        api(hub, "wrong").whoami()
    hub.tokens.add("right")
    assert api(hub, "right").whoami()["name"] == "somebody"


def test_made_up_bytes_are_the_same_wherever_reading_begins():
    content = MadeUp(200_001, seed=3)
    whole = content.read(0, 1 << 20)
    assert len(whole) == content.size
    for start, length in ((0, 1), (65_535, 2), (65_536, 65_536), (199_990, 100), (200_001, 5)):
        assert content.read(start, length) == whole[start : start + length]

"""The hub through the real client, against a hub on loopback: what is found, what is told of it, and every refusal."""

import json

import pytest

from engine.core.errors import EngineStopped
from engine.core.hub_errors import (
    AccessDenied,
    AccessPending,
    HubTrouble,
    LicenceNotAccepted,
    NoNetwork,
    Offline,
    ProxyRefused,
    RateLimited,
    RepositoryMissing,
    TokenMissing,
    TokenRefused,
)
from engine.models.hub import _EXPAND, Hub
from tests.hub.repositories import Repository
from tests.hub.server import Hub as Server

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 16,
    "hidden_size": 2048,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "quantization": {"group_size": 64, "bits": 4},
}
CARD = "---\nlicense: llama3.2\n---\n# A small model\n\nGood for <b>trying</b>.\n"


def model(name, **facts):
    repository = Repository(name, tags=["mlx", "license:llama3.2"], **facts)
    repository.add("config.json", CONFIG).add("README.md", CARD).add("tokenizer.json", "{}").add("run.py", "print()")
    return repository.add("model.safetensors", b"w" * 5000).add("original/params.json", "{}")


@pytest.fixture(autouse=True)
def online(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.fixture
def server():
    from huggingface_hub import close_session

    with Server() as server:
        server.add(model("org/Small-1B-4bit", downloads=10, parameters={"U32": 1000, "BF16": 250}))
        server.add(model("org/Other-3B-4bit", downloads=99))
        yield server
    close_session()


def hub(server, token=""):
    return Hub(lambda: token, {"HF_ENDPOINT": server.base})


def test_a_search_tells_what_is_known_before_anything_is_fetched(server):
    found, more = hub(server).search("small", "downloads", mlx_only=True, limit=10)
    assert not more
    (one,) = found
    assert (one.id, one.author, one.mlx, one.licence, one.downloads) == ("org/Small-1B-4bit", "org", True, "llama3.2", 10)
    assert (one.architecture, one.context, one.quantization) == ("llama", 131072, "4-bit, groups of 64")
    assert one.size_bytes == 1000 * 4 + 250 * 2
    assert one.parameters == 1000 * 8 + 250 - 2 * 8000 // 64
    assert json.loads(one.config)["num_hidden_layers"] == 16


def test_a_search_is_sorted_bounded_and_says_that_there_is_more(server):
    found, more = hub(server).search("", "downloads", mlx_only=True, limit=1)
    assert [one.id for one in found] == ["org/Other-3B-4bit"]
    assert more


TASKS = [
    ("text-generation", ["conversational"], "Qwen3-8B-4bit", ("chat",)),
    ("text-generation", ["conversational"], "Qwen3-Coder-30B-A3B-Instruct-4bit", ("chat", "code")),
    ("text-generation", [], "gemma-2-2b-it-4bit", ("chat",)),
    ("text-generation", [], "Llama-3.1-8B-4bit", ("base",)),
    ("text-generation", [], "starcoder2-3b-4bit", ("base", "code")),
    ("text-generation", [], "little-encoder-decoder", ("base",)),
    ("image-text-to-text", ["conversational"], "gemma-3-4b-it-4bit", ("vision",)),
    ("automatic-speech-recognition", [], "whisper-large-v3-mlx", ()),
    ("", [], "Untold-1B", ()),
]


@pytest.mark.parametrize(("task", "tags", "name", "tasks"), TASKS, ids=[name for _, _, name, _ in TASKS])
def test_what_a_model_is_for_is_told_by_its_task_tags_and_name(server, task, tags, name, tasks):
    server.add(Repository(f"one/{name}", tags=["mlx", *tags], pipeline_tag=task))
    (found,) = hub(server).search(name, "downloads", mlx_only=True, limit=5)[0]
    assert (found.task, found.tasks) == (task, tasks)
    for kind in ("chat", "base", "code", "vision"):
        listed = hub(server).search("", "downloads", mlx_only=True, limit=99, task=kind)[0]
        # The hub itself looks for the tag: a chat model without it is found without a task.
        untagged = kind == "chat" and "conversational" not in tags
        assert (found.id in [one.id for one in listed]) == (kind in tasks and not untagged)


@pytest.mark.parametrize("sort", ["downloads", "updated", "likes"])
@pytest.mark.parametrize("task", [None, "chat", "base", "code", "vision"])
@pytest.mark.parametrize("mlx_only", [True, False])
def test_it_is_asked_for_as_the_client_itself_asks(server, monkeypatch, mlx_only, task, sort):
    from huggingface_hub import HfApi

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)  # Else it asks the real hub something else.
    hub(server).search("words", sort, mlx_only=mlx_only, limit=20, task=task)
    filters = [tag for tag, wanted in (("mlx", mlx_only), ("conversational", task == "chat")) if wanted]
    found = HfApi(endpoint=server.base, token=False).list_models(
        search="words code" if task == "code" else "words",
        filter=filters,
        pipeline_tag="image-text-to-text" if task == "vision" else "text-generation" if task or not mlx_only else None,
        sort={"updated": "last_modified"}.get(sort, sort),
        limit=100 if task == "base" else 21,
        expand=_EXPAND if mlx_only else [*_EXPAND, "gguf"],
    )
    list(found)
    ours, clients = server.requests("/api/models")
    assert ours.query == clients.query
    assert (ours.status, clients.status) == (200, 200)


def test_models_for_mlx_come_first(server):
    server.add(Repository("org/Plain-7B", downloads=1000))
    found, _ = hub(server).search("org", "downloads", mlx_only=False, limit=10)
    assert [one.id for one in found] == ["org/Other-3B-4bit", "org/Small-1B-4bit", "org/Plain-7B"]


def test_what_mlx_does_not_run_is_found_only_when_asked_for(server):
    server.add(Repository("org/Plain-7B"))
    assert not hub(server).search("plain", "downloads", mlx_only=True, limit=5)[0]
    assert [one.mlx for one in hub(server).search("plain", "downloads", mlx_only=False, limit=5)[0]] == [False]


def test_a_repository_is_described_with_its_card_and_what_is_fetched(server):
    detail = hub(server).describe("org/Small-1B-4bit")
    assert detail.commit == server.repositories["org/Small-1B-4bit"].commit
    assert detail.card == "# A small model\n\nGood for <b>trying</b>.\n"
    assert [file.path for file in detail.files] == ["config.json", "model.safetensors", "tokenizer.json"]
    weights = detail.files[1]
    assert (weights.size_bytes, weights.sha256) == (
        5000,
        server.repositories["org/Small-1B-4bit"].files["model.safetensors"].etag,
    )
    assert detail.model.size_bytes == 5000
    assert detail.page == f"{server.base}/org/Small-1B-4bit"


def test_the_quantizations_of_a_model_are_found_in_one_request_by_what_they_were_made_from(server):
    for bits, tags in (("4bit", ()), ("6bit", ()), ("8bit", ("base_model:Org/Seven",))):
        named = ("base_model:Org/Seven-7B", "base_model:quantized:Org/Seven-7B", *tags)
        server.add(model(f"org/Seven-7B-{bits}", parameters={"U32": int(bits[0]) * 10**6})).tags += named
    server.add(model("org/Seven-7B-3bit")).tags.append("base_model:Org/Another-7B")
    server.add(Repository("org/Seven-7B-bf16", parameters={"BF16": 10**7}))
    detail = hub(server).describe("org/Seven-7B-8bit")
    assert detail.model.base == "Org/Seven-7B"
    asked = len(server.requests())
    found = hub(server).variants(detail.model.id, detail.model.base)
    assert [(one.id, one.size_bytes) for one in found] == [(f"org/Seven-7B-{bits}bit", bits * 4 * 10**6) for bits in (4, 6, 8)]
    assert len(server.requests()) == asked + 1


def test_where_the_hub_does_not_say_what_it_was_made_from_its_name_does(server):
    for bits in (4, 8):
        server.add(model(f"org/Nine-9B-{bits}bit"))
    server.add(Repository("org/Nine-9B-bf16", tags=["mlx"], parameters={"BF16": 9}))
    found = hub(server).variants("org/Nine-9B-4bit", "")
    assert [one.id for one in found] == ["org/Nine-9B-4bit", "org/Nine-9B-8bit", "org/Nine-9B-bf16"]
    assert found[-1].quantization == "BF16"


def ggufs(server, **facts):
    repository = Repository("org/Small-GGUF", tags=["gguf", "base_model:quantized:org/Small-1B-4bit"], **facts)
    for kind, size in (("Q4_K_M", 4000), ("Q8_0", 8000)):
        repository.add(f"Small-{kind}.gguf", b"g" * size)
    return server.add(repository.add("README.md", CARD).add("mmproj-Small-f16.gguf", b"m"))


def test_a_repository_of_ggufs_is_found_and_its_files_are_described_one_by_one(server):
    ggufs(server, downloads=1000)
    found, _ = hub(server).search("small", "downloads", mlx_only=False, limit=5)
    assert [one.id for one in found] == ["org/Small-1B-4bit", "org/Small-GGUF"]
    assert (found[1].quantization, found[1].context, found[1].architecture) == ("GGUF", 40_960, "qwen3")
    asked = len(server.requests())
    assert hub(server).configured(found[1]) == found[1]
    assert len(server.requests()) == asked
    for name, kind, size in (
        ("org/Small-GGUF", "Q4_K_M", 4000),
        ("org/Small-GGUF/Small-Q4_K_M.gguf", "Q4_K_M", 4000),
        ("org/Small-GGUF/Small-Q8_0.gguf", "Q8_0", 8000),
    ):
        detail = hub(server).describe(name)
        assert detail.model.id == f"org/Small-GGUF/Small-{kind}.gguf"
        assert (detail.model.quantization, detail.model.size_bytes) == (kind, size)
        assert [file.path for file in detail.files] == [f"Small-{kind}.gguf"]
        assert [one.quantization for one in detail.variants] == ["Q4_K_M", "Q8_0"]
        assert detail.page == f"{server.base}/org/Small-GGUF"
        # It has no config of its own: that of the model it was made from says what shape it has.
        assert json.loads(detail.config)["num_hidden_layers"] == 16
    with pytest.raises(RepositoryMissing, match=r"no file Small-Q5_0\.gguf"):
        hub(server).describe("org/Small-GGUF/Small-Q5_0.gguf")


def test_ggufs_of_a_gated_model_are_described_without_its_config(server):
    ggufs(server)
    server.repositories["org/Small-1B-4bit"].gated = "manual"
    assert hub(server).describe("org/Small-GGUF").config == ""


def test_a_gated_repository_is_described_though_its_files_are_not_given(server):
    server.add(model("org/Gated", gated="manual"))
    detail = hub(server).describe("org/Gated")
    assert (detail.model.gate, detail.config, detail.card) == ("manual", "", "")
    assert detail.files


def text(server, name="org/Small-1B-4bit", token=""):
    return hub(server, token).text(name, "config.json")


def test_refusals_are_told_apart(server):
    gated = server.add(model("org/Gated", gated="manual"))
    server.tokens |= {"good", "waiting", "rejected"}
    gated.pending.add("waiting")
    gated.rejected.add("rejected")
    for name, token, kind in (
        ("org/Nothing", "", RepositoryMissing),
        ("org/Nothing", "good", RepositoryMissing),
        ("org/Gated", "", TokenMissing),
        ("org/Gated", "good", LicenceNotAccepted),
        ("org/Gated", "waiting", AccessPending),
        ("org/Gated", "rejected", AccessDenied),
        ("org/Small-1B-4bit", "made up", TokenRefused),
    ):
        with pytest.raises(kind) as raised:
            text(server, name, token)
        assert raised.value.hint
        assert token not in str(raised.value) or not token
        assert bool(raised.value.link) == (kind in (TokenMissing, LicenceNotAccepted, AccessPending, AccessDenied))
    gated.allowed.add("good")
    assert "llama" in text(server, "org/Gated", "good")


@pytest.mark.parametrize(
    ("how", "kind", "retry"),
    [
        ({"status": 429, "headers": {"Retry-After": "7"}}, RateLimited, 7.0),
        ({"status": 429}, RateLimited, None),
        ({"status": 500}, HubTrouble, None),
        ({"status": 503, "headers": {"Retry-After": "2"}}, HubTrouble, 2.0),
        ({"status": 407}, ProxyRefused, None),
        ({"drop": True}, NoNetwork, None),
        ({"cut_after": 10}, NoNetwork, None),
    ],
)
def test_what_goes_wrong_on_the_way_is_told_at_once(server, how, kind, retry):
    server.fault("config.json", **how)
    with pytest.raises(kind) as raised:
        text(server)
    assert raised.value.retry_s == retry
    assert "llama" in text(server)


def test_a_search_that_fails_says_so_at_once(server):
    server.fault("/api/models", status=500, times=None)
    with pytest.raises(HubTrouble):
        hub(server).search("x", "downloads", mlx_only=True, limit=5)
    assert len(server.requests("/api/models")) == 1


def test_a_connection_that_comes_about_once_the_hub_was_closed_is_shut_too(server):
    """It would keep who asked waiting for its answer."""

    def token():
        asked.close()  # The call has begun, and has no connection yet.
        return ""

    asked = Hub(token, {"HF_ENDPOINT": server.base})
    with pytest.raises(EngineStopped):
        asked.search("small", "downloads", mlx_only=True, limit=10)


def test_a_hub_that_is_not_there_is_no_network():
    with pytest.raises(NoNetwork):
        Hub(lambda: None, {"HF_ENDPOINT": "http://127.0.0.1:9"}).describe("org/x")


def test_offline_is_said_and_nothing_is_asked(server, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(Offline):
        text(server)
    assert not server.requests()


def test_the_token_goes_to_the_hub_and_not_to_where_it_redirects(server):
    server.tokens.add("secret")
    with hub(server, "secret").opened("org/Small-1B-4bit", "model.safetensors", "main", {}) as response:
        assert response.read() == b"w" * 5000
    assert {one.token for one in server.requests("/resolve/")} == {"secret"}
    assert {one.token for one in server.requests("/cdn/")} == {""}


def test_account_of_a_token(server):
    server.tokens.add("good")
    assert hub(server).account("good") == "somebody"
    with pytest.raises(TokenRefused):
        hub(server).account("bad")


def test_over_ipv6_alone():
    with Server(model("org/Six"), host="::1") as server:
        assert hub(server).describe("org/Six").model.name == "Six"


@pytest.mark.parametrize("token", ["hf_ü", "hf_one\nhf_two", "hf_one\rtwo", "hf_one two", "hf_\0", "“hf_quoted”"])
def test_what_can_be_no_token_is_refused_and_the_hub_is_not_asked(server, token):
    client = hub(server, token)
    calls = (
        lambda: client.search("fox", "downloads", mlx_only=True, limit=5),
        lambda: client.describe("org/Small-1B-4bit"),
        lambda: client.newest("org/Small-1B-4bit"),
        lambda: client.text("org/Small-1B-4bit", "config.json"),
        lambda: hub(server).account(token),
    )
    for call in calls:
        with pytest.raises(TokenRefused) as raised:
            call()
        assert token not in str(raised.value)
        assert raised.value.hint.startswith("It has a letter or a break")
    assert server.asked == []

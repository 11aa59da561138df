"""`flint models search`, `pull` and `fit` against the hub on loopback: what is printed, what is kept, and kill -9 on the way."""

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.cli.hub import open_hub
from engine.cli.main import run
from engine.core.sizes import size_text
from engine.hardware.device import read_device
from engine.models.download_note import write_note
from engine.models.huggingface_cache import cache_folder, cached_repositories
from engine.models.repository_download import alone
from engine.models.transfer import CHUNK, PARTIAL, SURE
from tests.hub.repositories import MadeUp, Repository
from tests.hub.server import Hub as Server
from tests.models.tiny_gguf import tiny_gguf

ROOT = Path(__file__).parents[3]
NAME = "org/Small-1B-4bit"
CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 16,
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": True,
    "quantization": {"group_size": 64, "bits": 4},
}


@pytest.fixture(autouse=True)
def _roomy(monkeypatch):
    """As much memory at every moment: what others take meanwhile would change a verdict between two commands."""
    monkeypatch.setattr("engine.hardware.meters.system_memory", lambda: (64 << 30, 48 << 30))


@pytest.fixture
def server(monkeypatch):
    from huggingface_hub import close_session

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    repository = Repository(
        NAME, downloads=1234, tags=["mlx", "license:mit"], parameters={"U32": 154_000_000, "BF16": 39_000_000}
    )
    repository.add("config.json", CONFIG).add("tokenizer.json", "{}").add("model.safetensors", MadeUp(400_000))
    with Server(repository) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.base)
        yield server
    close_session()


def lines(capsys):
    captured = capsys.readouterr()
    return captured.out.splitlines(), captured.err


def test_search_lists_what_fits_as_json(server, capsys):
    server.add(Repository("org/Vague", tags=["mlx"]))
    assert run(["models", "search", "small", "--json"]) == 0
    (line,), _ = lines(capsys)
    (found,) = json.loads(line)
    assert (found["id"], found["licence"], found["downloads"], found["fits"]) == (NAME, "mit", 1234, True)
    assert 32_768 <= found["max_context"] <= 131_072
    assert run(["models", "search", "vague", "--json"]) == 0
    assert json.loads(lines(capsys)[0][0])[0]["fits"] is None


def test_a_config_that_does_not_come_keeps_nothing_that_was_found_back(server, capsys):
    server.fault("config.json", status=429, times=None)
    assert run(["models", "search", "small", "--json"]) == 0
    assert [found["id"] for found in json.loads(lines(capsys)[0][0])] == [NAME]


def test_search_by_task_and_by_size(server, capsys):
    server.add(Repository("org/Large-7B-8bit", tags=["mlx", "conversational"], downloads=9, parameters={"U32": 2 * 10**9}))
    server.add(Repository("org/Untold", tags=["mlx", "conversational"], downloads=8))

    def found(*options):
        assert run(["models", "search", "org", "--json", *options]) == 0
        return [one["id"] for one in json.loads(lines(capsys)[0][0])]

    assert found() == [NAME, "org/Large-7B-8bit", "org/Untold"]
    assert found("--task", "base") == [NAME]
    assert found("--task", "chat") == ["org/Large-7B-8bit", "org/Untold"]
    assert found("--max-size", "8") == [NAME, "org/Large-7B-8bit"]
    assert found("--max-size", "0.9") == [NAME]
    assert found("--task", "chat", "--max-size", "8", "--limit", "1") == ["org/Large-7B-8bit"]
    assert found("--task", "vision") == []
    assert run(["models", "search", "--task", "pictures"]) == 2
    assert "chat, base, code or vision" in lines(capsys)[1]


def test_search_prints_a_table_or_that_there_is_nothing(server, capsys):
    assert run(["models", "search", "small"]) == 0
    out, _ = lines(capsys)
    assert any(NAME in line and "yes" in line for line in out)
    assert run(["models", "search", "zebra"]) == 0
    out, err = lines(capsys)
    assert not out
    assert "Nothing found" in err


@pytest.mark.parametrize("budget", [10**9, 5 * 10**9, 6 * 10**9, 64 * 10**9])
def test_search_and_fit_judge_alike_with_the_same_memory_and_tell_what_it_is(server, capsys, monkeypatch, budget):
    device = dataclasses.replace(read_device(), metal=False, memory_bytes=64 << 30)
    for module in ("hub", "fit"):
        monkeypatch.setattr(f"engine.cli.{module}.read_device", lambda: device)
        monkeypatch.setattr(f"engine.cli.{module}.read_memory", lambda **_: SimpleNamespace(budget=budget))
    assert run(["models", "search", "small", "--json"]) == 0
    (found,) = json.loads(lines(capsys)[0][0])
    for context in ("4000", "32768"):
        assert run(["models", "fit", NAME, "--context", context, "--json"]) == 0
        assert json.loads(lines(capsys)[0][0])["max_context"] == found["max_context"]
    told = f"A model may take {size_text(budget)} here now"
    assert run(["models", "search", "small"]) == 0
    assert told in " ".join(lines(capsys)[1].split())
    assert run(["models", "fit", NAME]) == 0
    assert told in " ".join(" ".join(lines(capsys)[0]).split())


def test_pull_fetches_and_the_library_has_it(server, capsys):
    assert run(["models", "pull", NAME, "--json"]) == 0
    (line,), _ = lines(capsys)
    told = json.loads(line)
    assert (Path(told["folder"]) / "model.safetensors").read_bytes() == MadeUp(400_000).read(0, 400_000)
    assert run(["models", "list", "--json"]) == 0
    assert NAME in [entry["id"] for entry in json.loads(lines(capsys)[0][0])]
    before = server.bytes_sent("cdn/")
    assert run(["models", "pull", NAME]) == 0
    assert "is ready" in lines(capsys)[0][0]
    assert server.bytes_sent("cdn/") == before


def test_pull_fetches_one_of_the_ggufs_of_a_repository_and_names_the_others(server, capsys, tmp_path):
    repository = Repository("org/Tiny-GGUF", tags=["gguf"])
    for kind in ("Q4_0", "Q8_0"):
        tiny_gguf(tmp_path / f"Tiny-{kind}.gguf", kind=kind)
        repository.add(f"Tiny-{kind}.gguf", (tmp_path / f"Tiny-{kind}.gguf").read_bytes())
    server.add(repository)
    assert run(["models", "pull", "org/Tiny-GGUF"]) == 0
    out, err = lines(capsys)
    assert "Fetching Q4_0 of several" in err
    assert "1 other: " in err
    assert "Tiny-Q8_0.gguf (" in err
    assert "flint chat --model org/Tiny-GGUF/Tiny-Q4_0.gguf" in out[0]
    assert run(["models", "pull", "org/Tiny-GGUF/Tiny-Q8_0.gguf", "--json"]) == 0
    out, err = lines(capsys)
    assert (json.loads(out[0])["id"], "several" in err) == ("org/Tiny-GGUF/Tiny-Q8_0.gguf", False)
    assert run(["models", "list", "--json"]) == 0
    listed = {entry["id"]: entry for entry in json.loads(lines(capsys)[0][0])}
    for kind in ("Q4_0", "Q8_0"):
        assert listed[f"org/Tiny-GGUF/Tiny-{kind}.gguf"]["problem"] == ""


@pytest.mark.parametrize(
    ("prepare", "code", "word"),
    [
        (lambda server: server.repositories.pop(NAME), 31, "no model"),
        (lambda server: setattr(server.repositories[NAME], "gated", "auto"), 35, "accounts that accepted"),
        (lambda server: server.fault("model.safetensors", status=403, times=None), 39, "may not read"),
        (lambda server: server.fault("cdn/", flip_at=3, times=None), 42, "did not arrive"),
        (lambda server: server.repositories[NAME].files.pop("model.safetensors"), 2, "no weights"),
        (lambda server: server.repositories[NAME].files.pop("config.json"), 2, "no config.json"),
        (lambda server: server.repositories[NAME].files.pop("tokenizer.json"), 2, "no tokenizer"),
    ],
)
def test_pull_says_what_is_wrong_and_what_to_do(server, capsys, prepare, code, word):
    prepare(server)
    assert run(["models", "pull", NAME]) == code
    out, err = lines(capsys)
    assert not out
    assert word in err
    assert len(err.strip().splitlines()) >= 2


def _cut(server):
    whole = MadeUp(2000).read(0, 2000)
    server.repositories[NAME].add("model-2.safetensors", whole[:1000])


def _unknown(server):
    server.repositories[NAME].add("config.json", {**CONFIG, "model_type": "hyena_v9"})


def _damaged_gguf(server):
    del server.repositories[NAME].files["config.json"]
    del server.repositories[NAME].files["model.safetensors"]
    server.repositories[NAME].add("M-Q4_0.gguf", b"GGUF\3\0\0\0 and nothing that one holds")


@pytest.mark.parametrize(("prepare", "code"), [(_cut, 11), (_unknown, 12), (_damaged_gguf, 11)])
def test_pull_calls_ready_what_the_list_calls_ready_and_nothing_else(server, capsys, prepare, code):
    prepare(server)
    assert run(["models", "pull", NAME]) == code
    out, err = lines(capsys)
    assert not out
    assert "was fetched and can't be used: " in err
    assert "Download it again" not in err
    assert "Download or import" not in err
    assert run(["models", "list", "--json"]) == 0
    (entry,) = [one for one in json.loads(lines(capsys)[0][0]) if one["id"].startswith(NAME)]
    assert entry["problem"] in " ".join(err.split())


@pytest.mark.parametrize("name", ["x", "org/", "a b/c", "org/a--b", "../x", "org/Small/x.bin"])
def test_every_name_that_the_hub_can_not_have_is_refused_alike_without_asking_it(server, capsys, name):
    assert run(["models", "pull", name]) == 2
    out, err = lines(capsys)
    assert not out
    assert err.splitlines() == [f"Error: “{name}” is no name of a model on the hub.", "A name looks like author/model."]
    assert not server.requests("")


def test_a_gguf_in_a_folder_of_its_repository_is_said_to_be_one_that_flint_does_not_fetch(server, capsys):
    assert run(["models", "pull", "org/Repo/sub/file.gguf"]) == 2
    assert "sub/file.gguf lies in a folder of org/Repo" in " ".join(lines(capsys)[1].split())
    assert not server.requests("")


@pytest.mark.parametrize(
    ("variables", "named"),
    [({}, "HF_HOME"), ({"HF_HOME": "hf"}, "HF_HOME"), ({"HF_HUB_CACHE": "hf/hub"}, "HF_HUB_CACHE")],
)
def test_a_cache_that_can_not_be_written_names_the_variable_that_moves_it(
    server, capsys, monkeypatch, tmp_path, variables, named
):
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in variables.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    cache = cache_folder(os.environ)
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    assert run(["models", "pull", NAME]) == 21
    _, err = lines(capsys)
    assert f"set {named} to" in err
    assert "FLINT_HOME" not in err


@pytest.mark.parametrize("size", ["inf", "nan", "0", "-1"])
def test_a_size_that_bounds_nothing_is_refused(server, capsys, size):
    assert run(["models", "search", "--max-size", size]) == 2
    _, err = lines(capsys)
    assert f"“{size}”" in err
    assert "flint models search --help" in err
    assert not server.requests("")


def test_pull_says_what_it_waits_for_and_goes_on(server, capsys):
    server.fault("cdn/", status=503, headers={"Retry-After": "1"})
    assert run(["models", "pull", NAME]) == 0
    assert "Trying again in" in lines(capsys)[1]


@pytest.mark.parametrize("metal", [True, False])
def test_fit_asks_the_hub_for_a_config_and_for_nothing_else(server, capsys, monkeypatch, metal):
    device = dataclasses.replace(read_device(), metal=metal, memory_bytes=64 << 30)
    monkeypatch.setattr("engine.cli.fit.read_device", lambda: device)
    assert run(["models", "fit", NAME, "--context", "8192", "--json"]) == 0
    told = json.loads(lines(capsys)[0][0])
    assert (told["model"], told["context"], told["fits"]) == ("Small 1B 4-bit", 8192, True)
    # A CPU unpacks what it fetched: what the files hold is not what the model takes there.
    assert (told["weights_bytes"] == 400_000) is metal
    assert not server.requests("cdn/")


def _verdict(capsys, model):
    assert run(["models", "fit", model, "--json"]) == 0
    told = json.loads(lines(capsys)[0][0])
    return {name: told[name] for name in ("fits", "max_context", "peak_bytes")}


def test_fit_judges_what_is_gated_or_a_gguf_as_the_search_and_the_window_do(server, capsys, tmp_path):
    server.repositories[NAME].gated = "manual"
    assert run(["models", "search", "small", "--json"]) == 0
    (found,) = json.loads(lines(capsys)[0][0])
    assert found.items() >= _verdict(capsys, NAME).items()
    repository = server.add(Repository("org/Tiny-GGUF", tags=["gguf", f"base_model:quantized:{NAME}"]))
    for kind in ("Q4_0", "Q8_0"):
        tiny_gguf(tmp_path / f"Tiny-{kind}.gguf", kind=kind)
        repository.add(f"Tiny-{kind}.gguf", (tmp_path / f"Tiny-{kind}.gguf").read_bytes())
    server.repositories[NAME].gated = ""
    assert _verdict(capsys, "org/Tiny-GGUF") == _verdict(capsys, "org/Tiny-GGUF/Tiny-Q4_0.gguf")
    assert run(["models", "fit", "org/Tiny-GGUF/Tiny-Q9.gguf"]) == 31
    assert "no file Tiny-Q9.gguf" in lines(capsys)[1]
    assert not server.requests("cdn/")


@pytest.mark.parametrize(("token", "code"), [("", 35), ("new", 37), ("waiting", 38)])
def test_fit_says_what_opens_a_gate_behind_which_all_facts_are(server, capsys, monkeypatch, token, code):
    repository = server.repositories[NAME]
    repository.gated, repository.pending = "manual", {"waiting"}
    server.tokens |= {"new", "waiting"}
    monkeypatch.setenv("HF_TOKEN", token)
    monkeypatch.setattr(Repository, "config", {"model_type": "llama"})
    assert run(["models", "fit", NAME]) == code
    assert "config.json" not in lines(capsys)[1]


def test_fit_tells_the_size_of_what_the_hub_says_nothing_else_of(server, capsys):
    server.add(Repository("org/Bare-GGUF", tags=["gguf"])).add("M-Q4_0.gguf", MadeUp(5_000_000))
    assert run(["models", "fit", "org/Bare-GGUF"]) == 11
    assert "Its files take" in " ".join(lines(capsys)[1].split())


def test_a_proxy_is_gone_through(server, tmp_path):
    with Server(*server.repositories.values()) as proxy:
        environ = {**os.environ, "HF_ENDPOINT": "http://hub.invalid", "HTTP_PROXY": proxy.base, "http_proxy": proxy.base}
        environ |= {"NO_PROXY": "", "no_proxy": "", "HF_HUB_OFFLINE": "0"}
        done = subprocess.run(
            [sys.executable, "-c", "import sys; from engine.cli.main import run; sys.exit(run(sys.argv[1:]))", "models", "search", "small", "--json"],
            cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)[0]["id"] == NAME


def start_pull(server):
    environ = {**os.environ, "HF_ENDPOINT": server.base, "HF_HUB_OFFLINE": "0"}
    command = [
        sys.executable,
        "-c",
        "import sys; from engine.models import hub; hub.TIMEOUT_S = 100_000\n"  # It never gives up by itself.
        "from engine.cli.main import run; sys.exit(run(sys.argv[1:]))",
        "models",
        "pull",
        NAME,
        "--json",
    ]
    return subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def partial_bytes():
    return sum(path.stat().st_size for path in cache_folder(os.environ).glob(f"models--*/blobs/*{PARTIAL}"))


@pytest.mark.parametrize("fault", [{"crawl_from": 1_000_000}, {"stall_after": 1_000_000}], ids=["slow", "stalled"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_keep_what_is_there_and_say_how_to_go_on(server, number, fault):
    server.repositories[NAME].add("model.safetensors", MadeUp(20_000_000))
    server.fault("cdn/", times=None, **fault)
    process = start_pull(server)
    end = time.monotonic() + 60
    while partial_bytes() < 500_000 and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "goes on from here" in err
    assert partial_bytes() >= 500_000


@pytest.mark.heavy
def test_killed_at_twenty_moments_it_ends_with_the_right_bytes_and_fetches_little_twice(server):
    """200 MB in three files; each kill may cost one chunk of each file that was under way."""
    repository = server.repositories[NAME]
    sizes = (120_000_000, 60_000_000, 20_000_000)
    for number, size in enumerate(sizes):
        repository.add(f"model-{number}.safetensors", MadeUp(size, number))
    server.fault("cdn/", trickle_s=0.004, times=None)
    dice = random.Random(5)
    total = sum(stored.content.size for stored in repository.files.values())
    kills = 0
    while kills < 20:
        process = start_pull(server)
        wanted = partial_bytes() + dice.randrange(1, total // 25)
        end = time.monotonic() + 60
        while partial_bytes() < wanted and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        if process.poll() is not None:
            break
        process.kill()
        process.communicate()
        kills += 1
    server.faults.clear()
    assert start_pull(server).wait(timeout=120) == 0
    (found,) = cached_repositories(cache_folder(os.environ))
    for path, stored in repository.files.items():
        assert (found.snapshot / path).resolve().name == stored.etag
    again = server.bytes_sent("cdn/") - total
    assert again <= kills * (len(sizes) + 1) * (CHUNK + 2_000_000), again


@pytest.mark.parametrize(
    "prepare",
    [
        lambda server: server.repositories.pop(NAME),
        lambda server: setattr(server.repositories[NAME], "gated", "auto"),
        lambda server: server.fault("/resolve/", status=403, times=None),
        lambda server: server.fault("/resolve/", status=404, times=None),
    ],
)
def test_where_nothing_was_fetched_nothing_is_left(server, capsys, prepare):
    prepare(server)
    assert run(["models", "pull", NAME]) != 0
    cache = cache_folder(os.environ)
    assert [*cache.rglob("*")] == []
    assert run(["models", "list", "--json"]) == 0
    assert NAME not in lines(capsys)[0][-1]


def partly_fetched(server, share):
    """A download that was cut: that much of its weights is here, for sure."""
    server.fault("model.safetensors", status=403, times=None)
    assert run(["models", "pull", NAME]) == 39
    server.faults.clear()
    (folder,) = cache_folder(os.environ).glob("models--*")
    file = server.repositories[NAME].files["model.safetensors"]
    size = int(share * file.content.size)
    (folder / "blobs" / f"{file.etag}{PARTIAL}").write_bytes(file.content.read(0, size))
    (folder / "blobs" / f"{file.etag}{SURE}").write_text(str(size))
    write_note(folder, open_hub().describe(NAME).files)
    return size


def listed(capsys):
    capsys.readouterr()
    assert run(["models", "list", "--json"]) == 0
    return next(entry for entry in json.loads(lines(capsys)[0][0]) if entry["id"] == NAME)


def test_an_unfinished_download_says_how_much_is_here_and_whether_it_runs(server, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    size = partly_fetched(server, 0.5)
    entry = listed(capsys)
    assert (entry["problem"], entry["download"]) == ("Unfinished: 50% are here.", "stopped")
    assert size <= entry["size_bytes"] <= size + 2000
    assert run(["models", "list"]) == 0
    assert f"Go on: flint models pull {NAME}" in "\n".join(lines(capsys)[0])
    with alone(cache_folder(os.environ), NAME):
        entry = listed(capsys)
        assert (entry["problem"], entry["download"]) == ("Downloading, 50%", "running")
        assert run(["models", "update", NAME]) == 2
        told = lines(capsys)[1]
        assert "is not here whole yet" in told
        assert "not from the hub" not in told
    assert run(["models", "update", NAME]) == 2
    assert f"flint models pull {NAME}" in lines(capsys)[1]
    assert run(["models", "pull", NAME]) == 0
    assert not [*cache_folder(os.environ).glob("models--*/.flint*")]


def test_what_was_fetched_before_a_refusal_stays(server, capsys):
    server.fault("model.safetensors", status=403, times=None)
    assert run(["models", "pull", NAME]) == 39
    server.faults.clear()
    assert run(["models", "pull", NAME]) == 0
    assert not [*cache_folder(os.environ).rglob("*.flint.*")]

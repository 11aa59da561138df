"""`flint chat`, in this process: what it prints, what it stores, how it ends."""

import json
import sqlite3

import pytest
from transformers import AutoTokenizer

from engine.chats.store import ChatStore
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.setting import Scope
from engine.core.settings import SETTINGS
from tests.disks import read_only
from tests.models.tiny import tiny_llama, tiny_model
from tests.models.tiny_architectures import LLAMA
from tests.models.tiny_gguf import tiny_gguf

FIELDS = {
    "chat",
    "text",
    "reasoning",
    "finish_reason",
    "model",
    "seed",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "ttft_s",
    "prefill_tps",
    "decode_tps",
    "weights_bytes",
    "kv_bytes",
    "peak_bytes",
}
QUICK = ("--model", "one", "--temperature", "0", "--max-tokens", "6")


def prompt_tokens(folder, *texts):
    """An independent count: the template rendered and encoded by transformers."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    roles = [{"role": ("user", "assistant")[index % 2], "content": text} for index, text in enumerate(texts)]
    return len(tokenizer.apply_chat_template(roles, add_generation_prompt=True, return_dict=True)["input_ids"])


def test_the_starter_answers_from_nothing_with_every_field_true(flint, starter_gguf, flint_home):
    outcome = flint("chat", "What is the capital of France?", "--temperature", "0", "--json")
    assert outcome.status == 0
    data = outcome.data
    assert data.keys() >= FIELDS
    assert "Paris" in data["text"]
    assert data["finish_reason"] == "stop"
    (folder,) = (path for path in (flint_home / "models").iterdir() if (path / "config.json").exists())
    assert data["prompt_tokens"] == prompt_tokens(folder, "What is the capital of France?")
    assert data["prefill_tps"] == pytest.approx((data["prompt_tokens"] - data["cached_tokens"]) / data["prefill_s"])
    assert data["ttft_s"] >= data["prefill_s"]
    assert data["decode_tps"] == pytest.approx(data["output_tokens"] / data["decode_s"])  # The end is written too.
    assert data["kv_bytes"] > 0
    assert data["peak_bytes"] >= data["weights_bytes"] > 90_000_000
    assert (data["reasoning"], data["cached_tokens"]) == ("", 0)
    assert isinstance(data["seed"], int)
    assert outcome.err == ""


def test_the_reply_goes_to_stdout_and_nothing_else_does(flint, models, chats):
    outcome = flint("chat", "hello", *QUICK)
    assert (outcome.status, outcome.err) == (0, "")
    store = chats()
    (chat,) = store.chats()
    question, reply = store.messages(chat.id)
    assert outcome.out == reply.text + "\n"
    assert (question.text, reply.state, reply.model_id) == ("hello", "complete", "one")
    assert reply.facts.output_tokens == 6
    assert chat.title == "hello"


def test_json_tells_what_was_stored(flint, models, chats):
    data = flint("chat", "hello", *QUICK, "--seed", "5", "--json").data
    reply = chats().messages(data["chat"])[-1]
    assert reply.text == data["text"]
    facts = reply.facts
    for name in FIELDS - {"chat", "text", "reasoning"}:
        assert data[name] == getattr(facts, name), name
    assert data["seed"] == 5
    assert data["finish_reason"] == "length"
    assert data["prompt_tokens"] == prompt_tokens(models / "one", "hello")


def test_a_stored_chat_goes_on_with_its_history(flint, models, chats):
    first = flint("chat", "hello", *QUICK, "--json").data
    second = flint("chat", "and then?", *QUICK, "--chat", first["chat"], "--json").data
    assert second["chat"] == first["chat"]
    between = prompt_tokens(models / "one", "and then?")
    assert second["prompt_tokens"] >= first["prompt_tokens"] + first["output_tokens"] + between - 4
    assert len(chats().messages(first["chat"])) == 4


def test_the_same_seed_gives_the_same_reply(flint, models):
    warm = ("--model", "one", "--temperature", "1.5", "--max-tokens", "12", "--json", "--seed")
    texts = [flint("chat", "hello", *warm, seed).data["text"] for seed in ("3", "3", "4")]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("arguments", [("-",), ()])
def test_the_question_can_come_from_standard_input(flint, models, chats, arguments):
    assert flint("chat", *arguments, *QUICK, stdin="Grüße\r\naus Köln\n").status == 0
    store = chats()
    assert store.messages(store.chats()[0].id)[0].text == "Grüße\naus Köln\n"


def test_input_that_is_no_text_is_read_as_well_as_it_can_be(flint, models, chats):
    assert flint("chat", "-", *QUICK, stdin=b"\xef\xbb\xbfcaf\xe9").status == 0
    store = chats()
    assert store.messages(store.chats()[0].id)[0].text == "caf\ufffd"


@pytest.mark.parametrize("arguments", [("-",), (), ("  ",)])
def test_an_empty_question_is_refused(flint, models, arguments):
    assert "empty" in flint("chat", *arguments, *QUICK, stdin=" \n").refused(2)


# -- which model ----------------------------------------------------------------------------------------------------------


def test_the_model_that_answered_last_answers_next(flint, models):
    flint("chat", "hello", *QUICK[2:], "--model", "two")
    assert flint("chat", "hello", *QUICK[2:], "--json").data["model"] == "two"


def test_a_model_that_failed_is_not_taken_next_time(flint, models):
    flint("chat", "hello", *QUICK)
    flint("chat", "hello", *QUICK[2:], "--model", "broken").refused(11)
    assert flint("chat", "hello", *QUICK[2:], "--json").data["model"] == "one"


def test_a_chat_goes_on_with_its_own_model(flint, models):
    chat = flint("chat", "hello", *QUICK, "--json").data["chat"]
    flint("chat", "hello", *QUICK[2:], "--model", "two")
    assert flint("chat", "more", "--chat", chat, *QUICK[2:], "--json").data["model"] == "one"
    assert flint("chat", "more", "--chat", chat, *QUICK[2:], "--model", "two", "--json").data["model"] == "two"


def test_a_chat_whose_model_is_gone_is_answered_by_another_and_says_so(flint, models, flint_home):
    chat = flint("chat", "hello", *QUICK, "--json").data["chat"]
    flint("chat", "hello", *QUICK[2:], "--model", "two")
    (models / "one").rename(flint_home / "away")
    outcome = flint("chat", "more", "--chat", chat, *QUICK[2:], "--json")
    assert outcome.data["model"] == "two"
    assert "one" in outcome.err


def test_a_model_can_be_a_folder_or_a_gguf_anywhere_and_is_remembered(flint, tiny_folders, tmp_path):
    folder = tiny_llama(tmp_path / "größe [v1] von mir")
    assert flint("chat", "hello", *QUICK[2:], "--model", folder, "--json").status == 0
    remembered = flint("chat", "hello", *QUICK[2:], "--json")
    assert remembered.data["weights_bytes"] < 1_000_000
    tiny_gguf(tmp_path / "klein è.gguf")
    assert flint("chat", "hello", *QUICK[2:], "--model", tmp_path / "klein è.gguf", "--json").status == 0


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--model", "nowhere"), 10),
        (("--model", "/nowhere/at/all"), 10),
        (("--model", "broken"), 11),
        (("--model", "alien"), 12),
        (("--model", "base"), 13),
        (("--model", "one", "--chat", "nobody"), 24),
        (("--no-such-option",), 2),
    ],
)
def test_each_failure_has_its_own_status_and_says_what_to_do(flint, models, arguments, status):
    tiny_model(models / "base", LLAMA, template=None)
    alien = models / "alien"
    alien.mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        (alien / name).write_bytes((models / "one" / name).read_bytes())
    (alien / "config.json").write_text(json.dumps({"model_type": "alien_lm"}))
    outcome = flint("chat", "hello", *arguments, "--json")
    if status == 2:
        assert (outcome.status, outcome.out) == (2, "")
        assert "--no-such-option" in outcome.err
    else:
        outcome.refused(status)


def test_a_failed_reply_is_kept_with_its_reason(flint, models, chats):
    flint("chat", "hello", "--model", "broken").refused(11)
    store = chats()
    question, reply = store.messages(store.chats()[0].id)
    assert (question.text, reply.state, reply.error.code) == ("hello", "failed", "model-broken")


def test_a_conversation_longer_than_the_context_is_refused(flint, models):
    flint("chat", "The quick brown fox jumps over the lazy dog. " * 60, *QUICK, "--context", "256").refused(15)


# -- settings -------------------------------------------------------------------------------------------------------------


def test_a_chats_settings_go_before_the_apps_and_options_before_both(flint, models, chats):
    preferences = Preferences(locate().settings)
    preferences.set("max_tokens", 3)
    preferences.set("temperature", 0.0)
    assert flint("chat", "hello", "--model", "one", "--json").data["output_tokens"] == 3
    store = chats()
    chat = store.create_chat(model_id="one", settings={"max_tokens": 4})
    assert flint("chat", "hello", "--chat", chat.id, "--json").data["output_tokens"] == 4
    assert flint("chat", "hello", "--chat", chat.id, "--max-tokens", "5", "--json").data["output_tokens"] == 5


def test_stored_settings_that_cannot_be_used_do_not_stop_a_reply(flint, models, chats):
    chat = chats().create_chat(model_id="one", settings={"max_tokens": -4, "from_the_future": True, "temperature": 0})
    assert flint("chat", "hello", "--chat", chat.id, "--max-tokens", "2", "--json").data["output_tokens"] == 2


def test_a_broken_settings_file_is_told_and_the_reply_comes(flint, models, flint_home):
    flint_home.mkdir(exist_ok=True)
    (flint_home / "settings.json").write_text("{ this is not JSON")
    outcome = flint("chat", "hello", *QUICK, "--json")
    assert outcome.status == 0
    assert outcome.data["text"] is not None
    assert "settings" in outcome.err
    assert "damaged" in outcome.err


def test_a_setting_out_of_bounds_in_the_file_is_told_by_name(flint, models, flint_home):
    (flint_home / "settings.json").write_text(json.dumps({"version": 1, "values": {"temperature": 99}}))
    outcome = flint("chat", "hello", *QUICK[:2], "--max-tokens", "1", "--json")
    assert outcome.status == 0
    assert "Temperature" in outcome.err


NUMBERS = [setting for setting in SETTINGS if setting.scope is Scope.CHAT and setting.kind in (int, float)]
CHOICES = [setting for setting in SETTINGS if setting.choices and setting.scope is Scope.CHAT]


@pytest.mark.parametrize(
    ("flag", "value"),
    [(setting.flag, setting.maximum * 2 + 1) for setting in NUMBERS if setting.maximum is not None]
    + [(setting.flag, setting.minimum - 1) for setting in NUMBERS if setting.minimum is not None]
    + [(setting.flag, "much") for setting in (*NUMBERS, *CHOICES)]
    + [(setting.flag, "") for setting in NUMBERS]
    + [("--weights", "feathers")],
)
def test_a_value_that_a_setting_cannot_have_is_refused(flint, flag, value):
    outcome = flint("chat", "hello", "--json", f"{flag}={value}")
    outcome.refused(3)


# -- the chats' file ------------------------------------------------------------------------------------------------------


def test_chats_of_a_newer_flint_are_left_alone_and_told(flint, models, flint_home):
    flint("chat", "hello", *QUICK)
    with sqlite3.connect(flint_home / "chats.sqlite3") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = (flint_home / "chats.sqlite3").read_bytes()
    assert "newer" in flint("chat", "hello", *QUICK, "--json").refused(22)
    assert (flint_home / "chats.sqlite3").read_bytes() == before


def test_damaged_chats_are_left_alone_and_told(flint, models, flint_home):
    flint_home.mkdir(exist_ok=True)
    (flint_home / "chats.sqlite3").write_bytes(b"SQLite format 3\x00" + b"garbage" * 999)
    before = (flint_home / "chats.sqlite3").read_bytes()
    flint("chat", "hello", *QUICK, "--json").refused(23)
    assert (flint_home / "chats.sqlite3").read_bytes() == before


def test_a_read_only_home_is_told(flint, models, flint_home):
    with read_only(flint_home):
        flint("chat", "hello", *QUICK, "--json").refused(21)


def test_a_reply_that_a_killed_process_left_is_marked_when_the_next_command_comes(flint, models, chats):
    from engine.chats.owner import Owner

    chat = flint("chat", "hello", *QUICK, "--json").data["chat"]
    store = chats()
    left = store.begin_reply(chat, store.messages(chat)[-1].id, "one")
    with store._database.writing() as connection:
        connection.execute("UPDATE messages SET owner_pid = 1, owner_started = 0 WHERE id = ?", (left.id,))
    assert not Owner(1, 0).is_alive()
    flint("chat", "hello", *QUICK)
    assert store.message(left.id).state == "interrupted"


def test_a_full_disk_in_mid_reply_is_told_after_the_reply(flint, models, monkeypatch):
    from engine.chats.store import ChatStore
    from engine.core.errors import DiskFull

    def full(*_, **__):
        raise DiskFull("The disk is full.")

    monkeypatch.setattr(ChatStore, "finish_reply", full)
    outcome = flint("chat", "hello", *QUICK, "--json")
    assert outcome.status == 20
    assert outcome.data["output_tokens"] == 6
    assert "disk is full" in outcome.err


def test_what_is_set_for_a_model_and_what_it_recommends_counts_here_too(flint, models):
    (locate().models / "one" / "generation_config.json").write_text(json.dumps({"top_k": 20, "top_p": 0.8}))
    preferences = Preferences(locate().settings)
    preferences.set("temperature", 0.4)
    preferences.set_for_model("one", {"temperature": 0.3, "seed": 5})
    preferences.set_for_model("two", {"temperature": 0.1})
    data = flint("chat", "hello", "--model", "one", "--max-tokens", "2", "--top-p", "0.5", "--json").data
    assert data["seed"] == 5
    with ChatStore(locate().chats) as store:
        sampling = store.messages(data["chat"])[-1].facts.sampling
    assert (sampling.temperature, sampling.top_k, sampling.top_p) == (0.3, 20, 0.5)

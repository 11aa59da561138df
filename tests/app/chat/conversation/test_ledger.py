"""The ledger says where a reply's tokens came from and went."""

import dataclasses

import pytest

from app.chat.conversation.ledger import context_rows, ledger
from engine.core.facts import ReplyFacts
from engine.core.settings import Sampling
from tests.app.chat.stored import facts


def test_the_ledger_tells_known_read_written_and_gone():
    rows = dict(ledger(facts(kv_bytes=2_300_000_000, kv_bits="8/4", dropped_tokens=4_096, dropped_messages=6)))
    assert rows["Known from the cache"] == "16,600"
    assert rows["Read now"] == "300"
    assert rows["Written"] == "386"
    assert rows["Left the context"] == "4,096"
    assert rows["Messages out of sight"] == "the first 6"
    assert rows["KV cache"] == "2.3 GB, 8-bit keys, 4-bit values"


def test_nothing_gone_is_said_as_such():
    rows = dict(ledger(facts()))
    assert rows["Left the context"] == "none"
    assert "Messages out of sight" not in rows


def test_the_context_gauge_explains_used_free_gone_and_bytes():
    rows = dict(context_rows(300, 256, facts(context=256, dropped_tokens=44, kv_bytes=16_200_000)))
    assert rows == {
        "In use": "300 of 256 tokens",
        "Free": "0",
        "Left the context": "44 tokens",
        "KV cache": "16.2 MB, full precision",
    }
    assert dict(context_rows(0, 8192, None)) == {"In use": "0 of 8,192 tokens", "Free": "8,192"}


def test_times_rates_and_memory_are_told():
    rows = dict(ledger(facts(reasoning_s=4.21, weights_bytes=4_500_000_000, peak_bytes=6_100_000_000, chunks=(256, 44))))
    assert rows["First token"] == "0.41 s"
    assert rows["Reading"] == "0.30 s, 900.0 tok/s"
    assert rows["Thinking"] == "4.21 s"
    assert rows["Writing"] == "6.20 s, 62.3 tok/s"
    assert (rows["Weights"], rows["Peak"]) == ("4.5 GB", "6.1 GB")
    assert rows["Ended"] == "the model ended its turn"


@pytest.mark.parametrize(
    ("changes", "read", "chunks"),
    [
        ({"cached_tokens": 77, "chunks": (5, 17)}, "23", "5 + 17 + 1"),
        ({"cached_tokens": 78, "chunks": (5, 17)}, "22", "5 + 17"),
        ({"cached_tokens": 82, "chunks": (17,)}, "18", None),
        ({"cached_tokens": 99, "chunks": ()}, "1", None),
        ({"cached_tokens": 0, "chunks": (16, 16), "finish_reason": "cancelled", "ttft_s": 0.0}, "32", "16 + 16"),
        ({"cached_tokens": 0, "chunks": (24, 24, 24, 24, 3)}, "100", "1 to 24, 6 in all"),
        ({"cached_tokens": 112, "chunks": (5, 2), "resumed": (20,), "output_tokens": 30}, "8", "5 + 2 + 1"),
    ],
)
def test_the_chunks_add_up_to_what_was_read(changes, read, chunks):
    rows = dict(ledger(facts(prompt_tokens=100, **changes)))
    assert (rows["Read now"], rows.get("In chunks of")) == (read, chunks)


def test_settings_that_had_an_effect_are_listed_and_no_others():
    plain = Sampling(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0, stop="END\n###", max_tokens=128)
    rows = ledger(facts(sampling=plain, seed=42))
    shown = dict(rows[rows.index(("Settings", "")) + 1 :])
    assert shown == {"Seed": "42", "Temperature": "0", "Max tokens": "128 tokens", "Stop text": "“END”, “###”"}
    rows = ledger(facts(sampling=Sampling(repetition_penalty=1.1)))
    shown = dict(rows[rows.index(("Settings", "")) + 1 :])
    assert shown["Repetition penalty"] == "1.1"
    assert shown["Repetition window"] == "64 tokens"
    assert shown["Top-p"] == "0.95"


def test_every_fact_a_person_can_use_is_in_the_ledger():
    hidden = {"fingerprint", "template_hash", "output_ids", "history", "prompt_hash"}
    changes = {
        "model": "Another",
        "finish_reason": "length",
        "kv_bits": "8",
        "sampling": Sampling(temperature=1.5),
        "chunks": (7, 7),
        "resumed": (7,),
        "reread": (7,),
        "made_with": (("MLX", "0.32"),),
    }
    before = ledger(facts())
    for entry in dataclasses.fields(ReplyFacts):
        if entry.name not in hidden:
            change = changes.get(entry.name, 9_000_000_007)
            assert ledger(facts(**{entry.name: change})) != before, entry.name


def test_a_reply_that_went_on_tells_which_part_each_figure_is_of_and_its_sums_add_up():
    rows = ledger(facts(prompt_tokens=100, cached_tokens=119, output_tokens=40, resumed=(8, 20), reread=(7, 5)))
    heads = [label for label, value in rows if not value]
    assert heads == ["Tokens", "Read for the last part", "Time of all parts", "Memory", "Settings of the last part"]
    parts = {head: dict(rows[rows.index((head, "")) + 1 :]) for head in heads}
    assert parts["Tokens"]["Prompt"] == "100 tokens"
    assert parts["Tokens"]["Written"] == "8 + 12 + 20 = 40, continued twice"
    last = rows[rows.index(("Read for the last part", "")) + 1 : rows.index(("Time of all parts", ""))]
    assert last == [
        ("Prompt and reply so far", "120 tokens"),
        ("Known from the cache", "119"),
        ("Read now", "1"),
        ("Read again meanwhile", "12"),
    ]
    assert parts["Time of all parts"]["First token"] == "0.41 s, of the first part"
    assert parts["Time of all parts"]["Reading"] == "0.30 s", "the last part's rate says nothing about the sum"


def test_a_reply_that_went_on_often_tells_the_sum_of_its_parts():
    rows = dict(ledger(facts(output_tokens=50, resumed=(10, 20, 30, 40))))
    assert rows["Written"] == "50, continued 4 times"

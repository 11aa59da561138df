"""The ledger says where a reply's tokens came from and went."""

from app.chat.ledger import context_rows, ledger
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

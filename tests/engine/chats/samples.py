"""Records with every field set, for tests of what is kept."""

from engine.core.errors import GenerationFailed
from engine.core.facts import ReplyFacts
from engine.core.settings import Sampling

FACTS = ReplyFacts(
    model="smollm2",
    finish_reason="length",
    seed=7,
    prompt_tokens=31,
    cached_tokens=12,
    output_tokens=64,
    ttft_s=0.125,
    prefill_s=0.1,
    decode_s=2.5,
    prefill_tps=190.5,
    decode_tps=25.25,
    weights_bytes=134_515_008,
    kv_bytes=1_000_000,
    peak_bytes=2**40,
    context=2048,
    fingerprint="f" * 16,
    template_hash="t" * 16,
    sampling=Sampling(temperature=0.0, top_k=3),
    chunks=(16, 3),
)
ERROR = GenerationFailed("The model stopped: “NaN” in 層 3.").info()

"""The predicted peak of memory against MLX's measured one, for models whose caches differ, contexts and KV precisions.

Five tiny random models with wide heads, so that a short run fills hundreds of megabytes: growing layers (llama), sliding ones
(gemma3), experts with sinks and sliding layers (gpt_oss), a latent (deepseek_v3), a state space beside attention (falcon_h1).
Each reads a prompt in chunks, as a session does: the cache's state alone is evaluated; then it writes a few tokens. The peak is
`mx.get_peak_memory()` over all of it. To reach: predicted / measured from 0.95 to 1.15 in every run.

Every size is of the run as it was: chunks of a fixed length, the caches that `engine.cache.make` gives. The prediction sees
nothing but the config, the context, the precision and the chunk.
"""

import json
import sys
import time
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.timing import machine, options

LOWEST, HIGHEST = 0.95, 1.15
WRITTEN = 3
SMALLEST_RUN = 200_000_000
_COMMON = {"vocab_size": 512, "max_position_embeddings": 65536, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_size": 256}
_WIDE = {"num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 256}
CONFIGS: dict[str, dict[str, Any]] = {
    "llama": {
        "model_type": "llama",
        **_COMMON,
        **_WIDE,
        "num_hidden_layers": 8,
        "intermediate_size": 512,
        "tie_word_embeddings": True,
    },
    "gemma3": {
        "model_type": "gemma3_text",
        **_COMMON,
        **_WIDE,
        "num_hidden_layers": 9,
        "intermediate_size": 512,
        "sliding_window": 512,
        "sliding_window_pattern": 3,
    },
    "gpt_oss": {
        "model_type": "gpt_oss",
        **_COMMON,
        **_WIDE,
        "num_hidden_layers": 8,
        "intermediate_size": 256,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "sliding_window": 128,
        "layer_types": ["sliding_attention", "full_attention"] * 4,
    },
    "deepseek_v3": {
        "model_type": "deepseek_v3",
        **_COMMON,
        "num_hidden_layers": 8,
        "intermediate_size": 512,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "kv_lora_rank": 4096,
        "q_lora_rank": 64,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "n_routed_experts": 4,
        "n_shared_experts": 1,
        "moe_intermediate_size": 128,
        "num_experts_per_tok": 2,
        "first_k_dense_replace": 1,
        "n_group": 1,
        "topk_group": 1,
    },
    "falcon_h1": {
        "model_type": "falcon_h1",
        **_COMMON,
        **_WIDE,
        "num_hidden_layers": 8,
        "intermediate_size": 512,
        "mamba_d_ssm": 512,
        "mamba_d_head": 64,
        "mamba_n_heads": 8,
        "mamba_d_state": 128,
        "mamba_n_groups": 1,
        "tie_word_embeddings": True,
    },
}
LENGTHS = (1538, 2050, 3074)
PRECISIONS = ("off", "8")


@dataclass(frozen=True)
class Run:
    """One measured run; sizes in bytes."""

    model: str
    context: int
    kv_bits: str
    chunk: int
    predicted: int
    measured: int
    seconds: float

    @property
    def ratio(self) -> float:
        return self.predicted / self.measured


def build(config: dict[str, Any]) -> Any:
    """A random model in float32, as mlx-lm's loader makes it: an output tied to the embedding has no matrix of its own."""
    import mlx.core as mx
    from mlx_lm.utils import _get_classes

    model_class, arguments = _get_classes(config)
    mx.random.seed(0)
    model = model_class(arguments.from_dict(config))
    if config["model_type"] == "gemma3_text":
        model.tie_word_embeddings = True
        model.pop("lm_head")
    model.set_dtype(mx.float32)
    mx.eval(model.parameters())
    return model


def measure(model: Any, context: int, kv_bits: str, chunk: int, vocabulary: int = 500) -> int:
    """The peak in bytes of reading a prompt and writing a few tokens, `context` in all; ids are below `vocabulary`."""
    import mlx.core as mx

    from engine.cache.make import make_cache
    from engine.cache.policy import CachePolicy

    cache = make_cache(model, CachePolicy(None, kv_bits))
    mx.clear_cache()
    mx.reset_peak_memory()
    done, prompt = 0, context - WRITTEN
    while done < prompt:
        count = min(chunk, prompt - done)
        model(mx.array([[(done + index) * 31 % vocabulary for index in range(count)]]), cache=cache)
        mx.eval([layer.state for layer in cache])
        done += count
    for token in range(WRITTEN):
        mx.eval(model(mx.array([[token]]), cache=cache)[0, -1])
    return mx.get_peak_memory()


def one(name: str, model: Any, context: int, kv_bits: str, chunk: int) -> Run:
    import mlx.core as mx

    from engine.models.fit import predict

    config = CONFIGS[name]
    metal = mx.default_device() == mx.gpu
    fit = predict(config, context=context, kv_bits=kv_bits, chunk=chunk, element_bytes=4, metal=metal)  # type: ignore[arg-type]
    started = time.perf_counter()
    measured = measure(model, context, kv_bits, chunk)
    return Run(name, context, kv_bits, chunk, fit.peak_bytes, measured, time.perf_counter() - started)


def table(runs: list[Run]) -> str:
    """The runs as people read them."""
    head = f"{'model':<30} {'context':>8} {'KV':>4} {'chunk':>6} {'predicted MB':>13} {'measured MB':>12} {'ratio':>6} {'s':>5}"
    return "\n".join([head, *(row(run) for run in runs)])


def row(run: Run) -> str:
    sizes = f"{run.predicted / 1e6:>13,.1f} {run.measured / 1e6:>12,.1f}"
    return f"{run.model:<30} {run.context:>8,} {run.kv_bits:>4} {run.chunk:>6} {sizes} {run.ratio:>6.3f} {run.seconds:>5.0f}"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--model", choices=sorted(CONFIGS), help="one of the models alone")
    parser.add_argument("--chunk", type=int, default=256, help="tokens of the prompt that are read at a time")
    given = parser.parse_args()
    from engine.inference.blas import prefer_system_blas

    prefer_system_blas()
    runs: list[Run] = []
    for name in [given.model] if given.model else CONFIGS:
        model = build(CONFIGS[name])
        for context in LENGTHS[:1] if given.quick else LENGTHS:
            for kv_bits in PRECISIONS:
                runs.extend(one(name, model, context, kv_bits, given.chunk) for _ in range(given.rounds or 1))
                print(row(runs[-1]), file=sys.stderr, flush=True)
    ratios = [run.ratio for run in runs]
    line = {
        "benchmark": "predicted_peak",
        "against": "mx.get_peak_memory() of the same run",
        "lowest": min(ratios),
        "highest": max(ratios),
        "bounds": [LOWEST, HIGHEST],
        "smallest_run": min(run.measured for run in runs),
        "holds": min(ratios) >= LOWEST and max(ratios) <= HIGHEST and min(run.measured for run in runs) >= SMALLEST_RUN,
        "runs": [{**run.__dict__, "ratio": round(run.ratio, 4), "seconds": round(run.seconds, 1)} for run in runs],
        "machine": machine(),
    }
    print(json.dumps(line))
    print(table(runs))


if __name__ == "__main__":
    main()

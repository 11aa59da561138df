"""KL, top-1 agreement and bytes of each KV precision against the exact window, token by token after it wrapped, on a real text.

All read the same text at the same time: the window full in chunks, then token by token, so that what a query sees is what a
reply being written sees (in chunks of 64, 4-bit rows look 5 to 6 times better). Bytes are those of the quantized layers, plain
rows counted as bfloat16, less the 64 rows that every precision keeps plain, against the same window in bfloat16.
To reach on SmolLM2 (and on Gemma 3): KL at most .001, .004, .02 (.004, .006, .08); bytes at most .55, .43, .30.
"""

from typing import Any

from tests.benchmarks.reading import GEMMA3, STARTER, model_and_ids, read
from tests.benchmarks.timing import options, report

PRECISIONS = ("8", "8/4", "4")
MOST_KL = {STARTER: (0.001, 0.004, 0.02), GEMMA3: (0.004, 0.006, 0.08)}
MOST_BYTES = (0.55, 0.43, 0.30)
CHUNK = 64


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--model", default=STARTER, help="starter, gemma3, or a folder")
    parser.add_argument("--window", type=int, default=256, help="tokens that a query sees")
    parser.add_argument("--pinned", type=int, default=32, help="tokens that are never dropped")
    parser.add_argument("--tokens", type=int, help="tokens of the text that are read")
    given = parser.parse_args()
    tokens = given.tokens or (given.window + 40 if given.quick else 1000)
    with model_and_ids(given.model, tokens) as (model, ids):
        rows = compare(model, ids, given.window, given.pinned)
    bounds = MOST_KL.get(given.model, MOST_KL[STARTER])
    print(f"{'keys/values':<12}{'KL':>9}{'bound':>9}{'top-1':>8}{'bytes':>8}{'bound':>8}")
    for row, kl, size in zip(rows, bounds, MOST_BYTES, strict=True):
        print(f"{row['kv_bits']:<12}{row['kl']:>9.5f}{kl:>9}{row['top1']:>8.3f}{row['bytes']:>8.3f}{size:>8}")
    report(
        "kv_precision",
        ratio=max(max(row["kl"] / kl, row["bytes"] / size) for row, kl, size in zip(rows, bounds, MOST_BYTES, strict=True)),
        at_most=1.0,
        against="the bounds; KL and top-1 against the exact window, bytes against bfloat16",
        model=given.model,
        window=given.window,
        pinned=given.pinned,
        tokens=len(ids),
        compared=len(ids) - given.window,
        precisions=rows,
    )


def compare(model: Any, ids: list[int], window: int, pinned: int) -> list[dict[str, Any]]:
    """Read `ids` with every precision side by side; return mean KL, top-1 agreement and bytes of each against the exact one."""
    import mlx.core as mx

    from engine.cache.make import make_cache
    from engine.cache.policy import CachePolicy

    caches = {bits: make_cache(model, CachePolicy(window, bits, pinned)) for bits in ("off", *PRECISIONS)}
    for layers in caches.values():
        for _ in read(model, layers, ids[:window], CHUNK):
            pass
    divergences: dict[str, list[float]] = {bits: [] for bits in PRECISIONS}
    agreed = dict.fromkeys(PRECISIONS, 0)
    for index in ids[window:]:
        found = {bits: next(read(model, layers, [index], 1))[0] for bits, layers in caches.items()}
        exact = found["off"] - mx.logsumexp(found["off"])
        for bits in PRECISIONS:
            rounded = found[bits] - mx.logsumexp(found[bits])
            divergences[bits].append((mx.exp(exact) * (exact - rounded)).sum().item())
            agreed[bits] += int(mx.argmax(exact).item() == mx.argmax(rounded).item())
    steps = len(ids) - window
    return [
        {
            "kv_bits": bits,
            "kl": sum(divergences[bits]) / steps,
            "largest_kl": max(divergences[bits]),
            "top1": agreed[bits] / steps,
            "bytes": share(caches[bits], caches["off"]),
        }
        for bits in PRECISIONS
    ]


def share(quantized: list[Any], exact: list[Any]) -> float:
    """Return the bytes of the quantized layers, less their 64 plain rows, as a share of the same layers' in bfloat16."""
    import mlx.core as mx

    from engine.cache.layers import single
    from engine.cache.rows import RECENT

    def as_bfloat16(arrays: list[Any]) -> int:
        return sum(array.nbytes // 2 if array.dtype == mx.float32 else array.nbytes for array in arrays)

    taken = whole = 0
    for one, other in zip(single(quantized), single(exact), strict=True):
        if any(array.dtype == mx.uint32 for array in one.state):
            plain = as_bfloat16(other.state)
            whole += plain
            taken += as_bfloat16(one.state) - plain * RECENT // other.keys.shape[2]
    return taken / whole


if __name__ == "__main__":
    main()

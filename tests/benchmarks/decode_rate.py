"""Decode rate (tokens a second after the first) through Flint's whole engine against mlx-lm's `stream_generate`.

Flint's side is a command to the host, the engine thread, the session, and events back to a consumer on another thread; mlx-lm's
is its own loop, consumed where it runs. Both run the very same model in memory, greedily, on the same prompt, in turn; the seconds
are the consumer's. On a CPU the weights are float32, as Flint's loader makes them there, unless `--weights as-stored`.
To reach: at least 0.98 of mlx-lm's rate.
"""

from tests.benchmarks.engines import Run, both
from tests.benchmarks.timing import alternate, options, report

AT_LEAST = 0.98
PROMPT = "Write a long story about a lighthouse keeper who finds a map in a bottle. Tell every detail of the journey."


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--model", default="", help="name or path of a model; without it the starter")
    parser.add_argument("--weights", default="auto", choices=("auto", "as-stored", "dense"), help="how the weights are held")
    parser.add_argument("--tokens", type=int, help="tokens of a reply")
    given = parser.parse_args()
    tokens = given.tokens or (16 if given.quick else 128)
    rounds = given.rounds or (2 if given.quick else 9)
    last: dict[str, Run] = {}

    def measured(name: str, run: Run) -> float:
        last[name] = run
        return run.decode_tps

    with both(given.model, given.weights) as (flint, mlx_lm):
        flint.generate(PROMPT, 8)
        mlx_lm.generate(PROMPT, 8)
        result = alternate(
            lambda: measured("flint", flint.generate(PROMPT, tokens)),
            lambda: measured("mlx-lm", mlx_lm.generate(PROMPT, tokens)),
            rounds,
        )
    report(
        "decode_rate",
        ratio=result.ratio,
        at_least=AT_LEAST,
        against="mlx-lm's stream_generate on the same model in memory",
        weights=given.weights,
        tokens=last["flint"].tokens,
        same_text=last["flint"].text == last["mlx-lm"].text,
        **result.facts("tokens/s"),
    )


if __name__ == "__main__":
    main()

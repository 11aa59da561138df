"""Prefill rate (prompt tokens a second up to the first token) of Flint's whole engine against mlx-lm's `stream_generate`.

Flint reads the prompt in chunks adapted to about 0.3 s, so that a cancel is quick and progress is smooth; mlx-lm reads it in
steps of 2,048 tokens. Both run the very same model in memory, on the same prompt of about 1,000 tokens, in turn; each round
has a prompt of its own, so that nothing of it is cached (what Flint found cached all the same, the template's first words, is
not counted as read). The seconds are the consumer's, from the request to the first token. To reach: at least 0.98.
"""

from tests.benchmarks.engines import Run, both
from tests.benchmarks.timing import alternate, options, report

AT_LEAST = 0.98
SUBJECTS = ("harbour", "orchard", "railway", "library", "glacier", "theatre", "market", "workshop", "island", "archive")
SENTENCE = "In the year {year} the {subject} had {count} visitors, and {other} of them wrote down what they had seen there. "
TOKENS_A_SENTENCE = 26


def text(round_number: int, tokens: int) -> str:
    """A prompt of about `tokens` tokens that differs from its first word on from every other round's."""
    subject = SUBJECTS[round_number % len(SUBJECTS)]
    sentences = [
        SENTENCE.format(year=1900 + line, subject=subject, count=round_number * 137 + line * 11, other=line * 7 % 90)
        for line in range(tokens // TOKENS_A_SENTENCE)
    ]
    return f"{round_number}. The {subject}. " + "".join(sentences) + "Sum this up."


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--model", default="", help="name or path of a model; without it the starter")
    parser.add_argument("--weights", default="auto", choices=("auto", "as-stored", "dense"), help="how the weights are held")
    parser.add_argument("--tokens", type=int, help="about how many tokens the prompt has")
    given = parser.parse_args()
    tokens = given.tokens or (200 if given.quick else 1000)
    rounds = given.rounds or (2 if given.quick else 7)
    runs: dict[str, list[Run]] = {"flint": [], "mlx-lm": []}

    def measured(name: str, run: Run) -> float:
        runs[name].append(run)
        return run.prefill_tps

    with both(given.model, given.weights) as (flint, mlx_lm):
        flint.generate(text(0, tokens), 1)  # The chunk's length adapts here to the machine, as in the first chat of a day.
        mlx_lm.generate(text(0, tokens), 1)
        result = alternate(
            lambda: measured("flint", flint.generate(text(len(runs["flint"]) + 1, tokens), 1)),
            lambda: measured("mlx-lm", mlx_lm.generate(text(len(runs["mlx-lm"]) + 1, tokens), 1)),
            rounds,
        )
    report(
        "prefill_rate",
        ratio=result.ratio,
        at_least=AT_LEAST,
        against="mlx-lm's stream_generate on the same model in memory, prefill_step_size 2048",
        weights=given.weights,
        prompt_tokens=runs["mlx-lm"][-1].read,
        read_tokens=runs["flint"][-1].read,
        first_token_s={name: runs[name][-1].first_s for name in runs},
        **result.facts("tokens/s"),
    )


if __name__ == "__main__":
    main()

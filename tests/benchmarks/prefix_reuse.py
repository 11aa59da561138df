"""Tokens that Flint reads again against tokens that were never seen, for what people do in chats, by kind of model.

Real models are asked through the session, with their own templates; each reply's 64 greedy tokens must be those of a session
that has seen nothing. Tiny random models of the kinds of cache that mlx-lm's models make are asked through the prefix cache;
their logits must be a cold run's within 1e-3. “Never seen” is what comes after the longest prefix ever computed and not
evicted; the last token of a prompt is always read, and counted as never seen. Beside it: what mlx-lm's LRUPromptCache leaves
to be read, with mlx-lm's own caches, in the same conversations, filled as mlx-lm's server does. To reach: at most 16 tokens
more than were never seen, in every cell.

    uv run python -m tests.benchmarks.prefix_reuse [--quick] [--only COLUMN]
"""

import dataclasses
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.inference.blas import prefer_system_blas
from tests.benchmarks.timing import options, own_home, report

if TYPE_CHECKING:  # They bring MLX, before which the BLAS must be there.
    from tests.benchmarks.prefix_subjects import Cell, Subject

AT_MOST = 16
TINY = ("qwen3_next", "gpt_oss", "deepseek_v3", "llama4", "falcon_h1")
ROWS = (
    "next turn",
    "regenerate",
    "edit last",
    "edit first",
    "branch away and back",
    "new chat, same system prompt",
    "alternate chats",
    "restart",
)


def play(subject: "Subject") -> "dict[str, Cell]":
    """Go through the conversations, every row once; return what each read."""
    system, turns = subject.system(), [subject.turn(number) for number in range(12)]
    one, two = [system, turns[0]], [system, turns[1]]
    one.append(subject.ask(one))
    one += [turns[2]]
    one.append(subject.ask(one))
    found = {}
    asked = [*one, turns[3]]
    reply, found["next turn"] = subject.measure(asked)
    _, found["regenerate"] = subject.measure(asked)
    _, found["edit last"] = subject.measure([*one, turns[4]])
    _, found["edit first"] = subject.measure([system, turns[5]])
    one = [*asked, reply, turns[6]]
    reply, found["branch away and back"] = subject.measure(one)
    answer, found["new chat, same system prompt"] = subject.measure(two)
    one, two = [*one, reply, turns[7]], [*two, answer, turns[8]]
    reply, first = subject.measure(one)
    answer, second = subject.measure(two)
    third = subject.measure([*one, reply, turns[9]])[1]
    found["alternate chats"] = first + second + third
    subject.restart()
    found["restart"] = subject.measure([*two, answer, turns[10]])[1]
    return found


def columns(folder: Path, quick: bool) -> "Iterator[tuple[str, Callable[[], Subject]]]":
    """Yield every column's name and what makes its subject."""
    from tests.benchmarks.prefix_subjects import RealSubject, TinySubject

    if not quick:
        yield "SmolLM2", lambda: RealSubject.starter(folder, context=None, words=60)
        yield "SmolLM2, window 256", lambda: RealSubject.starter(folder, context=256, words=200)
        yield "Gemma 3 270M", lambda: RealSubject.gemma3(folder, words=420)
    for kind in TINY:
        yield f"tiny {kind}", lambda kind=kind: TinySubject(kind, folder / kind)  # type: ignore[misc]


def table(found: "dict[str, dict[str, Cell]]") -> str:
    """The figures as text: read / never seen (mlx-lm)."""
    width = max(map(len, ROWS)) + 2
    cells = {
        name: {row: f"{cell.read}/{cell.unseen} ({cell.theirs})" for row, cell in rows.items()} for name, rows in found.items()
    }
    sizes = {name: max(len(name), *map(len, rows.values())) + 2 for name, rows in cells.items()}
    lines = [
        "read / never seen (read by mlx-lm's LRUPromptCache)",
        " " * width + "".join(name.rjust(sizes[name]) for name in cells),
    ]
    lines += [row.ljust(width) + "".join(cells[name][row].rjust(sizes[name]) for name in cells) for row in ROWS]
    return "\n".join(lines)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--only", default="", help="only the columns whose name holds this")
    given = parser.parse_args()
    prefer_system_blas()
    found: dict[str, dict[str, Cell]] = {}
    facts: dict[str, Any] = {}
    with own_home(), tempfile.TemporaryDirectory() as folder:
        for name, make in columns(Path(folder), given.quick):
            if given.only not in name:
                continue
            subject = make()
            found[name] = play(subject)
            facts[name] = subject.facts()
            print(f"{name}: {facts[name]}", file=sys.stderr, flush=True)
    cells = [cell for rows in found.values() for cell in rows.values()]
    print(table(found), flush=True)
    report(
        "prefix_reuse",
        ratio=max(cell.read - cell.unseen for cell in cells),
        at_most=AT_MOST,
        against="tokens never seen; the figure is the largest excess of all cells",
        as_cold=all(cell.as_cold for cell in cells),
        table={name: {row: dataclasses.asdict(cell) for row, cell in rows.items()} for name, rows in found.items()},
        subjects=facts,
    )
    if not all(cell.as_cold for cell in cells):
        sys.exit("Error: an output differs from a cold run's.")


if __name__ == "__main__":
    main()

"""Time from a process's start to its first painted window: `flint` against a bare PySide6 window, in fresh processes in turn.

Flint's process runs `app.__main__.main` as the command does, up to the end of the window's first paint, in a home where it ran
before; the bare one shows an empty `QMainWindow` of the same size. Modules are compiled before. To reach: at most 2.5.

`cpu_ratio` is that of the processor time until then, the least of all rounds: a busy machine moves it less.
"""

from tests.benchmarks.fresh import FreshProcess
from tests.benchmarks.timing import alternate, options, own_home, report, use_a_screen_if_any

AT_MOST = 2.5


def main() -> None:
    given = options(__doc__).parse_args()
    rounds = given.rounds or (2 if given.quick else 11)
    use_a_screen_if_any()
    with own_home() as home:
        fresh = FreshProcess(home.parent / "bytecode")
        fresh.run("bare", "paint")
        platform = fresh.run("flint", "paint")["platform"]
        cpu: dict[str, list[float]] = {"flint": [], "bare": []}

        def seconds(which: str) -> float:
            facts = fresh.run(which, "paint")
            cpu[which].append(facts["cpu_s"])
            return float(facts["seconds"])

        result = alternate(lambda: seconds("flint"), lambda: seconds("bare"), rounds)
    report(
        "window_time",
        ratio=result.ratio,
        at_most=AT_MOST,
        against="a bare PySide6 QMainWindow of the same size, in a fresh process too",
        cpu_ratio=min(cpu["flint"]) / min(cpu["bare"]),
        platform=platform,
        **result.facts("s"),
    )


if __name__ == "__main__":
    main()

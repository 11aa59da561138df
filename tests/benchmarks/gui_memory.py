"""Memory of Flint's process with its window open before any model is loaded, against the 430 MB that a WebEngine view took.

What is measured: `engine.hardware.meters.footprint_bytes` (Linux: resident memory, swap and page tables; macOS: the physical
footprint that Activity Monitor shows) of a fresh process that ran `app.__main__.main`, painted its window at the first launch, started
the engine's threads, listed the models, and then rested for some seconds; the one thing left out is to load the model found, so
MLX and transformers are not imported (the line says which heavy modules were). A bare `QMainWindow` is measured beside it.
To reach: at most 150 MB, which is 0.349 of 430 MB.
"""

import statistics

from tests.benchmarks.fresh import FreshProcess
from tests.benchmarks.timing import alternate, options, own_home, report, use_a_screen_if_any

MEGABYTE = 1_000_000
WEBENGINE_MB = 430
AT_MOST_MB = 150


def main() -> None:
    given = options(__doc__).parse_args()
    rounds = given.rounds or (1 if given.quick else 5)
    settle = "1" if given.quick else "3"
    use_a_screen_if_any()
    with own_home() as home:
        fresh = FreshProcess(home.parent / "bytecode")
        first = fresh.run("flint", "settle", settle)
        result = alternate(
            lambda: fresh.run("flint", "settle", settle)["footprint"] / MEGABYTE,
            lambda: fresh.run("bare", "settle", settle)["footprint"] / MEGABYTE,
            rounds,
        )
    report(
        "gui_memory",
        ratio=statistics.median(result.ours) / WEBENGINE_MB,
        at_most=AT_MOST_MB / WEBENGINE_MB,
        against=f"{WEBENGINE_MB} MB, what a WebEngine chat view took; the samples' other side is a bare PySide6 QMainWindow",
        bound_mb=AT_MOST_MB,
        heavy_modules=first["heavy_modules"],
        platform=first["platform"],
        **result.facts("MB"),
    )


if __name__ == "__main__":
    main()

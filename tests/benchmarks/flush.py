"""A flush of the chat view while a 4,000-token reply streams: the last quarter of the reply against its first.

A flush is two tokens appended, laid out, scrolled to and painted. The chat above the reply fills the window, so every flush paints
as much. The ratio is of the mixed reply; single endless blocks (code, a list, a table) are told beside it.
To reach: at most 1.5.
"""

import statistics
import time

from tests.benchmarks.replies import kinds, message, mixed
from tests.benchmarks.timing import options, percentile, report, use_a_screen_if_any

AT_MOST = 1.5
CHARACTERS = 16_000
PIECE = 8


def main() -> None:
    given = options(__doc__).parse_args()
    rounds = given.rounds or (1 if given.quick else 5)
    length = 4_000 if given.quick else CHARACTERS
    use_a_screen_if_any()
    transcript = shown_transcript()
    reply = mixed(2 + length // 1_000)
    # Every quarter is the same text, so that only what stands before it differs.
    quarter = reply[: length // 4]
    quarter = quarter[: quarter.rindex("\n## ") + 1]
    _stream(transcript, quarter)
    runs = [_stream(transcript, quarter * 4) for _ in range(rounds)]
    ratios = [statistics.fmean(last) / statistics.fmean(first) for first, last in map(_quarters, runs)]
    blocks = {name: _stream(transcript, text[:length]) for name, text in kinds(length // 800).items()}
    report(
        "flush",
        ratio=statistics.median(ratios),
        at_most=AT_MOST,
        against="the first quarter of the same reply",
        unit="ms",
        ours=statistics.median(statistics.fmean(_quarters(run)[1]) for run in runs),
        theirs=statistics.median(statistics.fmean(_quarters(run)[0]) for run in runs),
        p99=statistics.median(percentile(run, 99) for run in runs),
        characters=len(quarter) * 4,
        rounds=rounds,
        ratios=ratios,
        single_blocks={name: statistics.fmean(last) / statistics.fmean(first) for name, (first, last) in _each(blocks)},
    )


def shown_transcript():
    """A transcript in a window of its usual size, empty."""
    from PySide6.QtWidgets import QApplication

    from app.chat.conversation.transcript import Transcript
    from app.theme import Theme

    app = QApplication([])
    theme = Theme()
    theme.set_mode("light")
    app.setStyleSheet(theme.stylesheet())
    transcript = Transcript(theme)
    # Both live as long as the transcript does.
    transcript.setProperty("app", app)
    theme.setParent(transcript)
    transcript.resize(1_020, 768)
    transcript.show()
    app.processEvents()
    return transcript


def _stream(transcript, text):
    """Stream `text` into a fresh reply; return the milliseconds of each flush."""
    from PySide6.QtWidgets import QApplication

    history = [message(f"h{n}", "assistant" if n % 2 else "user", mixed(1) if n % 2 else "Go on.") for n in range(6)]
    transcript.set_messages([])
    transcript.set_messages([*history, message("reply", "assistant", "", state="streaming")])
    QApplication.processEvents()
    taken = []
    for start in range(0, len(text), PIECE):
        begun = time.perf_counter()
        transcript.add_text("reply", text[start : start + PIECE])
        transcript.viewport().repaint()
        taken.append((time.perf_counter() - begun) * 1_000)
        QApplication.processEvents()
    transcript.finish(message("reply", "assistant", text))
    return taken


def _quarters(taken):
    count = len(taken) // 4
    return taken[:count], taken[-count:]


def _each(blocks):
    return [(name, _quarters(taken)) for name, taken in blocks.items()]


if __name__ == "__main__":
    main()

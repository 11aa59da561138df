"""The chat view at its extremes, each against the same at an ordinary size, in one run.

- stream: a flush in the last quarter of a 20,000-token reply, of a 2,000-line code block and of a 200-row table, against the
  first quarter of the same. To reach: at most 1.5.
- open: a chat that ends in a 20,000-token reply, in the code block, in the table, to its first painted frame, against one that
  ends in a tenth of it. To reach: at most 15, for ten times the text.
- resize: one step of a window that is made narrower, with 1,000 messages against 10. To reach: at most 1.5.
- find: the longest time that finding a word keeps the window from its next event, in 1,000 messages against 10; at most 5.

The printed ratio is the worst of all by its own bound, so at most 1.
"""

import statistics
import time

from tests.benchmarks.flush import shown_transcript
from tests.benchmarks.open_chat import opened_ms
from tests.benchmarks.replies import message, mixed
from tests.benchmarks.timing import alternate, options, percentile, report, use_a_screen_if_any

STREAM, OPEN, RESIZE, FIND = 1.5, 15.0, 1.5, 5.0
CHARACTERS, LINES, ROWS = 80_000, 2_000, 200
PIECE = 8


def main() -> None:
    given = options(__doc__).parse_args()
    rounds = given.rounds or (1 if given.quick else 5)
    use_a_screen_if_any()
    transcript = shown_transcript()
    texts = _texts(10 if given.quick else 1)
    many, few = _chat(100 if given.quick else 1_000), _chat(10)
    found: dict[str, dict[str, object]] = {}
    for name, text in texts.items():
        found[f"stream {name}"] = _streamed(transcript, text)
        found[f"open {name}"] = _opened(transcript, text, _tenth(name, text), rounds)
    found["resize"] = _compared(lambda: _resize(transcript, many), lambda: _resize(transcript, few), rounds, RESIZE)
    found["find"] = _compared(lambda: _find(transcript, many), lambda: _find(transcript, few), rounds, FIND)
    worst = max(found, key=lambda name: float(str(found[name]["ratio"])) / float(str(found[name]["bound"])))
    report(
        "view_extremes",
        ratio=float(str(found[worst]["ratio"])) / float(str(found[worst]["bound"])),
        at_most=1.0,
        against="the bound of each",
        worst=worst,
        rounds=rounds,
        each=found,
    )


def _texts(part):
    """The extreme replies, a `part` of each."""
    lines = LINES // part
    return {
        "reply": mixed(2 + CHARACTERS // part // 1_000)[: CHARACTERS // part],
        "code": "```python\n" + "".join(f"    total[{n}] = sum(value * {n} for value in row)  # {n}\n" for n in range(lines)),
        "table": "| step | what it does | cost |\n|---|---|--:|\n"
        + "".join(f"| step {n} | reads the next chunk of the prompt | {n * 3} ms |\n" for n in range(ROWS // part)),
    }


def _tenth(name, text):
    """The first tenth of a text, whole lines of it."""
    return text[: text.rindex("\n", 0, len(text) // 10) + 1]


def _chat(count):
    reply = mixed(1)
    return [
        message(f"{count}.{n}", "assistant" if n % 2 else "user", reply if n % 2 else "Go on, please.", chat_id=f"of {count}")
        for n in range(count)
    ]


def _compared(ours, theirs, rounds, bound):
    ours(), theirs()
    result = alternate(ours, theirs, rounds)
    return {"ratio": result.ratio, "bound": bound, **result.facts("ms")}


def _streamed(transcript, text):
    """Stream `text` into a reply under a chat that fills the window; compare the flushes of its quarters."""
    from PySide6.QtWidgets import QApplication

    history = [message(f"h{n}", "assistant" if n % 2 else "user", mixed(1) if n % 2 else "Go on.") for n in range(6)]
    transcript.set_messages([])
    transcript.set_messages([*history, message("reply", "assistant", "", state="streaming")])
    QApplication.processEvents()
    taken = []
    # In a long text most pieces are longer, so that each kind takes about as many flushes.
    piece = max(PIECE, len(text) // 1_500)
    for start in range(0, len(text), piece):
        begun = time.perf_counter()
        transcript.add_text("reply", text[start : start + piece])
        transcript.viewport().repaint()
        taken.append((time.perf_counter() - begun) * 1_000)
        QApplication.processEvents()
    begun = time.perf_counter()
    transcript.finish(message("reply", "assistant", text))
    transcript.viewport().repaint()
    finished = (time.perf_counter() - begun) * 1_000
    count = len(taken) // 4
    first, last = statistics.fmean(taken[:count]), statistics.fmean(taken[-count:])
    return {
        "ratio": last / first,
        "bound": STREAM,
        "unit": "ms",
        "ours": last,
        "theirs": first,
        "p99": percentile(taken, 99),
        "longest": max(taken),
        "finish": finished,
        "flushes": len(taken),
        "characters": len(text),
    }


def _opened(transcript, text, tenth, rounds):
    long, short = (
        [message(f"{size}.q", "user", "Go on.", chat_id=size), message(f"{size}.r", "assistant", reply, chat_id=size)]
        for size, reply in (("long", text), ("short", tenth))
    )
    return _compared(lambda: opened_ms(transcript, long), lambda: opened_ms(transcript, short), rounds, OPEN)


def _resize(transcript, chat):
    """Make the window narrower and wider again in small steps; return the milliseconds of one, to its painted frame."""
    from PySide6.QtWidgets import QApplication

    transcript.set_messages(chat)
    taken = []
    for width in (*range(1_020, 620, -20), *range(620, 1_020, 20)):
        begun = time.perf_counter()
        transcript.resize(width, 768)
        QApplication.processEvents()
        transcript.viewport().repaint()
        taken.append((time.perf_counter() - begun) * 1_000)
    transcript.resize(1_020, 768)
    QApplication.processEvents()
    return statistics.fmean(taken)


def _find(transcript, chat):
    """Type two words letter by letter; return the longest milliseconds between two events of the window meanwhile."""
    from PySide6.QtCore import QEventLoop
    from PySide6.QtWidgets import QApplication

    from app.chat.conversation.finder import Finder
    from app.theme import Theme

    transcript.set_messages(chat)
    finder = transcript.findChild(Finder) or Finder(transcript.findChild(Theme), transcript)
    longest = 0.0
    finder.open()
    for end in range(1, len("weights are") + 1):
        finder.open("weights are"[:end])
        while finder.searching:
            begun = time.perf_counter()
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 1)
            longest = max(longest, (time.perf_counter() - begun) * 1_000)
    finder.close()
    return longest


if __name__ == "__main__":
    main()

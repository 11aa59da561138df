"""Opening a chat of 1,000 messages, to its first painted frame, against opening one of 10.

To reach: at most 5 times as long.
"""

import time

from tests.benchmarks.flush import shown_transcript
from tests.benchmarks.replies import message, mixed
from tests.benchmarks.timing import alternate, options, report, use_a_screen_if_any

AT_MOST = 5.0
MANY, FEW = 1_000, 10


def main() -> None:
    given = options(__doc__).parse_args()
    rounds = given.rounds or (2 if given.quick else 15)
    use_a_screen_if_any()
    transcript = shown_transcript()
    many, few = _chat(MANY), _chat(FEW)
    for chat in (many, few):
        opened_ms(transcript, chat)
    result = alternate(lambda: opened_ms(transcript, many), lambda: opened_ms(transcript, few), rounds)
    report(
        "open_chat",
        ratio=result.ratio,
        at_most=AT_MOST,
        against=f"a chat of {FEW} messages",
        messages=MANY,
        widgets=len(transcript.viewport().children()),
        **result.facts("ms"),
    )


def _chat(count):
    """`count` messages, every other one a reply with headings, lists, code and a table."""
    reply = mixed(1)
    return [
        message(f"{count}.{n}", "assistant" if n % 2 else "user", reply if n % 2 else "Go on, please.", chat_id=f"of {count}")
        for n in range(count)
    ]


def opened_ms(transcript, chat):
    """Open `chat` in place of another; return the milliseconds until all of it is painted: long messages come in slices."""
    from PySide6.QtWidgets import QApplication

    transcript.set_messages([])
    transcript.viewport().repaint()
    begun = time.perf_counter()
    transcript.set_messages(chat)
    while any(view.busy for _, view in transcript.views()):
        QApplication.processEvents()
    transcript.viewport().repaint()
    return (time.perf_counter() - begun) * 1_000


if __name__ == "__main__":
    main()

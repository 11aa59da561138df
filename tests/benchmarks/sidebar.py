"""The sidebar with 5,000 chats against one with 50: following what was said in a chat, to the painted list.

To reach: at most 6 times as long. Beside it, for a search and a page scrolled: their ratios, and `frames`, how many frames of
16.7 ms each of the three takes with 5,000.
"""

import time
from pathlib import Path

from tests.benchmarks.timing import alternate, options, own_home, report, use_a_screen_if_any

AT_MOST = 6.0
MANY, FEW = 5_000, 50
FRAME_MS = 16.7
DAY_S = 86_400


def main() -> None:
    given = options(__doc__).parse_args()
    rounds = given.rounds or (2 if given.quick else 25)
    use_a_screen_if_any()
    with own_home() as home:
        many, few = Listed(home / "many", MANY), Listed(home / "few", FEW)
        sides = {
            name: alternate(lambda name=name: getattr(many, name)(), lambda name=name: getattr(few, name)(), rounds)
            for name in ("refresh", "search", "scroll")
        }
        many.close()
        few.close()
    refresh = sides["refresh"]
    report(
        "sidebar",
        ratio=refresh.ratio,
        at_most=AT_MOST,
        against=f"a list of {FEW} chats",
        chats=MANY,
        scroll_ratio=sides["scroll"].ratio,
        search_ratio=sides["search"].ratio,
        frames={name: side.facts("ms")["ours"] / FRAME_MS for name, side in sides.items()},
        **refresh.facts("ms"),
    )


class Listed:
    """A sidebar and its controller over a store of `count` chats, a fifth of them in folders, two years back."""

    def __init__(self, home: Path, count: int) -> None:
        from PySide6.QtWidgets import QApplication, QWidget

        from app.chat.sidebar.listing import Listing
        from app.chat.sidebar.sidebar import Sidebar
        from app.theme import Theme
        from engine.chats.store import ChatStore

        self._application = QApplication.instance() or QApplication([])
        self._now = time.time() - 730 * DAY_S
        self._store = ChatStore(home / "chats.sqlite3", lambda: self._now)
        folders = [self._store.folders.create(f"Folder {number}") for number in range(10)]
        step = 729 * DAY_S / count
        for number in range(count):
            self._now += step
            chat = self._store.create_chat(f"Chat {number} about {('coffee', 'sleep', 'maps', 'prime numbers')[number % 4]}")
            self._store.add_message(chat.id, "user", f"Question {number}: how late is too late for a cup of coffee? " * 5)
            if number % 5 == 0:
                self._store.folders.move([chat.id], folders[number % 10].id)
        for folder in folders[1:]:
            self._store.folders.expand(folder.id, False)
        self._now = time.time() - 10
        self._chats = [chat.id for chat in self._store.chats()]
        self._turn = 0
        self._listing = Listing(self._store)
        self._listing.read()
        self._window = QWidget()
        self._sidebar = Sidebar(Theme(), parent=self._window)
        self._window.resize(260, 800)
        self._sidebar.resize(260, 800)
        self._window.show()
        self.refresh()

    def refresh(self) -> float:
        """Write to a chat somewhere down the list, then have it follow, to its painted frame; return milliseconds."""
        self._now += 1
        self._turn += 1
        self._store.add_message(self._chats[(self._turn * 7) % len(self._chats)], "user", "More")
        begun = time.perf_counter()
        self._listing.catch_up(None)
        self._sidebar.set_chats(self._listing.chats, self._store.folders.all(), self._store.trash_count())
        self._sidebar._list.viewport().grab()
        return (time.perf_counter() - begun) * 1_000

    def search(self) -> float:
        """Search for a word that is everywhere, to the painted hits; return milliseconds."""
        begun = time.perf_counter()
        self._sidebar.set_hits(self._store.search("coffee", 51), True)
        self._sidebar._list.viewport().grab()
        taken = (time.perf_counter() - begun) * 1_000
        self._sidebar.set_hits(None)
        return taken

    def scroll(self) -> float:
        """Scroll a page down and paint it; return milliseconds."""
        bar = self._sidebar._list.verticalScrollBar()
        bar.setValue((bar.value() + 640) % max(1, bar.maximum()))
        begun = time.perf_counter()
        self._sidebar._list.viewport().grab()
        return (time.perf_counter() - begun) * 1_000

    def close(self) -> None:
        """Close the store."""
        self._window.close()
        self._store.close()


if __name__ == "__main__":
    main()

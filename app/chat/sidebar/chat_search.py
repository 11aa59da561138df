"""Searching all chats while somebody types, a page of hits at a time."""

from PySide6.QtCore import QObject, QTimer

from app.chat.sidebar.sidebar import Sidebar
from app.chat.sidebar.store_work import StoreWork
from engine.chats.store import ChatStore

SEARCH_AFTER_MS = 150
PAGE = 50


class ChatSearch(StoreWork):
    """Shows hits in the sidebar's list shortly after the last key."""

    def __init__(self, store: ChatStore, sidebar: Sidebar, parent: QObject | None = None) -> None:
        super().__init__(lambda: None, parent)
        self._store = store
        self._sidebar = sidebar
        self._query = ""
        self._limit = PAGE
        self._timer = QTimer(self, singleShot=True, interval=SEARCH_AFTER_MS)
        self._timer.timeout.connect(self._search)
        sidebar.search_changed.connect(self._take)
        sidebar.search_left.connect(lambda: self._take(""))
        sidebar.more_requested.connect(self._search_on)
        sidebar.hits_wanted.connect(self._catch_up)

    def refresh(self) -> None:
        """Search again where hits are shown: a chat was changed or deleted."""
        if self._query and not self._timer.isActive():
            self._search()

    def _take(self, query: str) -> None:
        self._query = query.strip()
        self._limit = PAGE
        if self._query:
            self._timer.start()
        else:
            self._timer.stop()
            self._sidebar.set_hits(None)

    def _catch_up(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
            self._search()

    def _search_on(self) -> None:
        self._limit += PAGE
        self._search()

    def _search(self) -> None:
        if self._query:
            self.do(self._show, refresh=False)

    def _show(self) -> None:
        hits = self._store.search(self._query, self._limit + 1)  # One more says whether there are more.
        self._sidebar.set_hits(hits[: self._limit], len(hits) > self._limit)

"""What the sidebar's list shows: chats by folder and date, the hits of a search, and the trash, as rows."""

from collections import defaultdict
from collections.abc import Sequence

from app.chat.sidebar.chat_list import UNTITLED, Row
from app.chat.sidebar.date_groups import day_of, group_by_date
from engine.chats.records import ChatSummary, Folder, SearchHit
from engine.chats.trash import KEPT_DAYS
from engine.core.sizes import count_text

PINNED, FOLDERS, MORE = "Pinned", "Folders", "More results"
_LEAD = 18
_DAY_S = 24 * 60 * 60


class ChatRows:
    """Makes the rows of chats. A row that was the same before is the same object: the list then finds what differs at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str, bool], Row] = {}

    def rows(self, chats: Sequence[ChatSummary], folders: Sequence[Folder], now: float, *, targets: bool = False) -> list[Row]:
        """Return the rows for chats: the pinned ones, the folders, the others by date, newest first; `now` in Unix seconds.

        A pinned chat stands among the pinned ones alone. `targets`: while chats are dragged, the pinned ones have a heading
        also where there are none.
        """
        known: dict[tuple[str, str, str, bool], Row] = {}
        names = {folder.id for folder in folders}
        pinned: list[Row] = []
        inside: dict[str, list[Row]] = defaultdict(list)
        others: list[ChatSummary] = []
        for chat in chats:
            folder_id = chat.folder_id if chat.folder_id in names and not chat.pinned else None
            if not chat.pinned and folder_id is None:
                others.append(chat)
                continue
            row = self._row(known, chat, folder_id or "", chat.pinned)
            (pinned if chat.pinned else inside[folder_id or ""]).append(row)
        rows = [Row("heading", PINNED), *pinned] if pinned or targets else []
        rows += _folder_rows(folders, inside)
        for heading, places in group_by_date([chat.updated_at for chat in others], now):
            rows.append(Row("heading", heading))
            rows += [self._row(known, others[place], "", False) for place in places]
        self._known = known
        return rows

    def _row(self, known: dict[tuple[str, str, str, bool], Row], chat: ChatSummary, folder_id: str, pinned: bool) -> Row:
        key = (chat.id, chat.title, folder_id, pinned)
        row = self._known.get(key) or Row("chat", chat.title, chat.id, folder_id=folder_id, pinned=pinned)
        known[key] = row
        return row


def _folder_rows(folders: Sequence[Folder], inside: dict[str, list[Row]]) -> list[Row]:
    rows = [Row("heading", FOLDERS)] if folders else []
    for folder in folders:
        chats = inside[folder.id]
        note = str(len(chats)) if chats else ""
        rows.append(Row("folder", folder.name, folder_id=folder.id, note=note, expanded=folder.expanded and bool(chats)))
        if folder.expanded:
            rows += chats
    return rows


def hit_rows(hits: Sequence[SearchHit], now: float, *, more: bool = False) -> list[Row]:
    """Return the rows for what a search found; `more` adds the row that asks for more of it."""
    rows = [hit_row(hit, now) for hit in hits]
    return [*rows, Row("more", MORE)] if more else rows


def hit_row(hit: SearchHit, now: float) -> Row:
    """Return the row for a search hit; its snippet begins near the first match, so that the match can be seen."""
    text = "".join(" " if char.isspace() else char for char in hit.snippet)
    spans = hit.spans
    first = min((start for start, _ in spans), default=0)
    if first > _LEAD:
        cut = text.find(" ", first - _LEAD, first) + 1 or first - _LEAD
        text = "…" + text[cut:]
        spans = tuple((start - cut + 1, end - cut + 1) for start, end in spans)
    note = day_of(hit.created_at, now) if hit.created_at > 0 else ""
    return Row("hit", hit.title or UNTITLED, hit.chat_id, hit.message_id or "", text, spans, note=note)


def found_words(row: Row) -> str:
    """Return what was found in a hit, as it is written there: the first match, and those that follow it at once."""
    start, end = row.spans[0] if row.spans else (0, 0)
    for next_start, next_end in row.spans[1:]:
        if row.snippet[end:next_start].strip():
            break
        end = next_end
    return row.snippet[start:end]


def trash_rows(chats: Sequence[ChatSummary], now: float) -> list[Row]:
    """Return the rows for deleted chats: when each was deleted, and how long it stays."""
    return [Row("trashed", chat.title or UNTITLED, chat.id, snippet=_fate(chat.deleted_at or now, now)) for chat in chats]


def _fate(deleted_at: float, now: float) -> str:
    left = max(0, round(KEPT_DAYS - (now - deleted_at) / _DAY_S))
    stays = f"{count_text(left, 'day')} left" if left else "removed soon"
    when = day_of(deleted_at, now)
    return f"Deleted {when[0].lower() + when[1:] if when in ('Today', 'Yesterday') else when}, {stays}"

"""Folders of chats: a chat is in one or in none. A folder that is removed leaves its chats behind, outside any."""

import sqlite3
from collections.abc import Callable, Collection

from engine.chats import tree
from engine.chats.database import Database, storable
from engine.chats.file_names import as_taken, free_name
from engine.chats.records import Folder, new_id
from engine.core.errors import ChatNotFound
from engine.core.record import Record

FIRST_NAME = "New Folder"
_COLUMNS = "id, name, created_at, expanded"


class RemovedFolder(Record):
    """What `Folders.restore` needs: the folder, and the chats that were in it."""

    folder: Folder
    chat_ids: tuple[str, ...]


class Folders:
    """The folders in a chat database. Methods raise the store's errors, and `ChatNotFound` for a folder that is gone."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def all(self) -> list[Folder]:
        """Return the folders by name, as people sort: case does not count."""
        with self._database.reading() as connection:
            found = [_folder(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM folders ORDER BY row")]
        return sorted(found, key=lambda folder: folder.name.casefold())

    def create(self, name: str = "") -> Folder:
        """Make an empty, open folder. Without a name it is a “New Folder”, numbered where there is one already."""
        with self._database.writing() as connection:
            folder = Folder(new_id(), _plain(name) or _free_name(connection), self._clock(), True)
            write_folder(connection, folder)
        return folder

    def rename(self, folder_id: str, name: str) -> None:
        """Give a folder another name; one without any letter is refused silently, as a chat's empty title is."""
        plain = _plain(name)
        if plain:
            self._set("name", folder_id, plain)

    def expand(self, folder_id: str, expanded: bool) -> None:
        """Remember whether the folder's chats are listed under it."""
        self._set("expanded", folder_id, int(expanded))

    def remove(self, folder_id: str) -> RemovedFolder:
        """Remove a folder and return what brings it back. Its chats stay, also those in the trash, outside any folder."""
        with self._database.writing() as connection:
            row = _row(connection, folder_id)
            folder = _folder(connection.execute(f"SELECT {_COLUMNS} FROM folders WHERE row = ?", (row,)).fetchone())
            chats = tuple(id_ for (id_,) in connection.execute("SELECT id FROM chats WHERE folder = ? ORDER BY row", (row,)))
            connection.execute("UPDATE chats SET folder = NULL WHERE folder = ?", (row,))
            connection.execute("DELETE FROM folders WHERE row = ?", (row,))
        return RemovedFolder(folder, chats)

    def remove_empty(self, folder_ids: Collection[str]) -> None:
        """Remove those of these folders that hold no chat, not even one in the trash."""
        with self._database.writing() as connection:
            connection.executemany(
                "DELETE FROM folders WHERE id = ? AND NOT EXISTS (SELECT 1 FROM chats WHERE folder = folders.row)",
                [(folder_id,) for folder_id in folder_ids],
            )

    def restore(self, removed: RemovedFolder) -> None:
        """Bring a removed folder back, and those of its chats into it that still exist and are in no other by now."""
        with self._database.writing() as connection:
            row = write_folder(connection, removed.folder)
            connection.executemany(
                "UPDATE chats SET folder = ? WHERE id = ? AND folder IS NULL", [(row, id_) for id_ in removed.chat_ids]
            )

    def move(self, chat_ids: Collection[str], folder_id: str | None) -> None:
        """Put chats into a folder; None takes them out of theirs. All or none."""
        with self._database.writing() as connection:
            folder = None if folder_id is None else _row(connection, folder_id)
            rows = [tree.chat_row(connection, id_) for id_ in chat_ids]
            connection.executemany("UPDATE chats SET folder = ? WHERE row = ?", [(folder, row) for row in rows])

    def _set(self, column: str, folder_id: str, value: str | int) -> None:
        with self._database.writing() as connection:
            row = _row(connection, folder_id)
            connection.execute(f"UPDATE folders SET {column} = ? WHERE row = ?", (value, row))


def read_folder(connection: sqlite3.Connection, chat: int) -> Folder | None:
    """Return the folder that the chat in a row is in."""
    columns = ", ".join(f"folders.{column}" for column in _COLUMNS.split(", "))
    found = connection.execute(
        f"SELECT {columns} FROM chats JOIN folders ON folders.row = chats.folder WHERE chats.row = ?", (chat,)
    ).fetchone()
    return None if found is None else _folder(found)


def write_folder(connection: sqlite3.Connection, folder: Folder) -> int:
    """Return the row of the folder with this id, written where there is none."""
    found = connection.execute("SELECT row FROM folders WHERE id = ?", (folder.id,)).fetchone()
    if found is not None:
        return int(found[0])
    cursor = connection.execute(
        f"INSERT INTO folders ({_COLUMNS}) VALUES (?, ?, ?, ?)",
        (folder.id, storable(folder.name), folder.created_at, int(folder.expanded)),
    )
    return int(cursor.lastrowid or 0)


def _row(connection: sqlite3.Connection, folder_id: str) -> int:
    found = connection.execute("SELECT row FROM folders WHERE id = ?", (folder_id,)).fetchone()
    if found is None:
        raise ChatNotFound("This folder does not exist any more.")
    return int(found[0])


def _folder(row: tuple[str, str, float, int]) -> Folder:
    id_, name, created_at, expanded = row
    return Folder(id_, name, created_at, bool(expanded))


def _plain(name: str) -> str:
    return " ".join(storable(name).split())


def _free_name(connection: sqlite3.Connection) -> str:
    taken = {as_taken(name) for (name,) in connection.execute("SELECT name FROM folders")}
    return free_name(FIRST_NAME, "", taken)

"""The menus of the chat list: of one chat or several, of a folder, of the trash, and of the list itself."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QMenu

from app.chat.sidebar.chat_list import Row
from app.chat.sidebar.wishes import Wishes
from engine.chats.records import Folder


def fill_menu(
    menu: QMenu, rows: Sequence[Row], folders: Sequence[Folder], wishes: Wishes, rename: Callable[[], object]
) -> None:
    """Fill a menu for the rows it is to act on, none for the list itself; `rename` edits the one row's title in place."""
    kind = rows[0].kind if rows else "heading"
    if kind == "folder":
        _of_folder(menu, rows[0], wishes, rename)
    elif kind == "trashed":
        _of_deleted(menu, rows, wishes)
    elif kind in ("chat", "hit"):
        _of_chats(menu, rows, folders, wishes, rename)
    else:
        _of_list(menu, wishes)


def fill_move_menu(menu: QMenu, rows: Sequence[Row], folders: Sequence[Folder], wishes: Wishes) -> None:
    """Fill a menu with the places that chats can be moved to."""
    ids = _ids(rows)
    here = {row.folder_id for row in rows}
    for folder in folders:
        # An ampersand would underline the letter after it.
        action = menu.addAction(folder.name.replace("&", "&&"))
        action.setEnabled(here != {folder.id})
        action.triggered.connect(lambda _=False, id_=folder.id: wishes.move_requested.emit(ids, id_))
    if folders:
        menu.addSeparator()
    out = menu.addAction("Out of Its Folder" if len(ids) == 1 else "Out of Their Folders")
    out.setEnabled(here != {""} or any(row.kind == "hit" for row in rows))
    out.triggered.connect(lambda: wishes.move_requested.emit(ids, ""))
    menu.addAction("New Folder…").triggered.connect(lambda: wishes.folder_requested.emit(ids))


def fill_export_menu(menu: QMenu, chat_ids: tuple[str, ...], wishes: Wishes) -> None:
    """Fill a menu with the forms that chats can be exported in."""
    markdown = "Markdown…" if len(chat_ids) == 1 else "Markdown, a File Each…"
    menu.addAction(markdown).triggered.connect(lambda: wishes.export_requested.emit(chat_ids, "markdown"))
    menu.addAction("JSON, with Everything…").triggered.connect(lambda: wishes.export_requested.emit(chat_ids, "json"))


def _of_chats(
    menu: QMenu, rows: Sequence[Row], folders: Sequence[Folder], wishes: Wishes, rename: Callable[[], object]
) -> None:
    ids = _ids(rows)
    many = f" {len(ids):,} Chats" if len(ids) > 1 else ""
    if rows[0].kind == "chat":
        if not many:
            menu.addAction("Rename").triggered.connect(rename)
        if any(not row.pinned for row in rows):
            menu.addAction(f"Pin{many}").triggered.connect(lambda: wishes.pin_requested.emit(ids, True))
        if any(row.pinned for row in rows):
            menu.addAction(f"Unpin{many}").triggered.connect(lambda: wishes.pin_requested.emit(ids, False))
    fill_move_menu(menu.addMenu(f"Move{many} to"), rows, folders, wishes)
    fill_export_menu(menu.addMenu(f"Export{many}"), ids, wishes)
    menu.addSeparator()
    menu.addAction(f"Delete{many}").triggered.connect(lambda: wishes.delete_requested.emit(ids))


def _of_folder(menu: QMenu, row: Row, wishes: Wishes, rename: Callable[[], object]) -> None:
    menu.addAction("Rename").triggered.connect(rename)
    if row.note:
        change = menu.addAction("Close" if row.expanded else "Open")
        change.triggered.connect(lambda: wishes.folder_expanded.emit(row.folder_id, not row.expanded))
    menu.addAction("New Folder").triggered.connect(lambda: wishes.folder_requested.emit(()))
    menu.addSeparator()
    menu.addAction("Delete Folder").triggered.connect(lambda: wishes.folder_deleted.emit(row.folder_id))


def _of_deleted(menu: QMenu, rows: Sequence[Row], wishes: Wishes) -> None:
    ids = _ids(rows)
    many = f" {len(ids):,} Chats" if len(ids) > 1 else ""
    menu.addAction(f"Restore{many}").triggered.connect(lambda: wishes.restore_requested.emit(ids))
    menu.addSeparator()
    menu.addAction(f"Delete{many} for Good…").triggered.connect(lambda: wishes.removal_requested.emit(ids))


def _of_list(menu: QMenu, wishes: Wishes) -> None:
    menu.addAction("New Folder").triggered.connect(lambda: wishes.folder_requested.emit(()))
    menu.addSeparator()
    menu.addAction("Import Chats…").triggered.connect(lambda: wishes.import_requested.emit(()))


def _ids(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.chat_id for row in rows))

"""What people wish for in the list of chats: said by rows, menus and drags, done by the controllers."""

from PySide6.QtCore import QObject, Signal


class Wishes(QObject):
    """One signal a wish. Chats are tuples of ids; a folder is an id, "" for none."""

    rename_requested = Signal(str, str)
    delete_requested = Signal(object)
    pin_requested = Signal(object, bool)
    move_requested = Signal(object, str)
    export_requested = Signal(object, str)
    """The second is "markdown", "json", or "" where that is to be asked."""
    import_requested = Signal(object)
    """Paths of files; an empty tuple asks for them."""

    folder_requested = Signal(object)
    """A new folder, with these chats."""
    folder_renamed = Signal(str, str)
    folder_deleted = Signal(str)
    folder_expanded = Signal(str, bool)

    restore_requested = Signal(object)
    removal_requested = Signal(object)
    """For good."""
    emptying_requested = Signal()

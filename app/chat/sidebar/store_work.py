"""Changes in the chat store that the list of chats shows afterwards."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from engine.core.errors import FlintError


class StoreWork(QObject):
    """Base of the list's controllers: `do` changes the store, tells what went wrong, and has the list read again."""

    failed = Signal(object)

    def __init__(self, refresh: Callable[[], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._refresh = refresh

    def do(self, work: Callable[[], object], *, refresh: bool = True) -> bool:
        """Do something in the store; tell what went wrong, return whether it went well."""
        try:
            work()
        except FlintError as error:
            self.failed.emit(error.info())
            return False
        finally:
            if refresh:
                self._refresh()
        return True

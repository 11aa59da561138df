"""Opens the command palette and the sheet of shortcuts, with what there is to choose at that moment."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.actions import Actions
from app.palette_items import Item
from app.theme import Theme
from engine.chats.records import ChatSummary
from engine.core.facts import ModelEntry

UNTITLED = "Untitled chat"
ITSELF = "commandPalette"


class CommandCenter(QObject):
    """`chats` and `models` tell what there is, `open_chat` and `choose_model` take an id."""

    def __init__(
        self,
        theme: Theme,
        window: QWidget,
        actions: Actions,
        *,
        chats: Callable[[], Sequence[ChatSummary]],
        models: Callable[[], Sequence[ModelEntry]],
        open_chat: Callable[[str], object],
        choose_model: Callable[[str], object],
    ) -> None:
        super().__init__(window)
        self._theme, self._window, self._actions = theme, window, actions
        self._chats, self._models = chats, models
        self._open_chat, self._choose_model = open_chat, choose_model

    def open_palette(self) -> None:
        """Show the palette; asked for again while it is open, it closes."""
        from app.palette import Palette  # Not before it is wanted: the window itself comes sooner.

        found = self._window.findChild(Palette)
        palette = found or Palette(self._theme, self._window)
        if palette.isVisible():
            palette.leave()
        else:
            palette.open_with(self.items())

    def open_sheet(self) -> None:
        """Show the sheet of shortcuts."""
        from app.shortcuts_sheet import ShortcutsSheet

        sheet = ShortcutsSheet(self._theme, self._actions.entries, self._window)
        sheet.finished.connect(sheet.deleteLater)
        sheet.open()

    def items(self) -> list[Item]:
        """Return everything that can be chosen now: actions, then chats from the newest, then models."""
        from app.shortcuts_sheet import native

        items = [
            Item(entry.action.text(), entry.group, native(entry.action.shortcut()), entry.action.trigger)
            for entry in self._actions.entries
            if entry.action.isEnabled() and entry.action.objectName() != ITSELF
        ]
        items += [Item(chat.title or UNTITLED, "Open chat", "", self._opener(chat.id)) for chat in self._chats()]
        items += [Item(entry.name, "Use model", "", self._chooser(entry.id)) for entry in self._models() if not entry.problem]
        return items

    def _opener(self, chat_id: str) -> Callable[[], object]:
        return lambda: self._open_chat(chat_id)

    def _chooser(self, model_id: str) -> Callable[[], object]:
        return lambda: self._choose_model(model_id)

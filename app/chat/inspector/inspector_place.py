"""Where the inspector stands beside the chat: it is made when it is first wanted, so that the window itself comes sooner."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QBoxLayout

from app.bridge import Bridge
from app.chat.controller import ChatController
from app.chat.page import ChatPage
from app.chat.replies import Replies
from app.theme import Theme
from engine.chats.store import ChatStore
from engine.core.facts import LoadedModel
from engine.core.preferences import Preferences

if TYPE_CHECKING:
    from app.chat.inspector.inspector import InspectorPanel
    from app.chat.inspector.inspector_controller import InspectorController


class InspectorPlace(QObject):
    """Shows the inspector at the end of the row `beside` the chat. `model` gives the loaded model, None where there is none."""

    def __init__(
        self,
        theme: Theme,
        store: ChatStore,
        bridge: Bridge,
        preferences: Preferences,
        replies: Replies,
        chat: ChatController,
        page: ChatPage,
        beside: QBoxLayout,
        model: Callable[[], LoadedModel | None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._theme, self._beside = theme, beside
        self._parts = (store, bridge, preferences, replies, chat, page)
        self._model = model
        self.panel: InspectorPanel | None = None
        self._controller: InspectorController | None = None

    @property
    def width(self) -> int:
        """Pixels that it takes now."""
        return self.panel.width() if self.panel and not self.panel.isHidden() else 0

    def fit(self, room: int) -> None:
        """Take no more than `room` where that is possible."""
        if self.panel:
            self.panel.fit(room)

    def close(self) -> None:
        """End the thread that reads."""
        if self._controller:
            self._controller.close()

    def show(self, shown: bool) -> None:
        """Show it, or not."""
        if shown and self.panel is None:
            self._make()
        if self.panel:
            self.panel.setVisible(shown)

    def inspect(self, message_id: str) -> None:
        """Inspect one reply of the open chat; it must be shown."""
        if self._controller:
            self._controller.inspect(message_id)

    def _make(self) -> None:
        from app.chat.inspector.inspector import InspectorPanel
        from app.chat.inspector.inspector_controller import InspectorController

        self.panel = InspectorPanel(self._theme)
        self.panel.hide()
        self._beside.addWidget(self.panel)
        self._controller = InspectorController(*self._parts, self.panel, self._model)

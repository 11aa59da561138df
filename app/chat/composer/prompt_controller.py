"""System prompts at work: picked for the open chat, written, changed and deleted."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.chat.composer.composer import Composer
from app.chat.controller import ChatController
from app.theme import Theme
from engine.chats.prompts import SystemPrompt, SystemPrompts
from engine.chats.store import ChatStore

if TYPE_CHECKING:
    from app.chat.composer.prompt_popover import PromptPopover

SETTING = "system_prompt"
CUSTOM = "Own prompt"


class PromptController(QObject):
    """Connects the button in the composer with the chat's setting. `for_all` tells the prompt that all chats have."""

    def __init__(
        self,
        theme: Theme,
        store: ChatStore,
        chat: ChatController,
        composer: Composer,
        for_all: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._chat, self._composer, self._for_all = theme, chat, composer, for_all
        self._button = composer.foot.prompt
        self._prompts = SystemPrompts(store)
        self._popover: PromptPopover | None = None
        self._button.clicked.connect(self.open_list)
        chat.chat_opened.connect(lambda _: self.refresh())
        chat.settings_changed.connect(self.refresh)

    def refresh(self) -> None:
        """Let the button say which prompt the open chat has."""
        text = self._text()
        prompt = self._prompts.named(text) if text else None
        self._button.show_prompt((prompt.name if prompt else CUSTOM) if text else "", text)

    def open_list(self) -> None:
        """Show the prompts to pick from."""
        text = self._text()
        prompt = self._prompts.named(text) if text else None
        self._popover = self._popover or self._make_popover()
        self._popover.open_with(self._prompts.all(), prompt.name if prompt else None if text else "")

    def _make_popover(self) -> "PromptPopover":
        from app.chat.composer.prompt_popover import PromptPopover  # Not before it is wanted: the window itself comes sooner.

        popover = PromptPopover(self._theme, self._button)
        popover.chosen.connect(self.choose)
        popover.chosen.connect(lambda _: self._composer.focus_text())
        popover.new_requested.connect(self._new)
        popover.edit_requested.connect(self._edit)
        return popover

    def choose(self, text: str) -> None:
        """Give the open chat a prompt, or with "" none."""
        if text.strip() == self._for_all().strip():
            self._chat.reset_setting(SETTING)
        else:
            self._chat.set_setting(SETTING, text)
        self._chat.settings_changed.emit()

    def _text(self) -> str:
        return str(self._chat.settings().get(SETTING, self._for_all()) or "").strip()

    def _new(self) -> None:
        text = self._text()
        self._show(None, "" if self._prompts.named(text) else text)

    def _edit(self, prompt: SystemPrompt) -> None:
        self._show(prompt, prompt.text)

    def _show(self, prompt: SystemPrompt | None, text: str) -> None:
        """Let a prompt be written. One that the open chat has is changed for it, too; a new one is picked."""
        from app.chat.composer.prompt_dialog import PromptDialog

        in_force = prompt is None or prompt.text.strip() == self._text()

        def save(name: str, words: str) -> None:
            saved = self._prompts.save(name, words, prompt.name if prompt and prompt.own else "")
            if in_force:
                self.choose(saved.text)

        def delete() -> None:
            if prompt:
                self._prompts.delete(prompt.name)
                self.refresh()

        remove = delete if prompt and prompt.own else None
        dialog = PromptDialog(self._theme, prompt, text, save, remove, self._button.window())
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

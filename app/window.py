"""The window: its parts side by side, and who talks to whom."""

import base64
import contextlib
import sys
from collections.abc import Callable

from PySide6.QtCore import QByteArray, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QKeyEvent, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMainWindow, QSplitter, QVBoxLayout, QWidget

from app import macos
from app.actions import Actions
from app.activity import Activity
from app.bridge import Bridge
from app.chat.composer.prompt_controller import PromptController
from app.chat.composer.prompt_counts import PromptCounts
from app.chat.controller import ChatController
from app.chat.inspector.inspector_place import InspectorPlace
from app.chat.message_actions import MessageActions
from app.chat.page import ChatPage
from app.chat.replaying import ReplayController
from app.chat.replies import Replies
from app.chat.sidebar.list_controller import ChatListController
from app.chat.sidebar.sidebar import Sidebar
from app.chat.sidebar.transfer_controller import TransferController
from app.command_center import CommandCenter
from app.errors import notice
from app.menu_bar import make_menu_bar
from app.models.controller import ModelController
from app.models.models_place import ModelsPlace
from app.settings.controller import SettingsController
from app.settings.kv_needs import KvModel
from app.settings.panel import SettingsPanel
from app.settings.storage_controller import StorageController
from app.theme import Theme
from app.toolbar import Toolbar
from app.widgets.focus_memory import FocusMemory
from app.widgets.gauge import GaugeCard
from app.widgets.toast import Toast, Toaster
from app.widgets.web_link import open_link
from engine.chats.store import ChatStore
from engine.core.errors import ErrorInfo, FlintError
from engine.core.preferences import Preferences

FIRST_SIZE = (1280, 820)
LEAST_SIZE = (640, 480)
SIDEBAR_NEEDS = 960
CHAT_NEEDS = 480
CHAT_LEAST = 320
SIDEBAR_WIDTH = 260
LATEST_START_MS = 1000
END_KEYS = "Ctrl+Down" if sys.platform == "darwin" else "Ctrl+End"
GEOMETRY, LAST_CHAT = "window-geometry", "chat"


class MainWindow(QMainWindow):
    """Flint's one window. Closing it stops the replies, stores what there is of them, and joins the engine."""

    def __init__(self, store: ChatStore, preferences: Preferences, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._store = store
        self._preferences = preferences
        self._theme = theme
        self.bridge = bridge
        self._started = self._painted = self._engine_started = self._closed = False
        self._sidebar_wanted = True
        self.commands = Actions(self)
        self.setObjectName("mainWindow")
        self.setWindowTitle("Flint")
        self.setMinimumSize(*LEAST_SIZE)
        self._make_parts()
        self._lay_out()
        self._make_controllers()
        self._connect()
        self._add_actions()
        self._apply_theme()
        self._restore()

    # -- making -----------------------------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        theme = self._theme
        self.gauges = GaugeCard(theme)
        self.sidebar = Sidebar(theme, self.gauges)
        self.toolbar = Toolbar(theme)
        self.page = ChatPage(theme)
        self.settings_panel = SettingsPanel(theme, later=True)
        self.settings_panel.hide()
        self.toaster = Toaster(theme, self)
        self._focus = FocusMemory(self)

    def _lay_out(self) -> None:
        beside = QWidget()
        row = QHBoxLayout(beside)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.page, 1)
        row.addWidget(self.settings_panel)
        self._beside = row
        main = QWidget()
        column = QVBoxLayout(main)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.toolbar)
        column.addWidget(beside, 1)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setHandleWidth(0)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.sidebar)
        self._splitter.addWidget(main)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([SIDEBAR_WIDTH, FIRST_SIZE[0] - SIDEBAR_WIDTH])
        self.setCentralWidget(self._splitter)

    def _make_controllers(self) -> None:
        store = self._store
        self.models = ModelController(store, self.bridge, self._preferences, self)
        self.place = ModelsPlace(self._theme, self.bridge, self.models, self.toaster, self)
        self.replies = Replies(store, self.bridge, self._preferences, self)
        self.chat = ChatController(store, self.replies, self.page, lambda: self.models.model_id, self)
        parts = (self._theme, store, self.bridge, self._preferences, self.replies, self.chat, self.page, self._beside)
        self.inspector = InspectorPlace(*parts, lambda: self.models.model, self)
        self.message_actions = MessageActions(
            store,
            self.chat,
            self.replies,
            self.page,
            self.toaster,
            lambda: self.models.entries,
            lambda: self.models.model_id,
            self,
        )
        self.replays = ReplayController(
            self._theme, store, self.bridge, self._preferences, lambda: self.page.transcript.messages, self
        )
        self.message_actions.inspect_requested.connect(self._inspect)
        self.message_actions.run_again_requested.connect(self.replays.run)
        self.chats = ChatListController(store, self.sidebar, self.chat, self.replies, self.toaster, self)
        self.transfers = TransferController(store, self.sidebar, self.chats, self.toaster, self)
        self.settings = SettingsController(self._preferences, self.settings_panel, self.bridge, self._theme, self)
        self.storage = StorageController(store, self.settings_panel, self.bridge, self)
        self.counts = PromptCounts(
            store,
            self.bridge,
            self._preferences,
            self.replies,
            self.chat,
            self.page,
            lambda: self.models.model_id if self.models.model else "",
            self,
        )
        self.prompts = PromptController(
            self._theme,
            store,
            self.chat,
            self.page.composer,
            lambda: str(self._preferences.get("system_prompt") or ""),
            self,
        )
        self.activity = Activity(
            self._theme, self.bridge, self.models, self.replies, self.chat, self.toolbar, self.page, self.gauges, self
        )

        self.center = CommandCenter(
            self._theme,
            self,
            self.commands,
            chats=store.chats,
            models=lambda: self.models.entries,
            open_chat=self.chat.open,
            choose_model=self.models.choose,
        )

    def _connect(self) -> None:
        self.chat.failed.connect(self._show_error_of_chat)
        for source in (self.chats, self.transfers, self.replies, self.settings, self.storage, self.place):
            source.failed.connect(self.show_error)
        self.models.failed.connect(self._on_model_failed)
        self.settings.chat_changed.connect(self.chat.set_setting)
        self.settings.chat_reset.connect(self.chat.reset_setting)
        for changed in (self.models.loaded, self.settings_panel.values_shown):
            for follow in (self.counts.touch, self.prompts.refresh, self.activity.show_context):
                changed.connect(follow)
        self.chats.hit_opened.connect(lambda _, words: self.page.finder.open(words, focus=False))
        self.chats.trash_changed.connect(self.storage.refresh)
        self.storage.removed.connect(self.chats.forget)
        self.chats.trash.removed.connect(self.storage.forget_removed)
        self.storage.emptying.connect(self.sidebar.show_emptying)
        self.sidebar.wishes.emptying_requested.connect(self.storage.ask_to_empty)
        self.storage.removed.connect(self.message_actions.trash.end_undo)
        self.message_actions.trash.changed.connect(self.storage.refresh)
        self.storage.cleared.connect(lambda: self.toaster.show("Cleared", "Chats are read again when they go on."))
        self.chat.leaving.connect(self.settings_panel.flush)
        self.chat.chat_opened.connect(self._on_chat_opened)
        self.chat.settings_changed.connect(self._show_settings_of_chat)
        self.settings.chat_replaced.connect(self.chat.set_settings)
        self.settings.presets.said.connect(self._say)
        self.replies.progressed.connect(lambda pending, event: self.settings.take(pending.message_id, event))
        self.chat.messages_shown.connect(self._show_last_reply)
        for known in (self.models.changed, self.models.loaded, self.models.listed):
            known.connect(lambda _: self._show_settings_of_model())
        self.page.prompt_chosen.connect(self.chat.send)
        self.page.transcript.link_activated.connect(lambda url: open_link(url, self))
        self.page.welcome.models_requested.connect(self.place.show)
        self.page.welcome.import_requested.connect(self.place.choose_file)
        self.page.welcome.refresh_requested.connect(self.models.refresh)
        self.page.welcome.retry_requested.connect(lambda: self.models.choose(self.models.model_id))
        self.page.welcome.anyway_requested.connect(lambda: self.models.choose(self.models.model_id, guarded=False))
        self.sidebar.models_requested.connect(self.place.show)
        self.sidebar.entered.connect(self.page.composer.focus_text)
        self.sidebar.collapse_requested.connect(self.toggle_sidebar)
        self.sidebar.needed.connect(self._need_sidebar)
        self.toolbar.sidebar_toggled.connect(self.toggle_sidebar)
        self.toolbar.settings_toggled.connect(self._show_settings)
        self.toolbar.inspector_toggled.connect(self._show_inspector)
        self.toolbar.picker.model_chosen.connect(self.models.choose)
        self.toolbar.picker.unload_requested.connect(self.models.unload)
        self.toolbar.picker.models_requested.connect(self.place.show)
        self._theme.changed.connect(self._apply_theme)

    def _add_actions(self) -> None:
        message = self.message_actions
        for group, name, title, keys, work in (
            ("Chat", "newChat", "New Chat", "Ctrl+N", lambda: self.chat.open(None)),
            ("Chat", "renameChat", "Rename Chat", "Ctrl+R", self.sidebar.rename_selected),
            ("Chat", "pinChat", "Pin or Unpin Chat", "Ctrl+Alt+P", self.chats.toggle_pinned),
            ("Chat", "moveChat", "Move Chat to…", "Ctrl+Alt+F", self.sidebar.offer_places),
            ("Chat", "exportChat", "Export Chat…", "Ctrl+Shift+E", self.transfers.export_chosen),
            ("Chat", "exportAllChats", "Export All Chats…", "Ctrl+Alt+E", self.transfers.export_all),
            ("Chat", "importChats", "Import Chats…", "Ctrl+Shift+I", self.transfers.ask_to_import),
            ("Chat", "newFolder", "New Folder", "Ctrl+Shift+N", self.chats.folders.create),
            ("Chat", "searchChats", "Search Chats", "Ctrl+Shift+F", self.sidebar.focus_search),
            ("Edit", "findInChat", "Find in Chat", "Ctrl+F", lambda: self.page.finder.open()),
            ("Edit", "findNextMatch", "Find Next", "Ctrl+G", lambda: self.page.finder.step(1)),
            ("Edit", "findPreviousMatch", "Find Previous", "Ctrl+Shift+G", lambda: self.page.finder.step(-1)),
            ("View", "previousMessage", "Previous Message", "Alt+Up", lambda: self.page.transcript.focus.step(-1)),
            ("View", "nextMessage", "Next Message", "Alt+Down", lambda: self.page.transcript.focus.step(1)),
            ("View", "jumpToEnd", "Jump to the End", END_KEYS, self.page.transcript.jump_to_bottom),
            ("View", "toggleSidebar", "Show or Hide Sidebar", "Ctrl+Alt+S", self.toggle_sidebar),
            ("View", "showSettings", "Settings", "Ctrl+,", self.toolbar.settings_button.toggle),
            ("View", "showInspector", "What the Model Sees", "Ctrl+I", self.toolbar.inspector_button.toggle),
            ("View", "showModels", "Models", "Ctrl+Shift+M", self.place.show),
            ("View", "hubToken", "Hugging Face Token…", "", lambda: self.place.hub.ask_for_token(self)),
            ("Message", "editLastMessage", "Edit Message", "Ctrl+E", message.edit_last),
            ("Message", "copyLastReply", "Copy Reply", "Ctrl+Shift+C", message.copy_last),
            ("Message", "regenerateReply", "Regenerate Reply", "Ctrl+Shift+R", message.regenerate_last),
            ("Message", "continueLastReply", "Continue Reply", "Ctrl+Shift+Return", message.continue_last),
            ("Message", "earlierVersion", "Earlier Version", "Alt+Left", lambda: message.switch_last(-1)),
            ("Message", "laterVersion", "Later Version", "Alt+Right", lambda: message.switch_last(1)),
            ("Message", "forkChat", "Fork Chat", "Ctrl+Shift+K", message.fork_last),
            ("Message", "runAgain", "Run Again Exactly", "", message.run_last_again),
            ("Message", "restoreMessages", "Bring Back Deleted Messages", "", message.trash.restore_last),
            ("Message", "deleteMessage", "Delete Message", "Ctrl+Shift+Backspace", message.delete_last),
            ("Chat", "attachFiles", "Attach Files…", "Ctrl+U", self.page.composer.choose_files),
            ("Chat", "choosePrompt", "System Prompt…", "Ctrl+Shift+P", self.prompts.open_list),
            ("Chat", "stopReply", "Stop Reply", "", self.chat.stop),
            ("Chat", "nextChat", "Next Chat", "Ctrl+Alt+Down", lambda: self.chats.step(1)),
            ("Chat", "previousChat", "Previous Chat", "Ctrl+Alt+Up", lambda: self.chats.step(-1)),
            ("View", "focusComposer", "Write a Message", "Ctrl+L", self.page.composer.focus_text),
            ("View", "zoomIn", "Larger Text", "Ctrl+=", lambda: self.settings.step_text_size(1)),
            ("View", "zoomOut", "Smaller Text", "Ctrl+-", lambda: self.settings.step_text_size(-1)),
            ("View", "zoomReset", "Normal Text", "Ctrl+0", lambda: self.settings.step_text_size(0)),
            ("Window", "commandPalette", "Command Palette", "Ctrl+K", self.center.open_palette),
            ("Window", "showShortcuts", "Keyboard Shortcuts", "Ctrl+/", self.center.open_sheet),
            ("Window", "closeWindow", "Close", "Ctrl+W", self.close),
            ("Window", "quit", "Quit Flint", "Ctrl+Q", self.close),
        ):
            self.commands.add(group, name, title, keys, work)
        if sys.platform == "darwin":  # The menu bar at the top of the screen; elsewhere the palette has all of it.
            self.setMenuBar(make_menu_bar(self.commands.entries))

    def _apply_theme(self) -> None:
        application = QApplication.instance()
        sheet = self._theme.stylesheet()
        if isinstance(application, QApplication) and application.styleSheet() != sheet:
            application.setStyleSheet(sheet)

    # -- starting and ending ----------------------------------------------------------------------------------------

    def _restore(self) -> None:
        """Bring back size, last chat and draft. Nothing here may stop the window from opening."""
        self.resize(*FIRST_SIZE)
        geometry = self._store.recall(GEOMETRY)
        with contextlib.suppress(ValueError):
            self.restoreGeometry(QByteArray(base64.b64decode(geometry)))
        last = self._store.recall(LAST_CHAT)
        known = {chat.id for chat in self._store.chats()}
        self.chat.open(last if last in known else None)
        self.chats.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._started:
            self._started = True
            macos.unify_title_bar(self)
            self.page.composer.focus_text()
            QTimer.singleShot(LATEST_START_MS, self._start_engine)  # Where the window is not painted, as behind others.

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self._start_engine)  # Once this paint is through.

    def _start_engine(self) -> None:
        if self._closed or self._engine_started:
            return
        self._engine_started = True
        self.bridge.start()
        self.models.refresh()
        self.place.start()
        if self._preferences.notice:
            self.toaster.show(self._preferences.notice, kind="error")
        self.settings_panel.fill()
        self.storage.tidy()
        self.page.transcript.prepare()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._closed:
            self._closed = True
            self.settings.close()
            self.chat.drafts.save()
            for part in (self.transfers, self.storage, self.place, self.inspector, self.bridge):
                part.close()
            self.replies.settle()
            self._remember(GEOMETRY, base64.b64encode(self.saveGeometry().data()).decode())
            self._store.close()
        super().closeEvent(event)

    def _remember(self, key: str, value: str) -> None:
        with contextlib.suppress(FlintError):  # A full disk must not keep a chat from opening, nor the window open.
            if value != self._store.recall(key):
                self._store.remember(key, value)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the newest message where nobody else has a use for it."""
        if event.key() != Qt.Key.Key_Escape or not self.toaster.dismiss_newest():
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab pass the messages by: the transcript leads through them itself. What goes gives the keyboard back."""
        if self._focus.go_back():
            return True
        passed = self.page.transcript.focus.pass_by(self.focusWidget(), forward=forward)
        return passed or super().focusNextPrevChild(forward)

    def raise_window(self) -> None:
        """Bring the window to the front, as another start asks."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    # -- parts that come and go -------------------------------------------------------------------------------------

    def show_error(self, error: ErrorInfo) -> Toast:
        """Tell what went wrong and what to do about it; return the message."""
        shown = notice(error)
        places = {"models": self.place.show, "settings": lambda: self.toolbar.settings_button.setChecked(True)}
        there = shown.place == "settings" and self.toolbar.settings_button.isChecked()
        action = (shown.action, places[shown.place]) if shown.place and not there else None
        return self.toaster.show(shown.title, shown.hint, kind=shown.kind, action=action)

    def _show_error_of_chat(self, error: ErrorInfo) -> None:
        """Tell what went wrong in the open chat, until it is left."""
        self.chat.leaving.connect(self.show_error(error).close_toast)

    def _on_model_failed(self, error: ErrorInfo) -> None:
        if self.page.mode == "chat" or self.page.welcome.state != "failure":  # The welcome's own card tells it otherwise.
            self.show_error(error)

    def toggle_sidebar(self) -> None:
        """Show or hide the sidebar, also where the window is narrow."""
        self._sidebar_wanted = not self.sidebar.isVisible()
        if self._sidebar_wanted and self.width() - SIDEBAR_WIDTH - self._panel_width() < CHAT_LEAST:
            self.toolbar.settings_button.setChecked(False)  # There is room for one of them beside the chat.
            self.toolbar.inspector_button.setChecked(False)
        self.sidebar.setVisible(self._sidebar_wanted)

    def _need_sidebar(self) -> None:
        if not self.sidebar.isVisible():
            self.toggle_sidebar()

    def _show_settings(self, shown: bool) -> None:
        if shown:
            self.toolbar.inspector_button.setChecked(False)
        self.settings_panel.setVisible(shown)
        self._fit_sidebar()

    def _show_inspector(self, shown: bool) -> None:
        if shown:
            self.toolbar.settings_button.setChecked(False)
        self.inspector.show(shown)
        self._fit_sidebar()

    def _inspect(self, message_id: str) -> None:
        self.toolbar.inspector_button.setChecked(True)
        self.inspector.inspect(message_id)

    def _on_chat_opened(self, chat_id: str | None) -> None:
        self._remember(LAST_CHAT, chat_id or "")  # Now, not when the window closes: a crash must not lose the place.
        self.settings.presets.forget("chat")
        self._show_settings_of_chat()
        if not self.sidebar.browsing:
            self.page.composer.focus_text()

    def _show_settings_of_chat(self) -> None:
        self.settings.show_chat(self.chat.settings())

    def _show_last_reply(self) -> None:
        """Let picture and seed be those of the newest reply on show that is written; they stay while the next is on its way."""
        shown = reversed(self.page.transcript.messages)
        written = [message for message in shown if message.role == "assistant" and message.state != "streaming"]
        facts = next((message.facts for message in written if message.facts), None)
        self.settings.show_reply(written[0].id if written else "", facts.seed if facts else None)

    def _show_settings_of_model(self) -> None:
        models = self.models
        kv = KvModel(models.path(), models.trained_length(), models.kv_bytes_per_token())
        self.settings.show_model(models.model_id, models.recommended(), kv)

    def _say(self, text: str, hint: str, undo: Callable[[], object] | None) -> None:
        self.toaster.show(text, hint, action=("Undo", undo) if undo else None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_sidebar()

    def _fit_sidebar(self) -> None:
        """Hide the sidebar while there is no room for it beside the chat."""
        self.inspector.fit(self.width() - CHAT_LEAST)
        narrow = self.width() < SIDEBAR_NEEDS or self.width() - SIDEBAR_WIDTH - self._panel_width() < CHAT_NEEDS
        self.sidebar.setVisible(self._sidebar_wanted and not narrow)

    def _panel_width(self) -> int:
        settings = self.settings_panel.width() if self.settings_panel.isVisibleTo(self) else 0
        return settings + self.inspector.width

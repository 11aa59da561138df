"""Downloads under way, at the foot of the models window: a row each, with what can be done about it."""

import itertools

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.models.badge import Badge
from app.models.hub_wishes import HubWishes
from app.models.hub_words import TOKEN_ERRORS, download_text, downloads_summary, failed_badge
from app.models.import_row import ProgressBar
from app.models.words import size_text
from app.theme import Theme
from app.widgets.elided_label import ElidedLabel
from app.widgets.frame import draw_frame, draw_hairline
from app.widgets.icon_button import IconButton
from app.widgets.label import Label
from app.widgets.link import Link
from engine.core.hub_facts import Download

_HEAD, _AROUND = 36, 4
_NAME, _BAR, _NARROW_BAR, _WIDE, _MOST_ROWS = 196, 256, 144, 1000, 4
_ORDER = ("running", "verifying", "waiting", "queued", "paused", "failed", "done")
_BUTTONS = {
    "paused": ("play", "Go on"),
    "failed": ("redo", "Try again"),
}


class _Bar(ProgressBar):
    """Stone while nothing is fetched."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "downloadProgress", parent)
        self.going = True

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.going or self.value() <= 0:
            super().paintEvent(event)
            return
        painter = QPainter(self)
        draw_frame(painter, self.rect(), 2, self._theme.color("track"))
        width = max(4, round(self.width() * self.value() / self.maximum()))
        draw_frame(painter, QRect(0, 0, width, 4), 2, self._theme.color("m-mac"))


class DownloadRow(QWidget):
    """As high as two lines of its words; what is wanted goes to `wishes`."""

    def __init__(self, theme: Theme, wishes: HubWishes, download: Download, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._wishes = theme, wishes
        self.download = download
        self.setObjectName(f"download.{download.model_id}")
        self._name = ElidedLabel(theme, style="read-ui", weight=500, parent=self)
        self._name.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._bar = _Bar(theme, self)
        self._bar.setMaximumWidth(_BAR)
        self._badge = Badge(theme, self)
        self._state = ElidedLabel(theme, style="read-small", role="ink-2", lines=2, parent=self)
        self._state.setObjectName("downloadState")
        self._page = Link(theme, "Open page", style="read-small", parent=self)
        self._page.setObjectName("downloadPage")
        self._token = Link(theme, "Enter a token…", style="read-small", parent=self)
        self._token.setObjectName("downloadToken")
        self._use = Link(theme, "Use it", style="read-small", parent=self)
        self._use.setObjectName("downloadUse")
        self._main = IconButton(theme, "pause", "Pause", icon_size=14, parent=self)
        self._main.setObjectName("downloadMain")
        self._cancel = IconButton(theme, "x", "Cancel the download", icon_size=14, parent=self)
        self._cancel.setObjectName("downloadCancel")
        self._connect()
        self._lay_out()
        self._fit()
        theme.changed.connect(self._fit)
        self.show_download(download)

    def show_download(self, download: Download) -> None:
        """Show how it stands now."""
        self.download = download
        state, error = download.state, download.error
        self._name.show_words(download.name)
        self.setToolTip(download.model_id)
        failed = state == "failed"
        self._bar.setVisible(not failed and state != "done")
        self._bar.going = state in ("running", "verifying")
        share = download.done_bytes / download.total_bytes if download.total_bytes else 0
        self._bar.setValue(round(1000 * min(share, 1)))
        self._bar.setAccessibleName(f"Downloading {download.name}")
        self._bar.update()
        text, icon = failed_badge(error)
        self._badge.show_words(
            text if failed else "Ready" if state == "done" else "", "failed" if failed else "yes", icon if failed else "check"
        )
        self._state.show_words(download_text(download))
        self._page.setVisible(bool(error and error.link and state in ("failed", "waiting")))
        self._token.setVisible(bool(failed and error and error.code in TOKEN_ERRORS))
        self._use.setVisible(state == "done")
        icon, name = _BUTTONS.get(state, ("pause", "Pause"))
        self._main.set_icon(icon, f"{name}: {download.name}")
        self._main.setVisible(state not in ("done", "verifying"))
        done = state == "done"
        self._cancel.set_icon("x", f"{'Take off the list' if done else 'Cancel the download'}: {download.name}")
        self.setAccessibleName(f"{download.name}, {download_text(download)}")

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What Tab stops at, from left to right."""
        return self._page, self._token, self._use, self._main, self._cancel

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def _fit(self) -> None:
        """The bar is shorter where there is little room for the text of this size, and the name too."""
        grown, width = self._theme.grown, self.width()
        self.setFixedHeight(2 * self._theme.line("read-small") + _AROUND)
        self._progress.setFixedWidth(_BAR if width >= grown(_WIDE) else min(grown(_NARROW_BAR), _BAR))
        self._name.setFixedWidth(min(grown(_NAME), max(_NAME, width // 4)))

    def _connect(self) -> None:
        self._main.clicked.connect(self._act)
        wishes = self._wishes
        self._cancel.clicked.connect(lambda: wishes.cancel_asked.emit(self.download.model_id))
        self._use.clicked.connect(lambda: wishes.use_asked.emit(self.download.model_id))
        self._page.clicked.connect(lambda: wishes.page_asked.emit(self.download.error.link if self.download.error else ""))
        self._token.clicked.connect(wishes.token_asked)

    def _act(self) -> None:
        going = self.download.state not in _BUTTONS
        (self._wishes.pause_asked if going else self._wishes.fetch_asked).emit(self.download.model_id)

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(20, 0, 8, 0)
        layout.setSpacing(16)
        progress = self._progress = QWidget(self)
        inside = QHBoxLayout(progress)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self._bar)
        inside.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignLeft)
        words = QHBoxLayout()
        words.setSpacing(8)
        words.addWidget(self._state, 1)
        for link in (self._page, self._token, self._use):
            words.addWidget(link)
        buttons = QHBoxLayout()
        buttons.setSpacing(0)
        buttons.addWidget(self._main)
        buttons.addWidget(self._cancel)
        layout.addWidget(self._name)
        layout.addWidget(progress)
        layout.addLayout(words, 1)
        layout.addLayout(buttons)


class DownloadList(QWidget):
    """A heading and a row for each download, at most four before it scrolls; hidden while there is none."""

    def __init__(self, theme: Theme, wishes: HubWishes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._wishes = theme, wishes
        self.setObjectName("downloadList")
        self.setAccessibleName("Downloads")
        self._rows: dict[str, DownloadRow] = {}
        self._summary = Label(theme, style="read-caption", role="ink-3", parent=self)
        self._summary.setObjectName("downloadSummary")
        self._free = Label(theme, style="read-caption", role="ink-3", parent=self)
        self._free.setObjectName("diskFree")
        head = QHBoxLayout()
        head.setContentsMargins(20, 0, 20, 0)
        head.setSpacing(8)
        head.addWidget(Label(theme, "Downloads", style="read-small", weight=600, parent=self))
        head.addWidget(self._summary, 1)
        head.addWidget(self._free)
        self._top = QWidget(self)
        self._top.setLayout(head)
        self._page = QWidget()
        self._lines = QVBoxLayout(self._page)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(0)
        self._scroll = QScrollArea(self)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self._page)
        self._scroll.viewport().setAutoFillBackground(False)
        self._page.setAutoFillBackground(False)  # Putting it in turned that on.
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 1, 0, 8)
        layout.setSpacing(0)
        layout.addWidget(self._top)
        layout.addWidget(self._scroll)
        self.hide()
        theme.changed.connect(self._fit)

    def show_downloads(self, downloads: tuple[Download, ...], free_bytes: int) -> None:
        """Show these, what is under way first and what is done last; rows that stay keep the focus."""
        wanted = {download.model_id: download for download in sorted(downloads, key=lambda one: _ORDER.index(one.state))}
        before = [*self._rows]
        for model_id in [one for one in self._rows if one not in wanted]:
            row = self._rows.pop(model_id)
            row.hide()
            row.deleteLater()
        for place, (model_id, download) in enumerate(wanted.items()):
            if model_id not in self._rows:
                self._rows[model_id] = DownloadRow(self._theme, self._wishes, download, self._page)
            if self._lines.indexOf(self._rows[model_id]) != place:
                self._lines.insertWidget(place, self._rows[model_id])
            self._rows[model_id].show_download(download)
        self._rows = {model_id: self._rows[model_id] for model_id in wanted}
        if [*self._rows] != before:
            self._lead_tab()
        self._summary.setText(downloads_summary(downloads))
        self._free.setText(f"Disk: {size_text(free_bytes)} free" if free_bytes else "")
        self._fit()
        self.setVisible(bool(wanted))

    def _fit(self) -> None:
        self._top.setFixedHeight(self._theme.grown(_HEAD))
        self._scroll.setFixedHeight(sum(row.height() for row in [*self._rows.values()][:_MOST_ROWS]))
        self.update()

    def _lead_tab(self) -> None:
        """Let Tab go from row to row as they stand: by itself it goes by when each was made."""
        for part, after in itertools.pairwise(part for row in self._rows.values() for part in row.stops):
            QWidget.setTabOrder(part, after)

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_hairline(QPainter(self), QPointF(0, 0), QPointF(self.width(), 0), self._theme.color("separator"))

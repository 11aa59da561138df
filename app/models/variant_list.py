"""The other quantizations of the model on show: what each takes, whether it fits, and which one to look at."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QRect, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStyleOptionViewItem, QVBoxLayout, QWidget

from app.background import Background
from app.errors import advice
from app.models.assessment import Assessment, assess
from app.models.badge import badge_height, badge_width, draw_badge
from app.models.hub_list import ROW_ROLE, HubList, HubRow
from app.models.machine import Machine
from app.models.model_list import Index
from app.models.row_view import FACTS, RowDelegate, RowView, draw_line
from app.theme import Theme
from app.widgets.label import Label
from app.widgets.link import Link
from engine.core.context import context_limit
from engine.core.errors import ErrorInfo
from engine.core.hub_facts import Download, HubDetail, HubModel
from engine.models.hub_variants import stored_as

_AROUND, _MOST_ROWS = 12, 8
_SIZE_ROOM, _RATE_ROOM, _BADGE_ROOM = 72, 88, 112


class VariantList(QWidget):
    """A heading and a row each; hidden until something is known. `chosen` carries the id of another quantization.

    `changed` says that a row is another now; `again_asked` that the hub is to be asked once more.
    """

    chosen = Signal(str)
    changed = Signal()
    again_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._models = HubList(self)
        self._config, self._trained, self._shown = "", 0, ""
        self._machine = Machine(0)
        self._work = Background(self)
        self.setObjectName("variants")
        title = Label(theme, "Quantizations", style="read-small", weight=600, parent=self)
        self._basis = Label(theme, style="read-caption", role="ink-3", wrap=True, parent=self)
        self._basis.setObjectName("variantsBasis")
        self._note = Label(theme, style="read-small", role="ink-3", wrap=True, parent=self)
        self._note.setObjectName("variantsNote")
        self._again = Link(theme, "Try again", style="read-small", parent=self)
        self._again.setObjectName("variantsAgain")
        self.view = RowView(self._models, self)
        self.view.setObjectName("variantRows")
        self.view.setAccessibleName("Quantizations")
        self._delegate = VariantDelegate(theme, self.view)
        self.view.setItemDelegate(self._delegate)
        self.view.viewport().setAutoFillBackground(False)
        head = QHBoxLayout()
        head.addWidget(title)
        head.addStretch(1)
        head.addWidget(self._again)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 16)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self._basis)
        layout.addWidget(self._note)
        layout.addWidget(self.view)
        self._again.clicked.connect(self.again_asked)
        self.view.chosen.connect(self._choose)
        self.view.clicked.connect(lambda index: self._choose(index.row()))
        self._work.done.connect(self._on_assessed)
        theme.changed.connect(self._fit)
        self._models.modelReset.connect(self._mark)
        for signal in (self._models.dataChanged, self._models.modelReset):
            signal.connect(self.changed)
        self.forget()

    def row(self, model_id: str) -> HubRow | None:
        """Return the row of a model, None where it is not among them."""
        place = self._models.row_of(model_id)
        return self._models.rows[place] if place >= 0 else None

    def forget(self) -> None:
        """Show nothing: it is another model now."""
        self._work.forget()
        self._models.set_models((), {}, by_standing=False)
        self.hide()

    def show_asking(self) -> None:
        """Say that the hub is being asked."""
        self._say("Asking Hugging Face…")

    def show_failure(self, error: ErrorInfo) -> None:
        """Say why it is not known, and what to do."""
        self._say(f"{error.text} {advice(error)}".strip(), again=True)

    def show_variants(self, models: Sequence[HubModel], detail: HubDetail) -> None:
        """Show these, one of them described by `detail`: all are of its shape. One alone is nothing to choose from."""
        self._config, self._trained = detail.config or detail.model.config, detail.model.context
        self._models.set_models(models, {}, by_standing=False)
        self._basis.setText(f"Each with {context_limit(None, self._trained):,} tokens of context, half full for its speed.")
        self._fit()
        self._say("")
        self._assess()
        self.setVisible(len(models) > 1)

    def show_current(self, model_id: str) -> None:
        """Mark the one that is on show."""
        self._shown = model_id
        self._mark()

    def set_machine(self, machine: Machine) -> None:
        """Judge them for this machine."""
        self._machine = machine
        self._models.forget_assessments()
        self._assess()

    def set_state(self, here: Iterable[str], downloads: Iterable[Download]) -> None:
        """Take which models are on this machine, and which on their way."""
        self._models.set_state(here, downloads)

    def close_work(self) -> None:
        """End the thread that computes."""
        self._work.close()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.view.setFixedHeight(self._delegate.height * min(len(self._models.rows), _MOST_ROWS))

    def _say(self, text: str, *, again: bool = False) -> None:
        self._note.setText(text)
        self._note.setVisible(bool(text))
        self._again.setVisible(again)
        self._basis.setVisible(not text)
        self.view.setVisible(not text)
        self.show()

    def _assess(self) -> None:
        self._work.forget()
        for model in self._models.models:
            config, size, trained, machine = self._config, model.size_bytes, self._trained, self._machine
            self._work.run(model.id, lambda c=config, s=size, t=trained, m=machine: assess(c, s, t, m))  # type: ignore[misc]

    def _on_assessed(self, model_id: str, result: object) -> None:
        if isinstance(result, Assessment):
            self._models.set_assessment(model_id, result)

    def _mark(self) -> None:
        place = self._models.row_of(self._shown)
        if place >= 0 and self.view.currentIndex().row() != place:
            self.view.setCurrentIndex(self._models.index(place))

    def _choose(self, place: int) -> None:
        model_id = self._models.rows[place].model.id
        if model_id != self._shown:
            self.chosen.emit(model_id)


class VariantDelegate(RowDelegate):
    """How it is stored, what it takes, how fast it could be, and its badge: a line, or two where the text is large."""

    inset = 0

    @property
    def height(self) -> int:
        """How high a row is, in pixels: 28 at the design's text size."""
        line = self._theme.line(FACTS)
        return _AROUND + line + (badge_height(self._theme) if self.stacked else 0)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        with self.row(painter, option) as box:
            self._words(painter, box, index.data(ROW_ROLE))

    def _words(self, painter: QPainter, box: QRect, row: HubRow) -> None:
        theme, (text, kind, icon) = self._theme, row.badge
        name, figures = QRect(box), box.adjusted(0, 0, -theme.grown(_BADGE_ROOM), 0)
        if self.stacked:
            name.setHeight(badge_height(theme) + _AROUND // 2)
            figures = QRect(box.left(), name.bottom() + 1, box.width(), theme.line(FACTS))
        width = badge_width(theme, text, icon) if text else 0
        if text:
            top = name.top() + (name.height() - badge_height(theme)) // 2
            draw_badge(painter, theme, QRect(box.right() + 1 - width, top, width, badge_height(theme)), text, kind, icon)
        right = self.facts(painter, figures, ((row.rate, _RATE_ROOM), (row.size, _SIZE_ROOM)))
        name.setRight((box.right() - width if self.stacked else right) - 1)
        draw_line(painter, theme, name, stored_as(row.model), FACTS, 500, "ink")

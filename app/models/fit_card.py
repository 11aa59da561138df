"""Whether the model on show would run here, with every figure: a context slider moves it."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.background import Background
from app.models.assessment import Figures, figures, most_context, rate_text
from app.models.fit_bar import FitBar, Share, figure_text
from app.models.machine import Machine
from app.models.words import size_text
from app.theme import Theme
from app.widgets.elided_label import ElidedLabel
from app.widgets.facts_popover import FactsPopover
from app.widgets.frame import draw_frame
from app.widgets.label import Label
from app.widgets.link import Link
from app.widgets.slider import Slider
from app.widgets.text_field import TextField
from app.widgets.typed_number import read
from engine.core.context import context_limit
from engine.core.errors import ModelBroken, SettingsError
from engine.core.machine import THIS_MACHINE
from engine.core.settings import BY_NAME
from engine.models.facts import config_of, read_facts
from engine.models.fit import Fit

_FIELD, _ROOMY = 72, 400
_LEAST, _LONGEST, _STEP = 256, 1_048_576, 256
_BESIDE = QBoxLayout.Direction.LeftToRight
_PARTS = {"weights": "Weights", "cache": "KV cache", "prefill": "Reading a prompt"}


class FitCard(QWidget):
    """A card with the bar, the slider and the arithmetic. `judged` tells that `figures` or `most` are others."""

    judged = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._machine = Machine(0)
        self._model_id = self._config = ""
        self._size = self._trained = self._context = 0
        self.most = 0
        """The most tokens that fit here; 0 while that is not known, or where none do."""
        self.figures: Figures | None = None
        """What is on show; None while it is being worked out, or where the config does not tell enough."""
        self._popover: FactsPopover | None = None
        self._work = Background(self)
        self._longer = Background(self)  # What takes a second must not keep the slider waiting.
        self.setObjectName("fitCard")
        self._needs = Label(theme, style="read-ui", weight=600, parent=self)
        self._needs.setObjectName("fitNeeds")
        self._rate = ElidedLabel(theme, style="read-small", role="ink-2", parent=self)
        self._rate.setObjectName("fitRate")
        self._bar = FitBar(theme, self)
        self.slider = Slider(theme, "Context", parent=self)
        self.slider.setObjectName("fitContext")
        self.field = TextField(theme, "Context in tokens", width=_FIELD, style="read-small", parent=self)
        self.field.setObjectName("fitContextField")
        self._refusal = Label(theme, style="read-caption", role="critical", wrap=True, parent=self)
        self._refusal.setObjectName("fitRefusal")
        self._refusal.hide()
        self._sum = ElidedLabel(theme, style="read-caption", role="ink-3", parent=self)
        self._sum.setObjectName("fitSum")
        self._all = Link(theme, "Show all of it", style="read-caption", parent=self)
        self._all.setObjectName("fitArithmetic")
        self._most = Label(theme, style="read-caption", role="ink-3", parent=self)
        self._most.setObjectName("fitMost")
        self._lay_out()
        self._connect()
        self.hide()

    def show_model(self, model_id: str, config: str, size_bytes: int, trained: int, machine: Machine) -> None:
        """Show a model's fit on `machine`; hidden where its config does not tell enough.

        The context somebody set stays while more becomes known of the model, and so does one that is being typed.
        """
        same_model, self._model_id = model_id == self._model_id, model_id
        if same_model and (config, size_bytes, machine) == (self._config, self._size, self._machine):
            return
        if not config:
            self._config, self.figures = "", None
            self._work.forget()
            self._longer.forget()
            self.hide()
            return
        same = bool(self._config) and same_model
        self._config, self._size, self._trained, self._machine = config, size_bytes, trained, machine
        self.slider.set_range(min(_LEAST, self._longest), self._longest, _STEP, logarithmic=True)
        if not same:
            self._show_working()
        if same and self._context:
            self._judge_at(self._context)
            self.field.show_behind(f"{self._context:,}")
            if self.field.refused:  # What was too long, or long enough, may be neither now.
                self._take_text(self.field.text())
        else:
            self._set_context(context_limit(None, trained))
        self._longer.run("most", lambda: most_context(config, size_bytes, machine))

    @property
    def context(self) -> int:
        """The tokens that the figures are for."""
        return self._context

    @property
    def _longest(self) -> int:
        return min(self._trained or _LONGEST, _LONGEST)

    def close_work(self) -> None:
        """End the thread that computes."""
        self._work.close()
        self._longer.close()

    def paintEvent(self, _event: QPaintEvent) -> None:
        draw_frame(QPainter(self), self.rect(), 8, self._theme.color("raised"), self._theme.color("separator"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Give each figure a line of its own where the text is too large for the card."""
        narrow = self.width() < self._theme.grown(_ROOMY)
        for line in (self._head, self._foot):
            line.setDirection(QBoxLayout.Direction.TopToBottom if narrow else _BESIDE)
            line.setSpacing(4 if narrow else 12)
        side = Qt.AlignmentFlag.AlignLeft if narrow else Qt.AlignmentFlag.AlignRight
        self._rate.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        self.field.setFixedWidth(self._theme.grown(_FIELD))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the whole arithmetic while the pointer is over its line."""
        if event.type() == QEvent.Type.Enter:
            self._explain()
        elif event.type() == QEvent.Type.Leave and self._popover:
            self._popover.hide()
        return super().eventFilter(watched, event)

    def _connect(self) -> None:
        self.slider.moved.connect(lambda value: self._set_context(round(value)))
        self.field.edited.connect(self._take_text)
        self.field.editingFinished.connect(self._put_back)
        self.field.taken_back.connect(lambda: self._explain_refusal(""))
        self.field.stepped.connect(lambda way: self._set_context(self._context + way * _STEP))
        self._all.clicked.connect(self._explain)
        self._sum.installEventFilter(self)
        self._work.done.connect(self._on_done)
        self._longer.done.connect(self._on_done)

    def _lay_out(self) -> None:
        self._head, self._foot, context = QBoxLayout(_BESIDE), QBoxLayout(_BESIDE), QHBoxLayout()
        head, foot = self._head, self._foot
        head.setSpacing(12)
        head.addWidget(self._needs)
        head.addWidget(self._rate, 1)
        context.setSpacing(12)
        context.addWidget(Label(self._theme, "Context", style="read-small", weight=500, parent=self))
        context.addWidget(self.slider, 1)
        context.addWidget(self.field)
        foot.setSpacing(12)
        foot.addWidget(self._sum, 1)
        foot.addWidget(self._all)
        foot.addWidget(self._most)
        self._theme.changed.connect(self._arrange)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addSpacing(9)
        layout.addWidget(self._bar)
        layout.addSpacing(12)
        layout.addLayout(context)
        layout.addWidget(self._refusal)
        layout.addSpacing(6)
        layout.addLayout(foot)

    def _take_text(self, text: str) -> None:
        setting = replace(BY_NAME["context"], optional=False, minimum=1, maximum=self._longest)
        try:
            tokens = setting.check(read(setting, text))
        except SettingsError as error:
            self.field.set_refused(True)
            self._explain_refusal(error.text)
            return
        assert isinstance(tokens, int)
        self._set_context(tokens)

    def _put_back(self) -> None:
        """Nobody is at the field any more: what stands in it is what the figures are for. The note still says why."""
        if self.field.refused:
            self.field.show_text(f"{self._context:,}")

    def _explain_refusal(self, text: str) -> None:
        self._refusal.setText(text)
        self._refusal.setVisible(bool(text))

    def _set_context(self, tokens: int) -> None:
        self._judge_at(tokens)
        self.field.show_text(f"{self._context:,}")
        self._explain_refusal("")

    def _judge_at(self, tokens: int) -> None:
        self._context = max(1, min(tokens, self._longest))
        self.slider.set_value(self._context)
        self.slider.set_inherited(None, True)
        config, size, context, machine = self._config, self._size, self._context, self._machine
        self._work.run("figures", lambda: figures(config, size, context, machine))

    def _on_done(self, key: str, result: object) -> None:
        if key == "most" and isinstance(result, int):
            self.most = result
            self._most.setText(f"Fits up to {result:,}" if result else "")
            self._most.setVisible(bool(result))
            if self.figures is not None:
                self.judged.emit()  # What does not fit now may fit at less.
        elif key == "figures":
            self.figures = result if isinstance(result, Figures) else None
            self._show()
            self.judged.emit()

    def _show_working(self) -> None:
        """Nothing of another model stays to be taken for this one's."""
        self.figures = None
        self._needs.setText("Working out what it needs…")
        self._needs.set_role("ink-3")
        for label in (self._rate, self._sum):
            label.show_words("")
        self.most = 0
        self._most.setText("")
        self._most.hide()
        self._all.hide()
        self._bar.show_shares((), self._machine.budget)
        self.show()

    def _show(self) -> None:
        found = self.figures
        self.setVisible(found is not None)
        if found is None:
            return
        fit, budget = found.fit, self._machine.budget
        self._needs.setText(f"Needs {figure_text(fit.peak_bytes)} of {size_text(budget)}")
        self._needs.set_role("ink" if found.verdict.fits else "critical")
        self.setAccessibleName(f"{self._needs.text()}. {found.verdict.reason}")
        speed = f"at most {rate_text(found.rate)} with the window half full"
        self._rate.show_words(speed if found.rate else f"speed not known on {THIS_MACHINE}")
        self._sum.show_words(sum_line(self._config, fit))
        self._all.show()
        shares = (
            Share("Weights", "m-weights", fit.weights_bytes),
            Share("KV", "m-kv", fit.kv_bytes),
            Share("Prefill peak", "m-cache", fit.peak_bytes - fit.weights_bytes - fit.kv_bytes),
        )
        self._bar.show_shares(shares, budget)

    def _explain(self) -> None:
        if self.figures is not None:
            self._popover = self._popover or FactsPopover(self._theme, self.window())
            self._popover.show_rows(arithmetic(self.figures.fit, self._machine.budget), self._sum)


def arithmetic(fit: Fit, budget: int) -> Sequence[tuple[str, str]]:
    """Return every term of a prediction as rows: a heading a part, what it is and how it comes about, its size."""
    rows: list[tuple[str, str]] = []
    for part, title in _PARTS.items():
        terms = [term for term in fit.terms if term.part == part]
        if terms:
            rows.append((title, ""))
            rows += [(f"{term.name.capitalize()}: {term.formula}", _exact(term.bytes)) for term in terms]
    rows += [("In all", ""), ("At its peak", _exact(fit.peak_bytes)), ("What a model may take here", _exact(budget))]
    return rows


def sum_line(config: str, fit: Fit) -> str:
    """Return how a token's share of the KV cache comes about, in a line."""
    per_token = round(sum(fit.kv_bytes_per_token.values()))
    try:
        facts = read_facts(config_of(config))
    except ModelBroken:  # The prediction read it, so this is for what it reads otherwise.
        return f"{per_token:,} B of KV a token"
    size = fit.plan.element_bytes
    if facts.layers * 2 * facts.kv_heads * facts.head_dim * size != per_token:
        return f"{per_token:,} B of KV a token in {facts.layers} layers"
    heads = f"{facts.layers} layer{'s' if facts.layers != 1 else ''} × 2 × {facts.kv_heads} heads × {facts.head_dim}"
    return f"{heads} × {size} B = {per_token:,} B of KV a token"


def _exact(size: int) -> str:
    return f"{size / 1e9:,.2f} GB" if size >= 10**8 else f"{size / 1e6:,.1f} MB"

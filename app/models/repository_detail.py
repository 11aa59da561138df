"""The right part of Discover: one model on the hub, whether it runs here, its card, and the button that fetches it."""

import contextlib
import json
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.background import Background
from app.errors import advice
from app.models.assessment import Assessment, badge_of
from app.models.badge import Badge
from app.models.card_text import CardText, card_html
from app.models.detail_pane import DetailPane
from app.models.facts_table import FactsTable
from app.models.fit_card import FitCard
from app.models.hub_list import HubRow
from app.models.hub_wishes import HubWishes
from app.models.hub_words import TOKEN_ERRORS, licence_text, task_notice, task_text
from app.models.machine import Machine
from app.models.problem_card import ProblemCard
from app.models.variant_list import VariantList
from app.models.words import size_text, unbroken
from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.icon_link import IconLink
from app.widgets.label import Label
from app.widgets.link import Link
from engine.core.disk import lack_of_room
from engine.core.errors import ErrorInfo
from engine.core.hub_facts import HubDetail, HubModel
from engine.models.fact_words import heads_text, parameters_text
from engine.models.facts import read_facts
from engine.models.hub_facts import GGUF, what_is_missing

_GATED = "Its authors ask that you agree to their terms on the model’s page before it can be fetched."


class RepositoryDetail(DetailPane):
    """Shows one model at a time; what is wanted of it goes to `wishes`. `card_asked` carries the id of one to be described."""

    card_asked = Signal(str)

    def __init__(self, theme: Theme, wishes: HubWishes, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setObjectName("repositoryDetail")
        self.setAccessibleName("The chosen model on the hub")
        self._wishes = wishes
        self._row: HubRow | None = None
        self._detail: HubDetail | None = None
        self._link = self._under_way = ""
        self._action = "fetch"
        self._machine = Machine(0)
        self._free = 0
        self._work = Background(self)
        self._make_parts()
        self._connect()
        self.show_row(None)

    @property
    def model_id(self) -> str:
        """The id of the model on show, or nothing."""
        return self._row.model.id if self._row else ""

    @property
    def detail(self) -> HubDetail | None:
        """What the hub told of the model on show, once it was asked."""
        return self._detail

    def set_machine(self, machine: Machine) -> None:
        """Judge models for this machine."""
        self._machine = machine
        self.variants.set_machine(machine)
        self._show_fit()

    def set_free(self, free_bytes: int) -> None:
        """Take how much room there is on the disk, 0 where that is not known."""
        self._free = free_bytes
        if self._row is not None:
            self._show_notice(self._row)

    def show_row(self, row: HubRow | None) -> None:
        """Show a model, or nothing; what is known of it beyond its row stays while the model does."""
        if row is None or row.model.id != self.model_id:
            self._detail, self._under_way = None, ""
            self._work.forget()
            self.problem.show_problem("", "")
            self._show_links(None)
            self.card.show_html("")
            self.verticalScrollBar().setValue(0)
            if row is None or self.variants.row(row.model.id) is None:
                self.variants.forget()
        self._row = row
        self.variants.show_current(self.model_id)
        self.body.setVisible(row is not None)
        if row is not None:
            self._refresh(row)

    def show_asking(self) -> None:
        """Say that the hub is being asked."""
        self.problem.show_problem("", "")
        self._show_links(None)
        self._under_way = "Asking Hugging Face…"
        self._show_note()

    def show_detail(self, detail: HubDetail) -> None:
        """Show what the hub told of the model on show."""
        if detail.model.id != self.model_id or self._row is None:
            return
        self._detail = detail
        self._link = detail.page
        card = detail.card
        self._under_way = "Reading the card…" if card.strip() else ""
        self._refresh(self._row)
        self._work.run("card", lambda: card_html(card))

    def show_failure(self, error: ErrorInfo) -> None:
        """Say why the hub told nothing."""
        self.problem.show_problem(error.text, advice(error))
        self._show_links(error)
        self._under_way = ""
        if self._row is not None:
            self._refresh(self._row)

    def close_work(self) -> None:
        """End the threads that compute."""
        self._work.close()
        self.fit.close_work()
        self.variants.close_work()

    def _make_parts(self) -> None:
        theme, body = self._theme, self.body
        self._name = Label(theme, style="detail", wrap=True, parent=body)
        self._name.setObjectName("hubModelName")
        self._name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._badge = Badge(theme, body)
        self._badge.setObjectName("hubVerdict")
        self._id = Label(theme, style="read-caption", role="ink-3", wrap=True, parent=body)
        self._id.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.fetch = PrimaryButton(theme, "Download", icon="download", parent=body)
        self.pause = Button(theme, "Pause", icon="pause", parent=body)
        for button, name in ((self.fetch, "downloadModel"), (self.pause, "pauseModel")):
            button.setObjectName(name)
        self.problem = ProblemCard(theme, body)
        self._page_link = Link(theme, "Open page", style="read-small", parent=body)
        self._page_link.setObjectName("problemPage")
        self._token_link = Link(theme, "Enter a token…", style="read-small", parent=body)
        self._token_link.setObjectName("problemToken")
        self._again = Link(theme, "Try again", style="read-small", parent=body)
        self._again.setObjectName("describeAgain")
        self._notices = QWidget(body)
        self._notice = Label(theme, style="read-small", role="ink-2", wrap=True, parent=self._notices)
        self._notice.setObjectName("fetchNotice")
        self._terms = Link(theme, "Read the terms", style="read-small", parent=self._notices)
        self._terms.setObjectName("readTerms")
        self.table = FactsTable(theme, body)
        self.fit = FitCard(theme, body)
        self.variants = VariantList(theme, body)
        self._open = IconLink(theme, "ext", "Open on Hugging Face", style="read-small", parent=body)
        self._open.setObjectName("openOnHub")
        self._read_card = Link(theme, "Read the model card", style="read-small", parent=body)
        self._read_card.setObjectName("readCard")
        self._note = Label(theme, style="read-small", role="ink-3", wrap=True, parent=body)
        self._note.setObjectName("cardNote")
        self.card = CardText(theme, body)
        self._lay_out()

    def _connect(self) -> None:
        self.fetch.clicked.connect(self._act)
        wishes = self._wishes
        self.pause.clicked.connect(lambda: wishes.pause_asked.emit(self.model_id))
        for link in (self._open, self._terms):
            link.clicked.connect(lambda: wishes.page_asked.emit(self._detail.page if self._detail else ""))
        self._page_link.clicked.connect(lambda: wishes.page_asked.emit(self._link))
        self._token_link.clicked.connect(wishes.token_asked)
        self._again.clicked.connect(lambda: self.card_asked.emit(self.model_id))
        self._read_card.clicked.connect(lambda: self.card_asked.emit(self.model_id))
        self.card.link_activated.connect(wishes.page_asked)
        self.fit.judged.connect(self._show_verdict)
        self._work.done.connect(self._show_card)

    def _lay_out(self) -> None:
        top = Qt.AlignmentFlag.AlignTop
        head, card, beside = self.pair(), self.pair(), QHBoxLayout()
        notice = QHBoxLayout(self._notices)
        notice.setContentsMargins(0, 0, 0, 12)
        beside.setSpacing(8)
        for part in (self._badge, self.pause, self.fetch):
            beside.addWidget(part)
        beside.addStretch(1)
        head.addWidget(self._name, 1)
        head.addLayout(beside)
        head.setAlignment(beside, top)
        self.problem.add_links(self._page_link, self._token_link, self._again)
        notice.setSpacing(12)
        notice.addWidget(self._notice, 1)
        notice.addWidget(self._terms, 0, top)
        card.addWidget(Label(self._theme, "From the model card", style="read-small", weight=600, parent=self.body))
        card.addStretch(1)
        card.addWidget(self._open)
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self._id)
        layout.addSpacing(12)
        layout.addWidget(self.problem)
        layout.addWidget(self._notices)
        layout.addSpacing(4)
        layout.addWidget(self.table)
        layout.addSpacing(16)
        layout.addWidget(self.fit)
        layout.addSpacing(16)
        layout.addWidget(self.variants)
        layout.addLayout(card)
        layout.addSpacing(4)
        layout.addWidget(self._note)
        layout.addWidget(self._read_card)
        layout.addWidget(self.card)

    def _refresh(self, row: HubRow) -> None:
        model = self._detail.model if self._detail else row.model
        self._name.setText(unbroken(row.model.name))
        self._id.setText(row.model.id)
        self._show_buttons(row)
        self._show_notice(row)
        self.table.show_facts(_facts_of(model, self._detail))
        self._open.setVisible(self._detail is not None)
        self._show_note()
        self.card.setVisible(self._detail is not None and bool(self._detail.card.strip()))
        self._show_fit()
        self._show_verdict()

    def _show_note(self) -> None:
        """Say what is done about the card, or what there is instead of one; and offer it where nobody asked for it yet."""
        detail, row = self._detail, self._row
        told = row.note if detail is None and row is not None else ""
        if detail is not None and not detail.card.strip():
            told = _no_card(detail.model)
        self._note.setText(self._under_way or told)
        self._note.setVisible(bool(self._note.text()))
        self._read_card.setVisible(detail is None and not self._under_way)

    def _show_buttons(self, row: HubRow) -> None:
        state = row.download.state if row.download else ""
        here = row.here or state == "done"
        going = row.download is not None and row.download.going
        size = self._size(row)
        words = {"paused": "Resume", "failed": "Try again"}.get(state, f"Download {size_text(size)}" if size else "Download")
        self._action = "use" if here else "fetch"
        self.fetch.setText("Use it" if here else words)
        self.fetch.setAccessibleName(self.fetch.text())
        # A repository of GGUFs holds several models: its description shows one of them.
        self.fetch.setEnabled(here or (row.model.quantization != GGUF and not self._missing))
        self.fetch.updateGeometry()
        gone, shown = (self.fetch, self.pause) if going and not here else (self.pause, self.fetch)
        shown.show()
        if gone.hasFocus():  # One takes the other's place, for the keyboard too: Qt would go on to the next link.
            shown.setFocus()
        gone.hide()

    def _show_card(self, _key: str, text: object) -> None:
        self.card.show_html(text if isinstance(text, str) else "")
        self._under_way = ""
        self._show_note()

    def _show_notice(self, row: HubRow) -> None:
        """Say what stands in the way of fetching it, before the first byte."""
        words = [f"It can’t be used here: the repository {self._missing}."] if self._missing and not row.here else []
        words += [notice] if (notice := task_notice(row.model)) else []
        words += [_GATED] if row.model.gate and not row.here else []
        missing = self._size(row) - (row.download.done_bytes if row.download else 0)
        if self._free and not row.here and (lack := lack_of_room(row.model.name, missing, self._free)):
            words.append(lack)
        self._terms.setVisible(bool(row.model.gate) and not row.here and self._detail is not None)
        self._notice.setText(" ".join(words))
        self._notices.setVisible(bool(words))

    @property
    def _missing(self) -> str:
        """What its files lack to be run, once the hub told of them."""
        return what_is_missing(self._detail) if self._detail else ""

    def _size(self, row: HubRow) -> int:
        return sum(file.size_bytes for file in self._detail.files) if self._detail else row.model.size_bytes

    def _show_fit(self) -> None:
        if self._row is None:
            self.fit.show_model("", "", 0, 0, self._machine)
            return
        model = self._detail.model if self._detail else self._row.model
        config = (self._detail.config if self._detail else "") or model.config
        self.fit.show_model(model.id, config if "num_" in config else "", model.size_bytes, model.context, self._machine)

    def _show_verdict(self) -> None:
        """Say how it stands here: at the context of the slider, once that is worked out."""
        row, found = self._row, self.fit.figures
        if row is None:
            return
        known, words = row.assessment, row.badge
        if found is not None and not (row.here or row.download):
            most = self.fit.most or (known.context if known and known.standing == "less" else 0)
            known = Assessment("fits") if found.verdict.fits else Assessment("less", most) if most else Assessment("no")
            words = badge_of(known)
        self._badge.show_words(*words)
        self._badge.setToolTip(found.verdict.reason if found else "")

    def _show_links(self, error: ErrorInfo | None) -> None:
        if error is not None and error.link:
            self._link = error.link
        self._page_link.setVisible(bool(error and error.link))
        self._token_link.setVisible(bool(error and error.code in TOKEN_ERRORS))
        self._again.setVisible(error is not None)

    def _act(self) -> None:
        (self._wishes.use_asked if self._action == "use" else self._wishes.fetch_asked).emit(self.model_id)


def _facts_of(model: HubModel, detail: HubDetail | None) -> list[tuple[str, str]]:
    config: dict[str, Any] = {}
    with contextlib.suppress(ValueError, RecursionError):
        read = json.loads((detail.config if detail else "") or model.config or "{}")
        config = read if isinstance(read, dict) else {}
    try:
        facts = read_facts(config)
    except Exception:  # A config from anywhere can be wrong in any way; the row's facts stand in for it.
        facts = read_facts({})
    experts, active = _experts(config)
    kind = model.architecture or facts.model_type
    return [
        ("Architecture", kind),
        ("Task", task_text(model)),
        ("Parameters", parameters_text(model.parameters)),
        ("Quantization", model.quantization or facts.quantization),
        ("Licence", licence_text(model.licence)),
        ("Files", _files(detail) if detail else ""),
        ("Layers", f"{facts.layers}" if facts.layers else ""),
        ("Heads", heads_text(facts.heads, facts.kv_heads)),
        ("Experts", f"{experts}, {active} at a time" if experts and active else f"{experts or ''}"),
        ("Trained to", f"{model.context:,} tokens" if model.context else ""),
        ("Updated", model.updated),
        ("Downloads", f"{model.downloads:,}" if model.downloads else ""),
    ]


def _no_card(model: HubModel) -> str:
    return "Its card is on its page: the hub gives it to those who agreed to the terms." if model.gate else "It has no card."


def _experts(config: dict[str, Any]) -> tuple[int, int]:
    nested = config.get("text_config")
    text = {**config, **nested} if isinstance(nested, dict) else config

    def number(*names: str) -> int:
        return next((text[name] for name in names if isinstance(text.get(name), int)), 0)

    experts = number("num_experts", "num_local_experts", "n_routed_experts")
    return experts, number("num_experts_per_tok", "num_experts_per_token", "experts_per_token")


def _files(detail: HubDetail) -> str:
    weights = [file for file in detail.files if file.path.endswith((".safetensors", ".gguf"))]
    kind = "GGUF" if weights and weights[0].path.endswith(".gguf") else "safetensors"
    return f"{len(weights)} {kind}, no code" if weights else "none that Flint runs"

"""Discover: what the hub has, found by words, each with whether it runs here; recommendations before anybody searched."""

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.background import Background
from app.models.assessment import Assessment, assess
from app.models.filter_bar import FilterBar
from app.models.hub_controller import FIRST, MOST, HubController
from app.models.hub_list import HubList
from app.models.hub_results import HubResults
from app.models.hub_wishes import HubWishes
from app.models.list_side import ListSide
from app.models.machine import Machine
from app.models.recommended import read_recommended
from app.models.repository_detail import RepositoryDetail
from app.models.search_state import SearchState
from app.theme import Theme
from app.widgets.debounce import Debounce
from app.widgets.link import Link
from engine.core.errors import ErrorInfo
from engine.core.hub_facts import Download, HubDetail, HubModel
from engine.models.hub_variants import split_id


class Discover(QWidget):
    """The page. A row is described when somebody picks it; a search is asked when somebody typed one."""

    def __init__(
        self, theme: Theme, hub: HubController, wishes: HubWishes, machine: Machine, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._hub, self._machine = theme, hub, machine
        self._query: str | None = None
        self._asked = FIRST
        self._picked = self._variant = ""
        self._work = Background(self)
        self._models = HubList(self)
        self.setObjectName("discover")
        self.results = HubResults(theme, self._models, self)
        self.state = SearchState(theme, self)
        self.detail = RepositoryDetail(theme, wishes, self)
        self.filters = FilterBar(theme, self)
        self._more = Link(theme, "Show more", style="read-small", parent=self)
        self._more.setObjectName("moreResults")
        self._describe_later = Debounce(self._describe, self)
        self._lay_out()
        self._connect()
        self.state.token_asked.connect(wishes.token_asked)
        self.detail.set_machine(machine)
        self.show_recommended()

    @property
    def query(self) -> str | None:
        """The words of the search on show; None while the recommendations are."""
        return self._query

    def set_machine(self, machine: Machine) -> None:
        """Judge for another machine, or for this one as it is now."""
        if machine != self._machine:
            self._machine = machine
            self._models.forget_assessments()
            self._assess()
            self.detail.set_machine(machine)

    def set_state(self, here: Iterable[str], downloads: Iterable[Download]) -> None:
        """Take which models are on this machine, and which on their way."""
        ids, fetched = tuple(here), tuple(downloads)
        self._models.set_state(ids, fetched)
        self.detail.variants.set_state(ids, fetched)

    def search(self, query: str) -> None:
        """Search the hub; for nothing, the most popular are asked for."""
        self._query, self._variant = query.strip(), ""
        self.filters.set_searching(True)
        # Of those without a chat template few are found among many: all at once that can be.
        self._ask(MOST if self.filters.task == "base" else FIRST)

    def try_again(self) -> None:
        """Ask again what failed: the search, and what is known of the model on show."""
        if self.state.failed:
            self.search(self._query or "")
        elif self.detail.problem.text:
            self._describe()

    def show_recommended(self) -> None:
        """Show what Flint recommends; the network is not asked."""
        self._query, self._variant = None, ""
        self._hub.forget_search()
        self.filters.set_searching(False)
        self._more.hide()
        entries = read_recommended()
        self.state.show_recommended()
        notes = {entry.model.id: entry.good_for for entry in entries}
        self._show_models([entry.model for entry in entries], notes, by_standing=True)

    def take_key(self, event: QKeyEvent) -> None:
        """Take a key that the search field passed on: arrows move the selection."""
        self.results.keyPressEvent(event)

    def close_work(self) -> None:
        """End the threads that compute."""
        self._work.close()
        self.detail.close_work()

    def _lay_out(self) -> None:
        side = ListSide(self._theme, self)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 1, 0)
        column.setSpacing(0)
        more = QHBoxLayout()
        more.setContentsMargins(16, 6, 16, 6)
        more.addWidget(self._more)
        more.addStretch(1)
        column.addWidget(self.filters)
        column.addWidget(self.state)
        column.addWidget(self.results, 1)
        column.addLayout(more)
        side.beside(self.detail, self)

    def _connect(self) -> None:
        self.filters.narrowed.connect(self._filter)
        self.filters.asked.connect(self._order)
        self._more.clicked.connect(lambda: self._ask(MOST))
        self.state.popular_asked.connect(lambda: self.search(""))
        self.state.again_asked.connect(lambda: self.search(self._query or ""))
        self.results.clicked.connect(lambda index: self._pick(index.row()))
        self.results.chosen.connect(self._pick)
        self.results.selectionModel().currentChanged.connect(self._follow)
        for changed in (self._models.modelReset, self._models.dataChanged):
            changed.connect(self._refresh)
        self.detail.card_asked.connect(lambda _id: self._describe())
        self._work.done.connect(self._on_assessed)
        self._hub.searching.connect(lambda: self.state.show_searching(self._query or ""))
        self._hub.found.connect(self._on_found)
        self._hub.search_failed.connect(self._on_search_failed)
        self._hub.described.connect(self._on_described)
        self._hub.describe_failed.connect(self._on_describe_failed)
        self._hub.variants.connect(self._on_variants)
        self._hub.variants_failed.connect(self._on_variants_failed)
        self.detail.variants.changed.connect(self._refresh)
        self.detail.variants.chosen.connect(self._choose_variant)
        self.detail.variants.again_asked.connect(self._find_variants)

    # -- the list ---------------------------------------------------------------------------------------------------

    def _on_found(self, models: tuple[HubModel, ...], more: bool, whole: bool) -> None:
        self._show_models(models, {}, by_standing=False)
        self._more.setVisible(more and self._asked < MOST)
        self.state.show_found(self._query or "", len(models), len(self._models.rows), more)
        if whole and not models:
            self.detail.show_row(None)

    def _on_search_failed(self, error: ErrorInfo) -> None:
        self._show_models([], {}, by_standing=False)
        self._more.hide()
        self.state.show_failure(error)

    def _ask(self, limit: int) -> None:
        self._asked = limit
        wanted = self.filters
        self._hub.search(self._query or "", wanted.sort, task=wanted.task, mlx_only=wanted.mlx_only, limit=limit)

    def _order(self) -> None:
        """Another order or task: the hub has it, but for the recommendations."""
        self._filter()
        if self._query is not None:
            self.search(self._query)

    def _filter(self) -> None:
        self._models.set_filters(self.filters.filters)
        if self.state.counts:
            more = self._more.isVisibleTo(self)
            self.state.show_found(self._query or "", len(self._models.models), len(self._models.rows), more)

    def _show_models(self, models: Iterable[HubModel], notes: dict[str, str], *, by_standing: bool) -> None:
        self._models.set_models(tuple(models), notes, by_standing=by_standing)
        self._assess()

    def _assess(self) -> None:
        self._work.forget()
        for model in self._models.models:
            if not (model.config or model.size_bytes):
                continue
            config, size, trained, machine = model.config, model.size_bytes, model.context, self._machine
            self._work.run(
                model.id,
                lambda c=config, s=size, t=trained, m=machine: assess(c, s, t, m),  # type: ignore[misc]
            )

    def _on_assessed(self, model_id: str, result: object) -> None:
        if isinstance(result, Assessment):
            self._models.set_assessment(model_id, result)

    # -- the model on show ------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Rows came, went or changed: what is on show stays while it is there."""
        place = self._models.row_of(self._picked)
        if place < 0:
            place = 0 if self._models.rows else -1
            self._picked = self._variant = ""
        if self.results.currentIndex().row() != place:
            self.results.setCurrentIndex(self._models.index(place) if place >= 0 else QModelIndex())
        chosen = self.detail.variants.row(self._variant) if self._variant else None
        self.detail.show_row(chosen or (self._models.rows[place] if place >= 0 else None))

    def _follow(self, index: QModelIndex, before: QModelIndex) -> None:
        """The arrows lead to another row: it is described once they rest."""
        if not index.isValid() or not before.isValid():
            return
        row = self._models.rows[index.row()]
        if row.model.id != self.detail.model_id:
            self._picked, self._variant = row.model.id, ""
            self.detail.show_row(row)
            self._describe_later.touch()

    def _pick(self, place: int) -> None:
        """Show a row and ask the hub about it, now."""
        row = self._models.rows[place]
        self._picked, self._variant = row.model.id, ""
        self.detail.show_row(row)
        self._describe_later.forget()
        self._describe()

    def _describe(self) -> None:
        if self.detail.model_id and self.detail.detail is None and self.isVisible():
            self._picked = self._picked if self._variant else self.detail.model_id
            self.detail.show_asking()
            self._hub.describe(self.detail.model_id)

    def _choose_variant(self, model_id: str) -> None:
        """Show another quantization of the model on show: its own row, or over that of the one picked where it has none."""
        place = self._models.row_of(model_id)
        if place >= 0:
            self._pick(place)
            self.results.setCurrentIndex(self._models.index(place))
            return
        self._variant = model_id
        self.detail.show_row(self.detail.variants.row(model_id))
        self._describe_later.forget()
        self._describe()

    def _on_described(self, detail: HubDetail) -> None:
        shown, variants = self.detail.model_id, self.detail.variants
        if detail.variants and shown in (detail.model.id, split_id(detail.model.id)[0]):
            # A repository of GGUFs is several models: one of them is on show from now on.
            self._variant = detail.model.id
            variants.show_variants(detail.variants, detail)
            self.detail.show_row(variants.row(detail.model.id))
        self.detail.show_detail(detail)
        if detail.model.mlx and self.detail.detail is detail and variants.row(detail.model.id) is None:
            self._find_variants()

    def _find_variants(self) -> None:
        if self.detail.detail is not None:
            self.detail.variants.show_asking()
            self._hub.find_variants(self.detail.detail.model)

    def _on_variants(self, model_id: str, models: tuple[HubModel, ...]) -> None:
        if self.detail.detail is not None and model_id == self.detail.model_id:
            self.detail.variants.show_variants(models, self.detail.detail)

    def _on_variants_failed(self, model_id: str, error: ErrorInfo) -> None:
        if model_id == self.detail.model_id:
            self.detail.variants.show_failure(error)

    def _on_describe_failed(self, model_id: str, error: ErrorInfo) -> None:
        if model_id == self.detail.model_id:
            self.detail.show_failure(error)

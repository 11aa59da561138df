"""Asks the hub for what somebody wants to know: models by words, one repository's facts, and the token's place."""

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from engine.core.errors import ErrorInfo
from engine.core.hub_facts import HubModel, HubSort, HubTask
from engine.core.hub_messages import (
    AskHubAccount,
    DescribeHub,
    FindVariants,
    HubAccount,
    HubDescribed,
    HubFound,
    HubVariants,
    SearchHub,
    SetHubToken,
)
from engine.core.messages import Event, Failed, Finished

FIRST, MOST = 30, 99
"""Models of a search at first, and as many as one search can give."""


class HubController(QObject):
    """One search and one description at a time: a newer one takes the place of the one before. Nothing is asked by itself.

    `found` carries the models, whether there are more, and whether their facts are all there; `described` a `HubDetail`;
    `variants` carry the id of a model and its quantizations as `HubModel`s, `variants_failed` the id and an `ErrorInfo`.
    `account` where the token comes from, `token_kept` that one was saved: where, and whose. The rest carry an `ErrorInfo`,
    `describe_failed` the model's id too.
    """

    searching = Signal()
    found = Signal(object, bool, bool)
    search_failed = Signal(object)
    described = Signal(object)
    describe_failed = Signal(str, object)
    variants = Signal(str, object)
    variants_failed = Signal(str, object)
    account = Signal(str)
    token_kept = Signal(str, str)
    token_failed = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._search_id = self._describe_id = self._token_id = self._described = ""
        self._variants_id = self._varied = ""
        self._last: tuple[tuple[object, ...], bool] = ((), False)
        bridge.received.connect(self._take)

    def search(
        self,
        query: str,
        sort: HubSort = "downloads",
        *,
        task: HubTask | None = None,
        mlx_only: bool = True,
        limit: int = FIRST,
    ) -> None:
        """Look for models by words, and by what they are for; no words mean the most popular."""
        self.forget_search()
        self._search_id = self._bridge.new_id("search")
        self._last = ((), False)
        self.searching.emit()
        self._bridge.send(SearchHub(self._search_id, query, sort, mlx_only, limit, task))

    def forget_search(self) -> None:
        """Take no answer to the last search any more."""
        self._search_id = ""

    def describe(self, model_id: str) -> None:
        """Ask for a repository's files, config and card."""
        self._described = model_id
        self._describe_id = self._bridge.new_id("describe")
        self._bridge.send(DescribeHub(self._describe_id, model_id))

    def find_variants(self, model: HubModel) -> None:
        """Ask which other quantizations of a model there are."""
        self._varied = model.id
        self._variants_id = self._bridge.new_id("variants")
        self._bridge.send(FindVariants(self._variants_id, model.id, model.base))

    def ask_account(self) -> None:
        """Ask where the token comes from; the hub is not asked."""
        self._bridge.send(AskHubAccount(self._bridge.new_id("account")))

    def set_token(self, token: str) -> None:
        """Have the hub check a token, and keep it; an empty one is forgotten."""
        self._token_id = self._bridge.new_id("token")
        self._bridge.send(SetHubToken(self._token_id, token))

    def _take(self, event: Event) -> None:
        match event:
            case HubFound() if event.request_id == self._search_id:
                self._last = (event.models, event.more)
                self.found.emit(event.models, event.more, False)
            case HubDescribed() if event.request_id == self._describe_id:
                self.described.emit(event.detail)
            case HubVariants() if event.request_id == self._variants_id:
                self.variants.emit(event.model_id, event.models)
            case HubAccount() if event.request_id == self._token_id:
                self.token_kept.emit(event.source, event.name)
            case HubAccount():
                self.account.emit(event.source)
            case Finished() if event.request_id == self._search_id:
                self._search_id = ""
                self.found.emit(*self._last, True)
            case Failed():
                self._on_failed(event.request_id, event.error)

    def _on_failed(self, request_id: str, error: ErrorInfo) -> None:
        if request_id == self._search_id:
            self._search_id = ""
            self.search_failed.emit(error)
        elif request_id == self._describe_id:
            self.describe_failed.emit(self._described, error)
        elif request_id == self._variants_id:
            self.variants_failed.emit(self._varied, error)
        elif request_id == self._token_id:
            self.token_failed.emit(error)

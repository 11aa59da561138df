"""Models on the hub as a list that views show: filtered, each with how it stands here and whether it is on its way."""

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QAbstractListModel, QObject, Qt

from app.models.assessment import Assessment, badge_of, rate_text
from app.models.badge import BadgeKind
from app.models.hub_words import PERMISSIVE, bits_of, licence_text
from app.models.model_list import Index
from app.models.words import SEPARATOR, size_text
from engine.core.hub_facts import Download, HubModel
from engine.core.machine import THIS_MACHINE
from engine.core.record import Record
from engine.core.sizes import GIGABYTE
from engine.models.hub_facts import GGUF

ROW_ROLE = Qt.ItemDataRole.UserRole
ANY = "any"
_STANDINGS = ("fits", "unknown", "less", "no")


class Filters(Record):
    """Which models are shown: by task, by the gigabytes they take at most, by bits a weight takes, by licence, if they fit."""

    task: str = ANY
    size: str = ANY
    quantization: str = ANY
    licence: str = ANY
    fits_only: bool = False

    def let(self, model: HubModel, assessment: Assessment | None) -> bool:
        """Return whether a model is shown. One that was not assessed yet counts as fitting, one without a size as too large."""
        for_it = self.task == ANY or self.task in model.tasks
        small = self.size == ANY or 0 < model.size_bytes <= int(self.size) * GIGABYTE
        bits = bits_of(model.quantization)
        packed = {ANY: True, "4": bits < 5, "8": 7 <= bits <= 8, "full": bits > 8}[self.quantization]
        free = {
            ANY: True,
            "permissive": model.licence.startswith(PERMISSIVE),
            "open": not model.gate,
        }[self.licence]
        fits = not (self.fits_only and assessment is not None and assessment.standing in ("no", "less"))
        return for_it and small and (packed or model.quantization == GGUF) and free and fits


class HubRow(Record):
    """One row. `here` whether the model is on this machine; `note` stands in place of the author, where there is one."""

    model: HubModel
    assessment: Assessment | None = None
    here: bool = False
    download: Download | None = None
    note: str = ""

    @property
    def badge(self) -> tuple[str, BadgeKind, str]:
        """The text, kind and icon of its badge."""
        if self.here or (self.download and self.download.state == "done"):
            return f"On {THIS_MACHINE}", "plain", "check"
        if self.download and self.download.state in ("paused", "failed"):
            return ("Paused", "plain", "pause") if self.download.state == "paused" else ("Stopped", "failed", "warn")
        if self.download:
            return "Downloading", "plain", "download"
        return badge_of(self.assessment)

    @property
    def facts(self) -> str:
        """The second line, without the figures: author and licence, or the note."""
        return self.note or SEPARATOR.join(part for part in (self.model.author, licence_text(self.model.licence)) if part)

    @property
    def size(self) -> str:
        """What its weights take, or nothing."""
        return size_text(self.model.size_bytes) if self.model.size_bytes else ""

    @property
    def rate(self) -> str:
        """How fast it could write at most, a dash where that is not known."""
        standing = self.assessment.standing if self.assessment else "unknown"
        return rate_text(self.assessment.rate if self.assessment and standing in ("fits", "less") else None)


class HubList(QAbstractListModel):
    """Rows are `HubRow`s. `by_standing` puts what fits first, else the order given stays."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._models: tuple[HubModel, ...] = ()
        self._notes: Mapping[str, str] = {}
        self._assessments: dict[str, Assessment] = {}
        self._here: frozenset[str] = frozenset()
        self._downloads: Mapping[str, Download] = {}
        self._filters = Filters()
        self._by_standing = False
        self.rows: tuple[HubRow, ...] = ()

    @property
    def models(self) -> tuple[HubModel, ...]:
        """All models, also those that the filters hide."""
        return self._models

    def set_models(self, models: Sequence[HubModel], notes: Mapping[str, str], *, by_standing: bool) -> None:
        """Show these models; `notes` say of some what they are good for."""
        self._models, self._notes, self._by_standing = tuple(models), notes, by_standing
        self._arrange()

    def set_assessment(self, model_id: str, assessment: Assessment) -> None:
        """Take how a model stands here."""
        self._assessments[model_id] = assessment
        self._arrange()

    def forget_assessments(self) -> None:
        """The machine is another one now."""
        self._assessments.clear()
        self._arrange()

    def set_filters(self, filters: Filters) -> None:
        """Show only the models that these let through."""
        self._filters = filters
        self._arrange()

    def set_state(self, here: Iterable[str], downloads: Iterable[Download]) -> None:
        """Take which models are on this machine, and which on their way."""
        self._here = frozenset(here)
        self._downloads = {download.model_id: download for download in downloads}
        self._arrange()

    def row_of(self, model_id: str) -> int:
        """Return the row of a model, or -1 when it is not shown."""
        return next((place for place, row in enumerate(self.rows) if row.model.id == model_id), -1)

    def assessment(self, model_id: str) -> Assessment | None:
        """Return how a model stands here, where that is known by now."""
        return self._assessments.get(model_id)

    def _arrange(self) -> None:
        rows = [
            HubRow(
                model,
                self._assessments.get(model.id),
                model.id in self._here,
                self._downloads.get(model.id),
                self._notes.get(model.id, ""),
            )
            for model in self._models
            if self._filters.let(model, self._assessments.get(model.id))
        ]
        if self._by_standing:
            rows.sort(key=lambda row: _STANDINGS.index(row.assessment.standing if row.assessment else "unknown"))
        fresh = tuple(rows)
        if fresh == self.rows:
            return
        if [row.model.id for row in fresh] == [row.model.id for row in self.rows]:
            self.rows = fresh
            self.dataChanged.emit(self.index(0), self.index(len(fresh) - 1))
            return
        self.beginResetModel()
        self.rows = fresh
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.model.name
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(part for part in (row.model.name, row.badge[0]) if part)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            gated = "gated" if row.model.gate else ""
            return ", ".join(part for part in (row.facts, row.size, row.rate.replace("—", ""), gated) if part)
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.model.id
        return None

"""Commands and events of keeping models: remove, rename, notes, an own chat template, updates, quantizing."""

from typing import Literal

from engine.core.record import Record

type QuantizeBits = Literal["8", "6", "4", "3", "mixed"]


class RemoveModel(Record):
    """Move a model's files to the system's trash, or delete them `for_good`; answered by `ModelRemoved`.

    Refused for what another app keeps. What a Hugging Face cache shares with another snapshot stays.
    """

    request_id: str
    model_id: str
    for_good: bool = False


class RenameModel(Record):
    """Call a model by another name in Flint alone, "" by its own again; no file is touched."""

    request_id: str
    model_id: str
    name: str


class NoteModel(Record):
    """Keep a person's notes on a model, "" none."""

    request_id: str
    model_id: str
    notes: str


class AskModelTemplate(Record):
    """Ask for a model's chat template and what it makes of a short conversation; answered by `ModelTemplate`.

    With a `draft` it is that template that is tried, and nothing is kept.
    """

    request_id: str
    model_id: str
    draft: str = ""


class SetModelTemplate(Record):
    """Use another chat template for a model from now on, "" its own again; answered by `ModelTemplate`.

    One that does not render is refused, and what was before stays.
    """

    request_id: str
    model_id: str
    template: str


class CheckForUpdate(Record):
    """Ask the hub whether it has a newer version of a model from there; answered by `UpdateChecked`."""

    request_id: str
    model_id: str


class QuantizeModel(Record):
    """Make a smaller copy of a model in Flint's own folder; reports `QuantizeProgress`, then `ModelQuantized`.

    `group` weights share a scale. The loaded model is dropped for it: both would not fit.
    """

    request_id: str
    model_id: str
    bits: QuantizeBits = "4"
    group: int = 64
    name: str = ""


class ModelRemoved(Record):
    """A model is gone from its place: `freed_bytes` are, or will be once the trash is emptied. `trash` is where it lies now."""

    request_id: str
    model_id: str
    name: str
    freed_bytes: int
    trash: str = ""


class ModelTemplate(Record):
    """A model's chat template: its `own`, the one in use `instead` ("" none), and the `preview` of what was tried.

    `problem` says why the one that was tried does not render.
    """

    request_id: str
    model_id: str
    own: str
    instead: str
    preview: str
    problem: str = ""


class UpdateChecked(Record):
    """Whether the hub has another version than the one `here`; both are commits."""

    request_id: str
    model_id: str
    newer: bool
    here: str
    there: str


class QuantizeProgress(Record):
    """How far it is: `fraction` from 0 to 1, `stage` in words; `predicted_bytes` is the size it will have."""

    request_id: str
    fraction: float
    stage: str
    predicted_bytes: int


class ModelQuantized(Record):
    """The smaller model is there. Perplexities are over the text that ships with Flint: lower is better."""

    request_id: str
    model_id: str
    name: str
    path: str
    size_bytes: int
    size_before_bytes: int
    bits_per_weight: float
    perplexity: float
    perplexity_before: float


# Plain unions: as parts of the closed ones in `messages` their members count one by one.
KeepCommand = RemoveModel | RenameModel | NoteModel | AskModelTemplate | SetModelTemplate | CheckForUpdate | QuantizeModel
KeepEvent = ModelRemoved | ModelTemplate | UpdateChecked | QuantizeProgress | ModelQuantized

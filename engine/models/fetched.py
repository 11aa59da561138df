"""Whether a model that was fetched can be used: what the list of models would say of it, before anybody is told it is ready."""

from pathlib import Path

from engine.core.errors import FlintError
from engine.core.hub_facts import HubDetail
from engine.models.hub_variants import split_id
from engine.models.integrity import trouble_with

_HINT = "All of it is here, so fetching it again changes nothing. Choose another repository."


def check_fetched(folder: Path, detail: HubDetail) -> None:
    """Check a finished download in its snapshot's folder. Raises `ModelBroken` or `ModelUnsupported`."""
    repository, named = split_id(detail.model.id)
    trouble = _trouble_with_gguf(folder / named) if named else trouble_with(folder)
    if trouble is not None:
        # A snapshot's folder is named by its commit, which tells people nothing.
        reason = trouble.text.replace(folder.name, repository)
        raise type(trouble)(f"{detail.model.name} was fetched and can't be used: {reason}", _HINT)


def _trouble_with_gguf(path: Path) -> FlintError | None:
    from engine.models.gguf_header import read_header  # Here: the queue is made with the window.
    from engine.models.gguf_model import read_model

    try:
        read_model(read_header(path))
    except FlintError as error:
        return error
    return None

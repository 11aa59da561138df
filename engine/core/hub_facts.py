"""What is known of models on the hub and of downloads, as it travels in commands and events."""

from typing import Literal

from engine.core.errors import ErrorInfo
from engine.core.record import Record

type HubSort = Literal["downloads", "updated", "likes"]
type HubTask = Literal["chat", "base", "code", "vision"]
type Gate = Literal["", "auto", "manual"]
type DownloadState = Literal["queued", "running", "waiting", "verifying", "paused", "failed", "done"]


class HubModel(Record):
    """A model repository as a search lists it. Sizes in bytes; 0 and "" where the hub does not say.

    `id` is “author/name”; `mlx` whether MLX loads its weights as they are; `size_bytes` what its weights take on disk;
    `parameters` their number; `updated` a date as “2026-07-12”; `config` the hub's excerpt of config.json as JSON text.
    `base` is the id of the model that it was made from; `task` the hub's own word, as “text-generation”, and `tasks` what Flint
    can run it for, of “vision” the text alone.
    """

    id: str
    name: str
    author: str
    mlx: bool = False
    size_bytes: int = 0
    parameters: int = 0
    quantization: str = ""
    architecture: str = ""
    context: int = 0
    licence: str = ""
    task: str = ""
    tasks: tuple[HubTask, ...] = ()
    base: str = ""
    downloads: int = 0
    likes: int = 0
    gate: Gate = ""
    updated: str = ""
    config: str = ""


class HubFile(Record):
    """One file of a repository: `sha256` is known of large ones, `etag` names every one. Size in bytes."""

    path: str
    size_bytes: int
    etag: str
    sha256: str = ""


class HubDetail(Record):
    """A repository at one `commit`: its whole `config` (JSON text), its `card` (markdown without its head) and what is fetched.

    `page` is its address for a browser. `variants` are the models that a repository of GGUFs holds, of which `model` is one.
    """

    model: HubModel
    commit: str
    config: str
    card: str
    files: tuple[HubFile, ...]
    page: str
    variants: tuple[HubModel, ...] = ()


class Download(Record):
    """A model on its way here. `rate` in bytes a second and `left_s` in seconds, smoothed; None where they are not known.

    `waiting` is for the network or because the hub asked for it: `error` says why, and it goes on by itself in `left_s`.
    `folder` is where the finished model is.
    """

    model_id: str
    name: str
    state: DownloadState
    done_bytes: int
    total_bytes: int
    rate: float | None = None
    left_s: float | None = None
    error: ErrorInfo | None = None
    commit: str = ""
    folder: str = ""

    @property
    def going(self) -> bool:
        """Whether it goes on by itself, also at the next start: it is not paused, and has not ended."""
        return self.state in ("queued", "running", "waiting", "verifying")

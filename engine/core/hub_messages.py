"""Commands and events of the hub: search, a repository's facts, downloads, the token."""

from typing import Literal

from engine.core.hub_facts import Download, HubDetail, HubModel, HubSort, HubTask
from engine.core.record import Record


class SearchHub(Record):
    """Look for models on the hub by words; answered by `HubFound`. Nothing is asked of the network but by these commands.

    `task` is what they are for, None for all.
    """

    request_id: str
    query: str
    sort: HubSort = "downloads"
    mlx_only: bool = True
    limit: int = 60
    task: HubTask | None = None


class DescribeHub(Record):
    """Ask for a repository's files, config and card; answered by `HubDescribed`."""

    request_id: str
    model_id: str


class FindVariants(Record):
    """Ask which other quantizations of a repository there are, in one request; answered by `HubVariants`.

    `base` is the id of the model they were made from, "" where the hub does not say: then they are found by their names.
    """

    request_id: str
    model_id: str
    base: str = ""


class StartDownload(Record):
    """Fetch a model into the Hugging Face cache, or go on with one that is paused or failed.

    The request ends when it is queued; its progress is told to everybody by `DownloadChanged`.
    """

    request_id: str
    model_id: str


class PauseDownload(Record):
    """Stop a download and keep what is there; `StartDownload` goes on."""

    request_id: str
    model_id: str


class CancelDownload(Record):
    """Stop a download and remove what it fetched, but what other models share; or take a finished one off the list."""

    request_id: str
    model_id: str


class ListDownloads(Record):
    """Ask for all downloads that are not forgotten, also those of an earlier run; answered by `DownloadsListed`."""

    request_id: str


class SetHubToken(Record):
    """Keep a token for the hub, "" forgets it; answered by `HubAccount`. A token that the hub refuses is not kept."""

    request_id: str
    token: str


class AskHubAccount(Record):
    """Ask whether there is a token and where it comes from, without asking the hub; answered by `HubAccount`."""

    request_id: str


class HubFound(Record):
    """What a search found, in its order; `more` says that the hub has others."""

    request_id: str
    models: tuple[HubModel, ...]
    more: bool = False


class HubDescribed(Record):
    """A repository's facts."""

    request_id: str
    detail: HubDetail


class HubVariants(Record):
    """The quantizations of one model by the same author, itself among them, the smallest first."""

    request_id: str
    model_id: str
    models: tuple[HubModel, ...]


class DownloadChanged(Record):
    """A download's state or progress, told to everybody a few times a second; a `gone` one is off the list."""

    request_id: str
    download: Download
    gone: bool = False


class DownloadsListed(Record):
    """All downloads, in the order they run, and the bytes free where they go."""

    request_id: str
    downloads: tuple[Download, ...]
    free_bytes: int


class HubAccount(Record):
    """Where the token comes from: "keychain", "file" (private, where there is no keychain), "environment", "login", or none.

    `name` is the account's, where the hub was asked.
    """

    request_id: str
    source: Literal["", "keychain", "file", "environment", "login"]
    name: str = ""

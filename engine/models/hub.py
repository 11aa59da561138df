"""The Hugging Face hub: search, a repository's facts, its files' bytes. The only importer of `huggingface_hub`.

Every call is one that a person asked for. Errors come out as Flint's own, told apart by `hub_refusal`.
"""

import contextlib
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakSet

from engine.core.errors import EngineStopped
from engine.core.hub_errors import HubError, RepositoryMissing, TokenRefused
from engine.core.hub_facts import HubDetail, HubFile, HubModel, HubSort, HubTask
from engine.models.hub_facts import (
    BASE_TAG,
    CHAT_TAG,
    GGUF,
    TEXT_TASK,
    VISION_TASK,
    described,
    wanted_files,
    weights_bytes,
    with_config,
)
from engine.models.hub_refusal import refusal
from engine.models.hub_variants import chosen_of, gguf_variants, split_id, stem_of, variants_of

CONFIG, CARD = "config.json", "README.md"
LARGEST_TEXT = 4 << 20
"""Bytes of a config or a card that are read, at most."""
TIMEOUT_S = 20.0
MOST_FOUND = 99
"""Results of one search; the hub gives a hundred at a time."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SORTS = {"downloads": "downloads", "updated": "lastModified", "likes": "likes"}
_EXPAND = ["config", "downloads", "gated", "lastModified", "library_name", "likes", "pipeline_tag", "safetensors", "tags"]


class Hub:
    """A client for one hub. `token` is asked for at each call; `environ` may name another hub in `HF_ENDPOINT`.

    Safe to call from several threads at once. Raises `HubError`s alone, for whatever went wrong.
    """

    def __init__(self, token: Callable[[], str | None], environ: Mapping[str, str] = os.environ) -> None:
        self._token = token
        self._environ = environ
        self._closed = False
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._gate = threading.Lock()

    def close(self) -> None:
        """Begin no call any more: `EngineStopped` is raised instead. Those under way lose their connection."""
        with self._gate:
            self._closed = True
            connected = list(self._sockets)
        for each in connected:
            _shut(each)

    @property
    def endpoint(self) -> str:
        """The hub's address, without a slash at its end."""
        from huggingface_hub import constants

        return (self._environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")

    def page(self, model_id: str) -> str:
        """Return the address of a repository's page for a browser."""
        return f"{self.endpoint}/{split_id(model_id)[0]}"

    def search(
        self, query: str, sort: HubSort, *, mlx_only: bool, limit: int, task: HubTask | None = None
    ) -> tuple[tuple[HubModel, ...], bool]:
        """Return at most `limit` models (99 at most) that have the words of `query`, and whether there are more.

        Models for MLX come first. The hub can't leave out what has a chat template: those for `base` are picked here from as
        many as it gives at once.
        """
        filters, words = ["mlx"] if mlx_only else [], query.strip()
        if task == "chat":
            filters.append(CHAT_TAG)
        if task == "code":
            words = f"{words} code".strip()
        most = MOST_FOUND if task == "base" else min(limit, MOST_FOUND)
        # With what a GGUF says comes its whole chat template: not for models that are none.
        asked: dict[str, Any] = {"sort": _SORTS[sort], "limit": most + 1, "expand": _EXPAND if mlx_only else [*_EXPAND, "gguf"]}
        asked |= {"filter": filters} if filters else {}
        asked |= {"search": words} if words else {}
        if task or not mlx_only:
            asked["pipeline_tag"] = VISION_TASK if task == "vision" else TEXT_TASK
        found = self._list(asked)
        models = [model for model in found if task is None or task in model.tasks]
        models.sort(key=lambda model: not model.mlx)
        return tuple(models[:limit]), len(models) > limit or len(found) > most

    def variants(self, model_id: str, base: str) -> tuple[HubModel, ...]:
        """Return the quantizations for MLX of one model by the same author, as `HubVariants` has them, in one request."""
        author, _, name = model_id.partition("/")
        asked: dict[str, Any] = {"author": author, "sort": _SORTS["downloads"], "limit": MOST_FOUND + 1, "expand": _EXPAND}
        asked |= {"filter": ["mlx", f"{BASE_TAG}{base}"]} if base else {"filter": ["mlx"], "search": stem_of(name)}
        return variants_of(model_id, self._list(asked))

    def _list(self, asked: dict[str, Any]) -> list[HubModel]:
        """Return what the hub lists for the parameters of the client's `list_models`, as that sends them.

        One request, told of at once when it fails: `list_models` itself would try again for half a minute first.
        """
        with self._telling(""):
            from huggingface_hub import ModelInfo

            found = self._asked("/api/models", self._headers(), asked)
            return [described(ModelInfo(**each)) for each in found]

    def configured(self, model: HubModel) -> HubModel:
        """Return a model with what its config.json says; as it was where that does not come: what was found is shown anyway."""
        if model.gate or model.quantization == GGUF:
            return model  # Its files are not given to everybody: a search must not end in a refusal. A GGUF needs no config.
        try:
            return with_config(model, self.text(model.id, CONFIG))
        except (HubError, EngineStopped):
            return model

    def describe(self, model_id: str) -> HubDetail:
        """Return a repository's facts, its config and card, and the files that running it takes.

        Of a repository of GGUFs it is one of its files that is described, the usual one where none is named. The config is that
        of the model they were made from, where they have none of their own: it says what shape they have.
        """
        repository, named = split_id(model_id)
        with self._telling(model_id):
            info = self._info(repository, {"blobs": True})
        files = tuple(HubFile(*_file(sibling)) for sibling in info.siblings or ())
        commit = _commit_of(info, repository)
        model, names = described(info, repository), {file.path for file in files}
        variants = gguf_variants(model, files)
        chosen = chosen_of(variants, model_id)
        if named and chosen is None:
            hint = "Its page says which files it has."
            raise RepositoryMissing(f"{repository} has no file {named}.", hint, link=self.page(repository))
        config = self._text_if_there(repository, CONFIG, names, commit)
        if chosen is not None and not config and model.base:
            config = self._text_if_there(model.base, CONFIG, {CONFIG}, "main")
        card = self._text_if_there(repository, CARD, names, commit)
        fetched = wanted_files(files, split_id(chosen.id)[1] if chosen else "")
        model = with_config(chosen or model, config, weights_bytes(fetched))
        if chosen is not None:
            model = replace(model, quantization=chosen.quantization)
        return HubDetail(model, commit, config, _without_head(card), fetched, self.page(repository), variants)

    def newest(self, model_id: str) -> str:
        """Return the commit of a repository's newest version, in one request."""
        with self._telling(model_id):
            return _commit_of(self._info(split_id(model_id)[0]), model_id)

    def text(self, model_id: str, path: str, revision: str = "main") -> str:
        """Return a small file of a repository as text."""
        with self.opened(model_id, path, revision, {}) as response:
            body = bytearray()
            for piece in response.iter_bytes():
                body += piece
                if len(body) > LARGEST_TEXT:
                    break
        return bytes(body[:LARGEST_TEXT]).decode("utf-8", "replace")

    @contextlib.contextmanager
    def opened(self, model_id: str, path: str, revision: str, headers: Mapping[str, str]) -> Iterator[Any]:
        """Open a file for reading: yields a streamed response of `huggingface_hub`'s own client, status checked.

        Its redirects are followed; the token goes to the hub alone. What goes wrong while it is read is told as well.
        """
        with self._telling(model_id):
            from huggingface_hub import get_session, hf_hub_url, hf_raise_for_status

            url = hf_hub_url(split_id(model_id)[0], path, revision=revision, endpoint=self.endpoint)
            asked = {**self._headers(), "Accept-Encoding": "identity", **headers}
            with get_session().stream("GET", url, headers=asked, timeout=TIMEOUT_S, extensions=self._watched) as response:
                if response.status_code != 416:
                    hf_raise_for_status(response)
                yield response

    def account(self, token: str) -> str:
        """Return the name of the account that a token belongs to."""
        with self._telling(""):
            name = self._asked("/api/whoami-v2", _bearing(token)).get("name", "")
        return str(name)

    def _info(self, model_id: str, query: Mapping[str, Any] | None = None) -> Any:
        from huggingface_hub import ModelInfo
        from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

        validate_repo_id(model_id)
        return ModelInfo(**self._asked(f"/api/models/{model_id}", self._headers(), query))

    def _asked(self, path: str, headers: Mapping[str, str], query: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON of one answer.

        The client's own functions for these wait for ever or try again unasked, and once a day they ask the hub which programs
        of others could have started this one, to tell it of them.
        """
        from huggingface_hub import get_session, hf_raise_for_status

        answer = get_session().get(
            self.endpoint + path,
            params=query,
            headers=headers,
            timeout=TIMEOUT_S,
            follow_redirects=True,
            extensions=self._watched,
        )
        hf_raise_for_status(answer)
        return answer.json()

    @property
    def _watched(self) -> dict[str, Any]:
        """What has the client tell of its connections, which it keeps for later calls."""
        return {"trace": self._connected}

    def _connected(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            connected = info["return_value"].get_extra_info("socket")
            with self._gate:
                self._sockets.add(connected)
            if self._closed:  # It was on its way while the others were shut.
                _shut(connected)

    def _headers(self) -> dict[str, str]:
        return _bearing(self._token())

    def _text_if_there(self, model_id: str, path: str, names: set[str], revision: str) -> str:
        if path not in names:
            return ""
        try:
            return self.text(model_id, path, revision)
        except HubError as error:
            if error.passing:
                raise
            return ""  # Gated: its facts are shown all the same.

    @contextlib.contextmanager
    def _telling(self, model_id: str) -> Iterator[None]:
        """Turn what the client raises into Flint's errors. Raises `EngineStopped` once closed."""
        if self._closed:
            raise EngineStopped("Flint is closing.")
        try:
            yield
        except HubError:
            raise
        except Exception as error:
            if self._closed:
                raise EngineStopped("Flint is closing.") from error
            told = refusal(error, model_id, self.page(model_id) if model_id else "", has_token=bool(self._token()))
            if told is None:
                raise
            raise told from error


def _shut(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):  # It may be closed already.
        # The plain one also where it speaks TLS: it wakes who reads, whose own state it leaves alone.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


def _commit_of(info: Any, model_id: str) -> str:
    if not _COMMIT.fullmatch(info.sha or ""):
        raise HubError(f"The hub does not say which version of {model_id} it has.")
    return str(info.sha)


def _bearing(token: str | None) -> dict[str, str]:
    """Return the headers of a call. Raises `TokenRefused` for what no header can hold, and no token of the hub's is."""
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        hint = "It has a letter or a break that no token has. Copy it again from the hub's settings page."
        raise TokenRefused("The hub does not accept the token.", hint)
    return {"user-agent": "flint"} | ({"authorization": f"Bearer {token}"} if token else {})


def _file(sibling: Any) -> tuple[str, int, str, str]:
    sha256 = sibling.lfs.sha256 if sibling.lfs else ""
    return sibling.rfilename, sibling.size or 0, sha256 or sibling.blob_id or "", sha256


def _without_head(card: str) -> str:
    """Return a card without the YAML at its head."""
    if not card.startswith("---"):
        return card
    end = card.find("\n---", 3)
    return card[card.find("\n", end + 1) + 1 :].lstrip() if end >= 0 else card

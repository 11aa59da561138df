"""`flint models search` and `pull`: models on the hub, from a terminal."""

import dataclasses
import math
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from engine.cli.interrupt import StopOnInterrupt
from engine.cli.output import note, plain, print_json, say
from engine.cli.table import Column, print_table
from engine.core.context import context_limit
from engine.core.errors import EngineStopped, ModelBroken, Stopped, UsageError
from engine.core.hub_errors import HubError, HubTrouble, RateLimited
from engine.core.hub_facts import HubDetail, HubModel
from engine.core.paths import locate
from engine.core.sizes import GIGABYTE, count_text, size_text
from engine.hardware.device import Device, read_device
from engine.hardware.meters import read_memory
from engine.models.backoff import Backoff
from engine.models.facts import config_of
from engine.models.fetched import check_fetched
from engine.models.fit import decode_ceiling, judge, largest_context
from engine.models.hub import MOST_FOUND, Hub
from engine.models.hub_facts import check_files
from engine.models.hub_token import HubToken
from engine.models.hub_variants import check_id, split_id
from engine.models.huggingface_cache import cache_folder
from engine.models.load_plan import predict_unread
from engine.models.repository_download import RepositoryDownload, alone

LOOK_S = 0.2
INTERRUPTED = 130
FOUND = (
    Column("Model", whole=True),
    Column("Size", figure=True),
    Column("Quantization", long=True, drop=1),
    Column("Licence", long=True, drop=3),
    Column("Downloads", figure=True, drop=2),
    Column("Fits"),
)


def open_hub() -> Hub:
    """Return the hub with the token that is there."""
    token = HubToken(locate().config)
    return Hub(lambda: token.read()[0])


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The options of one search. `task` "" is for any; `largest_gb` bounds what the weights take, None does not."""

    sort: str
    task: str
    largest_gb: float | None
    every: bool
    limit: int


def search(query: str, wanted: Wanted, *, as_json: bool) -> None:
    """Print the models that a search finds, each with whether it fits here. Raises a `HubError` or `UsageError`."""
    if wanted.sort not in ("downloads", "updated", "likes"):
        raise UsageError(f"--sort can be downloads, updated or likes, not “{wanted.sort}”.")
    if wanted.task not in ("", "chat", "base", "code", "vision"):
        raise UsageError(f"--task can be chat, base, code or vision, not “{wanted.task}”.")
    if wanted.largest_gb is not None and not 0 < wanted.largest_gb < math.inf:
        raise UsageError(f"--max-size can be any number of GB above 0, not “{wanted.largest_gb:g}”.")
    hub = open_hub()
    found, more = _found(hub, query, wanted)
    device = read_device()
    budget = read_memory(working_set=device.working_set_bytes).budget
    rows = [dataclasses.asdict(model) | verdict_of(model, budget, device) for model in map(hub.configured, found)]
    if as_json:
        print_json([{name: value for name, value in row.items() if name != "config"} for row in rows])
    elif not rows:
        note("Nothing found. Fewer words or bounds may help; --all also lists what is not made for MLX.")
    else:
        _show(rows)
        note(f"A model may take {size_text(budget)} here now: with other memory in use, more or less of it fits.")
        if more:
            note(f"There are more: --limit shows up to {MOST_FOUND}.")


def _found(hub: Hub, query: str, wanted: Wanted) -> tuple[Sequence[HubModel], bool]:
    """Return what the hub finds, and whether there is more. It knows no sizes: those are picked from all it gives at once."""
    largest = (wanted.largest_gb or 0) * GIGABYTE
    limit = MOST_FOUND if largest else min(wanted.limit, MOST_FOUND)
    found, more = hub.search(
        query,
        wanted.sort,  # type: ignore[arg-type]
        mlx_only=not wanted.every,
        limit=limit,
        task=wanted.task or None,  # type: ignore[arg-type]
    )
    if largest:
        found = tuple(model for model in found if 0 < model.size_bytes <= largest)
        more = more or len(found) > wanted.limit
    return found[: wanted.limit], more


def verdict_of(model: HubModel, budget: int, device: Device) -> dict[str, Any]:
    """Return whether a found model fits into `budget` bytes and how fast it could write; None where its config does not say."""
    unknown: dict[str, Any] = {"fits": None, "max_context": None, "peak_bytes": None, "decode_ceiling_tps": None}
    try:
        config = config_of(model.config)
        context = context_limit(None, model.context)
        fit = predict_unread(
            config, context=context, metal=device.metal, memory_bytes=device.memory_bytes, size_bytes=model.size_bytes
        )
    except ModelBroken:
        return unknown
    return {
        "fits": judge(fit, budget, device.max_buffer_bytes).fits,
        "max_context": largest_context(fit, budget, device.max_buffer_bytes),
        "peak_bytes": fit.peak_bytes,
        "decode_ceiling_tps": decode_ceiling(fit, device.bandwidth_bytes_per_s),
    }


def _show(rows: Sequence[dict[str, Any]]) -> None:
    print_table(
        FOUND,
        [
            (
                row["id"],
                size_text(row["size_bytes"]) if row["size_bytes"] else "",
                row["quantization"],
                row["licence"] + (" (gated)" if row["gate"] else ""),
                f"{row['downloads']:,}",
                _fits(row),
            )
            for row in rows
        ],
    )


def _fits(row: dict[str, Any]) -> str:
    if row["fits"] is None:
        return "unknown"
    if row["fits"]:
        return "yes"
    return f"with {row['max_context']:,} tokens" if row["max_context"] else "no"


def pull(model_id: str, *, as_json: bool) -> None:
    """Fetch a model into the Hugging Face cache, or go on where it was left.

    Raises a `HubError`, `DiskFull`, `ReadOnly` or `UsageError`; `ModelBroken` or `ModelUnsupported` for what it can't run.
    """
    check_id(model_id)
    hub, cache = open_hub(), cache_folder(os.environ)
    with alone(cache, model_id):
        detail = _described(hub, model_id)
        check_files(detail)
        others = [one for one in detail.variants if one.id != detail.model.id]
        if others and detail.model.id != model_id:
            named = ", ".join(f"{split_id(one.id)[1]} ({size_text(one.size_bytes)})" for one in others)
            there = f"{count_text(len(others), 'other')}: {named}."
            note(f"Fetching {detail.model.quantization} of several: name another as {model_id}/FILE. {there}")
        work = RepositoryDownload(hub, cache, detail)

        def stop() -> None:
            work.stop()
            hub.close()

        try:
            with StopOnInterrupt(stop):
                folder = _watched(work)
        except (Stopped, EngineStopped):
            note("Stopped. The same command goes on from here.")
            raise typer.Exit(INTERRUPTED) from None
    if work.left:
        note(work.left)
    check_fetched(folder, detail)
    if as_json:
        print_json({"id": detail.model.id, "folder": str(folder), "size_bytes": work.total_bytes, "commit": detail.commit})
    else:
        say(f"{detail.model.name} is ready: flint chat --model {detail.model.id}")


def _described(hub: Hub, model_id: str) -> HubDetail:
    """Ask what there is to fetch, and wait where it is the hub that asks for patience. Without a network it ends at once."""
    backoff = Backoff()
    while True:
        try:
            return hub.describe(model_id)
        except (RateLimited, HubTrouble) as error:
            seconds = backoff.pause_s(error)
            _tell_wait(error, seconds)
            time.sleep(seconds)


def _tell_wait(error: HubError, seconds: float) -> None:
    note(f"{error.text} Trying again in {max(0.0, seconds):.0f} s.")


def _watched(work: RepositoryDownload) -> Path:
    """Run a download on another thread, with a bar on stderr, and return its folder; raises what it raised."""
    outcome: list[Path | BaseException] = []

    def run() -> None:
        try:
            outcome.append(work.run())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, name="flint-pull", daemon=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(plain(work.detail.model.name), total=work.total_bytes)
        thread.start()
        told = ""
        while thread.is_alive():
            thread.join(LOOK_S)
            waiting = work.waiting
            bar.update(task, completed=work.done_bytes)
            if waiting and waiting[0].text != told:
                told = waiting[0].text
                _tell_wait(waiting[0], waiting[1] - time.monotonic())
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]

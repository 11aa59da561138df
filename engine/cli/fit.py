"""`flint models fit`: what a model would take here, whether it fits, and what would make it fit. Nothing is loaded."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.hub import open_hub
from engine.cli.output import note, print_json, say
from engine.cli.table import Column, print_table
from engine.core.context import LARGEST_DEFAULT_CONTEXT
from engine.core.errors import ModelBroken, ModelNotFound, UsageError
from engine.core.facts import ModelEntry
from engine.core.machine import THIS_MACHINE
from engine.core.preferences import Preferences
from engine.core.presence import file_there, there
from engine.core.sizes import size_text
from engine.hardware.device import Device, read_device
from engine.hardware.meters import read_memory
from engine.models.architectures import is_supported
from engine.models.config_sense import check_sense
from engine.models.facts import config_of
from engine.models.fit import LARGEST_CHUNK, Fit, Offer, change, decode_ceiling, degrade, judge, largest_context, predict
from engine.models.hub import CONFIG
from engine.models.hub_variants import check_id
from engine.models.kv_memory import BITS
from engine.models.library import Library
from engine.models.load_plan import plan_load, predict_load, predict_unread

PART_NAMES = {"weights": "Weights", "cache": "KV cache", "prefill": "Prefill"}
CHANGE_NAMES = {"chunk": "Smaller chunks", "kv_bits": "KV cache at fewer bits", "context": "Shorter context"}


@dataclasses.dataclass(frozen=True)
class Asked:
    """The options of one call."""

    context: int | None
    kv_bits: str
    chunk: int


def fit_model(
    model: str,
    library: Library,
    preferences: Preferences,
    asked: Asked,
    as_json: bool,
) -> None:
    """Print what `model`, a model on this machine or a config.json, would take, and whether it fits.

    Raises `UsageError` for an option out of bounds, `ModelNotFound` or `ModelBroken` for what is wrong with the model.
    """
    if asked.kv_bits not in BITS:
        raise UsageError(f"--kv-bits can be {', '.join(BITS)}, not “{asked.kv_bits}”.")
    device = read_device()
    if not model.strip():
        raise UsageError("No model was named.", "Give a model's name, id or path, or a config.json.")
    fit, name = _predict(model, library, preferences, asked, device)
    budget = read_memory(working_set=device.working_set_bytes).budget
    report = _report(name, fit, budget, device) | _assumed(fit, asked)
    if as_json:
        print_json(report)
    else:
        _show(report, fit)


def _predict(model: str, library: Library, preferences: Preferences, asked: Asked, device: Device) -> tuple[Fit, str]:
    """The prediction and the model's name. A bare config is judged by its own type and packing, a model here as it loads."""
    options: dict[str, Any] = {"kv_bits": asked.kv_bits, "chunk": asked.chunk, "metal": device.metal}
    options["context"] = asked.context or LARGEST_DEFAULT_CONTEXT
    path = Path(model).expanduser()
    if path.suffix == ".json":
        name, fit = path.name, _predict_config(path, options)
    else:
        try:
            entry = library.find(model)
        except ModelNotFound:
            slashes = 2 if path.suffix.lower() == ".gguf" else 1  # A GGUF is a file of its repository.
            if model.count("/") != slashes or path.is_absolute() or model.startswith((".", "~")):
                raise
            name, fit = _predict_on_hub(model, options, device)
        else:
            _check(entry)
            weights: Any = preferences.get("weights") or "auto"
            plan = plan_load(Path(entry.path), metal=device.metal, memory_bytes=device.memory_bytes, weights=weights)
            check_sense(plan.config)
            name, fit = entry.name, predict_load(plan, **options)
    trained = fit.plan.shape.context
    return (change(fit, context=trained) if trained and trained < fit.context else fit), name


def _predict_on_hub(model_id: str, options: dict[str, Any], device: Device) -> tuple[str, Fit]:
    """The name and prediction of a model that is not on this machine, as the window judges it: no weights are asked for.

    Raises the `HubError` of its gate where that alone keeps its facts back, `ModelBroken` where the hub has none.
    """
    check_id(model_id)
    hub = open_hub()
    detail = hub.describe(model_id)
    model, text = detail.model, detail.config or detail.model.config
    if not text and model.gate:
        text = hub.text(model_id, CONFIG)  # Why it is kept back is told when it is asked for.
    try:
        config = config_of(text)
    except ModelBroken:
        config = {}
    check_sense(config)
    try:
        fit = predict_unread(config, memory_bytes=device.memory_bytes, size_bytes=model.size_bytes, **options)
    except ModelBroken:
        size = f" Its files take {size_text(model.size_bytes)}." if model.size_bytes else ""
        told = f"{model_id} has no config.json that can be read, so the hub does not say what it would take.{size}"
        raise ModelBroken(
            told, f"Choose another repository, or fetch it: what is on {THIS_MACHINE} is judged by its files."
        ) from None
    return model.name, fit


def _predict_config(path: Path, options: dict[str, Any]) -> Fit:
    config = _read_config(path)
    check_sense(config)
    try:
        return predict(config, **options)
    except ModelBroken as error:
        raise ModelBroken(error.text, "Give the whole config.json of a model that writes text.") from None


def _check(entry: ModelEntry) -> None:
    # A GGUF is not imported yet, and need not be.
    if entry.kind != "gguf" and entry.problem:
        raise ModelBroken(f"{entry.name} can't be judged: {entry.problem}")


def _read_config(path: Path) -> dict[str, Any]:
    if there(path) and not file_there(path):  # To read a pipe would wait for ever.
        raise ModelBroken(f"{path} is no file.", "Give the path of a config.json.")
    try:
        config = json.loads(path.read_text("utf-8-sig"))
    except UnicodeDecodeError:
        raise ModelBroken(f"{path} is no text in UTF-8.", "Save it as UTF-8.") from None
    except FileNotFoundError:
        raise ModelNotFound(f"There is no file {path}.", "Give the path of a config.json, or a model's name or id.") from None
    except OSError as error:
        raise ModelBroken(f"{path} could not be read: {error.strerror}.") from error
    except (ValueError, RecursionError):
        raise ModelBroken(f"{path} is no valid JSON.", "Mend the file, or take it anew from the model's page.") from None
    if not isinstance(config, dict):
        raise ModelBroken(f"{path} does not describe a model.", "A config.json holds one object with the model's fields.")
    return config


def _report(name: str, fit: Fit, budget: int, device: Device) -> dict[str, Any]:
    verdict = judge(fit, budget, device.max_buffer_bytes)
    return {
        "model": name,
        "weights_bytes": fit.weights_bytes,
        "kv_bytes": fit.kv_bytes,
        "peak_bytes": fit.peak_bytes,
        "budget_bytes": budget,
        "fits": verdict.fits,
        "max_context": largest_context(fit, budget, device.max_buffer_bytes),
        "decode_ceiling_tps": decode_ceiling(fit, device.bandwidth_bytes_per_s),
        "context": fit.context,
        "kv_bits": fit.kv_bits,
        "chunk": fit.chunk,
        "reason": verdict.reason,
        "known_architecture": fit.known,
        "terms": [dataclasses.asdict(term) for term in fit.terms],
        "offers": [_offer(offer) for offer in degrade(fit, budget, device.max_buffer_bytes)],
    }


def _assumed(fit: Fit, asked: Asked) -> dict[str, Any]:
    """What the figures take for granted that was not asked for, and whether Flint runs the model at all."""
    kind = fit.plan.shape.config.get("model_type")
    assumed = []
    if asked.context and asked.context > fit.context:
        assumed.append(f"The model was trained to {fit.context:,} tokens: that many are assumed, not {asked.context:,}.")
    return {"supported": isinstance(kind, str) and is_supported(kind), "assumed": assumed}


def _offer(offer: Offer) -> dict[str, Any]:
    fit = offer.fit
    return {
        "change": offer.change,
        "context": fit.context,
        "kv_bits": fit.kv_bits,
        "chunk": fit.chunk,
        "kv_bytes": fit.kv_bytes,
        "peak_bytes": fit.peak_bytes,
    }


def _show(report: dict[str, Any], fit: Fit) -> None:
    if not report["supported"]:
        kind = fit.plan.shape.config.get("model_type") or "of no name"
        note(f"Flint does not run this kind yet ({kind}): take the figures as a rough guess.")
    elif not fit.known:
        note("This architecture was never compared with what mlx-lm makes of it: take the figures as a rough guess.")
    for one in report["assumed"]:
        note(one)
    rows = [(f"{PART_NAMES[term.part]}: {term.name}", size_text(term.bytes), term.formula) for term in fit.terms]
    columns = (Column("", long=True), Column("", figure=True), Column("", whole=True))
    print_table(columns, [*rows, ("Peak", size_text(fit.peak_bytes), "the sum")])
    figures = f"{report['model']}, {fit.context:,} tokens of context, KV {fit.kv_bits}"
    say(f"\n{figures}: {report['reason']} A model may take {size_text(report['budget_bytes'])} here now.")
    if report["max_context"]:
        say(f"The longest context that fits is {report['max_context']:,} tokens.")
    for offer in report["offers"]:
        would = f"{offer['chunk']:,} tokens at a time, KV {offer['kv_bits']}, {offer['context']:,} tokens of context"
        say(f"{CHANGE_NAMES[offer['change']]}: {would}: {size_text(offer['peak_bytes'])}.")
    if report["decode_ceiling_tps"] is not None:
        say(f"Writing can reach {report['decode_ceiling_tps']:.0f} tokens/s at most: memory bandwidth allows no more.")


ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL|config.json", help="A model's name, id or path, its name on the hub, or a config.json.")
]
ContextOption = Annotated[
    int | None, typer.Option("--context", min=1, help="Tokens of context. Default: the trained length, at most 32,768.")
]
KvBitsOption = Annotated[
    str, typer.Option("--kv-bits", metavar="off|8|8/4|4", help="Bits of the keys and values in the cache.")
]
ChunkOption = Annotated[
    int, typer.Option("--chunk", min=1, max=LARGEST_CHUNK, help="Tokens of a prompt that are read at a time.")
]

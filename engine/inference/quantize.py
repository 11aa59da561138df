"""A smaller copy of a model, quantized by mlx-lm's own rules, and how much worse it foresees a text.

The weights are read lazily and become small one by one, so that the copy has to fit into memory and the original need not.
"""

import contextlib
import gc
import io
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map_with_path

from engine.core.disk import check_disk
from engine.core.errors import OutOfMemory, Stopped, UsageError
from engine.core.facts import ModelEntry
from engine.core.keep_messages import ModelQuantized, QuantizeBits, QuantizeModel, QuantizeProgress
from engine.inference.load_guard import check_room
from engine.inference.loader import load, loading_errors, read_model
from engine.inference.perplexity import perplexity
from engine.models.entries import folder_entry
from engine.models.facts import read_config, read_facts
from engine.models.in_use import in_use
from engine.models.library import Library
from engine.models.made_folder import folder_to_make, place
from engine.models.naming import new_name
from engine.models.record import Record, write_record

MIXED = "mixed_4_6"
GROUPS = (32, 64, 128)
_TAKEN_ALONG = (".json", ".jinja", ".model", ".txt", ".tiktoken")
_LEFT = ("config.json", "flint.json", "model.safetensors.index.json")
_STORED_AS = re.compile(r"\s+(bf16|fp16|f16|fp32|f32|\d+[ -]?bit|(I?Q\d\w*))$", re.IGNORECASE)

type Progress = Callable[[float, str, int], None]
"""Fraction from 0 to 1, the stage in words, and the bytes that the copy will take."""


@dataclass(frozen=True)
class Quantized:
    """What was made. Perplexities are 0 where the model was too large to be tried."""

    folder: Path
    size_bytes: int
    bits_per_weight: float
    perplexity: float
    perplexity_before: float


def carry_out(
    command: QuantizeModel,
    library: Library,
    root: Path,
    told: Callable[[QuantizeProgress], None],
    asked_to_stop: Callable[[], bool],
) -> ModelQuantized:
    """Make the copy that a command asks for and say what it became; a chat template of one's own goes along.

    Raises as `quantize`.
    """
    entry = library.find(command.model_id)
    name = new_name(command.name, copy_name(entry, command.bits), library.entries())

    def progress(fraction: float, stage: str, size: int) -> None:
        told(QuantizeProgress(command.request_id, fraction, stage, size))

    with in_use(Path(entry.path), entry.name):
        made = quantize(entry, root, command.bits, command.group, name, progress, asked_to_stop)
    small = library.find(str(made.folder))
    if template := library.notebook.of(entry.id).template:
        library.notebook.use_template(small.id, template)
    return ModelQuantized(
        command.request_id,
        small.id,
        small.name,
        small.path,
        small.size_bytes,
        entry.size_bytes,
        made.bits_per_weight,
        made.perplexity,
        made.perplexity_before,
    )


def copy_name(entry: ModelEntry, bits: QuantizeBits) -> str:
    """Return what a copy is called unless somebody names it: “SmolLM2 135M Instruct 4-bit”."""
    return f"{_STORED_AS.sub('', entry.name)} {'mixed 4-bit' if bits == 'mixed' else f'{bits}-bit'}"


def quantize(
    entry: ModelEntry,
    root: Path,
    bits: QuantizeBits,
    group: int,
    name: str,
    progress: Progress,
    asked_to_stop: Callable[[], bool],
) -> Quantized:
    """Make a copy of `entry` at `bits` under `root`, with `group` weights sharing a scale; nothing is kept when it fails.

    Raises `UsageError` for a model that is not larger than that, `DiskFull`, `ReadOnly`, `ModelBroken`, `OutOfMemory` or
    `Stopped`.
    """
    _check(entry, bits, group)
    source = Path(entry.path)

    def moved(fraction: float, stage: str) -> None:
        if asked_to_stop():
            raise Stopped
        progress(fraction, stage, predicted)

    with folder_to_make(root) as folder:
        with loading_errors(entry.name):
            model, config = read_model(source)
            model, config, predicted = _planned(model, config, bits, group)
        check_disk(name, predicted, root)
        moved(0.0, "Trying the original")
        before = _tried(entry, asked_to_stop, lambda part: moved(0.25 * part, "Trying the original"))
        _compute(model, lambda part: moved(0.25 + 0.5 * part, "Quantizing"))
        parameters = _weights(read_facts(source).parameters, model)
        moved(0.75, "Writing")
        _write(model, config, source, folder)
        del model
        gc.collect()
        mx.clear_cache()
        small = folder_entry(folder, "flint", folder.name, name)
        after = _tried(small, asked_to_stop, lambda part: moved(0.8 + 0.2 * part, "Trying the copy"))
        stored = sum(path.stat().st_size for path in folder.glob("model*.safetensors"))
        write_record(folder, Record(name, entry.id, entry.size_bytes, "", f"{bits}-bit", after, before))
        made = place(folder, root, name)
        return Quantized(made, small.size_bytes, 8 * stored / max(1, parameters), after, before)


def _check(entry: ModelEntry, bits: QuantizeBits, group: int) -> None:
    if group not in GROUPS:
        raise UsageError(f"A group has 32, 64 or 128 weights, not {group}.")
    if entry.problem:
        raise UsageError(entry.problem, "Choose a model that can be used.")
    if entry.kind != "mlx":
        raise UsageError(f"{entry.name} is not imported yet.", "Import it first.")
    now = read_facts(read_config(Path(entry.path))).bits
    wanted = 4 if bits == "mixed" else int(bits)
    if now and now <= wanted:
        raise UsageError(
            f"{entry.name} has {now:g} bits a weight already.", "Choose fewer bits, or the model in full precision."
        )


def _planned(model: Any, config: dict[str, Any], bits: QuantizeBits, group: int) -> tuple[Any, dict[str, Any], int]:
    """Return the model as it will be, none of it computed yet, its config, and the bytes that its weights will take."""
    from mlx_lm.convert import mixed_quant_predicate_builder
    from mlx_lm.utils import dequantize_model, quantize_model

    if "quantization" in config:
        model = dequantize_model(model)
        config = {key: value for key, value in config.items() if key not in ("quantization", "quantization_config")}
    kind = _dtype(model, config)
    keeps = getattr(model, "cast_predicate", lambda _: True)
    model.update(
        tree_map_with_path(
            lambda path, value: value.astype(kind) if keeps(path) and mx.issubdtype(value.dtype, mx.floating) else value,
            model.parameters(),
        )
    )
    rule = mixed_quant_predicate_builder(MIXED, model, group) if bits == "mixed" else None
    with contextlib.redirect_stdout(io.StringIO()):  # It tells its bits a weight, and stdout is not its to write to.
        model, config = quantize_model(model, config, group, 4 if bits == "mixed" else int(bits), quant_predicate=rule)
    config["torch_dtype"] = str(kind).rpartition(".")[2]
    return model, config, sum(array.nbytes for _, array in tree_flatten(model.parameters()))


def _dtype(model: Any, config: dict[str, Any]) -> mx.Dtype:
    """Return what is not packed is stored in: the model's own type where that is half precision, else bfloat16."""
    named = config.get("torch_dtype") or config.get("dtype")
    kinds = {"float16": mx.float16, "bfloat16": mx.bfloat16}
    if named in kinds:
        return kinds[named]
    sizes: dict[mx.Dtype, int] = {}
    for _, array in tree_flatten(model.parameters()):
        sizes[array.dtype] = sizes.get(array.dtype, 0) + array.nbytes
    most = max(sizes, key=lambda kind: sizes[kind], default=mx.bfloat16)
    return most if most in kinds.values() else mx.bfloat16


def _tried(entry: ModelEntry, asked_to_stop: Callable[[], bool], moved: Callable[[float], None]) -> float:
    """Return the perplexity of a model; 0 where it does not fit into memory."""
    try:
        check_room(entry, "auto")
        loaded = load(entry, "auto", lambda fraction, _stage: moved(0.5 * fraction))
    except OutOfMemory:
        return 0.0
    found = perplexity(loaded, asked_to_stop, lambda fraction: moved(0.5 + 0.5 * fraction))
    del loaded
    gc.collect()
    mx.clear_cache()
    return found


def _compute(model: Any, moved: Callable[[float], None]) -> None:
    """Compute the small weights one by one: each large one is let go as its own is there."""
    arrays = [array for _, array in tree_flatten(model.parameters())]
    total, done = sum(array.nbytes for array in arrays) or 1, 0
    for array in arrays:
        mx.eval(array)
        done += array.nbytes
        moved(done / total)


def _weights(counted: int, model: Any) -> int:
    """Return the number of weights: as the original's headers count them, else as the model does."""
    from mlx_lm.utils import get_total_parameters

    return counted or int(get_total_parameters(model))


def _write(model: Any, config: dict[str, Any], source: Path, folder: Path) -> None:
    from mlx_lm.utils import save_config, save_model

    for path in source.iterdir():
        if path.is_file() and path.suffix in _TAKEN_ALONG and path.name not in _LEFT and not path.name.startswith("."):
            shutil.copyfile(path, folder / path.name)
    save_model(folder, model, donate_model=True)
    save_config(config, folder / "config.json")

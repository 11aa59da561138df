"""From a folder of safetensors to a model in memory that has answered one token."""

import contextlib
import glob
import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten

from engine.core.errors import FlintError, ModelBroken, ModelUnsupported, OutOfMemory, Stopped
from engine.core.facts import LoadedModel, ModelEntry, Weights
from engine.hardware.device import Device, read_device
from engine.hardware.meters import total_bytes
from engine.inference.end_of_turn import end_token_ids
from engine.inference.libraries import import_libraries
from engine.inference.own_template import read_tokenizer
from engine.models.facts import read_facts
from engine.models.record import read_record

BATCH_BYTES = 64 << 20
"""Weights evaluated between two progress reports."""

HALF_TYPES = {"bfloat16": mx.bfloat16, "float16": mx.float16}

Progress = Callable[[float, str], None]


@dataclass
class Loaded:
    """A model in memory: the mlx-lm module, its transformers tokenizer, the ids that end a turn, and its facts."""

    model: Any
    tokenizer: Any
    config: dict[str, Any]
    end_ids: frozenset[int]
    facts: LoadedModel
    device: Device
    element_bytes: int


def load(entry: ModelEntry, weights: Weights, progress: Progress, template: str = "") -> Loaded:
    """Load the model folder of `entry`, which `integrity.check_folder` found whole, and run one token through it.

    A chat `template` stands for the model's own.

    `weights` as the setting says; `progress` is given a fraction from 0 to 1 and a stage in words, and may raise `Stopped`.
    Raises `ModelBroken`, `ModelUnsupported` or `OutOfMemory`.
    """
    started = time.perf_counter()
    folder = Path(entry.path)
    on_cpu = mx.default_device() == mx.cpu
    if on_cpu and not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        mx.disable_compile()  # MLX compiles fused kernels with the system's C++ compiler, and there is none.
    progress(0.0, "Reading the tokenizer")
    with loading_errors(entry.name):
        tokenizer = read_tokenizer(folder, template)
        progress(0.1, "Reading the weights")
        model, config = read_model(folder)
        dense = on_cpu and _goes_dense(model, weights)
        _set_precision(model, on_cpu=on_cpu, dense=dense or weights == "dense", computed_in=_computed_in(folder, config))
        for fraction in _evaluate(model):
            progress(0.1 + 0.8 * fraction, "Reading the weights")
        progress(0.9, "Trying one token")
        kv_bytes = _probe(model)
        facts, device = read_facts(folder), read_device()
        parameters = dict(tree_flatten(model.parameters()))
        held = sum(array.nbytes for array in parameters.values())
        progress(1.0, "Ready")
        return Loaded(
            model=model,
            tokenizer=tokenizer,
            config=config,
            end_ids=end_token_ids(tokenizer, config),
            device=device,
            element_bytes=_element_bytes(model),
            facts=LoadedModel(
                id=entry.id,
                name=entry.name,
                architecture=facts.model_type,
                parameters=_parameter_count(model),
                context=facts.context,
                weights_bytes=held,
                read_bytes_per_token=held - _unread_bytes(model, config),
                kv_bytes_per_token=kv_bytes,
                quantization="float32, unpacked" if dense else facts.quantization,
                bandwidth_bytes_per_s=device.bandwidth_bytes_per_s,
                fingerprint=fingerprint(folder),
                load_s=time.perf_counter() - started,
                recommended=entry.recommended,
            ),
        )


def with_template(loaded: Loaded, folder: Path, template: str) -> Loaded:
    """Return a loaded model with another chat template, "" its own; the weights stay where they are."""
    tokenizer = read_tokenizer(folder, template)
    return replace(loaded, tokenizer=tokenizer, end_ids=end_token_ids(tokenizer, loaded.config))


def fingerprint(folder: Path) -> str:
    """Return 16 hex digits that identify the weights and the config: sizes, headers and samples of every safetensors file.

    A whole hash would read gigabytes at each load; other weights of the same shapes differ in the samples.
    """
    digest = hashlib.sha256((folder / "config.json").read_bytes())
    for path in sorted(folder.glob("model*.safetensors")):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}".encode())
        with path.open("rb") as file:
            for position in (0, size // 3, size // 2, max(0, size - 65536)):
                file.seek(position)
                digest.update(file.read(65536))
    return digest.hexdigest()[:16]


class loading_errors:  # noqa: N801 - reads as a statement
    """Context that turns what mlx-lm, transformers and MLX raise while loading `name` into Flint's errors."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, FlintError | Stopped) or not isinstance(error, Exception):
            return
        text = str(error)
        if isinstance(error, MemoryError) or "alloc" in text or "memory" in text.lower():
            raise OutOfMemory(f"There is not enough memory to load {self._name}.") from error
        if "not supported" in text or "custom module" in text or "trust_remote_code" in text:
            raise ModelUnsupported(f"{self._name} is of a kind that Flint cannot run: {_first_line(text)}") from error
        raise ModelBroken(f"{self._name} could not be loaded: {_first_line(text) or type(error).__name__}") from error


def _first_line(text: str) -> str:
    line = text.strip().splitlines()[0].strip() if text.strip() else ""
    return line[:200]


def read_model(folder: Path) -> tuple[Any, dict[str, Any]]:
    """Return the mlx-lm module of a model folder, its weights not read yet, and its config."""
    import_libraries()
    from mlx_lm.utils import load_model

    with _plain_path(folder) as path:
        model, config = load_model(path, lazy=True)
    return model, config


@contextlib.contextmanager
def _plain_path(folder: Path) -> Iterator[Path]:
    """Give a path to `folder` without brackets or stars: mlx-lm looks for the weights with a pattern made of it."""
    if glob.escape(str(folder)) == str(folder):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="flint-") as temporary:
        link = Path(temporary) / "model"
        link.symlink_to(folder.absolute(), target_is_directory=True)
        yield link


def _goes_dense(model: Any, weights: Weights) -> bool:
    if weights == "auto":
        return _parameter_count(model) * 4 <= total_bytes() // 4
    return weights == "dense"


def _computed_in(folder: Path, config: dict[str, Any]) -> str:
    """The type that a model imported from a GGUF is computed in on a GPU; empty for others, which are taken as they are.

    A GGUF keeps norms in float32, which would pull every activation up to it; and Gemma's activations leave float16's range.
    """
    return str(config.get("torch_dtype") or "float16") if read_record(folder) is not None else ""


def _set_precision(model: Any, *, on_cpu: bool, dense: bool, computed_in: str) -> None:
    if on_cpu:
        model.set_dtype(mx.float32)  # bfloat16 on a CPU runs about ten times slower.
    elif computed_in:
        model.set_dtype(HALF_TYPES.get(computed_in, mx.float16))
    if dense:
        from mlx_lm.utils import dequantize_model

        dequantize_model(model)
        if on_cpu:
            model.set_dtype(mx.float32)  # MXFP4 comes out as bfloat16: it has no scales whose type it could take.


def _evaluate(model: Any) -> Iterator[float]:
    arrays = [array for _, array in tree_flatten(model.parameters())]
    total = sum(array.nbytes for array in arrays) or 1
    done = pending = 0
    batch: list[mx.array] = []
    for array in arrays:
        batch.append(array)
        pending += array.nbytes
        if pending >= BATCH_BYTES:
            mx.eval(batch)
            done, pending, batch = done + pending, 0, []
            yield done / total
    mx.eval(batch)
    yield 1.0


def _probe(model: Any) -> int:
    """Run one token; return the bytes that a token adds to the caches that grow."""
    from mlx_lm.models.cache import make_prompt_cache

    caches = make_prompt_cache(model)
    mx.eval(model(mx.array([[0]]), cache=caches))
    growing = 0
    for cache in caches:
        keys, values = getattr(cache, "keys", None), getattr(cache, "values", None)
        if isinstance(keys, mx.array) and isinstance(values, mx.array):
            growing += (keys.nbytes + values.nbytes) // keys.shape[2]
    return growing


def _element_bytes(model: Any) -> int:
    """Bytes of an activation: of the widest floating type among the parameters."""
    sizes = [array.itemsize for _, array in tree_flatten(model.parameters()) if mx.issubdtype(array.dtype, mx.floating)]
    return max(sizes, default=4)


def _parameter_count(model: Any) -> int:
    from mlx_lm.utils import get_total_parameters

    return int(get_total_parameters(model))


def _unread_bytes(model: Any, config: dict[str, Any]) -> int:
    """Bytes of weights one decode step does not read: an embedding that is not also the output, and idle experts."""
    from mlx_lm.models.switch_layers import QuantizedSwitchLinear, SwitchLinear

    unread = 0
    parameters = dict(tree_flatten(model.parameters()))
    if any("lm_head" in name for name in parameters):
        unread += sum(array.nbytes for name, array in parameters.items() if "embed_tokens" in name)
    text_config = {**config, **(config.get("text_config") or {})}
    experts = next(
        (text_config[name] for name in ("num_local_experts", "num_experts", "n_routed_experts") if text_config.get(name)), 0
    )
    active = text_config.get("num_experts_per_tok") or text_config.get("moe_topk") or experts
    for module in model.modules():
        # The layer's kind tells experts, not its name, which differs; a grouped projection is of that kind too.
        if isinstance(module, SwitchLinear | QuantizedSwitchLinear) and module.weight.shape[0] == experts:
            held = sum(array.nbytes for _, array in tree_flatten(module.parameters()))
            unread += held * (experts - min(active, experts)) // experts
    return unread


def is_quantized(model: Any) -> bool:
    """Return whether any layer of the model holds quantized weights."""
    return any(isinstance(module, nn.QuantizedLinear | nn.QuantizedEmbedding) for module in model.modules())

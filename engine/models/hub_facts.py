"""What the hub says of a repository, as Flint's own facts."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, cast

from engine.core.errors import ModelBroken, UsageError
from engine.core.hub_facts import Gate, HubDetail, HubFile, HubModel, HubTask
from engine.models.facts import config_of, read_facts
from engine.models.hub_variants import is_of
from engine.models.integrity import TOKENIZERS, WEIGHTS_PATTERN
from engine.models.names import human_name

_ELEMENT_BYTES = {
    "F64": 8,
    "I64": 8,
    "F32": 4,
    "I32": 4,
    "U32": 4,
    "F16": 2,
    "BF16": 2,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "F8_E4M3": 1,
}
_FLOATS = ("BF16", "F16", "F32")
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
GGUF = "GGUF"
"""How a repository of GGUFs is said to be quantized: in several ways, perhaps."""
WEIGHTS = (".safetensors", ".gguf")
_NEEDED = (".safetensors", ".json", ".model", ".jinja", ".txt", ".tiktoken", ".gguf")
# Weights that stand beside the others in another form, and what no model needs to run.
_LEFT = ("original/", "onnx/", "openvino/", "coreml/", "flax_model", "tf_model", "consolidated", "training_args")


TEXT_TASK, VISION_TASK = "text-generation", "image-text-to-text"
CHAT_TAG, BASE_TAG = "conversational", "base_model:"
"""The hub's words: tasks, the tag of models with a chat template, the start of the one that says what a model was made from."""
_CHAT = re.compile(r"(^|[-_ .])(instruct|chat|it)($|[-_ .])", re.IGNORECASE)
_CODE = re.compile(r"(?<!de)(?<!en)code(?!c)", re.IGNORECASE)


def described(info: Any, model_id: str = "") -> HubModel:
    """Return what a `ModelInfo` says; a field that is missing or of another kind is left empty.

    `model_id` is what was asked for: of a repository that has another name by now, the hub tells the new one.
    """
    model_id = model_id or info.id
    tags = [tag for tag in info.tags or () if isinstance(tag, str)]
    dtypes = info.safetensors.parameters if info.safetensors is not None else {}
    config = info.config if isinstance(info.config, dict) else {}
    gguf = info.gguf if isinstance(info.gguf, dict) else {}
    # The excerpt of a config says nothing of weights that are not packed.
    floats = [dtype for dtype in dtypes if dtype in _FLOATS] if len(dtypes) == 1 else []
    model = HubModel(
        id=model_id,
        name=human_name(model_id.partition("/")[2] or model_id),
        author=model_id.partition("/")[0] if "/" in model_id else "",
        mlx="mlx" in tags or info.library_name == "mlx",
        size_bytes=sum(count * _ELEMENT_BYTES.get(dtype, 2) for dtype, count in dtypes.items()),
        quantization=GGUF if gguf and not dtypes else floats[0] if floats else "",
        architecture=str(gguf.get("architecture") or ""),
        context=gguf["context_length"] if isinstance(gguf.get("context_length"), int) else 0,
        licence=_tagged(tags, "license:"),
        task=info.pipeline_tag or "",
        tasks=tasks_of(info.pipeline_tag or "", tags, model_id.partition("/")[2]),
        base=_base_of(tags),
        downloads=info.downloads or 0,
        likes=info.likes or 0,
        gate=cast("Gate", info.gated or ""),
        updated=f"{info.last_modified:%Y-%m-%d}" if info.last_modified else "",
    )
    return replace(with_config(model, json.dumps(config)), parameters=_parameters(dtypes, config) or _total(gguf))


def tasks_of(task: str, tags: Iterable[str], name: str) -> tuple[HubTask, ...]:
    """Return what a model is for, by the hub's word for it, its tags and its name; nothing where it does not write text.

    The hub tags those with a chat template; a conversion may have lost it, and its name says so still. Of models for code only
    their names tell.
    """
    if task == VISION_TASK:
        return ("vision",)
    if task != TEXT_TASK:
        return ()
    kind: HubTask = "chat" if CHAT_TAG in tags or _CHAT.search(name) else "base"
    return (kind, "code") if _CODE.search(name) else (kind,)


def with_config(model: HubModel, config: str, size_bytes: int = 0) -> HubModel:
    """Return a model with the facts of its config.json; what that does not say stays."""
    try:
        facts = read_facts(config_of(config))
    except ModelBroken:
        return replace(model, size_bytes=size_bytes or model.size_bytes)
    return replace(
        model,
        architecture=facts.model_type or model.architecture,
        context=facts.context or model.context,
        quantization=facts.quantization or model.quantization,
        size_bytes=size_bytes or model.size_bytes,
        config=config if facts.layers else model.config,
    )


def wanted_files(files: Iterable[HubFile], gguf: str = "") -> tuple[HubFile, ...]:
    """Return the files that running the model takes: safetensors before all else, never code or pickled weights.

    `gguf` names a file of a repository of GGUFs, each of which is a model of its own: that one alone, in all its parts.
    """
    found = [file for file in files if _is_safe(file) and file.path.endswith(_NEEDED) and not file.path.startswith(_LEFT)]
    if gguf:
        return tuple(file for file in found if is_of(file.path, gguf))
    return tuple(file for file in found if not file.path.endswith(".gguf"))


def _is_safe(file: HubFile) -> bool:
    """Whether a file's names can be used as names here: nothing leads out of the folder it belongs in."""
    parts = file.path.split("/")
    plain = all(part not in ("", ".", "..") and "\\" not in part and "\0" not in part for part in parts)
    return plain and _HASH.fullmatch(file.etag) is not None and file.size_bytes >= 0


def weights_bytes(files: Iterable[HubFile]) -> int:
    """Return what the weights among files take."""
    return sum(file.size_bytes for file in files if file.path.endswith(WEIGHTS))


def _base_of(tags: Iterable[str]) -> str:
    """Return the model that one was made from: one tag names it, another how, as “base_model:quantized:org/name”."""
    named = [tag.removeprefix(BASE_TAG).rpartition(":") for tag in tags if tag.startswith(BASE_TAG)]
    return next((name for how, _, name in sorted(named, key=lambda one: one[0] != "quantized")), "")


def check_files(detail: HubDetail) -> None:
    """Raise `UsageError` where a repository's list of files shows that Flint can't run it."""
    if reason := what_is_missing(detail):
        raise UsageError(f"{detail.model.id} {reason}.", "Choose another repository.")


def what_is_missing(detail: HubDetail) -> str:
    """Return what keeps Flint from running a repository's files, as “has no config.json”; "" where nothing does.

    It is what `check_folder` would find once they are here.
    """
    names = {file.path for file in detail.files}
    if not any(name.endswith(WEIGHTS) for name in names):
        return "has no weights that Flint runs, safetensors or GGUF"
    if any(name.endswith(".gguf") for name in names):
        return ""  # All that a GGUF needs is in it.
    if "config.json" not in names:
        return "has no config.json, which says what the model is"
    if not any(fnmatchcase(name, WEIGHTS_PATTERN) for name in names):
        return f"has no weights of a whole model ({WEIGHTS_PATTERN})"
    return "" if names & set(TOKENIZERS) else "has no tokenizer (tokenizer.json)"


def _tagged(tags: Iterable[str], start: str) -> str:
    return next((tag.removeprefix(start) for tag in tags if tag.startswith(start)), "")


def _total(gguf: Mapping[str, Any]) -> int:
    total = gguf.get("total")
    return total if isinstance(total, int) else 0


def _parameters(dtypes: Mapping[str, int], config: Mapping[str, Any]) -> int:
    """Return the number of weights: those packed into 32-bit words counted by their bits, the groups' scales left out."""
    rule = config.get("quantization") or config.get("quantization_config")
    bits = rule.get("bits") if isinstance(rule, dict) else None
    group = rule.get("group_size") if isinstance(rule, dict) else None
    packed = dtypes.get("U32", 0)
    if not packed or not isinstance(bits, int) or bits <= 0:
        return sum(dtypes.values())
    weights = packed * 32 // bits
    others = sum(count for dtype, count in dtypes.items() if dtype != "U32")
    return weights + max(0, others - 2 * weights // (group if isinstance(group, int) and group > 0 else 64))

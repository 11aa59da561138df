"""One model stored in several ways on the hub: in repositories for MLX, one each; as GGUF in one, a file each.

A file of a repository is a model of its own, whose id is “author/name/file.gguf”: so the library calls it once it is here.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from engine.core.errors import UsageError
from engine.core.hub_facts import HubFile, HubModel
from engine.models.names import full_name, stored_name

USUAL = "Q4_K_M"
"""The quantization that is meant where a repository of GGUFs alone is named, as other tools mean it."""
# An author and a name, as the hub allows them: letters, digits, “_”, and between those “-” and “.”, not doubled.
_NAME = r"(?!.*(--|\.\.))\w([\w.-]*\w)?/\w([\w.-]*\w)?"
# What lies beside a model and is none: what lets it see pictures, and what it was quantized by.
_BESIDE = ("mmproj", "imatrix")

# What publishers append to say how they stored the weights: “-4bit”, “-MLX-8bit”, “-bf16”, “-4bit-DWQ-053125”, “-mxfp4”.
_STORED_AS = re.compile(
    r"[-_.](\d{1,2}(\.\d+)?-?bits?|b?f16|fp(4|8|16|32)|f32|int[48]|mxfp[48]|nvfp4|q\d\w*|mixed\w*|gs?\d{2,3}|awq|gptq|mlx|dwq.*)$",
    re.IGNORECASE,
)


def split_id(model_id: str) -> tuple[str, str]:
    """Return the repository of a model and its file there: "" where the repository is the model."""
    author, _, rest = model_id.partition("/")
    name, _, file = rest.partition("/")
    return f"{author}/{name}" if file else model_id, file


def check_id(model_id: str) -> None:
    """Raise `UsageError` for a name that no model on the hub can have."""
    repository, file = split_id(model_id)
    if not re.fullmatch(_NAME, repository, re.ASCII) or (file and not file.lower().endswith(".gguf")):
        raise UsageError(f"“{model_id}” is no name of a model on the hub.", "A name looks like author/model.")
    if "/" in file:
        told = f"{file} lies in a folder of {repository}, and Flint fetches only GGUF files that lie in none."
        raise UsageError(told, "Choose another file, or fetch it with another tool and import it.")


def gguf_variants(model: HubModel, files: Iterable[HubFile]) -> tuple[HubModel, ...]:
    """Return the models that a repository holds as GGUF, the smallest first: each one file, or all the parts of one.

    Nothing where it has safetensors, which come before GGUFs. Files in folders are left out, as the library leaves them.
    """
    from engine.models.gguf_header import first_parts  # It reads files too: nothing that a window needs.

    known = tuple(files)
    if any(file.path.endswith(".safetensors") for file in known):
        return ()
    names = [file.path for file in known if file.path.endswith(".gguf") and "/" not in file.path]
    found = []
    for first in first_parts(Path(name) for name in names if not name.lower().startswith(_BESIDE)):
        size = sum(file.size_bytes for file in known if is_of(file.path, first.name))
        told = stored_name(first.stem) or first.stem
        found.append(
            replace(model, id=f"{model.id}/{first.name}", name=full_name(first.stem), size_bytes=size, quantization=told)
        )
    return tuple(sorted(found, key=lambda one: (one.size_bytes, one.id)))


def is_of(path: str, first: str) -> bool:
    """Whether a file is `first`, or one of the parts of which that is the first."""
    stem, told, _ = first.rpartition("-00001-of-")
    return path.startswith(f"{stem}-0") and path.endswith(first[-len("-00001.gguf") :]) if told else path == first


def chosen_of(variants: tuple[HubModel, ...], model_id: str) -> HubModel | None:
    """Return the one that an id names; the usual one, else the smallest, for a repository's. None where there is none such."""
    if split_id(model_id)[1]:
        return next((one for one in variants if one.id == model_id), None)
    return next((one for one in variants if one.quantization == USUAL), variants[0] if variants else None)


def stem_of(name: str) -> str:
    """Return a repository's name without what says how its weights are stored: “Qwen3-8B-4bit-DWQ” is “Qwen3-8B”."""
    while (shorter := _STORED_AS.sub("", name)) and shorter != name:
        name = shorter
    return name


def variants_of(model_id: str, found: Iterable[HubModel]) -> tuple[HubModel, ...]:
    """Return those of `found` that are `model_id` stored in other ways, itself among them, the smallest first.

    Publishers name a repository by its model and how it is stored: what has another stem, as a finetune of the same base, is
    another model.
    """
    author, _, name = model_id.partition("/")
    stem = stem_of(name).casefold()
    same = [one for one in found if one.author == author and stem_of(one.id.partition("/")[2]).casefold() == stem]
    return tuple(sorted(same, key=lambda one: (one.size_bytes, one.id)))


def stored_as(model: HubModel) -> str:
    """Return how a model is stored, as its publisher names it: “4-bit DWQ”; how its weights are where the name does not say."""
    if split_id(model.id)[1]:
        return model.quantization
    name = model.id.partition("/")[2]
    told = re.sub(r"[-_.\s]+", " ", name[len(stem_of(name)) :]).strip()
    return re.sub(r"(\d) ?bits?\b", r"\1-bit", told, flags=re.IGNORECASE) or model.quantization or "As published"

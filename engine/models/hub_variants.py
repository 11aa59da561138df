"""One model stored in several ways on the hub: which repositories hold the same weights in other quantizations."""

import re
from collections.abc import Iterable

from engine.core.hub_facts import HubModel

# What publishers append to say how they stored the weights: “-4bit”, “-MLX-8bit”, “-bf16”, “-4bit-DWQ-053125”, “-mxfp4”.
_STORED_AS = re.compile(
    r"[-_.](\d{1,2}(\.\d+)?-?bits?|b?f16|fp(4|8|16|32)|f32|int[48]|mxfp[48]|nvfp4|q\d\w*|mixed\w*|gs?\d{2,3}|awq|gptq|mlx|dwq.*)$",
    re.IGNORECASE,
)


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
    name = model.id.partition("/")[2]
    told = re.sub(r"[-_.\s]+", " ", name[len(stem_of(name)) :]).strip()
    return re.sub(r"(\d) ?bits?\b", r"\1-bit", told, flags=re.IGNORECASE) or model.quantization or "As published"

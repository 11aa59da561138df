"""Which architectures can be imported from a GGUF, and who reads each."""

from collections.abc import Callable, Mapping

from engine.core.errors import ModelUnsupported
from engine.models.gguf_file import Header
from engine.models.gguf_gemma2 import read_gemma2
from engine.models.gguf_gemma3 import read_gemma3
from engine.models.gguf_gpt_oss import read_gpt_oss
from engine.models.gguf_llama import read_llama
from engine.models.gguf_phi3 import read_phi3
from engine.models.gguf_plan import CHOOSE_ANOTHER, GgufModel
from engine.models.gguf_qwen import read_qwen2, read_qwen3, read_qwen3_moe

ARCHITECTURES: Mapping[str, Callable[[Header], GgufModel]] = {
    "llama": read_llama,
    "qwen2": read_qwen2,
    "qwen3": read_qwen3,
    "qwen3moe": read_qwen3_moe,
    "gemma2": read_gemma2,
    "gemma3": read_gemma3,
    "phi3": read_phi3,
    "gpt-oss": read_gpt_oss,
}


# What people choose by mistake.
_HINTS: Mapping[str, str] = {
    "clip": "It is what lets a model see pictures. Choose the model's own file, which lies beside it.",
    **dict.fromkeys(("bert", "nomic-bert", "jina-bert-v2"), "It compares texts and writes none. Choose a model for chats."),
    **dict.fromkeys(("wan", "flux", "sd1", "sdxl", "sd3"), "It makes pictures. Choose a model for chats."),
}


# What a file may say it is instead of a model.
_OTHER_TYPES: Mapping[str, str] = {
    "adapter": "It changes another model. Choose a model that it was merged into.",
    "imatrix": "It says how to quantize a model. Choose the model itself.",
    "mmproj": _HINTS["clip"],
}


def read_model(header: Header) -> GgufModel:
    """Return the config and the tensors of the model in a GGUF.

    Raises `ModelUnsupported`, naming what it is, for an architecture, a variant of one or a tensor kind that is not known;
    `ModelBroken` when something needed is missing or has a shape that does not fit.
    """
    kind = header.metadata.get("general.type", "model")
    if isinstance(kind, str) and kind in _OTHER_TYPES:
        raise ModelUnsupported(f"{header.path.name} is no model but of type “{kind}”.", _OTHER_TYPES[kind])
    read = ARCHITECTURES.get(header.architecture)
    if read is None:
        named = f"of architecture “{header.architecture}”" if header.architecture else "of no named architecture"
        text = f"{header.path.name} is {named}, which Flint can't import from a GGUF."
        raise ModelUnsupported(text, _HINTS.get(header.architecture, CHOOSE_ANOTHER))
    return read(header)

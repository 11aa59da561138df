"""Which architectures can be imported from a GGUF, and who reads each."""

from collections.abc import Callable, Mapping

from engine.core.errors import ModelUnsupported
from engine.models.gguf_gemma3 import read_gemma3
from engine.models.gguf_header import Header
from engine.models.gguf_llama import read_llama
from engine.models.gguf_plan import CHOOSE_ANOTHER, GgufModel

ARCHITECTURES: Mapping[str, Callable[[Header], GgufModel]] = {"llama": read_llama, "gemma3": read_gemma3}


def read_model(header: Header) -> GgufModel:
    """Return the config and the tensors of the model in a GGUF.

    Raises `ModelUnsupported`, naming what it is, for an architecture, a variant of one or a tensor kind that is not known;
    `ModelBroken` when something needed is missing or has a shape that does not fit.
    """
    read = ARCHITECTURES.get(header.architecture)
    if read is None:
        named = f"of architecture “{header.architecture}”" if header.architecture else "of no named architecture"
        raise ModelUnsupported(f"{header.path.name} is {named}, which Flint can't import from a GGUF.", CHOOSE_ANOTHER)
    if header.metadata.get("split.count", 0) not in (0, 1):
        raise ModelUnsupported(
            f"{header.path.name} is one part of a model that was split into several files.",
            "Choose the model as a single file, or join the parts with llama.cpp's `llama-gguf-split --merge`.",
        )
    return read(header)

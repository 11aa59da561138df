"""Models that Ollama keeps, found in place and left as they are.

Layout: `manifests/<host>/<namespace>/<model>/<tag>` is JSON that lists layers; a layer's content is `blobs/sha256-<hex>`, of
which the model's own is a GGUF without a suffix. A download that was not finished leaves `blobs/sha256-<hex>-partial…`.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.machine import THIS_MACHINE
from engine.core.presence import file_there

OWN_HOST, OWN_NAMESPACE = "registry.ollama.ai", "library"
LARGEST_MANIFEST = 1 << 20
_MODEL, _ADAPTER, _TENSOR = (f"application/vnd.ollama.image.{kind}" for kind in ("model", "adapter", "tensor"))
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_PARTIAL = re.compile(r"(sha256-[0-9a-f]{64})-partial")
_DEPTH = 4


@dataclass(frozen=True)
class OllamaModel:
    """One model: its name as `ollama list` shows it, its GGUF (or its manifest, where it has none), why it can't be used."""

    name: str
    path: Path
    problem: str = ""


def models_folder(environ: Mapping[str, str]) -> Path:
    """Return where Ollama keeps its models; `OLLAMA_MODELS` says so, as it does to Ollama."""
    if environ.get("OLLAMA_MODELS"):
        return Path(environ["OLLAMA_MODELS"])
    return Path(environ.get("HOME") or "~").expanduser() / ".ollama" / "models"


def ollama_models(root: Path) -> Iterator[OllamaModel]:
    """Yield Ollama's models by name, then what it has not finished downloading."""
    wanted = set()
    for manifest in sorted(_files(root / "manifests", _DEPTH)):
        for model in _models(root, manifest):
            wanted.add(model.path.name)
            yield model
    try:
        blobs = sorted(path.name for path in (root / "blobs").iterdir())
    except OSError:
        return
    partial = {match[1] for name in blobs if (match := _PARTIAL.match(name))}
    for name in sorted(partial - wanted):
        # Ollama names a model only when all of it is there.
        yield OllamaModel(f"Unfinished download {name[7:15]}", root / "blobs" / name, "Ollama has not finished downloading it.")


def _models(root: Path, manifest: Path) -> Iterator[OllamaModel]:
    name = _name(manifest.relative_to(root / "manifests").parts)
    if not name:
        return
    layers = _layers(manifest)
    if layers is None:
        yield OllamaModel(name, manifest, "Ollama's note of it is damaged.")
        return
    kinds = {kind for kind, _ in layers}
    blobs = [root / "blobs" / f"sha256-{digest}" for kind, digest in layers if kind == _MODEL]
    if not blobs:
        stored = _TENSOR in kinds
        reason = "Ollama keeps it in a form of its own." if stored else f"Its weights are not on {THIS_MACHINE}."
        yield OllamaModel(name, manifest, reason)
        return
    problem = "It is a change to another model (an adapter), which Flint can't import." if _ADAPTER in kinds else ""
    if not file_there(blobs[0]):
        problem = "Ollama has not finished downloading it."
    yield OllamaModel(name, blobs[0], problem)


def _name(parts: tuple[str, ...]) -> str:
    """Return the name that Ollama shows: without its own host, and without the namespace of its own models."""
    if len(parts) != _DEPTH:
        return ""
    host, namespace, model, tag = parts
    if host != OWN_HOST:
        return f"{host}/{namespace}/{model}:{tag}"
    return f"{model}:{tag}" if namespace == OWN_NAMESPACE else f"{namespace}/{model}:{tag}"


def _layers(manifest: Path) -> list[tuple[str, str]] | None:
    """Return each layer's media type and SHA-256; None where the manifest can't be read."""
    try:
        with manifest.open("rb") as file:
            document: Any = json.loads(file.read(LARGEST_MANIFEST))
        layers = [(str(layer["mediaType"]), _DIGEST.fullmatch(layer["digest"])) for layer in document["layers"] or ()]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return [(kind, digest[1]) for kind, digest in layers if digest is not None]


def _files(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the visible files exactly so many levels down; folders that are links are not followed."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if depth > 1 and entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path), depth - 1)
        elif depth == 1 and file_there(entry):
            yield Path(entry.path)

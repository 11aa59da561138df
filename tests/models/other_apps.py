"""The model folders of LM Studio and Ollama, laid out as those apps do."""

import hashlib
import json
import shutil

OLLAMA_MODEL = "application/vnd.ollama.image.model"


def put_in_ollama(root, name, gguf=None, *, host="registry.ollama.ai/library", kind=OLLAMA_MODEL, more=()):
    """Put a GGUF into Ollama's folder as `name` (“model:tag”) and return its blob; without a file it has no layers."""
    layers, blob = [{"mediaType": each, "digest": "sha256:" + "0" * 64, "size": 1} for each in more], None
    if gguf is not None:
        digest = hashlib.sha256(gguf.read_bytes()).hexdigest()
        blob = root / "blobs" / f"sha256-{digest}"
        blob.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(gguf, blob)
        layers.append({"mediaType": kind, "digest": f"sha256:{digest}", "size": gguf.stat().st_size})
    model, _, tag = name.partition(":")
    manifest = root / "manifests" / host / model / tag
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": layers}))
    return blob


def put_in_lmstudio(root, repository, *files):
    """Copy files, or the files of folders, into a repository of LM Studio's models folder and return its folder."""
    folder = root / repository
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        for each in file.iterdir() if file.is_dir() else [file]:
            shutil.copy(each, folder / each.name)
    return folder

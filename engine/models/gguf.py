"""GGUF → a model folder that mlx-lm loads: config, safetensors, tokenizer, chat template. Atomic, once.

The folder is written under a hidden name beside its destination, flushed to the disk and renamed, so that a crash or a full
disk leaves nothing that is ever listed. One import at a time writes to a models folder, whatever process it runs in; what is
found half-made under the lock is of a process that died, and is removed.
"""

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.core.disk import check_disk, disk_errors
from engine.core.presence import folder_there, there
from engine.models.content_sample import content_sample
from engine.models.gguf_file import Header
from engine.models.gguf_header import read_header
from engine.models.gguf_model import read_model
from engine.models.gguf_plan import GgufModel
from engine.models.gguf_source import ImportCancelled, Source
from engine.models.gguf_tokenizer import TokenizerFiles, build_tokenizer
from engine.models.gguf_weights import Bits, convert, is_rounded, quantization, specs, storage
from engine.models.integrity import problem_of
from engine.models.names import folder_name, human_name
from engine.models.record import Record, read_record, write_record
from engine.models.safetensors_file import write_safetensors

PARTIAL_PREFIX = ".import-"
LOCK_NAME = ".import.lock"
LOCK_POLL_S = 0.1
DEFAULT_BITS: Bits = 8


def _untold(_done: int, _total: int) -> None:
    """Progress that nobody watches."""


def import_gguf(
    source: Path,
    destination_root: Path,
    *,
    name: str = "",
    called: Callable[[str], str] = lambda name: name,
    bits: Bits = DEFAULT_BITS,
    progress: Callable[[int, int], None] = _untold,
    cancelled: Callable[[], bool] = lambda: False,
) -> Path:
    """Convert a GGUF into a model folder under `destination_root` and return that folder.

    Of a model in several files `source` may be any; the others lie beside it.
    `name` is the model's name for people (by default made from the file's name); the folder is named after it. `bits` says
    what becomes of tensors whose kind MLX has no form for (K and IQ quants): quantized anew to 8, 6 or 4 bits, but kept in
    their own where MLX can keep their integers (Q4_K, Q5_K) and they are no more; or None for float16. All others keep their
    numbers. `called` gets the name before anything is converted and returns what it is to be; it may raise. `progress` gets
    bytes of the source done and in all. A file whose content was imported before, at the same `bits` where they matter, is
    not converted again.

    Raises `ModelNotFound`, `ModelBroken` or `ModelUnsupported` for what is wrong with the file, `DiskFull` or `ReadOnly` for
    the destination, `ImportCancelled` when `cancelled()` turned true, `ValueError` for other `bits`.
    """
    header = read_header(source)
    model = read_model(header)
    rounded = _rounded_to(model, bits)

    def reopened() -> Source:
        return Source(header, progress, cancelled)

    # Asked before the lock too: a folder that may not be written to can still hold the model.
    found = _imported_before(header, destination_root, reopened, rounded)
    if found is not None:
        return found
    tokenizer = build_tokenizer(header, model.config["vocab_size"])
    with disk_errors(destination_root / LOCK_NAME):
        destination_root.mkdir(parents=True, exist_ok=True)
    with _locked(destination_root, cancelled):
        found = _imported_before(header, destination_root, reopened, rounded)
        if found is not None:
            return found
        name = called(name.strip() or human_name(header.path.stem))
        with disk_errors(destination_root / folder_name(name)), _partial(destination_root) as folder:
            _check_space(model, tokenizer, destination_root, name, bits)
            with reopened() as opened:
                _write_model(header, model, tokenizer, folder, opened, bits)
                whole = (header.path.name, header.file_size, opened.sha256())
                record = Record(name, *whole, rounded, source_sample=content_sample(header.path))
            write_record(folder, record)
            _flush(folder)
            return _place(folder, destination_root, record)


def _rounded_to(model: GgufModel, bits: Bits) -> str:
    """Return what the weights whose kind MLX has no form for become, for the record; "" where there are none."""
    if bits not in (8, 6, 4, None):
        raise ValueError(f"bits are 8, 6, 4 or None, not {bits}")
    if not any(is_rounded(planned) for planned in model.tensors):
        return ""
    return f"{bits}-bit" if bits else "float16"


def _imported_before(header: Header, root: Path, reopened: Callable[[], Source], rounded: str) -> Path | None:
    """Return the whole folder that the same content was imported into; hashes the file only where one of its size is known."""
    wanted = (header.file_size, rounded)
    known = [(folder, record) for folder, record in _records(root) if (record.source_size, record.rounded_to) == wanted]
    if not known:
        return None
    with reopened() as source:
        sha256 = source.sha256()
    return next((folder for folder, record in known if record.source_sha256 == sha256 and not problem_of(folder)), None)


def _records(root: Path) -> list[tuple[Path, Record]]:
    try:
        folders = sorted(path for path in root.iterdir() if not path.name.startswith(".") and folder_there(path))
    except OSError:
        return []
    return [(folder, record) for folder in folders if (record := read_record(folder)) is not None]


def _place(folder: Path, root: Path, record: Record) -> Path:
    """Give the finished folder its name, in one step; one of the same content is there only where it was damaged since."""
    wanted = (record.source_sha256, record.rounded_to)
    damaged = next((path for path, known in _records(root) if (known.source_sha256, known.rounded_to) == wanted), None)
    destination = damaged or _free_name(root / folder_name(record.name))
    if damaged is not None:
        damaged.rename(folder.with_name(f"{folder.name}-damaged"))
    folder.rename(destination)
    _flush_folder(root)
    _remove_partial(root)
    return destination


@contextlib.contextmanager
def _locked(root: Path, cancelled: Callable[[], bool]) -> Iterator[None]:
    """Hold the one right to import into `root`, waiting for whoever has it; remove what dead imports left behind."""
    with disk_errors(root / LOCK_NAME):
        handle = os.open(root / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if cancelled():
                    raise ImportCancelled(root.name) from None
                time.sleep(LOCK_POLL_S)
        _remove_partial(root)
        yield
    finally:
        os.close(handle)


def _remove_partial(root: Path) -> None:
    for partial in root.glob(f"{PARTIAL_PREFIX}*/"):
        shutil.rmtree(partial, ignore_errors=True)


@contextlib.contextmanager
def _partial(root: Path) -> Iterator[Path]:
    """Give a hidden folder to work in, on the disk of the destination; it is gone unless it was renamed."""
    folder = Path(tempfile.mkdtemp(prefix=PARTIAL_PREFIX, dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_name(wanted: Path) -> Path:
    """Return `wanted`, or the first of `wanted-2`, `wanted-3`, … that does not exist."""
    candidate, number = wanted, 1
    while there(candidate) or candidate.is_symlink():
        number += 1
        candidate = wanted.with_name(f"{wanted.name}-{number}")
    return candidate


def _check_space(model: GgufModel, tokenizer: TokenizerFiles, root: Path, name: str, bits: Bits) -> None:
    """Refuse at once what could not be finished."""
    weights = sum(spec.size for planned in model.tensors for spec in specs(planned, bits))
    check_disk(name, weights + len(tokenizer.tokenizer.encode()), root)


def _write_model(header: Header, model: GgufModel, tokenizer: TokenizerFiles, folder: Path, source: Source, bits: Bits) -> None:
    config = {**model.config, "eos_token_id": list(tokenizer.eos_token_ids)}
    rule = quantization(model.tensors, bits)
    if rule is not None:
        config["quantization"] = rule
    config.setdefault("torch_dtype", _dtype(model, bits))
    texts = {
        "config.json": json.dumps(config, indent=2) + "\n",
        "tokenizer.json": tokenizer.tokenizer,
        "tokenizer_config.json": tokenizer.tokenizer_config,
        "generation_config.json": tokenizer.generation_config,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    # In the file's order, so that it is read front to back.
    tensors = sorted(model.tensors, key=lambda planned: planned.info.offset)
    with (folder / "model.safetensors").open("xb") as file:
        write_safetensors(
            file,
            [spec for planned in tensors for spec in specs(planned, bits)],
            (part for planned in tensors for part in convert(header, planned, source.read, bits)),
        )


def _dtype(model: GgufModel, bits: Bits) -> str:
    """Return the float type of most weights: what scales are stored in, where weights are quantized."""
    sizes: dict[str, int] = {}
    for planned in model.tensors:
        # MXFP4's scales are of no type that is computed in.
        kind = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "U8": "bfloat16"}[storage(planned, bits).dtype]
        sizes[kind] = sizes.get(kind, 0) + planned.info.size
    return max(sizes, key=lambda kind: sizes[kind])


def _flush(folder: Path) -> None:
    for path in folder.iterdir():
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    _flush_folder(folder)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

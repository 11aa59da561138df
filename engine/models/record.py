"""`flint.json`: what Flint notes in a model folder that it made, so that the same file is never imported twice."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from engine.core.json_file import read_object

FILE_NAME = "flint.json"
VERSION = 1


@dataclass(frozen=True)
class Record:
    """Where a folder came from: the human `name`, the source file's name, size in bytes and SHA-256.

    `rounded_to` is what the weights became that could not keep their numbers: “8-bit”, “float16”; "" where all kept them.
    `source_sample` finds the source again without hashing all of it; "" where it was not noted.
    One that was quantized here has its source's id as the name, no hash, and the perplexities after and before; 0 unknown.
    """

    name: str
    source_name: str
    source_size: int
    source_sha256: str
    rounded_to: str = ""
    perplexity: float = 0.0
    perplexity_before: float = 0.0
    source_sample: str = ""


def write_record(folder: Path, record: Record) -> None:
    """Write the record into `folder`; raises `OSError`."""
    document = {"version": VERSION, **dataclasses.asdict(record)}
    (folder / FILE_NAME).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_record(folder: Path) -> Record | None:
    """Return the record of a folder, or None when it has none that can be read."""
    try:
        document = read_object(folder / FILE_NAME)
        # Flint's first imports rounded nothing and did not say so; none was compared with its source.
        document = {"rounded_to": "", "perplexity": 0.0, "perplexity_before": 0.0, "source_sample": "", **document}
        record = Record(**{entry.name: document[entry.name] for entry in dataclasses.fields(Record)})
    except (OSError, ValueError, KeyError):
        return None
    texts = (record.name, record.source_name, record.source_sha256, record.rounded_to, record.source_sample)
    figures = (record.source_size, record.perplexity, record.perplexity_before)
    whole = all(isinstance(text, str) for text in texts) and all(isinstance(figure, int | float) for figure in figures)
    return record if whole and isinstance(record.source_size, int) else None

"""What people and Flint note about models: a name of one's own, notes, when it was last used, a chat template of one's own.

It is kept in one small JSON file of Flint's; the folders of models, which may be other apps', are left as they are.
"""

import contextlib
import dataclasses
import fcntl
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.core.disk import check_readable, disk_errors, write_whole
from engine.core.json_file import read_object
from engine.core.record import Record
from engine.models.naming import plain_name

VERSION = 1


class ModelNote(Record):
    """What is noted of one model: `used_at` in seconds since 1970, 0 where it never was; "" stands for nothing."""

    name: str = ""
    notes: str = ""
    used_at: float = 0.0
    template: str = ""


class Notebook:
    """The notes by the models' ids. Read anew when the file changed: a window and a terminal may both write.

    A damaged file is moved aside, never overwritten; one that may not be read is left as it is, and nothing is noted.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[int, int] = (0, 0)
        self._notes: dict[str, ModelNote] = {}

    def of(self, *model_ids: str) -> ModelNote:
        """Return what is noted of the first of these ids that has a note."""
        self._look()
        return next((self._notes[each] for each in model_ids if each in self._notes), ModelNote())

    def rename(self, model_id: str, name: str) -> None:
        """Note another name, "" the model's own. Raises `UsageError` for one that is none, `DiskFull` or `ReadOnly`."""
        self._change(model_id, name=plain_name(name))

    def write(self, model_id: str, notes: str) -> None:
        """Keep notes. Raises `DiskFull` or `ReadOnly`."""
        self._change(model_id, notes=notes.strip())

    def use_template(self, model_id: str, template: str) -> None:
        """Keep a chat template that stands for the model's own, "" none. Raises `DiskFull` or `ReadOnly`."""
        self._change(model_id, template=template)

    def used(self, model_id: str) -> None:
        """Note that a model is used now; where that can't be written it is not worth a complaint."""
        with contextlib.suppress(Exception):
            self._change(model_id, used_at=round(time.time(), 1))

    def forget(self, model_id: str) -> None:
        """Drop all that is noted of a model. Raises `DiskFull` or `ReadOnly`."""
        with self._alone():
            if self._notes.pop(model_id, None) is not None:
                self._save()

    def _change(self, model_id: str, **changes: Any) -> None:
        with self._alone():
            note = dataclasses.replace(self._notes.get(model_id, ModelNote()), **changes)
            self._notes.pop(model_id, None)
            if note != ModelNote():
                self._notes[model_id] = note
            self._save()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the one right to write, with what others wrote before."""
        lock = self._path.with_name(f".{self._path.name}.lock")
        with disk_errors(lock):
            lock.parent.mkdir(parents=True, exist_ok=True)
            with lock.open("w") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                check_readable(self._path)
                self._look()
                yield

    def _look(self) -> None:
        try:
            status = self._path.stat()
        except OSError:
            self._known, self._notes = (0, 0), {}
            return
        known = (status.st_mtime_ns, status.st_ino)
        if known == self._known:
            return
        self._known = known
        try:
            models = read_object(self._path)["models"]
            self._notes = {model_id: _note(values) for model_id, values in models.items()}
        except PermissionError:
            self._known, self._notes = (0, 0), {}
        except (OSError, ValueError, KeyError, AttributeError):
            self._notes = {}
            with contextlib.suppress(OSError):
                self._path.rename(self._path.with_name(f"{self._path.name}.damaged-{status.st_mtime_ns}"))

    def _save(self) -> None:
        models = {model_id: dataclasses.asdict(note) for model_id, note in self._notes.items()}
        write_whole(
            self._path, [json.dumps({"version": VERSION, "models": models}, indent=2, ensure_ascii=False)], private=True
        )
        status = self._path.stat()
        self._known = (status.st_mtime_ns, status.st_ino)


def _note(values: Any) -> ModelNote:
    """Return a stored note; what is of another kind than it should be is left out."""
    kinds: dict[str, Any] = {"name": str, "notes": str, "used_at": (int, float), "template": str}
    return ModelNote(**{name: values[name] for name, kind in kinds.items() if isinstance(values.get(name), kind)})

"""The settings people changed, kept in one small JSON file."""

import itertools
import json
import time
from collections.abc import Mapping
from pathlib import Path

from engine.core.disk import disk_errors, may_read, write_whole
from engine.core.errors import SettingsError
from engine.core.json_file import read_object
from engine.core.setting import Value
from engine.core.settings import BY_NAME, usable

VERSION = 1
MODELS = "models"


class Preferences:
    """The app-wide values of the declared settings: only what differs from the default is stored.

    Beside them stand those that people set for one model, by its id, and named sections that others keep here.

    A file that can't be read or does not parse is moved aside, never overwritten; `notice` then says so, and defaults apply.
    One that this user may not read is left as it is: making this then raises `ReadOnly`.
    What a newer Flint stored beside the settings known here is kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changed: dict[str, Value] = {}
        self._unknown: dict[str, object] = {}
        self._document: dict[str, object] = {"version": VERSION}
        self.notice = ""
        self._load()

    def get(self, name: str) -> Value:
        """Return the value in force for a declared setting; raise `KeyError` for an unknown name."""
        return self._changed.get(name, BY_NAME[name].default)

    def changed(self) -> Mapping[str, Value]:
        """Return the values that differ from the defaults."""
        return dict(self._changed)

    def values(self) -> dict[str, Value]:
        """Return every declared setting with the value in force."""
        return {name: self.get(name) for name in BY_NAME}

    def of_model(self, model_id: str) -> dict[str, Value]:
        """Return what is set for one model; values that can't be used are left out."""
        values = self.section(MODELS).get(model_id)
        return usable(values) if isinstance(values, dict) else {}

    def for_model(self, model_id: str) -> dict[str, Value]:
        """Return what is set for one model over what is set for all chats."""
        return {**self._changed, **self.of_model(model_id)}

    def set_for_model(self, model_id: str, values: Mapping[str, Value]) -> None:
        """Store all that is set for one model. Raises as `set`."""
        checked: dict[str, object] = {name: BY_NAME[name].check(value) for name, value in values.items()}
        models = dict(self.section(MODELS))
        before = models.pop(model_id, None)
        if isinstance(before, dict):
            checked |= {name: value for name, value in before.items() if name not in BY_NAME}  # A newer Flint's.
        self.set_section(MODELS, {**models, model_id: checked} if checked else models)

    def section(self, name: str) -> Mapping[str, object]:
        """Return what is kept under a name beside the settings, as it was stored; empty where nothing is."""
        stored = self._document.get(name)
        return stored if isinstance(stored, dict) else {}

    def set_section(self, name: str, content: Mapping[str, object]) -> None:
        """Keep JSON values under a name, or nothing. Raises `DiskFull` or `ReadOnly` as `set`."""
        self._document[name] = dict(content)
        if not content:
            del self._document[name]
        self._save()

    def set(self, name: str, value: Value, *, explicit: bool = False) -> None:
        """Set and store one value; the default only where it is `explicit`, because something else would stand for it.

        Raises `SettingsError` for a bad value, `DiskFull` or `ReadOnly` when it cannot be stored (it still applies until the
        program ends).
        """
        setting = BY_NAME[name]
        checked = setting.check(value)
        if checked == setting.default and not explicit:
            self._changed.pop(name, None)
        else:
            self._changed[name] = checked
        self._save()

    def set_all(self, values: Mapping[str, Value]) -> None:
        """Store all that is set for all chats in place of what was. Raises as `set`."""
        self._changed = {name: BY_NAME[name].check(value) for name, value in values.items()}
        self._save()

    def _load(self) -> None:
        try:
            with may_read(self._path):
                stored = read_object(self._path)
            values = stored.get("values")
            if not isinstance(values, dict):
                raise ValueError("values is not an object")
        except (FileNotFoundError, NotADirectoryError):
            return  # Where no file can be written either, that is told when something is set.
        except (OSError, ValueError):
            self._set_aside()
            return
        self._document = {**self._document, **stored}
        bad = []
        for name, value in values.items():
            if name not in BY_NAME:
                self._unknown[name] = value  # A newer Flint's: kept for it.
                continue
            try:
                self._changed[name] = BY_NAME[name].check(value)
            except SettingsError:
                bad.append(BY_NAME[name].label)
        if bad:
            self.notice = f"These settings had values that can't be used and are back at their defaults: {', '.join(bad)}."

    def _set_aside(self) -> None:
        aside = self._free_name(f"{self._path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        try:
            self._path.rename(aside)
            kept = f"The damaged file was kept as {aside.name}."
        except OSError:
            kept = "The damaged file was left where it is."
        self.notice = f"The settings file could not be read, so Flint started with the defaults. {kept}"

    def _free_name(self, name: str) -> Path:
        """Return a path beside the file that nothing stands at, so that no earlier damaged file is lost."""
        names = itertools.chain([name], (f"{name}-{count}" for count in itertools.count(2)))
        return next(path for path in map(self._path.with_name, names) if not path.exists())

    def _save(self) -> None:
        document = {**self._document, "values": {**self._unknown, **self._changed}}
        target = self._path.resolve()  # The file may be a link into somebody's own collection of settings.
        with disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, [json.dumps(document, indent=2, ensure_ascii=False)], private=True)

"""Presets at work: chosen, saved, renamed, deleted, shared."""

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.settings.panel import SettingsPanel
from app.settings.preset_state import CUSTOM, MODEL, PresetState
from app.widgets.file_dialogs import ask_for_file, ask_where_to_save
from engine.core.chosen_file import write_chosen
from engine.core.errors import FlintError, SettingsError, describe
from engine.core.preferences import Preferences
from engine.core.presets import BUILT_IN, LARGEST, NAMES, Preset, Presets, from_text, to_text
from engine.core.setting import Value

_FILES = "Presets (*.json)"


class PresetController(QObject):
    """Keeps the panel's presets. `said` carries a text, a hint, and an undo to offer or None; `failed` an `ErrorInfo`."""

    said = Signal(str, str, object)
    failed = Signal(object)

    def __init__(self, preferences: Preferences, panel: SettingsPanel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._presets = Presets(preferences)
        self._panel = panel
        self._last: dict[str, str] = {}
        self._custom: dict[str, dict[str, Value]] = {}
        self._naming: Callable[[str], None] | None = None
        panel.values_shown.connect(self.refresh)
        panel.preset_chosen.connect(self.choose)
        panel.preset_asked.connect(self.do)
        panel.preset_named.connect(self._name)

    def refresh(self) -> None:
        """Show which preset the values are."""
        scope, values = self._panel.scope, self._panel.values()
        own, last = self._presets.all(), self._last.get(scope, "")
        active = self._active(values, own, last)
        if active != CUSTOM:
            self._last[scope] = last = active
        else:
            self._custom[scope] = _held(values)
        names = tuple(preset.name for preset in own)
        state = PresetState(
            active=active,
            own=names,
            changed_from=last if active == CUSTOM and last in names else "",
            has_model=bool(self._panel.recommended()),
            has_custom=scope in self._custom,
        )
        self._panel.show_presets(state)

    def forget(self, scope: str) -> None:
        """Forget what was chosen at a scope: it is another chat's or model's now."""
        self._last.pop(scope, None)
        self._custom.pop(scope, None)

    def choose(self, name: str) -> None:
        """Put a preset in force at the panel's scope; Custom brings back the values that were no preset."""
        scope = self._panel.scope
        if name == CUSTOM:
            values: Mapping[str, Value] = self._custom.get(scope, {})
            self._last.pop(scope, None)
        else:
            preset = self._find(name)
            values = preset.all() if preset else {}
            self._last[scope] = name
        if values:
            self._panel.put_in_force(values)
        self.refresh()

    def do(self, what: str, name: str) -> None:
        """Do what was asked: "save", "update", "rename", "delete", "export", "copy", "import" or "paste"."""
        work: Mapping[str, Callable[[], None]] = {
            "save": lambda: self._ask_name(self._presets.free_name("My preset"), self._save),
            "rename": lambda: self._ask_name(name, lambda new: self._rename(name, new)),
            "update": lambda: self._update(name),
            "delete": lambda: self._delete(name),
            "export": self._export,
            "copy": self._copy,
            "import": self._import,
            "paste": lambda: self._take(QGuiApplication.clipboard().text()),
        }
        self._try(work[what])

    def _try(self, work: Callable[[], object]) -> None:
        """Do something and tell of what goes wrong in it, then show what is in force."""
        try:
            work()
        except (FlintError, OSError) as error:
            self.failed.emit(describe(error))
        self.refresh()

    # -- names ------------------------------------------------------------------------------------------------------

    def _ask_name(self, start: str, then: Callable[[str], None]) -> None:
        self._naming = then
        self._panel.ask_preset_name(start)

    def _name(self, name: str) -> None:
        if self._naming is None:
            return
        try:
            self._naming(name)
        except SettingsError as error:
            self._panel.refuse_preset_name(error.text)
            return
        except (FlintError, OSError) as error:
            self.failed.emit(describe(error))
        self._naming = None
        self._panel.end_preset_name()
        self.refresh()

    # -- what is done -----------------------------------------------------------------------------------------------

    def _save(self, name: str) -> None:
        self._last[self._panel.scope] = self._presets.save(Preset(name, _held(self._panel.values()))).name

    def _rename(self, old: str, new: str) -> None:
        name = self._presets.rename(old, new)
        self._last = {scope: name if last == old else last for scope, last in self._last.items()}

    def _update(self, name: str) -> None:
        before = self._presets.find(name)
        if before:
            self._presets.update(Preset(before.name, _held(self._panel.values())))
            self.said.emit(f"“{before.name}” updated", "", lambda: self._put_back(before))

    def _delete(self, name: str) -> None:
        preset = self._presets.find(name)
        if preset:
            self._presets.delete(preset.name)
            self.said.emit(f"“{preset.name}” deleted", "", lambda: self._put_back(preset))

    def _put_back(self, preset: Preset) -> None:
        """Undo: give a preset the values it had, or bring back one that was deleted."""
        there = self._presets.find(preset.name)
        self._try(lambda: self._presets.update(preset) if there else self._presets.save(preset))

    def _shared(self) -> Preset:
        """What is shared: the preset in force, else the values as they stand."""
        values = self._panel.values()
        name = self._active(values, self._presets.all(), self._last.get(self._panel.scope, ""))
        return Preset("My preset" if name in (CUSTOM, MODEL) else name, _held(values))

    def _export(self) -> None:
        preset = self._shared()
        name = f"{''.join(c if c.isalnum() or c in ' -_' else '-' for c in preset.name)}.json"

        def write(path: Path) -> None:
            write_chosen(path, [to_text(preset)])
            self.said.emit(f"“{preset.name}” exported", str(path), None)

        title, home = "Export Preset", str(Path.home())
        ask_where_to_save(
            self._panel.window(), "presetDialog", title, _FILES, name, lambda path: self._try(lambda: write(path)), home
        )

    def _copy(self) -> None:
        preset = self._shared()
        QGuiApplication.clipboard().setText(to_text(preset))
        self.said.emit(f"“{preset.name}” copied", "Whoever gets it pastes it from this menu.", None)

    def _import(self) -> None:
        window, title, home = self._panel.window(), "Import Preset", str(Path.home())
        ask_for_file(window, "presetDialog", title, _FILES, lambda path: self._try(lambda: self._take(_read(path))), home)

    def _take(self, text: str) -> None:
        """Keep a preset that came as text, and put it in force."""
        if not text.strip():
            raise SettingsError("There is no preset to paste.", "Copy one first: its whole text.")
        preset, unknown = from_text(text)
        kept = self._presets.save(Preset(self._presets.free_name(preset.name), preset.values))
        self.choose(kept.name)
        hint = f"This Flint does not know {', '.join(unknown)}." if unknown else ""
        self.said.emit(f"“{kept.name}” is in force", hint, None)

    # -- which one --------------------------------------------------------------------------------------------------

    def _find(self, name: str) -> Preset | None:
        if name == MODEL:
            return Preset(MODEL, dict(self._panel.recommended()))
        return next((preset for preset in BUILT_IN if preset.name == name), None) or self._presets.find(name)

    def _active(self, values: Mapping[str, Value], own: tuple[Preset, ...], last: str) -> str:
        """Return which preset the values are; of several alike, the one chosen last."""
        model = [Preset(MODEL, dict(self._panel.recommended()))] if self._panel.recommended() else []
        fitting = [preset.name for preset in (*model, *BUILT_IN, *own) if preset.fits(values)]
        return last if last in fitting else next(iter(fitting), CUSTOM)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST * 4:
            raise SettingsError(f"{path.name} is too large for a preset.", "Choose a file that Flint exported.")
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise SettingsError(f"{path.name} is no text.", "Choose a file that Flint exported.") from None
    except OSError as error:
        raise SettingsError(f"{path.name} could not be read: {error.strerror}.", "Check the file.") from error


def _held(values: Mapping[str, Value]) -> dict[str, Value]:
    return {name: values[name] for name in NAMES}

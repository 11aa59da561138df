"""The declared settings as command-line options."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from engine.core.setting import Scope, Setting, Value
from engine.core.settings import BY_NAME, SETTINGS

HELD = "weights"
"""The one app-wide setting that is also an option of a single run."""


def offered() -> tuple[Setting, ...]:
    """Return the settings that a run can be given: those a chat can have, and how the weights are held."""
    return tuple(setting for setting in SETTINGS if setting.scope is Scope.CHAT or setting.name == HELD)


def with_setting_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a typer command one option for each offered setting; it receives the checked ones as its `settings` argument."""
    signature = inspect.signature(command)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "settings"]
    extra = [_parameter(setting) for setting in offered()]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        given = {setting.name: arguments.pop(setting.name) for setting in offered()}
        command(**arguments, settings=checked(given))

    del run.__wrapped__  # typer would look through it and miss the added options
    run.__signature__ = signature.replace(parameters=[*own, *extra])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *extra]}
    return run


def checked(given: Mapping[str, str | None]) -> dict[str, Value]:
    """Return the options that were given, in their settings' own types; raise `SettingsError` for one out of bounds."""
    return {name: BY_NAME[name].check(value) for name, value in given.items() if value is not None}


def _parameter(setting: Setting) -> inspect.Parameter:
    bounds = f" ({setting.bounds_text})" if setting.bounds_text else ""
    default = setting.none_label if setting.default is None else str(setting.default).replace("\n", " ")
    option = typer.Option(
        setting.flag,
        help=f"{setting.help}{bounds} Default: {default or 'empty'}.",
        metavar=setting.unit.upper() or setting.kind.__name__.upper(),
        rich_help_panel="Settings",
    )
    return inspect.Parameter(
        setting.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option]
    )

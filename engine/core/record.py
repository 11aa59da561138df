"""What frozen dataclasses share, written once instead of compiled for each class."""

from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """Base of a frozen dataclass: each class derived from it is one, without a decorator.

    `dataclass` would compile up to six methods anew for each class: for the many messages and records that was more than a
    tenth of the time to the first window.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, *values: Any, **named: Any) -> None:
        names, held = self.__match_args__, vars(self)
        held.update(zip(names, values, strict=False))
        for name in names[len(values) :]:  # In the fields' order: equal records have equal hashes.
            held[name] = named.pop(name) if name in named else self._default(name)
        if named or len(values) > len(names):
            given = ", ".join([*map(repr, values[len(names) :]), *named])
            raise TypeError(f"{type(self).__qualname__} has no field for {given}")

    def _default(self, name: str) -> Any:
        asked = self.__dataclass_fields__[name]
        if asked.default is not MISSING:
            return asked.default
        if asked.default_factory is not MISSING:
            return asked.default_factory()
        raise TypeError(f"{type(self).__qualname__} needs {name}")

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        inner = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
        return f"{type(self).__qualname__}({inner})"

"""What frozen dataclasses share: equality, hash and text, written once instead of generated for each class."""

from dataclasses import fields
from typing import Any


class Record:
    """Base of dataclasses declared with `frozen=True, repr=False, eq=False`.

    `dataclass` would compile those three methods anew for each class: for the many messages and records that took about a
    twentieth of the time to the first window.
    """

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        this: Any = self
        inner = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(this) if field.repr)
        return f"{type(self).__qualname__}({inner})"

"""What a reply begins with before the model goes on by itself."""

from engine.core.facts import Message
from engine.core.odds import TokenOdds
from engine.core.record import Record


class Beginning(Record):
    """The token `ids` of a model with this `fingerprint`, and how likely they were, where that is known."""

    ids: tuple[int, ...]
    fingerprint: str
    odds: TokenOdds | None = None

    def turn(self) -> Message:
        """Return it as the open turn that the model goes on with; its text comes with the reply's."""
        return Message("assistant", "", self.ids, self.fingerprint)

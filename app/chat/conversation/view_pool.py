"""The widgets of the messages in view, and of some that were: made once, used again."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.chat.conversation.message import MessageView

_KEPT = 24
# So many long texts that nobody looks at stay as they are: whoever comes back to one finds it there.
_REMEMBERED = 8


class ViewPool:
    """Views by message id, the least recently visible first. `hide` puts one out of sight."""

    def __init__(self, make: "Callable[[], MessageView]", hide: "Callable[[MessageView], None]") -> None:
        self._make, self._hide = make, hide
        self._views: OrderedDict[str, MessageView] = OrderedDict()
        self._spare: list[MessageView] = []

    def __iter__(self) -> "Iterator[tuple[str, MessageView]]":
        return iter(list(self._views.items()))

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._views

    def __getitem__(self, message_id: str) -> "MessageView":
        return self._views[message_id]

    def get(self, message_id: str) -> "MessageView | None":
        """Return the view that shows a message, if one does."""
        return self._views.get(message_id)

    def take(self, message_id: str) -> "MessageView":
        """Return a view for a message that has none: the one that showed it last, where it still does, else any other."""
        view = next((view for view in self._spare if view.message_id == message_id), None) or self._forgettable()
        if view is None:
            view = self._make()
        else:
            self._spare.remove(view)
        self._views[message_id] = view
        return view

    def _forgettable(self) -> "MessageView | None":
        """Return a view whose text is soon shown again, or the one of too many long texts that was left first."""
        long = [view for view in self._spare if view.long]
        return next((view for view in self._spare if not view.long), long[0] if len(long) > _REMEMBERED else None)

    def prepare(self) -> None:
        """Make the first view before it is wanted, where there is none yet."""
        if not self._views and not self._spare:
            view = self._make()
            self._hide(view)
            self._spare.append(view)

    def touch(self, message_id: str) -> None:
        """Note that a message is visible now."""
        self._views.move_to_end(message_id)

    def release(self, message_id: str) -> None:
        """Give a view up for other messages."""
        view = self._views.pop(message_id)
        view.rest()
        self._hide(view)
        self._spare.append(view)

    def release_old(self, visible: int, needed: Callable[[str], bool]) -> None:
        """Give up those longest out of sight, beyond the `visible` ones and a few more, that are not `needed`."""
        for message_id in list(self._views):
            if len(self._views) <= visible + _KEPT:
                return
            if self._views[message_id].isHidden() and not needed(message_id):
                self.release(message_id)

"""What people wish for where models on the hub are shown: said by its page and by the rows of downloads."""

from PySide6.QtCore import QObject, Signal


class HubWishes(QObject):
    """One signal a wish. They carry a model's id; `page_asked` an address, `token_asked` nothing."""

    fetch_asked = Signal(str)
    """Fetch it, or go on with it."""
    pause_asked = Signal(str)
    cancel_asked = Signal(str)
    use_asked = Signal(str)
    page_asked = Signal(str)
    token_asked = Signal()

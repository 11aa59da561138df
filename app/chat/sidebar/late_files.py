"""What is dragged, with files that are made when somebody asks for them."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QMetaType, QMimeData, QUrl

_URLS = "text/uri-list"


class LateFiles(QMimeData):
    """Holds what `data` does and offers the files that `make` returns: most drags end where nobody wants them."""

    def __init__(self, data: QMimeData, make: Callable[[], Sequence[Path]]) -> None:
        super().__init__()
        for form in data.formats():
            self.setData(form, data.data(form))
        self._made = functools.cache(make)

    def formats(self) -> list[str]:
        """Return in which forms this can be had."""
        return [*super().formats(), _URLS]

    def retrieveData(self, form: str, kind: QMetaType | QMetaType.Type) -> object:
        """Return what is dragged in one form."""
        if form != _URLS:
            return super().retrieveData(form, kind)
        return [QUrl.fromLocalFile(str(path)) for path in self._made()]

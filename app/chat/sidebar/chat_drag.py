"""Chats on their way to a folder, to the pinned ones, or out of either: where a drag would put them."""

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPixmap

from app.chat.sidebar.chat_list import CHATS_MIME, UNTITLED, Row
from app.chat.sidebar.chat_rows import FOLDERS, PINNED
from app.theme import Theme
from app.widgets.frame import draw_frame
from engine.core.record import Record

_WIDTH, _HEIGHT, _PADDING, _RADIUS = 220, 28, 8, 6


class Target(Record):
    """Where dragged chats would go: among the pinned ones, into a folder, or ("") out of both. `place` is the row to mark."""

    place: int
    folder_id: str = ""
    pinned: bool = False


def target_of(rows: Sequence[Row], place: int) -> Target | None:
    """Return where chats go that are dropped on a row, with -1 under the last; None where nothing can be dropped."""
    if not rows:
        return None
    at = place if place >= 0 else len(rows) - 1
    row = rows[at]
    if row.kind == "folder":
        return Target(at, row.folder_id)
    if row.folder_id:
        return Target(_above(rows, at, "folder"), row.folder_id)
    heading = _above(rows, at, "heading")
    if heading < 0 or rows[heading].title == FOLDERS:
        return None
    return Target(heading, pinned=rows[heading].title == PINNED)


def dragged_chats(data: QMimeData) -> tuple[str, ...]:
    """Return the ids of the chats in a drag, none where it holds something else."""
    return tuple(bytes(data.data(CHATS_MIME).data()).decode().split())


def drag_picture(theme: Theme, rows: Sequence[Row], ratio: float) -> QPixmap:
    """Return what hangs at the pointer: the chat's title, or how many there are."""
    picture = QPixmap(round(_WIDTH * ratio), round(_HEIGHT * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    draw_frame(painter, QRect(0, 0, _WIDTH, _HEIGHT), _RADIUS, theme.color("raised"), theme.color("border"))
    font = theme.font("ui", 500)
    painter.setFont(font)
    painter.setPen(theme.color("ink"))
    words = (rows[0].title or UNTITLED) if len(rows) == 1 else f"{len(rows):,} chats"
    box = QRect(QPoint(_PADDING, 0), picture.deviceIndependentSize().toSize()).adjusted(0, 0, -2 * _PADDING, 0)
    shown = QFontMetrics(font).elidedText(words, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
    painter.end()
    return picture


def _above(rows: Sequence[Row], place: int, kind: str) -> int:
    return next((at for at in range(place, -1, -1) if rows[at].kind == kind), -1)

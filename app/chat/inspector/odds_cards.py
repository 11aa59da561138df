"""The card of alternatives, wherever a reply's tokens are shown: over the inspector's chips and over the shaded reply."""

from PySide6.QtCore import QObject, QRect, Signal
from PySide6.QtWidgets import QWidget

from app.chat.conversation.transcript import Transcript
from app.chat.inspector.inspector import InspectorPanel
from app.chat.inspector.odds_popover import OddsPopover
from engine.core.odds import TokenOdds

type Spot = tuple[QWidget, QWidget, QRect]
"""What has the focus, what a card is placed in, and the place in it."""


class OddsCards(QObject):
    """Shows the card for what is pointed at. `chosen` carries the reply's id, the place, and the token picked there."""

    chosen = Signal(str, int, int)

    def __init__(self, panel: InspectorPanel, transcript: Transcript) -> None:
        super().__init__(panel)
        self._panel, self._transcript = panel, transcript
        self._reply, self._offers = "", False
        self._odds: TokenOdds | None = None
        self._card: OddsPopover | None = None
        panel.odds_pointed.connect(lambda index: self._point(index, self._panel_spot(index)))
        panel.odds_picked.connect(lambda index: self._open(index, self._panel_spot(index)))
        transcript.odds_pointed.connect(lambda index: self._point(index, self._chat_spot(index)))
        transcript.odds_picked.connect(lambda index: self._open(index, self._chat_spot(index)))

    def about(self, reply: str, odds: TokenOdds | None, *, offers: bool = False) -> None:
        """Be about another reply, or none; `offers` lets one of the tokens be picked."""
        if self._card is not None and (reply != self._reply or odds is None):
            self._card.hide()
        self._reply, self._odds, self._offers = reply, odds, offers

    def _panel_spot(self, index: int) -> Spot:
        view = self._panel.reply_tokens
        return view, view.viewport(), view.chip_rect(index) if index >= 0 else QRect()

    def _chat_spot(self, index: int) -> Spot:
        view = self._transcript.view(self._reply)
        if view is None or view.shaded is None:
            return self._transcript, self._transcript, QRect()
        text = view.shaded.text
        return text, text.viewport(), text.place_of(index) if index >= 0 else QRect()

    def _point(self, index: int, spot: Spot) -> None:
        """Show the card about a token that is pointed at; it stays a moment when nothing is."""
        _, anchor, rect = spot
        if self._odds is None or index < 0 or not rect.height():
            if self._card is not None:
                self._card.leave()
            return
        if self._card is None:
            self._card = OddsPopover(self._panel.theme, self._panel.window())
            self._card.chosen.connect(lambda index, token: self.chosen.emit(self._reply, index, token))
        self._card.show_place(self._odds, index, anchor, rect, offers=self._offers)

    def _open(self, index: int, spot: Spot) -> None:
        """Let the keyboard choose from the card."""
        self._point(index, spot)
        if self._card is not None and self._card.isVisible():
            self._card.take_keyboard(spot[0])

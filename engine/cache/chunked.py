"""The window of a layer that attends within chunks of positions (llama4)."""

import mlx.core as mx

from engine.cache.window import WindowCache


class ChunkedCache(WindowCache):
    """As `WindowCache`, but a query sees the tokens before it in its own chunk of `window` positions.

    The model asks for `start_position` and makes the mask itself.
    """

    @property
    def start_position(self) -> int:
        """The position of the first row that the next `update_and_fetch` returns."""
        return self.offset - self._seen()

    def maybe_trim_front(self) -> None:
        """Do nothing: rows are dropped when others are stored."""

    def make_mask(self, N: int, return_array: bool = True, window_size: int | None = None) -> mx.array:  # noqa: ARG002, N803
        """Return the mask [N, rows] that the model itself makes."""
        end = self.offset + N
        keys, asked = mx.arange(self.start_position, end)[None], mx.arange(self.offset, end)[:, None]
        return (keys <= asked) & (keys // (self.window or end) == asked // (self.window or end))

    def oldest_needed(self, position: int) -> int:
        return 0 if self.window is None else position // self.window * self.window

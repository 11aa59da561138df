"""Heights of a long list of messages: change one, find one by its position, in logarithmic time."""

from collections.abc import Sequence


class Heights:
    """A row of heights in pixels, kept as a Fenwick tree of their sums."""

    def __init__(self, heights: Sequence[int] = ()) -> None:
        self._heights = list(heights)
        self._sums = [0, *self._heights]
        for index in range(1, len(self._sums)):
            parent = index + (index & -index)
            if parent < len(self._sums):
                self._sums[parent] += self._sums[index]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.top(len(self._heights))

    def append(self, height: int) -> None:
        """Add a height at the end."""
        self._heights.append(height)
        index = len(self._heights)
        start = index - (index & -index)
        self._sums.append(self.top(index - 1) - self.top(start) + height)

    def set(self, index: int, height: int) -> None:
        """Change one height."""
        change = height - self._heights[index]
        self._heights[index] = height
        index += 1
        while index < len(self._sums):
            self._sums[index] += change
            index += index & -index

    def top(self, index: int) -> int:
        """Return the sum of the heights before `index`."""
        total = 0
        while index > 0:
            total += self._sums[index]
            index -= index & -index
        return total

    def at(self, position: int) -> int:
        """Return the index of what covers `position`: the first for a position before it, the last for one behind."""
        index, left = 0, max(0, position)
        step = 1 << len(self._heights).bit_length()
        while step:
            after = index + step
            if after < len(self._sums) and self._sums[after] <= left:
                index, left = after, left - self._sums[after]
            step >>= 1
        return max(0, min(index, len(self._heights) - 1))

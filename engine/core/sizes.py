"""Sizes in memory and on disk, and numbers of things, in words."""

MEGABYTE, GIGABYTE = 10**6, 10**9


def size_text(size: int, decimals: int = 0) -> str:
    """Return bytes as people read them: “4.5 GB”, “144 MB”; megabytes with `decimals`. Units are powers of ten, as on a Mac."""
    if round(size / MEGABYTE, decimals) < 1000:  # 999.6 MB would be written as 1000 MB.
        return f"{size / MEGABYTE:.{decimals}f} MB"
    figure = size / GIGABYTE
    return f"{figure:,.0f} GB" if figure >= 99.95 else f"{figure:.1f} GB"


def file_size_text(size: int) -> str:
    """Return what something takes on the disk, as `size_text`; “under 1 MB” for what is less."""
    return size_text(size) if size >= MEGABYTE else "under 1 MB"


def figure(count: int) -> str:
    """Return a number where there is little room for it, as 312 or 17.9k."""
    return f"{count / 1000:.1f}k" if count >= 10_000 else f"{count:,}"


def count_text(count: int, noun: str, *, short: bool = False) -> str:
    """Return a number with its noun, as “1 chat” or “12,345 tokens”; `short` as `figure`, “12.3k tokens”."""
    return f"{figure(count) if short else f'{count:,}'} {noun if count == 1 else f'{noun}s'}"

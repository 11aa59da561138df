"""Sizes in memory and on disk, in words."""

MEGABYTE, GIGABYTE = 10**6, 10**9


def size_text(size: int, decimals: int = 0) -> str:
    """Return bytes as people read them: “4.5 GB”, “144 MB”; megabytes with `decimals`. Units are powers of ten, as on a Mac."""
    if round(size / MEGABYTE, decimals) < 1000:  # 999.6 MB would be written as 1000 MB.
        return f"{size / MEGABYTE:.{decimals}f} MB"
    figure = size / GIGABYTE
    return f"{figure:,.0f} GB" if figure >= 99.95 else f"{figure:.1f} GB"

"""Sizes in memory and on disk, in words."""

MEGABYTE, GIGABYTE = 10**6, 10**9


def size_text(size: int) -> str:
    """Return bytes as people read them: “4.5 GB”, below a gigabyte “16.2 MB”."""
    return f"{size / GIGABYTE:.1f} GB" if size >= GIGABYTE else f"{size / MEGABYTE:.1f} MB"

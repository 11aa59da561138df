"""Markdown of the kinds that models write, as files: what every way of reading a reply is tried on."""

from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))


def document(name):
    """Return a document as it was written, carriage returns and control characters included."""
    return (FOLDER / f"{name}.md").read_bytes().decode()

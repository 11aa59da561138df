"""Text that can't steer what stands around it, and the direction it is read in."""

from unicodedata import bidirectional

# Control signs show as what they are (U+2400 and following); what would turn the writing direction, end a paragraph or stand
# for one of Qt's own marks shows as U+FFFD.
_HARMLESS = (
    {sign: 0x2400 + sign for sign in range(32) if sign not in (0x09, 0x0A)}
    | {0x7F: 0x2421, 0x2029: 0x2028}
    | dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), 0xFDD0, 0xFDD1, 0xFFFC, *range(0xD800, 0xE000)], 0xFFFD)
)
_HARMLESS_CODE = _HARMLESS | dict.fromkeys([0x2028, 0x2029, *range(0x2066, 0x206A)], 0xFFFD)
_LOOKED_AT = 500


def harmless(text: str) -> str:
    """Return reading text as it can be shown; as long as it was, so that positions stay."""
    return text.translate(_HARMLESS)


def harmless_code(text: str) -> str:
    """Return code as it can be shown: nothing in it may turn its direction either."""
    return text.translate(_HARMLESS_CODE)


def reads_from_right(text: str) -> bool:
    """Return whether the first letter with a direction is one that is written from right to left."""
    if text.isascii():
        return False
    for sign in text[:_LOOKED_AT]:
        direction = bidirectional(sign)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False

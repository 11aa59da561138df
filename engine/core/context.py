"""How many tokens of a conversation a model is given."""

LARGEST_DEFAULT_CONTEXT = 32_768
"""Context length where none is configured: the trained length, but at most this."""


def context_limit(asked: int | None, trained: int) -> int:
    """Return the context length in tokens that a request gets: what was asked for is obeyed, up to the trained length.

    A model that does not tell its trained length (0) gets what was asked for.
    """
    known = trained or asked or LARGEST_DEFAULT_CONTEXT
    return min(asked, known) if asked else min(known, LARGEST_DEFAULT_CONTEXT)

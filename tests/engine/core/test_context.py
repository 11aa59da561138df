"""How many tokens of a conversation a model is given."""

import pytest

from engine.core.context import LARGEST_DEFAULT_CONTEXT, context_limit


@pytest.mark.parametrize(
    ("asked", "trained", "given"),
    [
        (None, 0, LARGEST_DEFAULT_CONTEXT),
        (None, 4096, 4096),
        (None, 131_072, LARGEST_DEFAULT_CONTEXT),
        (100_000, 131_072, 100_000),
        (100_000, 0, 100_000),
        (100_000, 4096, 4096),
    ],
)
def test_context_is_as_asked_for_up_to_the_trained_length_and_usual_where_nothing_is(asked, trained, given):
    assert context_limit(asked, trained) == given

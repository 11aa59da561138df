import pytest

from engine.core import errors
from engine.core.errors import ErrorInfo, FlintError, ModelNotFound, describe


def tree(kind=FlintError):
    return [kind, *(below for child in kind.__subclasses__() for below in tree(child))]


KINDS = [kind for kind in tree() if kind.__module__ == errors.__name__]


def test_the_tree_is_all_there():
    assert len(KINDS) >= 18


def test_codes_and_exit_codes_are_unique():
    assert len({kind.code for kind in KINDS}) == len(KINDS)
    assert len({kind.exit_code for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_code_a_status_and_a_hint_of_its_own(kind):
    for name in ("code", "exit_code", "default_hint"):
        assert name in vars(kind)
    assert kind.code == kind.code.lower().replace(" ", "-")
    assert 0 < kind.exit_code < 126  # From 126 on, shells use codes for themselves.
    assert 400 <= kind.http_status < 600
    assert kind.default_hint.endswith((".", "`"))
    assert kind.__doc__


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_tells_the_same_as_data(kind):
    error = kind("It happened.")
    assert str(error) == "It happened."
    assert (
        describe(error)
        == error.info()
        == ErrorInfo(kind.code, "It happened.", kind.default_hint, kind.exit_code, kind.http_status)
    )


def test_a_hint_of_its_own_replaces_the_usual_one():
    assert ModelNotFound("There is no such model.", "Did you mean “smollm2”?").info().hint == "Did you mean “smollm2”?"
    assert ModelNotFound("There is no such model.", "").hint == ""


@pytest.mark.parametrize("error", [KeyError("secret path"), RuntimeError("line 1\nline 2"), KeyboardInterrupt(), MemoryError()])
def test_an_unexpected_error_is_one_plain_line(error):
    info = describe(error)
    assert (info.code, info.exit_code) == ("internal", 1)
    assert type(error).__name__ in info.text
    assert "\n" not in info.text
    assert "secret" not in info.text
    assert info.hint

import logging

import pytest

from engine.core.logs import keep_log
from engine.core.paths import locate


@pytest.fixture(autouse=True)
def quiet():
    """Leave the logger as it was."""
    logger = logging.getLogger("flint")
    before, propagate = list(logger.handlers), logger.propagate
    yield
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.handlers[:] = before
    logger.propagate = propagate


def test_warnings_and_errors_are_kept_and_the_rest_is_not(flint_home):
    keep_log(locate())
    logger = logging.getLogger("flint.engine")
    logger.info("nothing of note")
    try:
        raise ValueError("broken")
    except ValueError:
        logger.exception("it failed")
    text = (flint_home / "cache" / "flint.log").read_text()
    assert "ERROR flint.engine: it failed" in text
    assert "ValueError: broken" in text
    assert "nothing of note" not in text


def test_nothing_is_written_until_something_goes_wrong(flint_home, capfd):
    keep_log(locate())
    assert not (flint_home / "cache" / "flint.log").exists()
    logging.getLogger("flint").error("now")
    assert capfd.readouterr() == ("", "")


def test_keeping_it_again_writes_each_line_once(flint_home):
    keep_log(locate())
    keep_log(locate())
    logging.getLogger("flint").error("once")
    assert (flint_home / "cache" / "flint.log").read_text().count("once") == 1


def test_a_folder_that_cannot_be_made_means_no_log_and_no_complaint(flint_home, capfd):
    flint_home.parent.mkdir(exist_ok=True)
    flint_home.write_text("a file where the folder should be")
    keep_log(locate())
    logging.getLogger("flint").error("lost")
    assert capfd.readouterr() == ("", "")

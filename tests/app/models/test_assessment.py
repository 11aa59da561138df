import json

from app.models.assessment import Assessment, assess, badge_of, figures, most_context, rate_text
from app.models.machine import Machine, read_machine
from tests.app.hub_window import QWEN

CONFIG = json.dumps(QWEN)
SIZE = 4_600_000_000


def on(gigabytes, bandwidth=None):
    return assess(CONFIG, SIZE, 40_960, Machine(gigabytes * 10**9, bandwidth=bandwidth, metal=True))


def test_a_model_fits_fits_with_less_or_does_not_fit():
    assert on(24).standing == "fits"
    assert on(4).standing == "no"
    less = on(7)
    assert less.standing == "less"
    assert 0 < less.context < 32_768
    assert badge_of(less)[0] == f"Fits at {less.context // 1024}k"


def test_what_fits_is_what_the_figures_say():
    machine = Machine(7 * 10**9, metal=True)
    most = most_context(CONFIG, SIZE, machine)
    assert figures(CONFIG, SIZE, most, machine).verdict.fits
    assert not figures(CONFIG, SIZE, most + 256, machine).verdict.fits


def test_a_rate_is_never_invented():
    assert on(24).rate is None
    assert rate_text(on(24).rate) == "—"
    assert 20 < on(24, bandwidth=400e9).rate < 400e9 / SIZE


def test_a_config_that_tells_nothing_is_not_judged_but_by_its_size():
    machine = Machine(10**9)
    for config in ("", "{}", "[]", "not json", '{"model_type": 7}'):
        assert assess(config, 0, 0, machine) == Assessment("unknown")
        assert assess(config, 10**10, 0, machine) == Assessment("no")
        assert badge_of(assess(config, 0, 0, machine))[0] == ""


def test_this_machine_has_a_budget():
    machine = read_machine()
    assert machine.budget % 250_000_000 == 0
    assert read_machine(5_100_000_000).budget == 5_000_000_000

"""The memory meters: recorded structures, the budget's arithmetic, and this process's own memory."""

import mmap
import struct
import sys

import psutil
import pytest

from engine.hardware.meters import (
    available_bytes,
    budget_bytes,
    footprint_bytes,
    mlx_counters,
    parse_rusage,
    parse_status,
    read_memory,
    total_bytes,
)

GIB = 1024**3

# rusage_info_v4 of a process on a Mac: the uuid, then 35 64-bit fields in the order of <sys/resource.h>.
RUSAGE_V4 = bytes.fromhex("6d0f1c2ab3e44f0f9b7a52c1d8e90a11") + struct.pack(
    "<35Q",
    *(81_234_567, 12_345_678, 3, 4_021, 17, 5_242_880, 2_147_483_648, 3_221_241_856),  # … resident_size, phys_footprint
    *(991_122_334_455, 0, 0, 0, 0, 0, 0, 0),
    *(40_960, 8_192, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    *(10, 4_000_000_000, 11, 12, 13, 14, 3_900_000_000, 15),
)

STATUS = """\
Name:\tpython
VmPeak:\t  900000 kB
VmSize:\t  800000 kB
VmHWM:\t   70000 kB
VmRSS:\t   60000 kB
RssAnon:\t   50000 kB
VmPTE:\t     400 kB
VmSwap:\t    1000 kB
HugetlbPages:\t       0 kB
"""


def test_the_footprint_is_the_eighth_field_after_the_uuid():
    assert len(RUSAGE_V4) == 296
    assert parse_rusage(RUSAGE_V4) == 3_221_241_856
    assert parse_rusage(RUSAGE_V4.ljust(512, b"\0")) == 3_221_241_856


def test_a_buffer_too_short_for_the_footprint_is_refused():
    with pytest.raises(struct.error):
        parse_rusage(RUSAGE_V4[:79])


def test_linux_counts_resident_memory_swap_and_page_tables():
    assert parse_status(STATUS) == (60000 + 1000 + 400) * 1024


def test_a_status_without_memory_lines_counts_nothing():
    assert parse_status("Name:\tkthreadd\n") == 0


def test_this_processs_footprint_grows_and_falls_with_what_it_holds():
    size = 256 * 1024**2
    before = footprint_bytes()
    with mmap.mmap(-1, size) as held:
        for page in range(0, size, mmap.PAGESIZE):
            held[page] = 1
        during = footprint_bytes()
    after = footprint_bytes()
    assert during - before >= 0.9 * size
    assert during - after >= 0.9 * size


@pytest.mark.skipif(sys.platform != "linux", reason="resident size is no measure of a footprint elsewhere")
def test_this_processs_footprint_is_near_its_resident_size():
    assert footprint_bytes() == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)


def test_the_machines_figures_are_in_order():
    assert 0 < available_bytes() <= total_bytes() <= psutil.virtual_memory().total


def test_the_budget_leaves_three_gibibytes_of_a_large_machine():
    assert budget_bytes(None, available=100 * GIB, total=128 * GIB) == 97 * GIB


def test_the_budget_leaves_an_eighth_of_a_small_machine():
    assert budget_bytes(None, available=6 * GIB, total=8 * GIB) == 5 * GIB


def test_the_budget_never_exceeds_the_working_set():
    assert budget_bytes(40200896512, available=47 * GIB, total=51539607552) == 40200896512


def test_the_budget_is_what_is_available_when_that_is_less_than_the_working_set():
    assert budget_bytes(40200896512, available=20 * GIB, total=51539607552) == 17 * GIB


def test_the_budget_is_never_negative():
    assert budget_bytes(None, available=0, total=8 * GIB) == 0
    assert budget_bytes(5 * GIB, available=GIB // 2, total=16 * GIB) == 0


def test_what_the_model_already_holds_counts_as_takeable():
    empty = budget_bytes(None, available=20 * GIB, total=32 * GIB)
    loaded = budget_bytes(None, available=12 * GIB, total=32 * GIB, held=8 * GIB)
    assert loaded == empty == 17 * GIB


def test_the_budget_is_bounded_by_the_machine_however_much_is_said_to_be_held():
    assert budget_bytes(None, available=20 * GIB, total=24 * GIB, held=100 * GIB) == 21 * GIB


def test_mlx_counts_an_array_while_it_lives_and_remembers_the_peak():
    import mlx.core as mx

    active, _, _ = mlx_counters()
    array = mx.zeros((1024, 1024), dtype=mx.float32)
    mx.eval(array)
    during, _, peak = mlx_counters()
    del array
    after, _, _ = mlx_counters()
    assert during - active >= 4 * 1024**2
    assert peak >= during
    assert after <= during - 4 * 1024**2


def test_a_reading_holds_the_counters_and_this_machines_figures():
    reading = read_memory((300, 20, 400), weights=200, kv=50, working_set=10**6)
    assert (reading.active, reading.cached, reading.peak, reading.weights, reading.kv) == (300, 20, 400, 200, 50)
    assert reading.footprint > 0
    assert reading.total == total_bytes()
    assert 0 < reading.available <= reading.total
    assert reading.budget <= 10**6


def test_a_reading_counts_no_more_as_held_than_the_process_has():
    reading = read_memory((10**15, 0, 0))
    assert reading.budget <= reading.available + reading.footprint

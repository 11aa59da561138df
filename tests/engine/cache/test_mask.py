"""What making a mask takes; that it hides what it should is tested through the caches."""

import mlx.core as mx
import pytest

from engine.cache.mask import visible


@pytest.mark.parametrize(("near", "window_size"), [(None, None), (512, None), (None, 512), (512, 512)])
def test_a_mask_is_made_of_booleans_and_of_no_number_for_each_query_and_row(near, window_size):
    queries, rows = 1024, 2048
    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(visible(first=rows, queries=queries, rows=rows, pinned=4, near=near, always=4, window_size=window_size))
    assert mx.get_peak_memory() - before < 5.5 * queries * rows

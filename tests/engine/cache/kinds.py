"""The kinds of layer that the window's tests go through."""

from engine.cache.chunked import ChunkedCache
from engine.cache.window import WindowCache
from tests.engine.cache.attended import Kind


def growing(window, pinned=0, bits=(None, None), **facts):
    """A layer whose bound is the policy's."""
    return Kind(lambda: WindowCache(window, pinned=pinned, bits=bits), window, pinned, bits=bits, **facts)


def sliding(window, bits=(None, None), **facts):
    """A layer whose model passes its window to the mask too."""
    return Kind(lambda: WindowCache(window, bits=bits, sliding=True), window, bits=bits, window_size=window, **facts)


def chunked(window, bits=(None, None)):
    """A layer that attends within chunks."""
    return Kind(lambda: ChunkedCache(window, bits=bits, sliding=True), window, chunked=True, bits=bits)


KINDS = {
    "growing": growing(40),
    "growing, pinned": growing(40, 7),
    "growing, mostly pinned": growing(100, 90),
    "growing, pinned, model's window shorter": growing(48, 5, window_size=24),
    "growing, pinned, model's window longer": growing(48, 5, window_size=60),
    "sliding": sliding(24),
    "chunked": chunked(24),
    "unlimited, 8": growing(None, bits=(8, 8)),
    "pinned, 8": growing(120, 9, bits=(8, 8)),
    "pinned, 8/4": growing(130, 30, bits=(8, 4)),
    "pinned, 4": growing(110, 20, bits=(4, 4)),
    "small window, 4": growing(30, 12, bits=(4, 4)),
    "groups of 32, and a width that none divides": growing(120, 9, bits=(8, 4), widths=(96, 80)),
    "sliding, 8": sliding(100, bits=(8, 8)),
    "chunked, 4": chunked(90, bits=(4, 4)),
    "latent": growing(120, 9, bits=(8, 8), widths=(64, 32), heads=1),
    "indexer": growing(120, 9, bits=(8, 8), one_array=True),
    "keys alone": growing(40, 7, one_array=True, widths=(64, 64)),
}

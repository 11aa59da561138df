"""Prefix caches that share a folder on disk, in this process or as a program of their own: `python -m tests.engine.cache.shelves`."""

import json
import random
import sys
from pathlib import Path

from engine.cache.disk import DiskCache
from engine.cache.policy import CachePolicy
from engine.cache.prefix import PrefixCache
from engine.cache.shelf import Shelf
from tests.engine.cache.conversations import SYSTEM, VOCABULARY, feed
from tests.models.tiny_kinds import tiny

ROOMY = 1 << 30
IDENTITY = {"fingerprint": "f", "kv_bits": "off", "template": "t"}


def tokens(count, seed=0):
    dice = random.Random(seed)
    return [dice.randrange(VOCABULARY) for _ in range(count)]


def opened(model, folder, *, context=None, bits="off", disk=ROOMY, memory=ROOMY, **identity):
    """A cache that knows nothing but what is in `folder`."""
    cache = PrefixCache(model, CachePolicy(context, bits), memory)
    cache.attach(Shelf(DiskCache(Path(folder), disk), {**IDENTITY, "kv_bits": bits, **identity}))
    return cache


def read(model, cache, ids, *, chat="", marks=()):
    """Read a prompt; return how much of it was known, and the logits after it."""
    cache.chat_id = chat
    known = cache.reuse(ids, SYSTEM)
    return known, feed(model, cache, ids[known:], 16, marks)


def save(cache):
    """Save all; return how many files were written."""
    count = 0
    while cache.save():
        count += 1
    return count


def saved(model, folder, ids, *, chat="", marks=(), **how):
    """Read a prompt in a new cache and save it."""
    cache = opened(model, folder, **how)
    read(model, cache, ids, chat=chat, marks=marks)
    save(cache)
    return cache


def files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def size(folder):
    return sum(path.stat().st_size for path in files(folder))


def main():
    """Do what the first argument says with a tiny model's cache over the folder; say in a line of JSON what came of it."""
    task, folder, kind, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    model = tiny(kind)
    if task == "read":
        known, logits = read(model, opened(model, folder), tokens(120, seed) + tokens(40, 99))
        print(json.dumps({"known": known, "logits": logits.tolist()}))
    elif task == "write":
        for turn in range(int(sys.argv[5])):
            cache = saved(model, folder, tokens(60, seed + turn), chat=f"{seed}-{turn}")
            print(cache.branch.length, flush=True)


if __name__ == "__main__":
    main()

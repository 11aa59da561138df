"""A hub in a process of its own with one large model, sent at a steady rate: `python tests/hub/throttled.py MB_PER_S GB`.

It prints its address, and ends when its standard input does.
"""

import sys

from tests.hub.repositories import MadeUp, Repository
from tests.hub.server import Hub

MODEL_ID = "org/Large-1B"
PAUSE_S = 0.02
CONFIG = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 128}


class Unhashed(MadeUp):
    """Nobody gets to its end, so that its hash need not be known."""

    sha256 = "0" * 64


def main():
    rate, size = float(sys.argv[1]), float(sys.argv[2])
    weights = Unhashed(round(size * 1e9))
    repository = Repository(MODEL_ID, tags=["mlx"]).add("config.json", CONFIG).add("tokenizer.json", "{}")
    with Hub(repository.add("model.safetensors", weights)) as hub:
        hub.fault("cdn/", times=None, trickle_s=PAUSE_S, piece=round(rate * 1e6 * PAUSE_S))
        print(hub.base, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()

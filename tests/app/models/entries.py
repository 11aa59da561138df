"""Entries of a library, for the tests of what shows them."""

from engine.core.facts import ModelEntry

SMALL = ModelEntry("small", "SmolLM2 135M", "/m/small", "starter", "mlx", 144_000_000, "llama", 8192, "4-bit, groups of 32")
LARGE = ModelEntry("a/large", "Gemma 3 27B", "/m/large", "huggingface", "mlx", 16_900_000_000, "gemma3", 131072, "4-bit")
FILE = ModelEntry("file.gguf", "Tiny Llama", "/m/file.gguf", "flint", "gguf", 98_000_000, "llama", 2048, "Q8_0")
BROKEN = ModelEntry(
    "a/broken", "Qwen3 30B", "/m/broken", "huggingface", "mlx", 9_000_000, "qwen3_moe", problem="model.safetensors is missing."
)
ALL = (SMALL, LARGE, FILE, BROKEN)


def many(count):
    """`count` usable models, named Model 0, Model 1, …"""
    return tuple(
        ModelEntry(f"m{n}", f"Model {n}", f"/m/{n}", "flint", "mlx", 10**9, "llama", 4096, "4-bit") for n in range(count)
    )

"""A model that says a known sentence: every token leads to the next one, whatever was asked.

Real weights in a real folder (attention and MLP add nothing, the output matrix holds the order), so that a test of the window
or the command line knows the text without giving up the engine.
"""

import itertools

from tests.models.tiny import tiny_llama
from tests.models.tiny_tokenizers import byte_level

FOX = "The quick brown fox jumps over the lazy dog. Hello world, hello there!"
GREETING = "Hello there, the world! The brown fox jumps."
_WIDTH = 448


def speaking_model(folder, sentence=FOX, *, endless=False, context=32768):
    """Write a model that says `sentence` once, or again and again with a space between when `endless`; return its folder.

    Every token of the sentence must be another one, for the last token alone decides the next.
    """
    import mlx.core as mx

    tokenizer = byte_level()
    ids = tokenizer.encode(sentence)
    assert len(set(ids)) == len(ids), f"tokens repeat: {[tokenizer.decode([i]) for i in ids]}"
    (start,) = tokenizer.encode("\n")  # The prompt ends with it.
    after = [*tokenizer.encode(" "), ids[0]] if endless else [tokenizer.convert_tokens_to_ids("<|im_end|>")]
    chain = [start, *ids, *after]
    following = dict(itertools.pairwise(chain))
    tiny_llama(folder, hidden=_WIDTH, layers=1, heads=4, kv_heads=4, context=context, tie_word_embeddings=False)
    weights = mx.load(str(folder / "model.safetensors"))
    vocabulary = weights["model.embed_tokens.weight"].shape[0]
    output = mx.zeros((vocabulary, _WIDTH))
    for token in range(vocabulary):
        output[following.get(token, ids[0]), token] = 10.0
    silent = {
        name: mx.zeros_like(value) for name, value in weights.items() if name.endswith(("o_proj.weight", "down_proj.weight"))
    }
    spoken = {"model.embed_tokens.weight": mx.eye(vocabulary, _WIDTH), "lm_head.weight": output}
    mx.save_safetensors(str(folder / "model.safetensors"), {**weights, **silent, **spoken}, metadata={"format": "mlx"})
    return folder

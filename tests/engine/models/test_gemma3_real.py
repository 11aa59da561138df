"""The real Gemma 3 270M: its settings, its weights, its tokens and what it says."""

import copy
import json
import random
import string

import numpy as np
import pytest

from engine.core.facts import Message
from engine.models.gguf_header import read_header
from engine.models.gguf_model import read_model
from tests.engine.models.gemma3_reference import Gemma3Reference
from tests.models.real import gemma3_folder
from tests.models.sentencepiece_model import sentencepiece_processor

pytestmark = pytest.mark.heavy

PROMPT = "The capital of France is Paris. The capital of Italy is Rome, and the capital of Japan is"
TEXTS = (
    "Hello world",
    "a  b   c    d" + " " * 40,
    "\n" * 33 + "x\n\n  y\n\t\tz\t\r\n",
    "def f(x):\n    return x ** 2  # done\n\n\nclass A:\n\tpass\n",
    "😀👩‍👩‍👧❤️👍🏽 𝔹𝕏 ꙮ",
    "日本語のテスト、안녕하세요 Привет мир naïve Größe e\u0301",
    "1234567 3.14159 2024-01-01 1e-5",
    "<table><tr><td>x</td></tr></table><strong>a<b>",
    "hahahahahahaha aaaaaaaaaaaaa ======== ---------- ........",
    "typed ▁▁ and ▁",
    "\x00\x01\x7f \u200b \u202e \ufeff",
    "<start_of_image>[multimodal]",
)


@pytest.fixture(scope="module")
def tokenizer(gemma3):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(gemma3, local_files_only=True)


@pytest.fixture(scope="module")
def processor(gemma3_gguf):
    return sentencepiece_processor(read_header(gemma3_gguf).metadata)


@pytest.fixture(scope="module")
def prompt_ids(tokenizer):
    return tokenizer.encode(PROMPT)


@pytest.fixture(scope="module")
def reference(gemma3_gguf):
    return Gemma3Reference(gemma3_gguf)


@pytest.fixture(scope="module")
def expected(reference, prompt_ids):
    """The logits of the file's own weights."""
    return reference.logits(prompt_ids)


def loaded(folder):
    import mlx.core as mx
    from mlx_lm.utils import dequantize_model, load_model

    model, _ = load_model(folder)
    model.set_dtype(mx.float32)
    dequantize_model(model)  # Quick on a CPU, and the same numbers.
    return model


def logits(model, ids):
    import mlx.core as mx

    return np.array(model(mx.array([ids]))[0])


def log_probabilities(logits):
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


@pytest.fixture(scope="module")
def model(gemma3):
    return loaded(gemma3)


def test_the_config_is_what_its_authors_published(gemma3):
    config = json.loads((gemma3 / "config.json").read_text())
    # google/gemma-3-270m, config.json
    published = {
        "attention_bias": False,
        "head_dim": 256,
        "hidden_activation": "gelu_pytorch_tanh",
        "hidden_size": 640,
        "intermediate_size": 2048,
        "max_position_embeddings": 32768,
        "model_type": "gemma3_text",
        "num_attention_heads": 4,
        "num_hidden_layers": 18,
        "num_key_value_heads": 1,
        "query_pre_attn_scalar": 256,
        "rms_norm_eps": 1e-06,
        "rope_local_base_freq": 10000.0,
        "rope_theta": 1000000.0,
        "sliding_window": 512,
        "torch_dtype": "bfloat16",
        "vocab_size": 262144,
    }
    assert {name: config[name] for name in published} == published
    assert config["sliding_window_pattern"] == 6
    assert config["eos_token_id"] == [1, 106]
    assert json.loads((gemma3 / "flint.json").read_text())["rounded_to"] == "8-bit"


def test_the_norms_are_the_authors_bfloat16_once_the_one_is_gone(gemma3, gemma3_gguf):
    import mlx.core as mx

    weights = mx.load(str(gemma3 / "model.safetensors"))
    norms = [planned for planned in read_model(read_header(gemma3_gguf)).tensors if planned.one_added]
    assert len(norms) == 18 * 6 + 1
    for planned in norms:
        bits = np.array(weights[f"{planned.path}.weight"])
        # Numbers of seven bits after the first: with 1 still added, small ones could not be.
        assert np.array_equal(bits, np.array(mx.array(bits).astype(mx.bfloat16).astype(mx.float32))), planned.path


def test_eight_bits_give_the_distributions_of_the_files_own_weights(model, expected, prompt_ids):
    theirs, ours = log_probabilities(expected), log_probabilities(logits(model, prompt_ids))
    divergence = (np.exp(theirs) * (theirs - ours)).sum(-1)
    assert len(prompt_ids) == 21
    assert divergence.mean() < 5e-4
    assert divergence.max() < 2e-3
    assert (ours.argmax(-1) == theirs.argmax(-1)).all()


def test_a_dense_import_gives_the_logits_of_the_files_own_weights(gemma3_root, reference, expected, prompt_ids):
    ours = logits(loaded(gemma3_folder(gemma3_root, bits=None)), prompt_ids)
    np.testing.assert_allclose(np.exp(log_probabilities(ours)), np.exp(log_probabilities(expected)), atol=1e-3)
    # What is left is float16's rounding of the K-quants: with it the logits are the same.
    rounded = copy.copy(reference)
    rounded.half = ("Q4_K", "Q6_K")
    np.testing.assert_allclose(ours, rounded.logits(prompt_ids), atol=1e-3)


def test_it_knows_the_capital_of_france(model, tokenizer):
    # A base model: without an example the file's own weights too go on with “the capital of the country of France”.
    ids = tokenizer.encode("The capital of Italy is Rome. The capital of France is")
    prompt = len(ids)
    for _ in range(9):
        ids.append(int(logits(model, ids)[-1].argmax()))
    assert tokenizer.decode(ids[prompt:]) == " Paris. The capital of Germany is Berlin."
    best = logits(model, tokenizer.encode("The capital of France is"))[-1].argsort()[-3:]
    assert tokenizer.encode(" Paris", add_special_tokens=False)[0] in best


def test_texts_are_cut_as_sentencepiece_cuts_them(tokenizer, processor):
    for text in TEXTS:
        ids = tokenizer.encode(text)
        assert ids == [2, *processor.encode(text)], text
        assert tokenizer.decode(ids, skip_special_tokens=True) == processor.decode(processor.encode(text)), text


def test_made_up_texts_are_cut_as_sentencepiece_cuts_them(tokenizer, processor):
    rng = random.Random(0)
    pools = ["ab", "ha ", "=-. ", "0123456789", "日本語の", string.ascii_lowercase + "  ", string.printable]
    pools.append(
        "".join(map(chr, [*range(0x400, 0x450), *range(0x600, 0x650), *range(0x4E00, 0x4E80), *range(0x1F600, 0x1F640)]))
    )
    for _ in range(4000):
        text = "".join(rng.choices(rng.choice(pools), k=rng.randint(1, 40)))
        assert tokenizer.encode(text, add_special_tokens=False) == processor.encode(text), text


def test_texts_are_cut_as_transformers_cuts_them_with_the_same_vocabulary(tokenizer, gemma3_gguf):
    from transformers.integrations.gguf.gguf_tokenizer_mapping import add_gguf_special_tokens, gemma_tokenizer

    metadata = read_header(gemma3_gguf).metadata
    said = {name: list(metadata[f"tokenizer.ggml.{name}"]) for name in ("tokens", "scores", "token_type")}
    theirs = add_gguf_special_tokens(gemma_tokenizer(said), {**said, "tokenizer_type": "llama"})
    for text in TEXTS:
        # It takes runs of more than 31 spaces apart in another way than SentencePiece, with which ours is compared above.
        text = text.replace(" " * 40, " " * 31)
        assert tokenizer.encode(text, add_special_tokens=False) == theirs.encode(text, add_special_tokens=False), text


def test_the_import_is_hardly_larger_than_the_file(gemma3, gemma3_gguf):
    # Q4_K keeps its four bits and Q5_0, Q8_0 theirs; only Q6_K grows.
    assert (gemma3 / "model.safetensors").stat().st_size < 1.06 * gemma3_gguf.stat().st_size


def test_the_plain_template_makes_it_hold_a_conversation(tokenizer):
    from engine.inference.template import render

    prompt = render(tokenizer, [Message("system", "Be brief."), Message("user", "Hi")])
    assert prompt.text == "<bos>Be brief.\n\nQuestion: Hi\n\nAnswer:\n"
    assert prompt.ids[0] == 2
    assert prompt.ids.count(2) == 1
    longer = render(
        tokenizer, [Message("system", "Be brief."), Message("user", "Hi"), Message("assistant", "Yes."), Message("user", "Go")]
    )
    # A turn is added at the end: nothing before it is cut otherwise.
    assert longer.ids[: len(prompt.ids)] == prompt.ids

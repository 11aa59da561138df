"""Every way of cutting text that a GGUF can name, against transformers' own tokenizers with the same vocabulary."""

import functools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from transformers import CohereTokenizer, GPT2Tokenizer, Qwen2Tokenizer
from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS, set_split_regex

from engine.models.gguf_cuts import CUTS
from engine.models.gguf_header import read_header
from engine.models.gguf_tokenizer import build_tokenizer
from tests.models.tiny_gguf import byte_level_metadata, tiny_gguf

TEXTS = (
    "",
    "Hello world, it's 12345 and 3.14! I'M SURE we'll",
    "  two leading, and  double  spaces \t tab\r\nlines\n\n\n  x",
    "fooBAR HTTPServer iPhone ABCs Ünïcode ÄÖÜß",
    "cafe\u0301 naïve Привет мир 日本語とemoji 😀👩‍👩‍👧❤️ 안녕하세요",
    "def f(x):\n    return x ** 2  # done /path/to/it //\n",
    "$100 <=> a+b^c~d|`e` «quotes» …!? ١٢٣ Ⅻ ½",
    "<tag attr='v'>don't</tag>\u00a0\u3000end ",
)
# What transformers' table and llama.cpp's agree on, and Flint knows.
SHARED = sorted(set(CUTS) & set(GGUF_PRE_TOKENIZER_SPLITS))
ALPHABET = st.text(alphabet=st.sampled_from("abcXYZ 's'd  \t\r\n\n019.,!?/$é日ー한я\u0301😀«½"), max_size=40)


@functools.cache
def vocabulary():
    entries = byte_level_metadata()
    tokens = entries["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in entries["tokenizer.ggml.merges"]]
    return {token: index for index, token in enumerate(tokens)}, merges


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The tokenizer that Flint makes for a name in `tokenizer.ggml.pre`, of one vocabulary."""
    folder = tmp_path_factory.mktemp("cuts")

    @functools.cache
    def build(pre):
        tiny_gguf(folder / "tiny.gguf", metadata={"tokenizer.ggml.pre": pre}, layers=1)
        return Tokenizer.from_str(build_tokenizer(read_header(folder / "tiny.gguf"), 10_000).tokenizer)

    return build


def ids(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).ids


@functools.cache
def published(name):
    """The tokenizer that transformers has for a family."""
    vocab, merges = vocabulary()
    if name == "gpt-2":
        return GPT2Tokenizer(vocab=vocab, merges=merges).backend_tokenizer
    if name == "command-r":
        return CohereTokenizer(vocab=vocab, merges=merges).backend_tokenizer
    if name == "qwen2":
        return Qwen2Tokenizer(vocab=vocab, merges=merges).backend_tokenizer
    tokenizer = set_split_regex(GPT2Tokenizer(vocab=vocab, merges=merges), {"pre_tokenizer_type": name}).backend_tokenizer
    if not CUTS[name].whole:
        return tokenizer
    state = json.loads(tokenizer.to_str())
    state["model"]["ignore_merges"] = True  # As in the tokenizer.json of Llama 3 and of Mistral Nemo.
    return Tokenizer.from_str(json.dumps(state))


@pytest.mark.parametrize("pre", sorted({*SHARED, "gpt-2", "command-r"} - {"qwen35"}))
def test_texts_get_the_ids_that_transformers_gives_them(built, pre):
    for text in TEXTS:
        assert ids(built(pre), text) == ids(published(pre), text), text


@settings(max_examples=300)
@given(st.sampled_from(["llama-bpe", "qwen2", "gpt-4o", "tekken", "gpt-2", "command-r", "dbrx"]), ALPHABET)
def test_any_text_gets_the_ids_that_transformers_gives_it(built, pre, text):
    assert ids(built(pre), text) == ids(published(pre), text)


@settings(max_examples=300)
@given(st.sampled_from(sorted(set(CUTS) - {name for name in CUTS if CUTS[name].composed})), st.text(max_size=40))
def test_every_way_of_cutting_gives_back_any_text(built, pre, text):
    assert built(pre).decode(ids(built(pre), text), skip_special_tokens=False) == text


@pytest.mark.parametrize(
    ("pre", "text", "pieces"),
    [
        ("falcon", "it's 12345 a`b", ["it", "'", "s", " ", "123", "45", " a", "`", "b"]),
        ("tekken", "HTTPServer isn't 123", ["HTTPServer", " isn", "'t", " ", "1", "2", "3"]),
        ("gpt-4o", "HTTPServer isn't 12345", ["HTTPServer", " isn't", " ", "123", "45"]),
        ("deepseek-v3", "a 12345 日本x don't", ["a", " ", "123", "45", " ", "日本", "x", " don", "'t"]),
        ("deepseek-coder", "a 123 日本 x.y", ["a", " ", "1", "2", "3", " ", "日本", " x", ".", "y"]),
        ("viking", "a 123, b", ["a", " ", "1", "2", "3", ",", " b"]),
        ("poro-chat", "a 123, b", ["a", " 123", ",", " b"]),
        ("seed-coder", "x\n; \ny", ["x", "\n", ";", " \n", "y"]),
        ("qwen35", "e\u0301a 12", ["éa", " ", "1", "2"]),
        ("starcoder", "a 12", ["a", " ", "1", "2"]),
    ],
)
def test_text_is_cut_as_the_file_names_it(built, pre, text, pieces):
    tokenizer = built(pre)
    text = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
    assert [text[begin:end] for _, (begin, end) in tokenizer.pre_tokenizer.pre_tokenize_str(text)] == pieces

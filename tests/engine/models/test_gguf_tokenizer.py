"""A GGUF's tokenizer splits and joins text as the one the model was trained with."""

import functools
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.models.gguf_header import read_header
from engine.models.gguf_tokenizer import build_tokenizer
from tests.models.sentencepiece_model import sentencepiece_processor
from tests.models.tiny_gemma3 import gemma_tokenizer
from tests.models.tiny_gguf import byte_level_metadata, sentencepiece_metadata, tiny_gguf, trained_sentencepiece
from tests.models.tiny_tokenizers import CHATML, byte_level

TEXTS = (
    "",
    "Hello world",
    "  two leading, and  double  spaces ",
    "I'm sure we'll don't I'M",
    "tabs\tand\r\nlines\n\n\nand 1234567 numbers 3.14",
    "naïve café Größe",
    "日本語とemoji 😀👩‍👩‍👧❤️",
    "def f(x):\n    return x ** 2  # done",
    "Привет, мир! 안녕하세요",
)

# Bytes that no token of SmolLM2 stands for: its authors' tokenizer drops them too.
SMOLLM_LACKS = {0xC0, 0xC1, *range(0xF5, 0x100), 0xF1, 0xF2, 0x04, 0x06, 0x13, 0x14, 0x16, 0x1D}


def built(tmp_path, tokenizer=None, vocabulary=10_000, **metadata):
    """Return the files built for a tiny GGUF with these `tokenizer.ggml.*` entries."""
    changed = {key if key.startswith("tokenizer.") else f"tokenizer.ggml.{key}": value for key, value in metadata.items()}
    tiny_gguf(tmp_path / "tiny.gguf", tokenizer=tokenizer, metadata=changed, layers=1)
    return build_tokenizer(read_header(tmp_path / "tiny.gguf"), vocabulary)


def ids(files, text, special=False):
    return Tokenizer.from_str(files.tokenizer).encode(text, add_special_tokens=special).ids


def pieces(files, text):
    """Return how a text is cut before the merges."""
    found = Tokenizer.from_str(files.tokenizer).pre_tokenizer.pre_tokenize_str(text)
    return [text[begin:end] for _, (begin, end) in found]


def test_a_byte_level_tokenizer_encodes_as_the_one_it_was_written_from(tmp_path):
    files, original = built(tmp_path), byte_level()
    for text in (*TEXTS, "<|im_start|>user\nHi<|im_end|>\n"):
        assert ids(files, text) == original.encode(text, add_special_tokens=False), text


@pytest.fixture(scope="module")
def starter_tokenizer(starter):
    return Tokenizer.from_file(str(starter / "tokenizer.json"))


@pytest.fixture(scope="module")
def gemma_files(tmp_path_factory):
    return built(tmp_path_factory.mktemp("gemma"), gemma_tokenizer())


@pytest.fixture(scope="module")
def sentencepiece_files(tmp_path_factory):
    return built(tmp_path_factory.mktemp("sentencepiece"), sentencepiece_metadata())


def of_transformers(entries, build):
    """The tokenizer that transformers makes of `tokenizer.ggml.*` entries by itself."""
    from transformers.integrations.gguf.gguf_tokenizer_mapping import add_gguf_special_tokens

    said = {name.removeprefix("tokenizer.ggml."): value for name, value in entries.items()}
    return add_gguf_special_tokens(build(said), {**said, "tokenizer_type": "llama"})


@functools.cache
def transformers_llama():
    from transformers.integrations.gguf.gguf_tokenizer_mapping import sentencepiece_tokenizer

    return of_transformers(sentencepiece_metadata(), sentencepiece_tokenizer)


@functools.cache
def transformers_gemma():
    from transformers.integrations.gguf.gguf_tokenizer_mapping import gemma_tokenizer as build

    return of_transformers(gemma_tokenizer(), build)


@settings(max_examples=200)
@given(st.text())
def test_the_starter_gives_back_any_text(starter_tokenizer, text):
    tokenizer = starter_tokenizer
    plain = "".join(char for char in text if not SMOLLM_LACKS & set(char.encode()))
    assert tokenizer.decode(tokenizer.encode(plain).ids, skip_special_tokens=False) == plain


def test_the_starter_cuts_text_as_smollm2_does(starter_tokenizer):
    # SmolLM2's own tokenizer.json says: single digits, then GPT-2's way.
    theirs = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    ours = starter_tokenizer.pre_tokenizer
    for text in TEXTS:
        assert ours.pre_tokenize_str(text) == theirs.pre_tokenize_str(text), text


def test_the_starters_special_tokens_are_one_id_each_and_nothing_is_added(starter):
    tokenizer = AutoTokenizer.from_pretrained(starter, local_files_only=True)
    assert tokenizer.encode("<|im_start|>user\nHi<|im_end|>\n") == [1, 4093, 198, 26843, 2, 198]
    assert tokenizer.encode("Hi") == [26843]
    assert tokenizer.decode([1, 26843, 2], skip_special_tokens=True) == "Hi"
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id) == (1, 2)
    text = tokenizer.apply_chat_template([{"role": "user", "content": "Hi"}], tokenize=False, add_generation_prompt=True)
    assert text == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize(
    ("pre", "text", "expected"),
    [
        ("gpt-2", "it's 12345 go!", ["it", "'s", " 12345", " go", "!"]),
        ("smollm", "it's 123 go!", ["it", "'s", " ", "1", "2", "3", " go", "!"]),
        ("llama-bpe", "IT'S 12345 go!\n\n x", ["IT", "'S", " ", "123", "45", " go", "!\n\n", " x"]),
        ("llama3", "IT'S 12345", ["IT", "'S", " ", "123", "45"]),
        ("qwen2", "IT'S 123 go", ["IT", "'S", " ", "1", "2", "3", " go"]),
        ("default", "it's 12345 go!", ["it", "'", "s", " ", "123", "45", " go", "!"]),
    ],
)
def test_text_is_cut_as_the_file_names_it(tmp_path, pre, text, expected):
    assert pieces(built(tmp_path, pre=pre), text) == expected


def test_a_file_that_does_not_say_how_to_cut_is_cut_the_default_way(tmp_path):
    assert pieces(built(tmp_path, pre=None), "12345!") == pieces(built(tmp_path, pre="default"), "12345!")


def test_llama_3_takes_a_word_that_is_a_token_whole(tmp_path):
    entries = byte_level_metadata()
    tokens = [*entries["tokenizer.ggml.tokens"], "zqzq"]
    types = [*entries["tokenizer.ggml.token_type"], 1]
    files = built(tmp_path, {**entries, "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types}, pre="llama-bpe")
    assert ids(files, "zqzq") == [len(tokens) - 1]


@pytest.mark.parametrize(
    ("pre", "said", "begins"),
    [("llama-bpe", None, True), ("gpt-2", None, False), ("gpt-2", True, True), ("llama-bpe", False, False)],
)
def test_a_begin_token_is_added_where_the_file_says_so(tmp_path, pre, said, begins):
    files = built(tmp_path, pre=pre, add_bos_token=said)
    bos = byte_level_metadata()["tokenizer.ggml.bos_token_id"]
    assert (ids(files, "Hi", special=True)[0] == bos) is begins
    assert json.loads(files.tokenizer_config)["add_bos_token"] is begins


def test_an_end_token_is_added_where_the_file_says_so(tmp_path):
    eos = byte_level_metadata()["tokenizer.ggml.eos_token_id"]
    assert ids(built(tmp_path, add_eos_token=True), "Hi", special=True)[-1] == eos
    assert eos not in ids(built(tmp_path), "Hi", special=True)


def test_sentencepiece_is_encoded_and_decoded_as_sentencepiece_does(tmp_path):
    files, processor = built(tmp_path, sentencepiece_metadata()), trained_sentencepiece()
    tokenizer = Tokenizer.from_str(files.tokenizer)
    for text in TEXTS:
        encoded = tokenizer.encode(text).ids
        assert encoded == [processor.bos_id(), *processor.encode(text)], text
        assert tokenizer.decode(encoded, skip_special_tokens=True) == text


@settings(max_examples=100)
@given(st.text(alphabet=st.sampled_from("abcdefghijk theqo.,!12\nüé日本😀 ")))
def test_sentencepiece_agrees_on_any_text(sentencepiece_files, text):
    processor = trained_sentencepiece()
    encoded = ids(sentencepiece_files, text)
    # Of two merges with one score, ours may take the other: the same text, in as many tokens.
    assert Tokenizer.from_str(sentencepiece_files.tokenizer).decode(encoded) == text
    assert len(encoded) == len(processor.encode(text))


def test_a_sentencepiece_file_may_say_that_no_space_is_put_in_front(tmp_path):
    files = built(tmp_path, sentencepiece_metadata(), add_space_prefix=False)
    tokenizer = Tokenizer.from_str(files.tokenizer)
    assert tokenizer.encode("Hello", add_special_tokens=False).tokens[0][0] == "H"
    assert tokenizer.decode(tokenizer.encode(" Hello").ids) == " Hello"


# Runs of spaces and lines, tags, and a “▁” that was typed: where Gemma's user-defined pieces come in.
GEMMA_TEXTS = (
    "  two",
    " one and  two and   three and    four and     five ",
    "lines\n\n\n\nof\n \n  text\r\n",
    "\tdef f(x):\n\t\treturn <b>x</b> < b>",
    "typed ▁▁ and ▁",
    "ab" * 9 + "a" * 13,
    "\x00 \u200b \U0010ffff",
)


@functools.cache
def sentencepiece_processor_of_gemma():
    return sentencepiece_processor(gemma_tokenizer())


def test_gemmas_pieces_are_those_of_sentencepiece(gemma_files):
    tokenizer, processor = Tokenizer.from_str(gemma_files.tokenizer), sentencepiece_processor_of_gemma()
    for text in (*TEXTS, *GEMMA_TEXTS):
        encoded = tokenizer.encode(text).ids
        assert encoded == [processor.bos_id(), *processor.encode(text)], text
        assert tokenizer.decode(encoded) == processor.decode(encoded), text
    known = gemma_tokenizer()["tokenizer.ggml.tokens"]
    assert [known[index] for index in ids(gemma_files, "\n\n\n\n   x")] == ["\n\n\n", "\n", "   ", "x"]


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("aabcdehinot .,!12\n\n\t<>/b  é日😀▁")))
def test_gemmas_pieces_are_those_of_sentencepiece_on_any_text(gemma_files, text):
    assert ids(gemma_files, text) == sentencepiece_processor_of_gemma().encode(text)


def test_gemmas_control_tokens_are_found_in_text_and_end_turns(gemma_files):
    tokens = gemma_tokenizer()["tokenizer.ggml.tokens"]
    start, end = tokens.index("<start_of_turn>"), tokens.index("<end_of_turn>")
    found = ids(gemma_files, "<start_of_turn>a<end_of_turn>\n")
    assert (found[0], found[-2], found[-1]) == (start, end, tokens.index("\n"))
    assert end in gemma_files.eos_token_ids


def test_user_defined_pieces_are_found_where_a_space_is_put_in_front_too(tmp_path):
    entries = sentencepiece_metadata()
    tokens = [*entries["tokenizer.ggml.tokens"], "<think>"]
    more = {"scores": [*entries["tokenizer.ggml.scores"], -1000.0], "token_type": [*entries["tokenizer.ggml.token_type"], 4]}
    files = built(tmp_path, {**entries, "tokenizer.ggml.tokens": tokens, **{f"tokenizer.ggml.{k}": v for k, v in more.items()}})
    assert ids(files, "x<think>")[-1] == len(tokens) - 1


def test_phi_3s_special_tokens_swallow_the_white_space_after_them(tmp_path):
    entries = sentencepiece_metadata()
    count = len(entries["tokenizer.ggml.tokens"])
    added = {"tokens": ["<|user|>", "<|end|>", "<|endoftext|>"], "scores": [-1000.0] * 3, "token_type": [3] * 3}
    entries = {
        **entries,
        **{f"tokenizer.ggml.{name}": [*entries[f"tokenizer.ggml.{name}"], *more] for name, more in added.items()},
    }
    tiny_gguf(tmp_path / "phi.gguf", tokenizer=entries, layers=1)
    header = read_header(tmp_path / "phi.gguf")
    files = build_tokenizer(replace(header, metadata={**header.metadata, "general.architecture": "phi3"}), 10_000)
    hello = ids(files, "Hello")
    assert ids(files, "<|user|>\nHello<|end|>\n") == [count, *hello, count + 1]
    assert len(ids(files, "<|endoftext|>\n")) > 1
    # Others' do not.
    assert ids(build_tokenizer(header, 10_000), "<|user|>\nHello") != [count, *hello]
    assert files.eos_token_ids == (2, count + 1, count + 2)


def test_the_chat_template_comes_from_the_file(tmp_path):
    files = built(tmp_path)
    assert json.loads(files.tokenizer_config)["chat_template"] == CHATML
    assert "chat_template" not in json.loads(built(tmp_path, **{"tokenizer.chat_template": None}).tokenizer_config)


def test_a_turn_ends_with_every_end_token_that_the_file_names_or_has(tmp_path):
    entries = byte_level_metadata()
    tokens, types = entries["tokenizer.ggml.tokens"], entries["tokenizer.ggml.token_type"]
    count = len(tokens)
    entries = {
        **entries,
        "tokenizer.ggml.tokens": [*tokens, "<|custom|>", "<|endoftext|>", "<|eot_id|>"],
        "tokenizer.ggml.token_type": [*types, 3, 3, 1],
        "tokenizer.ggml.eot_token_id": count,
    }
    files = built(tmp_path, entries)
    # <|eot_id|> is plain text in this file: it ends nothing.
    assert set(files.eos_token_ids) == {tokens.index("<|im_end|>"), count, count + 1}
    assert files.eos_token_ids[0] == tokens.index("<|im_end|>")
    assert json.loads(files.generation_config)["eos_token_id"] == list(files.eos_token_ids)


def test_gpt_oss_goes_on_after_the_end_of_a_message(tmp_path):
    entries = byte_level_metadata()
    tokens, types = entries["tokenizer.ggml.tokens"], entries["tokenizer.ggml.token_type"]
    count = len(tokens)
    more = ("<|return|>", "<|end|>", "<|call|>")
    for names, ends in ((more, {count, count + 2}), (("<|end|>",), {count})):
        changed = {"tokenizer.ggml.tokens": [*tokens, *names], "tokenizer.ggml.token_type": [*types, *[3] * len(names)]}
        files = built(tmp_path, {**entries, **changed, "tokenizer.ggml.eos_token_id": count}, pre="gpt-4o")
        assert set(files.eos_token_ids) - {tokens.index("<|im_end|>")} == ends


def test_places_that_stand_for_nothing_get_a_name_each(tmp_path):
    entries = byte_level_metadata()
    tokens, types = entries["tokenizer.ggml.tokens"], entries["tokenizer.ggml.token_type"]
    changed = {"tokenizer.ggml.tokens": [*tokens, "", ""], "tokenizer.ggml.token_type": [*types, 5, 5]}
    files = built(tmp_path, {**entries, **changed})
    vocabulary = Tokenizer.from_str(files.tokenizer).get_vocab()
    assert vocabulary[f"[EMPTY_{len(tokens)}]"] == len(tokens)
    assert len(vocabulary) == len(tokens) + 2


def test_the_starters_ids_are_those_of_its_vocabulary_cut_as_smollm2_does(starter_gguf, starter_tokenizer):
    import gguf

    fields = gguf.GGUFReader(starter_gguf).fields
    tokens, merges = (fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges"))
    theirs = Tokenizer(
        models.BPE({token: index for index, token in enumerate(tokens)}, [tuple(merge.split(" ")) for merge in merges])
    )
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    for text in TEXTS:
        assert starter_tokenizer.encode(text).ids == theirs.encode(text).ids, text


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("abcdefghijk theqo.,!12\n<b>/üé日本😀")))
def test_a_sentencepiece_file_is_read_as_transformers_llama_and_gemma_read_it(sentencepiece_files, gemma_files, text):
    # transformers puts no space in front of one that is there already, and does not find Gemma's runs of spaces.
    # SentencePiece, with which ours is compared above, does both.
    text = re.sub(" +", " ", f"x{text}")
    for files, theirs in ((sentencepiece_files, transformers_llama()), (gemma_files, transformers_gemma())):
        assert ids(files, text) == theirs.backend_tokenizer.encode(text, add_special_tokens=False).ids


def test_user_defined_tokens_stay_whole_and_are_shown(tmp_path):
    entries = byte_level_metadata()
    tokens = [*entries["tokenizer.ggml.tokens"], "<think>"]
    types = [*entries["tokenizer.ggml.token_type"], 4]
    files = built(tmp_path, {**entries, "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types})
    assert ids(files, "a<think>b")[1] == len(tokens) - 1
    assert "<think>" in Tokenizer.from_str(files.tokenizer).decode(ids(files, "a<think>b"), skip_special_tokens=True)


def test_a_piece_that_is_far_too_long_is_refused(tmp_path):
    entries = sentencepiece_metadata()
    tokens = [*entries["tokenizer.ggml.tokens"][:-1], "a" * 100_000]
    with pytest.raises(ModelBroken, match="a token of 100,000 letters"):
        built(tmp_path, {**entries, "tokenizer.ggml.tokens": tokens})


def test_kinds_that_are_not_known_are_refused_by_name(tmp_path):
    with pytest.raises(ModelUnsupported, match="tokenizer of kind “bert”"):
        built(tmp_path, model="bert")
    with pytest.raises(ModelUnsupported, match="cuts text by “kimi-k2”"):
        built(tmp_path, pre="kimi-k2")


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"tokens": None}, "tokens"),
        ({"merges": None}, "merges"),
        ({"merges": ["a"]}, "merge that does not fit"),
        ({"merges": ["zzzz qqqq"]}, "merge that does not fit"),
        ({"token_type": [1, 2, 3]}, "token_type"),
        ({"bos_token_id": "one"}, "bos_token_id"),
        ({"add_bos_token": 1}, "add_bos_token"),
        ({"pre": 7}, "pre"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(tmp_path, changed, text):
    metadata = {key: value for key, value in changed.items() if key != "tokens"}
    if "tokens" in changed:
        tiny_gguf(tmp_path / "tiny.gguf")
        header = read_header(tmp_path / "tiny.gguf")
        del header.metadata["tokenizer.ggml.tokens"]
        with pytest.raises(ModelBroken, match=text):
            build_tokenizer(header, 10_000)
        return
    with pytest.raises(ModelBroken, match=text):
        built(tmp_path, **metadata)


def test_the_same_token_twice_and_more_tokens_than_rows_are_refused(tmp_path):
    entries = byte_level_metadata()
    tokens = [*entries["tokenizer.ggml.tokens"]]
    with pytest.raises(ModelBroken, match="the same token twice"):
        built(tmp_path, {**entries, "tokenizer.ggml.tokens": [*tokens[:-1], tokens[0]]})
    with pytest.raises(ModelBroken, match="embeds only 100"):
        built(tmp_path, vocabulary=100)


def test_an_id_that_stands_for_none_is_none(tmp_path):
    config = json.loads(built(tmp_path, bos_token_id=2**32 - 1).tokenizer_config)
    assert "bos_token" not in config
    assert config["eos_token"] == "<|im_end|>"

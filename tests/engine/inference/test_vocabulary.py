"""Texts of settings as tokens, for tokenizers of every make."""

import pytest

from engine.core.errors import SettingsError
from engine.inference.vocabulary import bias_by_id, breaker_ids, token_texts
from tests.models.tiny_tokenizers import KINDS, tokenizer_of

every_kind = pytest.mark.parametrize("kind", KINDS)


def test_a_text_is_the_token_that_writes_it_and_a_space_makes_another():
    tokenizer = tokenizer_of("byte level")
    (plain,), (spaced,) = (tokenizer.encode(text, add_special_tokens=False) for text in ("the", " the"))
    assert plain != spaced
    assert bias_by_id("the=1\n the=-2\n#7=3", tokenizer) == {plain: 1.0, spaced: -2.0, 7: 3.0}


def test_a_marker_and_a_line_break_are_tokens_too():
    tokenizer = tokenizer_of("byte level")
    end, newline = tokenizer.convert_tokens_to_ids("<|im_end|>"), tokenizer.encode("\n")[0]
    assert bias_by_id("<|im_end|>=-100\n\\n=4", tokenizer) == {end: -100.0, newline: 4.0}


def test_of_two_biases_for_one_token_the_later_counts():
    tokenizer = tokenizer_of("byte level")
    (plain,) = tokenizer.encode("the")
    assert bias_by_id(f"the=1\n#{plain}=5", tokenizer) == {plain: 5.0}


@every_kind
def test_a_text_of_several_tokens_is_refused_with_its_parts(kind):
    with pytest.raises(SettingsError, match="not one token") as caught:
        bias_by_id("xylophone concerto=1", tokenizer_of(kind))
    assert "#" in caught.value.text
    assert caught.value.hint


@every_kind
def test_an_id_beyond_the_vocabulary_is_refused(kind):
    with pytest.raises(SettingsError, match="no token #99999"):
        bias_by_id("#99999=1", tokenizer_of(kind))


@pytest.mark.parametrize("kind", ["byte level", "byte level without merges", "SentencePiece that strips", "wrapped byte level"])
@pytest.mark.parametrize("text", ["\n", ":", '"', "*", "th", " "])
def test_every_token_that_writes_a_breaker_breaks_and_no_other(kind, text):
    tokenizer = tokenizer_of(kind)
    special = {index for index, token in tokenizer.added_tokens_decoder.items() if token.special}
    anchor = tokenizer.encode("x", add_special_tokens=False)
    expected = set(special)
    for index in range(len(tokenizer)):
        known = tokenizer.decode(anchor, clean_up_tokenization_spaces=False)
        if text in tokenizer.decode([*anchor, index], clean_up_tokenization_spaces=False)[len(known) :]:
            expected.add(index)
    if expected == special:  # Nothing in this vocabulary holds it.
        expected.update(tokenizer.encode(text, add_special_tokens=False)[-1:])
    assert breaker_ids([text], tokenizer) == expected


def test_a_breaker_of_several_tokens_breaks_at_its_last_one():
    tokenizer = tokenizer_of("byte level")
    ids = tokenizer.encode("xyzzy")
    assert len(ids) > 1
    assert breaker_ids(["xyzzy"], tokenizer) - breaker_ids([], tokenizer) == {ids[-1]}


@every_kind
def test_what_a_token_adds_to_a_text_is_told(kind):
    tokenizer = tokenizer_of(kind)
    ids = tokenizer.encode("hello world, hello", add_special_tokens=False)
    before, following = ids[-2], ids[-1]
    whole = tokenizer.decode([before, following], clean_up_tokenization_spaces=False)
    (text,) = token_texts([following], before, tokenizer)
    assert tokenizer.decode([before], clean_up_tokenization_spaces=False) + text == whole
    assert len(token_texts(range(len(tokenizer)), None, tokenizer)) == len(tokenizer)


def test_a_marker_is_named():
    tokenizer = tokenizer_of("byte level")
    assert token_texts([tokenizer.convert_tokens_to_ids("<|im_end|>")], 5, tokenizer) == ["<|im_end|>"]

"""What a reply that goes on is given, and what of its text is told again."""

import pytest

from engine.core.facts import Message
from engine.inference.continuing import Shown, ids_so_far
from engine.inference.reply_text import ReplyText
from engine.inference.template import render
from tests.models.tiny_tokenizers import byte_level, sentencepiece

HELLO = [Message("user", "hello")]


def test_ids_that_this_model_wrote_are_taken_as_they_were():
    tokenizer = byte_level()
    prompt = render(tokenizer, HELLO)
    assert ids_so_far(tokenizer, prompt, Message("assistant", "x", (5, 6), "mine"), "mine") == (5, 6)
    assert ids_so_far(tokenizer, prompt, Message("assistant", "x", (5, 6), "other"), "mine") != (5, 6)


@pytest.mark.parametrize("make", [byte_level, sentencepiece])
@pytest.mark.parametrize("text", ["The quick", "The quick ", " brown\nfox", "Grüße 😀"])
def test_a_text_alone_is_encoded_as_it_would_stand_there(make, text):
    tokenizer = make()
    prompt = render(tokenizer, HELLO)
    ids = ids_so_far(tokenizer, prompt, Message("assistant", text), "mine")
    whole = tokenizer.encode(prompt.text + text.rstrip(" "), add_special_tokens=False)
    assert tuple(whole[len(whole) - len(ids) :]) == ids
    reply = ReplyText(tokenizer, "", inside_reasoning=False)
    answer, reasoning = reply.go_on_from(ids)
    assert (answer.strip(), reasoning) == (text.strip(), "")


def test_what_was_thought_stands_between_its_markers():
    tokenizer = byte_level(extra=("<think>", "</think>"))
    prompt = render(tokenizer, HELLO)

    def so_far(text, reasoning):
        ids = ids_so_far(tokenizer, prompt, Message("assistant", text, reasoning=reasoning), "mine")
        return ReplyText(tokenizer, "", inside_reasoning=False).go_on_from(ids)

    assert so_far("", "Let me see") == ("", "Let me see")
    assert so_far("Yes.", "Let me see") == ("Yes.", "Let me see")
    assert so_far("Yes.", "") == ("Yes.", "")


@pytest.mark.parametrize(
    ("shown", "had", "following", "told"),
    [
        ("abc", "abc", ["de"], "de"),
        ("abc", "ab", ["", "cd"], "d"),
        ("abcd", "ab", ["c", "de"], "e"),
        ("abc", "ab", ["xyz"], "xyz"),
        ("ab", "abc", ["d"], "cd"),
        ("other", "abc", ["d"], "d"),
    ],
)
def test_nothing_is_told_twice_or_left_out(shown, had, following, told):
    cut = Shown(shown, had)
    assert "".join(cut.new(text) for text in following) == told

from engine.inference.reply_text import ReplyText
from tests.models.scripted import ids_of
from tests.models.tiny_tokenizers import byte_level

THINKING = byte_level(extra=["<think>", "</think>"])
PLAIN = byte_level()


def told(tokenizer, ids, stop="", inside=False):
    """The answer and the reasoning that a reply of `ids` shows, and after how many ids it was stopped."""
    reply = ReplyText(tokenizer, stop, inside_reasoning=inside)
    answer = reasoning = ""
    count = 0
    for index in ids:
        count += 1
        more, thought, stopped = reply.add(index)
        answer, reasoning = answer + more, reasoning + thought
        if stopped:
            break
    more, thought = reply.finish()
    return answer + more, reasoning + thought, count


def thinking(text):
    parts = text.replace("<think>", "\0<think>\0").replace("</think>", "\0</think>\0").split("\0")
    return [
        index
        for part in parts
        for index in ([THINKING.convert_tokens_to_ids(part)] if part in ("<think>", "</think>") else ids_of(THINKING, part))
    ]


def test_text_comes_out_as_it_went_in():
    ids = ids_of(PLAIN, "Grüße 你好 🦊 <|im_end|> <think> not a thought")
    assert told(PLAIN, ids) == ("Grüße 你好 🦊 <|im_end|> <think> not a thought", "", len(ids))


def test_reasoning_and_answer_are_told_apart():
    assert told(THINKING, thinking("<think>hmm, 🦊</think>42"))[:2] == ("42", "hmm, 🦊")


def test_a_block_that_the_template_opened_is_reasoning_from_the_first_token():
    assert told(THINKING, thinking("hmm</think>42"), inside=True)[:2] == ("42", "hmm")


def test_reasoning_that_never_ends_stays_reasoning():
    assert told(THINKING, thinking("<think>hmm and so on"))[:2] == ("", "hmm and so on")


def test_a_stop_text_ends_it_wherever_it_stands():
    assert told(PLAIN, ids_of(PLAIN, "one two three"), stop="two\nfour") == ("one ", "", 7)
    assert told(THINKING, thinking("<think>one two</think>x"), stop="two")[:2] == ("", "one")


def test_what_looked_like_a_stop_text_is_shown_at_the_end():
    assert told(PLAIN, ids_of(PLAIN, "one tw"), stop="two")[0] == "one tw"


def test_half_a_character_at_the_end_completes_no_stop_text():
    ids = ids_of(PLAIN, "ab🦊")[:-1]
    assert told(PLAIN, ids, stop="b\ufffd")[0] == "ab"


def test_half_a_character_is_never_shown():
    ids = ids_of(PLAIN, "🦊")
    reply = ReplyText(PLAIN, "", inside_reasoning=False)
    assert [reply.add(index)[0] for index in ids[:-1]] == [""] * (len(ids) - 1)
    assert reply.finish() == ("", "")

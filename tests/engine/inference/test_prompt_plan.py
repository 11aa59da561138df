"""What of a prompt is pinned, where a later one agrees with it, and how replies keep the ids they were written with."""

import functools
from itertools import takewhile

import pytest

from engine.core.facts import Message
from engine.inference.layout import places
from engine.inference.prompt_plan import plan
from engine.inference.template import render
from tests.models.templates import LEAVES_OUT, MARKERS, MISTRAL, TEMPLATES, THINKS
from tests.models.tiny_tokenizers import CHATML, byte_level, sentencepiece

SYSTEM = Message("system", "You answer in verse, and never say why.")
FIRST, SECOND, THIRD = (Message("user", text) for text in ("hello, what is that?", "world of dogs", "Lazy fox, and then?"))
ONE, TWO = Message("assistant", "The quick brown fox."), Message("assistant", "It jumps over it.")
SLACK = 16


@functools.cache
def tokenizer_of(template):
    return byte_level(template, extra=MARKERS)


def planned(template, *messages, fingerprint="mine", turns=8):
    tokenizer = tokenizer_of(template)
    return plan(tokenizer, messages, render(tokenizer, messages), fingerprint, turns)


def ids_of(template, *messages):
    return render(tokenizer_of(template), messages).ids


def shared(left, right):
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))


every_template = pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
with_and_without_system = pytest.mark.parametrize("system", [(), (SYSTEM,)], ids=["no system prompt", "system prompt"])


@every_template
@with_and_without_system
def test_the_ids_are_those_of_the_rendered_prompt(template, system):
    for messages in ([FIRST], [FIRST, ONE, SECOND], [FIRST, ONE, SECOND, TWO, THIRD]):
        assert planned(template, *system, *messages).ids == ids_of(template, *system, *messages)


@every_template
@with_and_without_system
def test_what_is_pinned_is_what_chats_with_the_same_system_prompt_share(template, system):
    prompts = [planned(template, *system, user, ONE, SECOND) for user in (FIRST, SECOND, THIRD, Message("user", "Ä?"))]
    (pinned,) = {prompt.pinned for prompt in prompts}
    assert 0 <= min(shared(prompts[0].ids, other.ids) for other in prompts[1:]) - pinned <= 2
    text = tokenizer_of(template).decode(prompts[0].ids[:pinned])
    assert all(message.text in text for message in system)
    assert not text.endswith(FIRST.text[0])


@every_template
@with_and_without_system
def test_the_next_turn_agrees_up_to_the_mark_after_the_users_turn(template, system):
    messages = [*system, FIRST]
    for reply, question in ((ONE, SECOND), (TWO, THIRD)):
        now, later = planned(template, *messages), planned(template, *messages, reply, question)
        agreed = min(shared(now.ids, later.ids), len(now.ids) - 1)
        assert agreed - 3 <= now.marks[-1] <= agreed
        assert 0 <= later.marks[-3] - now.marks[-1] <= 3, "after this turn, before the last, after the last"
        messages += [reply, question]


@every_template
@with_and_without_system
def test_an_edit_of_any_turn_agrees_up_to_a_mark_not_far_before_it(template, system):
    messages = (FIRST, ONE, SECOND, TWO, THIRD)
    now = planned(template, *system, *messages)
    replies = {0: 0, 2: len(ONE.text), 4: 0}  # Where a reply ended while it was written the cache needs no mark.
    for at, written in replies.items():
        edited = planned(template, *system, *messages[:at], Message("user", "Ä, something else"))
        agreed = shared(now.ids, edited.ids)
        assert any(agreed - SLACK - written <= mark <= agreed for mark in now.marks), at


@every_template
def test_a_regenerate_agrees_up_to_a_mark_not_far_before_the_end(template):
    now = planned(template, SYSTEM, FIRST, ONE, SECOND)
    assert len(now.ids) - 4 <= now.marks[-1] <= len(now.ids) - 1


def test_a_mark_stands_before_reasoning_that_the_template_opened_and_drops_later():
    now = planned(THINKS, FIRST)
    text = tokenizer_of(THINKS).decode(now.ids[: now.marks[-1]])
    assert text.endswith("<|im_start|>assistant\n")
    thought = Message("assistant", "<think>\nhm\n</think>\n\nThe fox.")
    later = planned(THINKS, FIRST, thought, SECOND)
    assert now.marks[-1] in later.marks
    assert "hm" not in tokenizer_of(THINKS).decode(later.ids)


def test_only_the_newest_turns_are_marked():
    messages = [message for _ in range(20) for message in (FIRST, ONE)][:-1]
    many = planned(CHATML, *messages, turns=3)
    assert len(many.marks) == 1 + 3 + 1  # The pinned ones, three turns, and before the last.
    assert len(planned(CHATML, *messages, turns=100).marks) == 1 + 20 + 1


def test_a_mark_is_never_at_the_end_since_one_token_is_read_in_any_case():
    for messages in ([FIRST], [SYSTEM, FIRST], [FIRST, ONE, SECOND]):
        now = planned(CHATML, *messages)
        assert 0 < now.pinned < len(now.ids)
        assert all(0 < mark < len(now.ids) for mark in now.marks)
        assert now.marks == tuple(sorted(set(now.marks)))


# -- the ids of replies ---------------------------------------------------------------------------------------------------


def spelled(template, text):
    """Ids that write a text letter by letter, as no encoder would."""
    return tuple(index for letter in text for index in tokenizer_of(template).encode(letter, add_special_tokens=False))


def written(template, text, fingerprint="mine"):
    return Message("assistant", text, spelled(template, text), fingerprint)


@every_template
def test_a_reply_keeps_the_ids_it_was_written_with(template):
    reply = written(template, ONE.text)
    assert reply.ids != tuple(tokenizer_of(template).encode(ONE.text))
    now = planned(template, SYSTEM, FIRST, reply, SECOND)
    first = planned(template, SYSTEM, FIRST)
    if template not in (THINKS, MISTRAL):  # They write something else before a reply later.
        assert now.ids[: len(first.ids) + len(reply.ids)] == (*first.ids, *reply.ids)
    assert " ".join(map(str, reply.ids)) in " ".join(map(str, now.ids))
    tokenizer = tokenizer_of(template)
    assert tokenizer.decode(now.ids) == tokenizer.decode(ids_of(template, SYSTEM, FIRST, reply, SECOND))


def test_two_replies_keep_theirs():
    replies = [written(CHATML, ONE.text), written(CHATML, TWO.text)]
    now = planned(CHATML, FIRST, replies[0], SECOND, replies[1], THIRD)
    before = planned(CHATML, FIRST, replies[0], SECOND)
    assert now.ids[: len(before.ids) + len(replies[1].ids)] == (*before.ids, *replies[1].ids)


@pytest.mark.parametrize(
    "reply",
    [
        written(CHATML, ONE.text, "another model's"),
        Message("assistant", ONE.text, (), "mine"),
        Message("assistant", "Edited by hand.", spelled(CHATML, ONE.text), "mine"),
    ],
    ids=["another model's", "unknown", "of another text"],
)
def test_ids_that_are_not_the_texts_are_left_alone(reply):
    assert planned(CHATML, FIRST, reply, SECOND).ids == ids_of(CHATML, FIRST, Message("assistant", reply.text), SECOND)


@pytest.mark.parametrize("word", ["user", "assistant", "u", "\n", "<", "system", "hello", "start", "\n\nx", " y"])
def test_a_reply_that_reads_like_the_template_or_another_message_is_put_in_its_own_place(word):
    reply = written(CHATML, word)
    now = planned(CHATML, SYSTEM, Message("user", "hello user"), reply, SECOND)
    tokenizer = tokenizer_of(CHATML)
    header = planned(CHATML, SYSTEM, Message("user", "hello user")).ids
    assert now.ids[: len(header)] == header
    assert now.ids[len(header) : len(header) + len(reply.ids)] == reply.ids
    assert tokenizer.decode(now.ids) == tokenizer.decode(ids_of(CHATML, SYSTEM, Message("user", "hello user"), reply, SECOND))


def test_where_ids_do_not_begin_and_end_at_the_text_nothing_is_put_in():
    tokenizer = sentencepiece(template="{% for m in messages %}{{ m['content'] }} {% endfor %}")
    messages = (FIRST, Message("assistant", "fox", tuple(tokenizer.encode("f o x"))[:3], "mine"), SECOND)
    prompt = render(tokenizer, messages)
    assert tokenizer.decode(plan(tokenizer, messages, prompt, "mine").ids) == tokenizer.decode(prompt.ids)


def test_a_reply_with_reasoning_that_the_template_drops_is_encoded_anew():
    thought = "<think>\nhm\n</think>\n\nThe fox."
    now = planned(THINKS, FIRST, written(THINKS, thought), SECOND)
    assert now.ids == ids_of(THINKS, FIRST, Message("assistant", thought), SECOND)


# -- where messages end -----------------------------------------------------------------------------------------------------


@every_template
@with_and_without_system
def test_a_messages_end_is_where_its_text_ends(template, system):
    messages = [*system, FIRST, written(template, ONE.text), SECOND]
    now = planned(template, *messages)
    tokenizer = tokenizer_of(template)
    for message, end in zip(messages, now.ends, strict=True):
        assert tokenizer.decode(now.ids[:end]).rstrip(" ").endswith(message.text)
    assert list(now.ends) == sorted(now.ends)


def test_messages_of_the_same_words_end_one_after_the_other():
    again = [Message("user", "a"), Message("assistant", "a"), Message("user", "a"), Message("assistant", "user"), FIRST]
    ends = planned(CHATML, *again).ends
    assert len(set(ends)) == len(again)
    assert [tokenizer_of(CHATML).decode(planned(CHATML, *again).ids[end - 1 : end]) for end in ends[:4]] == ["a", "a", "a", "r"]


def test_a_message_that_the_template_leaves_out_ends_where_the_one_before_does():
    messages = (FIRST, ONE, SECOND, TWO, THIRD)
    now = planned(LEAVES_OUT, *messages)
    assert now.ends[:2] == (0, 0)
    assert 0 < now.ends[2] < now.ends[3] < now.ends[4] < len(now.ids)


def test_a_text_that_quotes_the_template_does_not_move_what_follows():
    quoting = Message("user", "why <|im_end|>\n<|im_start|>assistant\nHi<|im_end|>\n<|im_start|>user\nthat?")
    messages = (quoting, ONE, SECOND)
    tokenizer = tokenizer_of(CHATML)
    text = render(tokenizer, messages).text
    assert [text[start:end] for start, end in places(tokenizer, messages, text)] == [message.text for message in messages]


def test_content_that_the_template_changes_is_found_and_what_it_cannot_place_is_not_guessed():
    thought = Message("assistant", "<think>\nhm\n</think>\n\nThe fox.")
    tokenizer = tokenizer_of(THINKS)
    text = render(tokenizer, (FIRST, thought, SECOND)).text
    assert [text[start:end] for start, end in places(tokenizer, (FIRST, thought, SECOND), text)] == [
        FIRST.text,
        "The fox.",
        SECOND.text,
    ]
    counts = "{% for m in messages %}{{ m['content'] | length }} {{ m['content'] }}\n{% endfor %}"
    text = render(tokenizer_of(counts), (FIRST, ONE)).text
    assert places(tokenizer_of(counts), (FIRST, ONE), text) == [None, None]

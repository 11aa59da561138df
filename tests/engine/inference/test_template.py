import hashlib

import pytest

from engine.core.errors import TemplateError
from engine.core.facts import Message
from engine.inference import template_work
from engine.inference.end_of_turn import end_token_ids
from engine.inference.template import BROKEN_HINT, Prompt, fold_system, render, template_hash
from tests.models.tiny_tokenizers import CHATML, byte_level, sentencepiece

SYSTEM, HELLO, HI, MORE = (
    Message("system", "Be brief."),
    Message("user", "hello"),
    Message("assistant", "Hi!"),
    Message("user", "more"),
)

MISTRAL = (
    "{{ '<s>' }}{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% if m['role'] == 'user' %}[INST] {{ m['content'] }} [/INST]{% else %}{{ m['content'] }}</s>{% endif %}{% endfor %}"
)
GEMMA = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported.') }}{% endif %}"
    "{% for m in messages %}<turn>{{ m['role'] }}\n{{ m['content'] | trim }}</turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<turn>model\n{% endif %}"
)
DROPS_SYSTEM = (
    "{% for m in messages %}{% if m['role'] == 'user' %}U:{{ m['content'] }}\n"
    "{% elif m['role'] == 'assistant' %}A:{{ m['content'] }}\n{% endif %}{% endfor %}A:"
)
SHOUTS = "{% for m in messages %}{{ m['content'] | upper }}\n{% endfor %}"
OPENS = CHATML.replace("assistant\n{% endif", "assistant\n<think>\n{% endif")
OPENS_AND_CLOSES = CHATML.replace("assistant\n{% endif", "assistant\n<think>\n\n</think>\n\n{% endif")
ALWAYS_OPENS = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: <think>\n"
MENTIONS = "{# <think> </think> #}" + CHATML


def text_of(template, *messages):
    return render(byte_level(template=template), messages).text


def failure(template, *messages):
    with pytest.raises(TemplateError) as caught:
        text_of(template, *messages)
    assert caught.value.hint
    assert "\n" not in caught.value.text
    assert "Traceback" not in caught.value.text
    return caught.value


def test_the_prompt_is_what_the_template_writes_with_the_opening_of_the_reply():
    expected = (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\nHi!<|im_end|>\n"
        "<|im_start|>user\nmore<|im_end|>\n<|im_start|>assistant\n"
    )
    assert text_of(CHATML, SYSTEM, HELLO, HI, MORE) == expected


@pytest.mark.parametrize("make", [byte_level, sentencepiece])
def test_the_ids_are_those_of_the_text_with_nothing_added(make):
    tokenizer = make()
    prompt = render(tokenizer, [HELLO])
    assert prompt == Prompt(prompt.text, tuple(tokenizer.encode(prompt.text, add_special_tokens=False)), prompt.ends, False)
    assert (len(prompt.ends), prompt.ends[-1]) == (len(prompt.ids), len(prompt.text))
    assert prompt.ids.count(tokenizer.convert_tokens_to_ids("<|im_start|>")) == 2
    assert all(type(index) is int for index in prompt.ids)


def test_a_beginning_of_text_that_the_template_writes_is_not_doubled():
    from tokenizers.processors import TemplateProcessing

    tokenizer = sentencepiece(template="<s>{{ messages[0]['content'] }}")
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    assert tokenizer.encode("hello")[0] == 1
    assert render(tokenizer, [HELLO]).ids.count(1) == 1


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (MISTRAL, "<s>[INST] Be brief.\n\nhello [/INST]Hi!</s>[INST] more [/INST]"),
        (GEMMA, "<turn>user\nBe brief.\n\nhello</turn>\n<turn>assistant\nHi!</turn>\n<turn>user\nmore</turn>\n<turn>model\n"),
        (DROPS_SYSTEM, "U:Be brief.\n\nhello\nA:Hi!\nU:more\nA:"),
    ],
)
def test_a_system_prompt_that_the_template_does_not_take_goes_into_the_first_user_message(template, expected):
    assert text_of(template, SYSTEM, HELLO, HI, MORE) == expected


def test_a_system_prompt_that_the_template_takes_stays_where_it_is():
    assert text_of(CHATML, SYSTEM, HELLO).startswith("<|im_start|>system\nBe brief.<|im_end|>")


def test_a_system_prompt_that_the_template_rewrites_is_not_folded():
    assert text_of(SHOUTS, SYSTEM, HELLO) == "BE BRIEF.\nHELLO\n"


def test_folding_leaves_the_other_messages_as_they_are():
    assert fold_system([SYSTEM, HI, HELLO, MORE]) == (HI, Message("user", "Be brief.\n\nhello"), MORE)
    assert fold_system([HELLO, HI]) == (HELLO, HI)
    assert fold_system([SYSTEM]) == (SYSTEM,)
    assert fold_system([Message("system", "  "), HELLO]) == (HELLO,)


def test_a_refusal_is_told_in_the_templates_own_words():
    error = failure(MISTRAL, HELLO, MORE)
    assert error.text == (
        "The model's chat template refuses this conversation: Conversation roles must alternate user/assistant/user/assistant/."
    )


def test_a_refusal_that_folding_does_not_cure_is_told():
    assert "must alternate" in failure(MISTRAL, SYSTEM, HELLO, MORE).text
    assert "System role not supported" in failure(GEMMA, SYSTEM).text


@pytest.mark.parametrize("template", [None, "", {"rag": "{{ messages }}"}])
def test_a_model_without_a_template_is_told_apart(template):
    tokenizer = byte_level(template=None)
    tokenizer.chat_template = template
    with pytest.raises(TemplateError, match="no chat template") as caught:
        render(tokenizer, [HELLO])
    assert "instruct" in caught.value.hint


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{% for m in messages %}", "does not parse"),
        ("{{ messages | no_such_filter }}", "no_such_filter"),
        ("line one\n{% if %}", "line 2"),
        ("{{ messages[7]['content'] }}", "failed"),
        ("{{ messages[0]['content'] + 1 }}", "failed"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "not allowed"),
        ("{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}", "failed"),
        ("{{ raise_exception('') }}", "refuses"),
    ],
)
def test_a_faulty_template_is_an_error_for_people(template, words):
    assert words in failure(template, HELLO).text


def test_an_empty_conversation_has_nothing_to_answer():
    assert "no message" in failure(CHATML).text


@pytest.mark.parametrize(
    ("template", "text", "inside"),
    [
        (OPENS, "hello", True),
        (OPENS, "what does </think> mean?", True),
        (OPENS_AND_CLOSES, "hello", False),
        (ALWAYS_OPENS, "hello", True),
        (ALWAYS_OPENS.replace("<think>\n", "<think></think>"), "hello", False),
        (MENTIONS, "hello", False),
        (MENTIONS, "what does <think> mean?", False),
        (MENTIONS, "<think>", False),
        (CHATML, "<think>", False),
    ],
)
def test_a_reply_starts_in_reasoning_where_the_template_itself_opened_the_block(template, text, inside):
    tokenizer = byte_level(template=template, extra=["<think>", "</think>"])
    assert render(tokenizer, [Message("user", text)]).starts_in_reasoning is inside


def test_a_template_that_needs_the_generation_prompt_can_still_open_the_block():
    template = "{% if not add_generation_prompt %}{{ raise_exception('no') }}{% endif %}{{ messages[0]['content'] }}<think>\n"
    assert render(byte_level(template=template, extra=["</think>"]), [HELLO]).starts_in_reasoning is False
    assert render(byte_level(template=template, extra=["<think>", "</think>"]), [HELLO]).starts_in_reasoning is True


def test_the_hash_follows_the_template_that_is_used():
    tokenizer = byte_level()
    assert template_hash(tokenizer) == hashlib.sha256(CHATML.encode()).hexdigest()[:16]
    tokenizer.chat_template = {"default": CHATML, "tool_use": "other"}
    assert template_hash(tokenizer) == hashlib.sha256(CHATML.encode()).hexdigest()[:16]
    tokenizer.chat_template = CHATML + " "
    assert template_hash(tokenizer) != hashlib.sha256(CHATML.encode()).hexdigest()[:16]
    tokenizer.chat_template = None
    assert template_hash(tokenizer) == ""


def test_the_starter_takes_a_system_prompt_and_has_one_of_its_own(starter):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(starter)
    prompt = render(tokenizer, [SYSTEM, HELLO])
    assert prompt.text == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"
    )
    assert prompt.ids == tuple(tokenizer.encode(prompt.text, add_special_tokens=False))
    assert prompt.ids[0] == tokenizer.convert_tokens_to_ids("<|im_start|>")
    assert not prompt.starts_in_reasoning
    assert "SmolLM" in render(tokenizer, [HELLO]).text
    assert len(template_hash(tokenizer)) == 16


LONG = "{% for i in range(99999) %}{% for j in range(99999)CONDITION %}BODY{% endfor %}{% endfor %}"
TWICE = "{% macro twice(n) %}{% if n %}{{ twice(n - 1) }}{{ twice(n - 1) }}{% endif %}{% endmacro %}{{ twice(60) }}"


@pytest.mark.parametrize(
    "template",
    [
        LONG.replace("CONDITION", "").replace("BODY", "a"),
        LONG.replace("CONDITION", "").replace("BODY", ""),
        LONG.replace("CONDITION", " if j < 0").replace("BODY", "a"),
        "{% macro all() %}" + LONG.replace("CONDITION", "").replace("BODY", "") + "{% endmacro %}{{ all() }}",
        TWICE,
    ],
)
def test_a_template_that_would_not_end_is_given_up(template):
    error = failure(template, SYSTEM, HELLO)
    assert "does not come to an end" in error.text
    assert error.hint == BROKEN_HINT
    assert end_token_ids(byte_level(template=template), {}) == end_token_ids(byte_level(template=CHATML), {})


def test_each_rendering_has_all_the_steps_and_a_long_chat_needs_few_of_them(monkeypatch):
    monkeypatch.setattr(template_work, "STEPS", 20_000)
    for _ in range(3):
        assert text_of(CHATML, *[HELLO, HI] * 500, MORE).count("hello") == 500

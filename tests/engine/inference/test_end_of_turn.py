import pytest

from engine.inference.end_of_turn import end_token_ids
from tests.models.tiny_tokenizers import CHATML, byte_level

REFUSES = "{{ raise_exception('no') }}"
OTHER_END = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|turn_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXT_END = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\nEND\n{% endfor %}"


def tokenizer_with(template, *special):
    from tokenizers import AddedToken

    tokenizer = byte_level(template=template)
    tokenizer.add_tokens([AddedToken(name, special=True) for name in special], special_tokens=True)
    return tokenizer


def end(tokenizer):
    return tokenizer.convert_tokens_to_ids("<|im_end|>")


@pytest.mark.parametrize(
    ("config", "extra"),
    [
        ({}, set()),
        ({"eos_token_id": None}, set()),
        ({"eos_token_id": 7}, {7}),
        ({"eos_token_id": [7, 8]}, {7, 8}),
        ({"eos_token_id": True}, set()),
        ({"eos_token_id": ["x", 9]}, {9}),
        ({"text_config": {"eos_token_id": 6}}, {6}),
        ({"text_config": None}, set()),
    ],
)
def test_the_ids_of_the_config_count_beside_the_tokenizers_own(config, extra):
    tokenizer = byte_level()
    assert end_token_ids(tokenizer, config) == {end(tokenizer)} | extra


def test_the_token_that_the_template_puts_after_an_answer_counts():
    tokenizer = tokenizer_with(OTHER_END, "<|turn_end|>")
    assert end_token_ids(tokenizer, {}) == {end(tokenizer), tokenizer.convert_tokens_to_ids("<|turn_end|>")}


@pytest.mark.parametrize("template", [None, REFUSES, TEXT_END, "{{ messages[0]['content'] }}"])
def test_plain_text_after_an_answer_and_faulty_templates_add_nothing(template):
    tokenizer = byte_level(template=template)
    assert end_token_ids(tokenizer, {}) == {end(tokenizer)}


def test_a_tokenizer_without_an_end_leaves_the_templates():
    tokenizer = byte_level(template=CHATML)
    expected = end(tokenizer)
    tokenizer.eos_token = None
    assert end_token_ids(tokenizer, {}) == {expected}


def test_the_starters_end_is_found(starter_loaded):
    assert starter_loaded.end_ids >= {starter_loaded.tokenizer.convert_tokens_to_ids("<|im_end|>")}
    assert len(starter_loaded.end_ids) <= 2

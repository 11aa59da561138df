"""Which stretch of a prompt belongs to which message, for templates of every make."""

import pytest

from engine.core.facts import Message
from engine.inference.sections import sections
from engine.inference.template import render
from tests.models.templates import DEFAULT_SYSTEM, LEAVES_OUT, MARKERS, TEMPLATES
from tests.models.tiny_tokenizers import CHATML, byte_level

SYSTEM, HELLO, HI, MORE = (
    Message("system", "Be brief."),
    Message("user", "user"),  # A text that the template itself writes, too.
    Message("assistant", "Hi!"),
    Message("user", "more"),
)


def stretches(template, *messages):
    """The sections as (role, text)."""
    tokenizer = byte_level(template, MARKERS)
    prompt = render(tokenizer, messages)
    found, start = [], 0
    for section in sections(tokenizer, messages, prompt.text):
        found.append((section.role, prompt.text[start : section.stop]))
        start = section.stop
    assert "".join(text for _, text in found) == prompt.text
    return found


def test_each_message_has_the_words_the_template_puts_around_it():
    assert stretches(CHATML, SYSTEM, HELLO, HI, MORE) == [
        ("system", "<|im_start|>system\nBe brief.<|im_end|>\n"),
        ("user", "<|im_start|>user\nuser<|im_end|>\n"),
        ("assistant", "<|im_start|>assistant\nHi!<|im_end|>\n"),
        ("user", "<|im_start|>user\nmore<|im_end|>\n"),
        ("assistant", "<|im_start|>assistant\n"),
    ]


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_text_stands_in_the_section_of_its_message(template):
    messages = (SYSTEM, HELLO, HI, MORE)
    found = stretches(TEMPLATES[template], *messages)
    for message, (role, text) in zip(messages, found, strict=False):
        assert (role, message.text in text) == (message.role, True)
        assert not any(other.text in text for other in messages if other is not message and other.text != "user")


def test_system_prompt_that_the_template_brings_is_the_templates():
    assert stretches(DEFAULT_SYSTEM, HELLO)[0] == ("template", "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n")
    assert stretches(DEFAULT_SYSTEM, SYSTEM, HELLO)[0][0] == "system"


def test_what_the_template_leaves_out_has_no_section():
    roles = [role for role, _ in stretches(LEAVES_OUT, HELLO, HI, MORE, Message("assistant", "So."), Message("user", "And?"))]
    assert roles == ["user", "assistant", "user", "assistant"]


def test_template_that_changes_what_it_is_given_is_shown_whole():
    shouting = "{% for m in messages %}{{ m['content'] | upper }}{% endfor %}"
    assert stretches(shouting, HELLO, HI, MORE)[-1][1].endswith("MORE")

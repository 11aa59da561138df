"""From messages to the exact prompt: the model's own chat template, rendered in transformers' Jinja sandbox."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import jinja2

from engine.core.errors import TemplateError
from engine.core.facts import Message
from engine.inference.encoding import encode
from engine.inference.reasoning import markers, template_text
from engine.inference.template_work import BROKEN_HINT, bounded

REFUSED_HINT = "Start a new chat, or choose another model. If the chat has a system prompt, try it without one."


@dataclass(frozen=True)
class Prompt:
    """What the model reads: the rendered text, its token ids, where in the text each of them `ends`, and whether it ends inside
    an opened reasoning block."""

    text: str
    ids: tuple[int, ...]
    ends: tuple[int, ...]
    starts_in_reasoning: bool


def render(tokenizer: Any, messages: Sequence[Message]) -> Prompt:
    """Return the prompt that asks for the next reply to `messages`. `tokenizer` is a transformers fast tokenizer.

    Where the template refuses or drops a system message, its text is put before the first user message instead. The ids are
    those of the rendered text as it stands: the template writes its own special tokens, none are added.

    Raises `TemplateError` when the template is missing, does not parse, does not come to an end or refuses the conversation.
    """
    if not messages:
        raise TemplateError("There is no message to answer.", "Write a message first.")
    if not template_text(tokenizer):
        raise TemplateError("This model has no chat template, so it can't hold a conversation.")
    given, text = _render_supported(tokenizer, messages)
    ids, ends = encode(tokenizer, text)
    return Prompt(text, tuple(ids), tuple(ends), _starts_in_reasoning(tokenizer, given, text))


def render_text(tokenizer: Any, messages: Sequence[Message]) -> str:
    """Return the text alone that `render` would give. Raises as it does."""
    return _render_supported(tokenizer, messages)[1]


def render_closed(tokenizer: Any, messages: Sequence[Message]) -> str:
    """Return the text of a conversation that nobody is asked to go on with: no opening of a reply. Raises as `render`."""
    return _apply(tokenizer, messages, add_generation_prompt=False)


def template_hash(tokenizer: Any) -> str:
    """Return the first 16 hex digits of the SHA-256 of the template's text; empty where there is no template."""
    source = template_text(tokenizer)
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16] if source else ""


def fold_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with the system's text put before the first user message, a blank line between.

    Without a user message there is nothing to fold into: the messages come back as they are.
    """
    system = "\n\n".join(message.text.strip() for message in messages if message.role == "system" and message.text.strip())
    others = [message for message in messages if message.role != "system"]
    first = next((index for index, message in enumerate(others) if message.role == "user"), None)
    if first is None:
        return tuple(messages)
    if system:
        others[first] = Message("user", f"{system}\n\n{others[first].text}")
    return tuple(others)


def _render_supported(tokenizer: Any, messages: Sequence[Message]) -> tuple[Sequence[Message], str]:
    """Return the messages as the template takes them (system folded where it must be), and the rendered text."""
    has_system = any(message.role == "system" for message in messages)
    try:
        text = _apply(tokenizer, messages)
    except TemplateError as refusal:
        folded = fold_system(messages)
        if not has_system or folded == tuple(messages) or refusal.hint == BROKEN_HINT:
            raise
        return folded, _apply(tokenizer, folded)
    if not has_system or _holds_system(text, messages):
        return messages, text
    folded = fold_system(messages)
    folded_text = _apply(tokenizer, folded)
    return (folded, folded_text) if _holds_system(folded_text, messages) else (messages, text)


def _holds_system(text: str, messages: Sequence[Message]) -> bool:
    return all(message.text.strip() in text for message in messages if message.role == "system")


def _apply(tokenizer: Any, messages: Sequence[Message], *, add_generation_prompt: bool = True) -> str:
    conversation = [{"role": message.role, "content": message.text} for message in messages]
    try:
        with bounded(template_text(tokenizer)):
            text = tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=add_generation_prompt)
    except jinja2.TemplateSyntaxError as error:
        line = f" (line {error.lineno})" if error.lineno else ""
        raise TemplateError(f"The model's chat template does not parse: {_plain(error)}{line}.", BROKEN_HINT) from error
    except jinja2.exceptions.SecurityError as error:
        raise TemplateError(
            f"The model's chat template did something that is not allowed: {_plain(error)}.", BROKEN_HINT
        ) from error
    except jinja2.UndefinedError as error:
        raise TemplateError(f"The model's chat template failed: {_plain(error)}.", REFUSED_HINT) from error
    except jinja2.TemplateError as error:  # What a template raises itself comes as the plain base class.
        raise TemplateError(f"The model's chat template refuses this conversation: {_plain(error)}.", REFUSED_HINT) from error
    except (
        ArithmeticError,
        AttributeError,
        ImportError,
        LookupError,
        MemoryError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise TemplateError(f"The model's chat template failed: {_plain(error)}.", REFUSED_HINT) from error
    return cast(str, text)


def _plain(error: Exception) -> str:
    """Return the template's own words: one line, without the full stop that the sentence around them brings."""
    words = error.message if isinstance(error, jinja2.TemplateError) and error.message else str(error)
    return " ".join(words.split()).rstrip(".") or type(error).__name__


def _starts_in_reasoning(tokenizer: Any, messages: Sequence[Message], text: str) -> bool:
    """Tell whether the generation prompt, the part after the last message, opened a block and left it open.

    Looking at that part alone keeps a marker that a message quotes from counting.
    """
    start, end = markers(tokenizer) or ("", "")
    if not start or text.rfind(start) <= text.rfind(end):
        return False
    try:
        without = _apply(tokenizer, messages, add_generation_prompt=False)
    except TemplateError:
        without = text
    same = next((index for index, (one, other) in enumerate(zip(text, without, strict=False)) if one != other), len(without))
    opening = text[same:]
    if not opening:  # The template writes the same either way: only a marker at the very end can be its own.
        return text.rstrip().endswith(start)
    return opening.rfind(start) > opening.rfind(end)

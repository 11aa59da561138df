"""Which token ids end a reply. Ids, never text: a reply may quote `<|im_end|>`."""

from collections.abc import Iterable
from typing import Any

from engine.inference.reasoning import template_text
from engine.inference.template_work import bounded


def end_token_ids(tokenizer: Any, config: dict[str, Any]) -> frozenset[int]:
    """Return the ids that end a turn, from three places that each miss some models.

    The config (with generation_config merged in), the tokenizer's own end token, and the special token that the chat template
    puts right after an answer.
    """
    ids = set(_as_ids(config.get("eos_token_id")))
    ids.update(_as_ids((config.get("text_config") or {}).get("eos_token_id")))
    ids.update(_as_ids(tokenizer.eos_token_id))
    ids.update(_template_end(tokenizer))
    return frozenset(ids)


def _as_ids(value: object) -> Iterable[int]:
    if isinstance(value, bool) or value is None:
        return ()
    if isinstance(value, int):
        return (value,)
    if isinstance(value, list | tuple):
        return (item for item in value if isinstance(item, int))
    return ()


def _template_end(tokenizer: Any) -> Iterable[int]:
    if not tokenizer.chat_template:
        return ()
    answer = "flint"
    conversation = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": answer}]
    try:
        with bounded(template_text(tokenizer)):
            text = tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=False)
    except Exception:  # Whatever is wrong with the template, `template.render` tells it when it matters.
        return ()
    _, found, after = text.rpartition(answer)
    ids = tokenizer.encode(after.lstrip(), add_special_tokens=False) if found and after.strip() else []
    special = set(tokenizer.all_special_ids) | {
        index for index, token in getattr(tokenizer, "added_tokens_decoder", {}).items() if token.special
    }
    return tuple(ids[:1]) if ids and ids[0] in special else ()

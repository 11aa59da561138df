"""The prompt as the model sees it, token by token, made ready to travel."""

from bisect import bisect_right
from typing import Any

from engine.core.facts import Message
from engine.core.messages import PromptInspected
from engine.inference.prompt_plan import Plan
from engine.inference.sections import sections
from engine.inference.template import Prompt
from engine.inference.token_faces import TokenFaces


def inspected(
    request_id: str, tokenizer: Any, messages: tuple[Message, ...], prompt: Prompt, planned: Plan, **known: Any
) -> PromptInspected:
    """Return the event that tells a prompt; `known` are the fields of it that the text and the ids do not give."""
    faces = TokenFaces(tokenizer).faces(planned.ids)
    parts = sections(tokenizer, messages, prompt.text)
    ends = [bisect_right(planned.stops, part.stop) for part in parts]
    ends[-1] = len(planned.ids)
    return PromptInspected(
        request_id=request_id,
        ids=planned.ids,
        known_ids=tuple(faces),
        texts=tuple(face.text for face in faces.values()),
        bytes_hex=tuple(face.bytes.hex() for face in faces.values()),
        special=tuple(face.special for face in faces.values()),
        section_roles=tuple(part.role for part in parts),
        section_ends=tuple(ends),
        text=prompt.text,
        pinned=planned.pinned,
        **known,
    )

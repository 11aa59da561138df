"""Reasoning told apart from the answer while both stream."""

from typing import Any, Literal

from engine.inference.stop_text import overlap

type Part = tuple[Literal["answer", "reasoning"], str]

MARKERS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<seed:think>", "</seed:think>"),
    ("<|think:start|>", "<|think:end|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
"""How models open and close their reasoning."""


def markers(tokenizer: Any) -> tuple[str, str] | None:
    """Return how this model opens and closes its reasoning, or None when it has no such thing.

    A pair counts when both are tokens of the vocabulary, or when the chat template speaks of both. `tokenizer` is a
    transformers fast tokenizer.
    """
    backend = tokenizer.backend_tokenizer
    for start, end in MARKERS:
        if backend.token_to_id(start) is not None and backend.token_to_id(end) is not None:
            return start, end
    template = template_text(tokenizer)
    for start, end in MARKERS:
        if start in template and end in template:
            return start, end
    return None


def template_text(tokenizer: Any) -> str:
    """Return the source of the model's chat template (of several, the default one), or an empty string."""
    template = tokenizer.chat_template
    if isinstance(template, dict):
        template = template.get("default")
    return template if isinstance(template, str) else ""


class ReasoningSplitter:
    """Splits a streamed reply at `start` and `end`; the markers themselves are never shown, not even partly.

    `inside` says that the template already opened the block. A block opens only while the answer has no text yet: a marker
    quoted later is text. White space around a block is dropped; everything else comes out unchanged and in order.
    """

    def __init__(self, start: str, end: str, inside: bool) -> None:
        self._start = start
        self._end = end
        self._inside = inside
        self._held = ""
        self._fresh = True  # Nothing but white space came since the block opened.
        self._after_block = inside
        self._answering = False

    def add(self, text: str) -> list[Part]:
        """Return the parts that are certain now, in order; neighbours are of different kinds."""
        self._held += text
        parts: list[Part] = []
        while self._advance(parts):
            pass
        return parts

    def finish(self) -> list[Part]:
        """Return what was held back. Reasoning that was never closed stays reasoning."""
        held, self._held = self._held, ""
        if self._inside:
            held = held.strip() if self._fresh else held.rstrip()
            return [("reasoning", held)] if held else []
        if self._after_block and not self._answering:
            held = held.lstrip()
        return [("answer", held)] if held else []

    def _advance(self, parts: list[Part]) -> bool:
        """Move what is certain from `_held` to `parts`; return whether a marker was passed and more may follow."""
        if self._answering:
            _put(parts, "answer", self._held)
            self._held = ""
            return False
        return self._advance_reasoning(parts) if self._inside else self._advance_opening()

    def _advance_opening(self) -> bool:
        body = self._held.lstrip()
        if body.startswith(self._start):
            self._held = body[len(self._start) :]
            self._inside = self._fresh = self._after_block = True
            return True
        if self._start.startswith(body):  # Also when nothing but white space came.
            return False
        self._answering = True
        if self._after_block:
            self._held = body
        return True

    def _advance_reasoning(self, parts: list[Part]) -> bool:
        if self._fresh:
            self._held = self._held.lstrip()
            if self._held.startswith(self._start):  # Some models open again what the template opened.
                self._held = self._held[len(self._start) :]
                return True
            if self._start.startswith(self._held):
                return False
        reasoning, closed, rest = self._held.partition(self._end)
        if closed:
            _put(parts, "reasoning", reasoning.rstrip())
            self._held = rest
            self._inside = False
            return True
        certain = self._held[: len(self._held) - overlap(self._held, self._end)].rstrip()
        if certain:
            _put(parts, "reasoning", certain)
            self._held = self._held[len(certain) :]
            self._fresh = False
        return False


def _put(parts: list[Part], kind: Literal["answer", "reasoning"], text: str) -> None:
    if not text:
        return
    if parts and parts[-1][0] == kind:
        parts[-1] = (kind, parts[-1][1] + text)
    else:
        parts.append((kind, text))

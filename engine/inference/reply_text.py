"""From token ids to what people read: characters made whole, stop texts withheld, reasoning told apart from the answer."""

from collections.abc import Iterable
from typing import Any

from engine.inference.detokenize import Detokenizer
from engine.inference.reasoning import ReasoningSplitter, markers
from engine.inference.stop_text import StopText


class ReplyText:
    """The text of one reply as it grows. `stop` holds one stop text a line."""

    def __init__(self, tokenizer: Any, stop: str, *, inside_reasoning: bool) -> None:
        self._characters = Detokenizer(tokenizer)
        self._stop = StopText(stop.splitlines())
        marks = markers(tokenizer)
        self._splitter = ReasoningSplitter(*marks, inside=inside_reasoning) if marks else None

    def add(self, token_id: int) -> tuple[str, str, bool]:
        """Return the new answer text, the new reasoning text, and whether a stop text was met."""
        text, stopped = self._stop.add(self._characters.add(token_id))
        return *self._split(text), stopped

    def go_on_from(self, ids: Iterable[int]) -> tuple[str, str]:
        """Be where a reply of these ids was cut, and return what they give: answer and reasoning. Stop texts don't count."""
        answer = reasoning = ""
        for token_id in ids:
            more, thought = self._split(self._characters.add(token_id))
            answer, reasoning = answer + more, reasoning + thought
        return answer, reasoning

    def finish(self) -> tuple[str, str]:
        """Return what was held back until the end: answer and reasoning."""
        text, stopped = self._stop.add(self._characters.finish())
        if not stopped:
            text += self._stop.finish()
        answer, reasoning = self._split(text)
        if self._splitter:
            for kind, part in self._splitter.finish():
                answer, reasoning = (answer + part, reasoning) if kind == "answer" else (answer, reasoning + part)
        return answer, reasoning

    def _split(self, text: str) -> tuple[str, str]:
        if not self._splitter:
            return text, ""
        answer = reasoning = ""
        for kind, part in self._splitter.add(text):
            answer, reasoning = (answer + part, reasoning) if kind == "answer" else (answer, reasoning + part)
        return answer, reasoning

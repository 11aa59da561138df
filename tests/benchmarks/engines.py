"""The two that are compared: Flint's whole engine, and mlx-lm's `stream_generate` on the very same model in memory.

Both are clocked from outside, by whoever consumes the tokens: from the call to the first token, and from the first to the last.
"""

import contextlib
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.connection import Connection
from engine.core.errors import FlintError
from engine.core.facts import Message, Weights
from engine.core.messages import Command, Event, Failed, Finished, Generate, LoadModel, TextDelta
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.settings import Sampling
from engine.host import Host
from engine.models.library import Library
from tests.benchmarks.timing import own_home

LOAD_TIMEOUT_S = REPLY_TIMEOUT_S = 1800.0


@dataclass(frozen=True)
class Run:
    """One reply: its text, tokens written, prompt tokens read, seconds to the first token and from there to the last."""

    text: str
    tokens: int
    read: int
    first_s: float
    writing_s: float

    @property
    def decode_tps(self) -> float:
        """Tokens a second after the first one."""
        return (self.tokens - 1) / self.writing_s

    @property
    def prefill_tps(self) -> float:
        """Prompt tokens a second up to the first token."""
        return self.read / self.first_s


def loaded_model(host: Host) -> Any:
    """What the engine of `host` has loaded (`engine.inference.loader.Loaded`): the same arrays then serve both sides."""
    session = host._worker._resident.session
    assert session is not None
    return session.loaded


class FlintEngine:
    """Host, engine thread, events and session, as the window and the command line use them."""

    def __init__(self, model: str, weights: Weights) -> None:
        paths = locate()
        self._host = Host(paths, Preferences(paths.settings))
        self._host.start()
        self._connection: Connection = self._host.connect()
        self._numbers = itertools.count(1)
        self._weights = weights
        self._model_id = model
        self._connection.send(LoadModel("load", model, weights))
        for event in self._connection.wait("load", LOAD_TIMEOUT_S):
            if isinstance(event, Failed):
                raise FlintError(event.error.text, event.error.hint)

    @property
    def model(self) -> Any:
        """The loaded mlx-lm module; its arrays are evaluated, so any thread may use them."""
        return self._loaded.model

    @property
    def tokenizer(self) -> Any:
        """The loaded transformers tokenizer."""
        return self._loaded.tokenizer

    @property
    def _loaded(self) -> Any:
        return loaded_model(self._host)

    def generate(self, prompt: str, tokens: int) -> Run:
        """Answer `prompt` greedily with up to `tokens` tokens, as a command through the engine."""
        request = Generate(
            f"reply-{next(self._numbers)}",
            "",
            (Message("system", "You are a helpful assistant."), Message("user", prompt)),
            Sampling(temperature=0.0, max_tokens=tokens),
            weights=self._weights,
        )
        texts, seen, first, last = [], 0, 0.0, 0.0
        called = time.perf_counter()
        self._connection.send(request)
        for event in self._connection.wait(request.request_id, REPLY_TIMEOUT_S):
            if isinstance(event, TextDelta):
                texts.append(event.text)
                if event.output_tokens > seen:
                    seen, last = event.output_tokens, time.perf_counter()
                    first = first or last
            elif isinstance(event, Failed):
                raise FlintError(event.error.text, event.error.hint)
            elif isinstance(event, Finished) and event.reply:
                read = event.reply.prompt_tokens - event.reply.cached_tokens
        return Run("".join(texts), seen, read, first - called, last - first)

    def ask(self, command: Command) -> list[Event]:
        """Send a command and return its events; raises `FlintError` when it fails."""
        self._connection.send(command)
        events = list(self._connection.wait(command.request_id, REPLY_TIMEOUT_S))
        if isinstance(events[-1], Failed):
            raise FlintError(events[-1].error.text, events[-1].error.hint)
        return events

    def close(self) -> None:
        """Stop and join the engine's threads."""
        self._host.close()


class MlxLm:
    """mlx-lm's `stream_generate` with its defaults (prefill steps of 2,048 tokens, greedy), consumed on the thread it runs on.

    That is a thread of its own: MLX keeps compiled functions by thread, and crashed at exit where the main thread had some.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        from mlx_lm.tokenizer_utils import TokenizerWrapper

        self._model = model
        self._tokenizer = TokenizerWrapper(tokenizer)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mlx-lm")

    def render(self, prompt: str) -> str:
        """The prompt text that Flint's engine gives the model for `prompt`."""
        messages = [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": prompt}]
        return str(self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))

    def generate(self, prompt: str, tokens: int, taken: Callable[[str], None] = lambda _: None) -> Run:
        """Answer `prompt` with up to `tokens` tokens; `taken` is called with each piece of text, on the thread of mlx-lm."""
        return self.start(prompt, tokens, taken).result()

    def start(self, prompt: str, tokens: int, taken: Callable[[str], None] = lambda _: None) -> Future[Run]:
        """Begin what `generate` does, and return at once."""
        return self._thread.submit(self._generate, prompt, tokens, taken)

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()

    def _generate(self, prompt: str, tokens: int, taken: Callable[[str], None]) -> Run:
        import mlx.core as mx
        from mlx_lm.generate import generation_stream, stream_generate

        text = self.render(prompt)
        texts, seen, first, last = [], 0, 0.0, 0.0
        called = time.perf_counter()
        for response in stream_generate(self._model, self._tokenizer, text, max_tokens=tokens):
            texts.append(response.text)
            taken(response.text)
            if response.generation_tokens > seen:
                seen, last = response.generation_tokens, time.perf_counter()
                first = first or last
        mx.synchronize(generation_stream)  # It starts one token more than was asked for, which must not run into what follows.
        mx.clear_cache()
        return Run("".join(texts), seen, response.prompt_tokens, first - called, last - first)


@contextlib.contextmanager
def both(model: str, weights: Weights) -> Iterator[tuple[FlintEngine, MlxLm]]:
    """Load `model` ("" for the starter, imported first) in a temporary home and yield the two that run it.

    Where that fails the program ends with the error's own words.
    """
    path = ""
    try:
        if model:
            paths = locate()
            path = Library(paths, paths.models).find(model).path
        with own_home():
            engine = FlintEngine(str(Path(path).absolute()) if path else "", weights)
            reference = MlxLm(engine.model, engine.tokenizer)
            try:
                yield engine, reference
            finally:
                reference.close()
                engine.close()
    except FlintError as error:
        sys.exit(f"Error: {error}")

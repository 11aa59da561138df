"""System prompts with a name, to be picked for a chat: those that ship with Flint, and a person's own."""

import json

from engine.chats.store import ChatStore
from engine.core.errors import UsageError
from engine.core.paths import resource
from engine.core.record import Record

KEY = "system prompts"
LONGEST_NAME = 60


class SystemPrompt(Record):
    """A prompt by its name; `own` are those that a person saved, which alone can be deleted."""

    name: str
    text: str
    own: bool = True


class SystemPrompts:
    """The prompts in a chat database. A person's own one stands in place of a built-in one of the same name."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._built_in: tuple[SystemPrompt, ...] | None = None

    def all(self) -> list[SystemPrompt]:
        """Return a person's own prompts, then the built-in ones, each by name."""
        own = self._own()
        taken = {_key(prompt.name) for prompt in own}
        rest = [prompt for prompt in self._shipped() if _key(prompt.name) not in taken]
        return [*sorted(own, key=lambda prompt: _key(prompt.name)), *rest]

    def named(self, text: str) -> SystemPrompt | None:
        """Return the prompt with this text, white space around it ignored."""
        return next((prompt for prompt in self.all() if prompt.text.strip() == text.strip()), None)

    def save(self, name: str, text: str, instead_of: str = "") -> SystemPrompt:
        """Keep a prompt, in place of a person's own one where `instead_of` names it: it may have been renamed.

        Raises `UsageError` for a name that is empty, too long or another own prompt's, and for an empty text.
        """
        name = " ".join(name.split())
        if not name or not text.strip():
            raise UsageError("A prompt needs a name and a text.", "Write both, then save.")
        if len(name) > LONGEST_NAME:
            raise UsageError(f"The name is too long: {len(name)} letters.", f"Use at most {LONGEST_NAME}.")
        others = [prompt for prompt in self._own() if _key(prompt.name) != _key(instead_of)]
        if any(_key(prompt.name) == _key(name) for prompt in others):
            raise UsageError(f"There is a prompt “{name}” already.", "Choose another name, or edit that one.")
        saved = SystemPrompt(name, text.strip())
        self._write([*others, saved])
        return saved

    def delete(self, name: str) -> None:
        """Drop a person's own prompt; a built-in one that it stood for is there again."""
        self._write([prompt for prompt in self._own() if _key(prompt.name) != _key(name)])

    def _own(self) -> list[SystemPrompt]:
        try:
            kept = json.loads(self._store.recall(KEY) or "[]")
            return [SystemPrompt(str(one["name"]), str(one["text"])) for one in kept]
        except (ValueError, KeyError, TypeError):  # A newer Flint may keep them in another form.
            return []

    def _write(self, prompts: list[SystemPrompt]) -> None:
        kept = [{"name": prompt.name, "text": prompt.text} for prompt in prompts]
        self._store.remember(KEY, json.dumps(kept, ensure_ascii=False))

    def _shipped(self) -> tuple[SystemPrompt, ...]:
        if self._built_in is None:
            files = sorted(resource("prompts").glob("*.md"))
            self._built_in = tuple(_parsed(file.read_text("utf-8")) for file in files)
        return self._built_in


def _parsed(source: str) -> SystemPrompt:
    heading, _, text = source.partition("\n")
    return SystemPrompt(heading.removeprefix("#").strip(), text.strip(), own=False)


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()

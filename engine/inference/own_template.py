"""A chat template of one's own in place of a model's: whether it renders, and what it makes of a short conversation."""

from pathlib import Path
from typing import Any

from engine.core.errors import FlintError, ModelUnsupported, TemplateError, UsageError
from engine.core.facts import Message, ModelEntry
from engine.core.keep_messages import ModelTemplate
from engine.inference.libraries import tokenizer_of
from engine.inference.reasoning import template_text
from engine.inference.template import render
from engine.models.notebook import Notebook

SAMPLE = (
    Message("system", "Answer briefly."),
    Message("user", "What is the capital of France?"),
    Message("assistant", "Paris."),
    Message("user", "And of Italy?"),
)
LARGEST = 1 << 20
"""Characters of a template, at most: the longest known has some ten thousand."""


def read_tokenizer(folder: Path, template: str = "") -> Any:
    """Return the tokenizer of a model folder, with `template` in place of its own where there is one.

    Raises `ModelUnsupported` for one that transformers has in Python only: it does not know where in a text its tokens end, nor
    their bytes.
    """
    tokenizer = tokenizer_of(folder)
    if not tokenizer.is_fast:
        kind = type(tokenizer).__name__
        raise ModelUnsupported(
            f"{folder.name} has a kind of tokenizer that Flint cannot run: {kind}.", "Choose a model with a tokenizer.json."
        )
    if template:
        tokenizer.chat_template = template
    return tokenizer


def tried(entry: ModelEntry, notebook: Notebook, draft: str = "") -> ModelTemplate:
    """Return a model's templates and a preview of `draft`, or of the one in use; what is wrong with it comes as `problem`.

    Raises `UsageError` for a model that is not imported yet or can't be used.
    """
    if entry.kind != "mlx" or entry.problem:
        raise UsageError(entry.problem or f"{entry.name} is not imported yet.", "Import it first: its template comes with it.")
    instead = notebook.of(entry.id).template
    tokenizer = read_tokenizer(Path(entry.path))
    own = template_text(tokenizer)
    if draft or instead:
        tokenizer.chat_template = draft or instead
    try:
        _check_length(draft)
        preview, problem = render(tokenizer, SAMPLE).text, ""
        if not any(SAMPLE[-1].text in line for line in preview.splitlines()):
            preview, problem = "", "The template leaves out what the user says."
    except FlintError as error:
        preview, problem = "", error.text
    return ModelTemplate("", entry.id, own, instead, preview, problem)


def set_template(entry: ModelEntry, notebook: Notebook, template: str) -> ModelTemplate:
    """Keep a template in place of the model's own, "" the own again, and return what is in use now.

    Raises `TemplateError` for one that does not render, and as `tried`.
    """
    if template:
        outcome = tried(entry, notebook, template)
        if outcome.problem:
            hint = "Correct it and try again. What was in use before stays in use."
            raise TemplateError(outcome.problem.replace("The model's chat template", "The template"), hint)
    notebook.use_template(entry.id, template)
    return tried(entry, notebook)


def _check_length(template: str) -> None:
    if len(template) > LARGEST:
        raise TemplateError(f"The template has {len(template):,} characters, which is no chat template any more.")

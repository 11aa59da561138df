"""`flint models quantize`: a smaller copy of a model, made by the engine and compared with what it was made from."""

import dataclasses
from typing import cast, get_args

import typer

from engine.cli.interrupt import StopOnInterrupt
from engine.cli.output import Refused, WaitingBar, note, print_json, say
from engine.core.errors import ErrorInfo, UsageError
from engine.core.keep_messages import ModelQuantized, QuantizeBits, QuantizeModel, QuantizeProgress
from engine.core.messages import Cancel, Failed
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.core.sizes import size_text
from engine.host import Host

INTERRUPTED = 130


def quantize_model(model: str, bits: str, group: int, name: str, *, as_json: bool) -> None:
    """Run a quantization to its end and print what came of it. Raises `UsageError` for other bits."""
    if bits not in get_args(QuantizeBits.__value__):
        raise UsageError(f"--bits can be 8, 6, 4, 3 or mixed, not “{bits}”.")
    paths = locate()
    host = Host(paths, Preferences(paths.settings))
    host.start()
    try:
        outcome = _run(host, QuantizeModel("quantize", model, cast("QuantizeBits", bits), group, name))
    finally:
        host.close()
    if isinstance(outcome, ErrorInfo):
        raise Refused(outcome)
    if outcome is None:
        note("Stopped. Nothing was kept.")
        raise typer.Exit(INTERRUPTED)
    if as_json:
        print_json({name: value for name, value in dataclasses.asdict(outcome).items() if name != "request_id"})
    else:
        _show(outcome)


def _run(host: Host, command: QuantizeModel) -> ModelQuantized | ErrorInfo | None:
    """Return what was made, what went wrong, or None when it was stopped."""
    connection = host.connect()
    outcome: ModelQuantized | ErrorInfo | None = None
    told = False
    with StopOnInterrupt(lambda: connection.send(Cancel("quantize-stop", command.request_id))), WaitingBar() as bar:
        connection.send(command)
        for event in connection.wait(command.request_id):
            if isinstance(event, QuantizeProgress) and not told:
                told = True
                note(f"It will take {size_text(event.predicted_bytes, 1)}.")
            bar.show(event)
            if isinstance(event, ModelQuantized):
                outcome = event
            elif isinstance(event, Failed):
                outcome = event.error
    return outcome


def _show(made: ModelQuantized) -> None:
    saved = f"{size_text(made.size_bytes, 1)} instead of {size_text(made.size_before_bytes, 1)}"
    say(f"{made.name} takes {saved}, {made.bits_per_weight:.2f} bits a weight.")
    if made.perplexity and made.perplexity_before:
        worse = made.perplexity / made.perplexity_before - 1
        say(
            f"Perplexity of a text: {made.perplexity:.2f}, before {made.perplexity_before:.2f} ({worse:+.1%}; lower is better)."
        )
    elif made.perplexity:
        say(f"Perplexity of a text: {made.perplexity:.2f}. The original is too large here to be compared.")
    say(f"flint chat --model {made.model_id}")

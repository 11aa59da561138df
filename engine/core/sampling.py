"""How the next token is drawn: the settings that the sampler reads."""

from collections.abc import Collection
from dataclasses import fields, replace

from engine.core.logit_bias import read_biases
from engine.core.record import Record
from engine.core.setting import Value, declared


class Sampling(Record):
    """How the next token is drawn.

    Applied in this order: logit bias, repetition penalty, presence and frequency penalty, DRY; temperature; top-k, top-p,
    min-p, XTC. With a temperature of 0 the likeliest token is taken after the first four, and nothing is drawn.
    """

    temperature: float = declared(
        0.7,
        minimum=0.0,
        maximum=2.0,
        step=0.05,
        label="Temperature",
        help="How adventurous the choice is. 0 always takes the likeliest token; 1 follows the model's own odds.",
    )
    top_p: float = declared(
        0.95,
        minimum=0.0,
        maximum=1.0,
        step=0.01,
        off=1.0,
        label="Top-p",
        help="Keeps the likeliest tokens until they add up to this value and drops the rest. 1 keeps all.",
    )
    top_k: int = declared(
        40,
        minimum=0,
        maximum=500,
        step=1,
        off=0,
        label="Top-k",
        help="Considers only this many of the likeliest tokens. 0 considers all.",
    )
    min_p: float = declared(
        0.05,
        minimum=0.0,
        maximum=1.0,
        step=0.01,
        off=0.0,
        label="Min-p",
        help="Drops tokens less likely than this share of the likeliest one. 0 keeps all.",
    )
    repetition_penalty: float = declared(
        1.0,
        minimum=1.0,
        maximum=2.0,
        step=0.01,
        off=1.0,
        label="Repetition penalty",
        help="Makes tokens that already appeared less likely. 1 is off; 1.1 is gentle.",
    )
    max_tokens: int = declared(
        2048,
        minimum=1,
        maximum=131072,
        step=1,
        unit="tokens",
        logarithmic=True,
        label="Max tokens",
        help="The longest a reply may get. It also ends where the model ends its turn or the context is full.",
    )
    seed: int | None = declared(
        None,
        minimum=0,
        maximum=2**64 - 1,
        step=1,
        label="Seed",
        none_label="new for each reply",
        help="The same seed, settings and conversation give the same reply again. Empty draws a new one each time.",
    )
    repetition_window: int = declared(
        64,
        minimum=0,
        maximum=4096,
        step=16,
        unit="tokens",
        rare=True,
        label="Repetition window",
        help="How many of the newest tokens the repetition penalty looks back on. 0 turns it off.",
    )
    presence_penalty: float = declared(
        0.0,
        minimum=-2.0,
        maximum=2.0,
        step=0.05,
        off=0.0,
        rare=True,
        label="Presence penalty",
        help="Lowers the score of every token that stands anywhere in the conversation by this much, once. Below 0: raises.",
    )
    frequency_penalty: float = declared(
        0.0,
        minimum=-2.0,
        maximum=2.0,
        step=0.05,
        off=0.0,
        rare=True,
        label="Frequency penalty",
        help="Lowers the score of a token by this much for each time it stands in the conversation. Below 0 it raises it.",
    )
    xtc_probability: float = declared(
        0.0,
        minimum=0.0,
        maximum=1.0,
        step=0.05,
        off=0.0,
        rare=True,
        label="XTC probability",
        help="How often the top choices are excluded, which makes a text less predictable. 0 is off; 0.5 is usual.",
    )
    xtc_threshold: float = declared(
        0.1,
        minimum=0.0,
        maximum=0.5,
        step=0.01,
        rare=True,
        label="XTC threshold",
        help="What counts as a top choice: a token at least this likely. All of them are excluded but the least likely one.",
    )
    dry_multiplier: float = declared(
        0.0,
        minimum=0.0,
        maximum=5.0,
        step=0.05,
        off=0.0,
        rare=True,
        label="DRY multiplier",
        help="Keeps a reply from repeating whole phrases: how strongly a token is held back that would go on with one. 0 is "
        "off; 0.8 is usual.",
    )
    dry_base: float = declared(
        1.75,
        minimum=1.0,
        maximum=4.0,
        step=0.05,
        rare=True,
        label="DRY base",
        help="What each further repeated token multiplies the DRY penalty by.",
    )
    dry_allowed_length: int = declared(
        2,
        minimum=1,
        maximum=50,
        step=1,
        rare=True,
        unit="tokens",
        label="DRY allowed length",
        help="A token that goes on with a repetition of this length or more is held back. Shorter ones are free.",
    )
    dry_window: int | None = declared(
        None,
        minimum=16,
        maximum=131072,
        step=16,
        rare=True,
        unit="tokens",
        logarithmic=True,
        label="DRY window",
        none_label="whole conversation",
        help="How many of the newest tokens DRY looks back on. Empty means the whole conversation.",
    )
    dry_breakers: str = declared(
        '\\n\n:\n"\n*',
        rare=True,
        multiline=True,
        label="DRY breakers",
        help=r"No repetition is followed across these texts, one a line; \n is a line break. The model's markers break too.",
    )
    logit_bias: str = declared(
        "",
        rare=True,
        multiline=True,
        form=read_biases,
        label="Logit bias",
        help=r"One token=bias a line, from -100 (never) to 100 (always): late=-5, or #123=2 for a token's id. A leading space "
        r"counts; \n is a line break.",
    )
    stop: str = declared(
        "",
        rare=True,
        multiline=True,
        label="Stop text",
        help="The reply ends before any of these texts, one a line. They are never shown.",
    )


class Recommended(Record):
    """The sampling that a model comes with, as its generation_config.json says; None where that says nothing."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The settings that a model can recommend."""
        return tuple(entry.name for entry in fields(cls))

    def values(self) -> dict[str, Value]:
        """Return what is recommended, by the settings' names."""
        return {name: getattr(self, name) for name in self.names() if getattr(self, name) is not None}

    def fill(self, sampling: Sampling, unset: Collection[str]) -> Sampling:
        """Return `sampling` with what is recommended in place of those settings that nobody set."""
        return replace(sampling, **{name: value for name, value in self.values().items() if name in unset})  # type: ignore[arg-type]

"""A GGUF's tokenizer as `tokenizer.json`, `tokenizer_config.json` and `generation_config.json`.

Two kinds are known: `gpt2`, a byte-level BPE from tokens and merges whose way of cutting text first is named by
`tokenizer.ggml.pre`; and `llama`, SentencePiece's BPE from tokens and scores. Any other is refused by name, never guessed.
"""

import array
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from engine.core.errors import ModelBroken, ModelUnsupported
from engine.models.gguf_cuts import CUTS, Cuts
from engine.models.gguf_file import Header

NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4

# Texts that end a turn in one chat format or another; they count only where the file has them as control tokens.
_TURN_ENDS = frozenset(
    (
        *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|endoftext|>", "<end_of_turn>", "<|end_of_text|>", "</s>"),
        *("<|eot|>", "<EOT>", "<|return|>", "<|call|>", "<｜end▁of▁sentence｜>", "<end_of_utterance>"),
    )
)
# gpt-oss ends a message with <|end|> and goes on with the next of its turn.
_GOES_ON = frozenset(("<|end|>", "<|return|>", "<|call|>"))
_SWALLOW_NOTHING = frozenset(("<unk>", "<s>", "<|endoftext|>"))
_SPACE = "▁"
# Each piece is cut in two at every letter; Gemma's longest has 16.
LONGEST_PIECE = 512


@dataclass(frozen=True)
class TokenizerFiles:
    """The texts of the three files, and the ids that end a turn."""

    tokenizer: str
    tokenizer_config: str
    generation_config: str
    eos_token_ids: tuple[int, ...]


def build_tokenizer(header: Header, vocabulary: int) -> TokenizerFiles:
    """Return the tokenizer of a GGUF whose embedding has `vocabulary` rows.

    Raises `ModelUnsupported` for a kind of tokenizer that is not known, `ModelBroken` when its parts do not fit together.
    """
    facts = _Facts(header, vocabulary)
    if facts.kind == "gpt2":
        tokenizer = _byte_level(facts)
    elif facts.kind == "llama":
        tokenizer = _sentence_piece(facts)
    else:
        raise ModelUnsupported(
            f"{header.path.name} has a tokenizer of kind “{facts.kind}”, which Flint does not know.",
            "Choose the same model in MLX's own format (safetensors).",
        )
    _add_tokens(tokenizer, facts)
    ends = facts.turn_ends()
    generation: dict[str, Any] = {"eos_token_id": list(ends)}
    if facts.bos is not None:
        generation["bos_token_id"] = facts.bos
    if facts.pad is not None:
        generation["pad_token_id"] = facts.pad
    return TokenizerFiles(tokenizer.to_str(), _json(_config(facts)), _json(generation), ends)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


class _Facts:
    """The `tokenizer.*` entries of the metadata, checked."""

    def __init__(self, header: Header, vocabulary: int) -> None:
        self.header, self.metadata = header, header.metadata
        self.kind = self._get("model", str, "")
        tokens = self._get("tokens", list, None)
        if not all(isinstance(token, str) for token in tokens) or not tokens:
            raise self.broken("has no tokens")
        # Some vocabularies have places that stand for nothing, as in llama.cpp.
        self.tokens: Sequence[str] = [token or f"[EMPTY_{index}]" for index, token in enumerate(tokens)]
        if len(self.tokens) > vocabulary:
            raise self.broken(f"has {len(self.tokens):,} tokens but embeds only {vocabulary:,}")
        self.ids = {token: index for index, token in enumerate(self.tokens)}
        if len(self.ids) != len(self.tokens):
            raise self.broken("has the same token twice")
        self.types = self._numbers("token_type") or [NORMAL] * len(self.tokens)
        self.bos, self.eos = self._id("bos_token_id"), self._id("eos_token_id")
        self.unk, self.pad = self._id("unknown_token_id"), self._id("padding_token_id")
        # SentencePiece models and Llama 3 begin with bos unless the file says otherwise; others do not.
        begins = self.kind == "llama" or (self.kind == "gpt2" and self.cuts().begins)
        self.add_bos = self._get("add_bos_token", bool, begins) and self.bos is not None
        self.add_eos = self._get("add_eos_token", bool, False) and self.eos is not None

    def cuts(self) -> Cuts:
        """Return how text is cut before the merges; raises `ModelUnsupported` for a way that is not known."""
        name: str = self._get("pre", str, "default") or "default"
        if name not in CUTS:
            raise ModelUnsupported(
                f"{self.header.path.name} cuts text by “{name}”, which Flint does not know.",
                "Choose the same model in MLX's own format (safetensors).",
            )
        return CUTS[name]

    def broken(self, what: str) -> ModelBroken:
        return ModelBroken(f"The tokenizer of {self.header.path.name} {what}.", "Choose another conversion of the model.")

    def _get(self, key: str, kind: type, default: Any) -> Any:
        value = self.metadata.get(f"tokenizer.ggml.{key}", default)
        if not isinstance(value, kind):
            raise self.broken(f"lacks a usable “{key}”" if value is None else f"has an unusable “{key}”")
        return value

    def _id(self, key: str) -> int | None:
        value = self.metadata.get(f"tokenizer.ggml.{key}")
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.broken(f"has an unusable “{key}”")
        # Some converters write 2³² − 1 or −1 for “none”.
        return value if 0 <= value < len(self.tokens) else None

    def _numbers(self, key: str) -> Sequence[Any] | None:
        value: Any = self.metadata.get(f"tokenizer.ggml.{key}")
        if value is not None and (not isinstance(value, array.array) or len(value) != len(self.tokens)):
            raise self.broken(f"has an unusable “{key}”")
        return value

    def merges(self) -> list[tuple[str, str]]:
        merges = []
        for line in self._get("merges", list, None):
            # The first space divides: a byte-level token has no space, only its stand-in Ġ.
            left, space, right = line.partition(" ")
            if not (space and left in self.ids and right in self.ids and left + right in self.ids):
                raise self.broken(f"has a merge that does not fit its tokens: “{line}”")
            merges.append((left, right))
        return merges

    def scores(self) -> Sequence[float]:
        scores = self._numbers("scores")
        if scores is None or not all(math.isfinite(score) for score in scores):
            raise self.broken("lacks a usable “scores”")
        return scores

    def space_prefix(self) -> bool:
        return bool(self._get("add_space_prefix", bool, True))

    def swallows(self) -> bool:
        """Say whether white space after a special token belongs to it: Phi-3's do that, which the file does not say."""
        return self.kind == "llama" and self.header.architecture == "phi3"

    def turn_ends(self) -> tuple[int, ...]:
        named = [self.eos, self._id("eot_token_id"), self._id("eom_token_id")]
        known = [i for i, token in enumerate(self.tokens) if self.types[i] == CONTROL and token in _TURN_ENDS]
        if {self.tokens[index] for index in known} >= _GOES_ON:
            known = [index for index in known if self.tokens[index] != "<|end|>"]
        return tuple(dict.fromkeys([index for index in named if index is not None] + known))


def _byte_level(facts: _Facts) -> Tokenizer:
    known = facts.cuts()
    tokenizer = Tokenizer(models.BPE(dict(facts.ids), facts.merges(), ignore_merges=known.whole))
    if known.composed:
        tokenizer.normalizer = normalizers.NFC()
    cuts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in known.expressions]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _sentence_piece(facts: _Facts) -> Tokenizer:
    unknown = facts.unk if facts.unk is not None else next((i for i, t in enumerate(facts.types) if t == UNKNOWN), None)
    tokenizer = Tokenizer(
        models.BPE(
            dict(facts.ids),
            _merges_by_score(facts),
            unk_token=None if unknown is None else facts.tokens[unknown],
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    prefix = [normalizers.Prepend(_SPACE)] if facts.space_prefix() else []
    tokenizer.normalizer = normalizers.Sequence([*prefix, normalizers.Replace(" ", _SPACE)])
    strip = [decoders.Strip(" ", 1, 0)] if facts.space_prefix() else []
    tokenizer.decoder = decoders.Sequence([decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), *strip])
    return tokenizer


def _merges_by_score(facts: _Facts) -> list[tuple[str, str]]:
    """Return the merges that SentencePiece would make: the pair whose joined piece scores highest first."""
    scores = facts.scores()
    pieces = {token: index for token, index in facts.ids.items() if facts.types[index] in (NORMAL, USER_DEFINED)}
    merges = []
    for piece, index in pieces.items():
        if facts.types[index] != NORMAL:
            continue
        if len(piece) > LONGEST_PIECE:
            raise facts.broken(f"has a token of {len(piece):,} letters")
        for cut in range(1, len(piece)):
            left = pieces.get(piece[:cut])
            if left is not None and (right := pieces.get(piece[cut:])) is not None:
                merges.append((-scores[index], index, left, right))
    merges.sort()
    return [(facts.tokens[left], facts.tokens[right]) for _, _, left, right in merges]


def _add_tokens(tokenizer: Tokenizer, facts: _Facts) -> None:
    """Make control tokens whole and special, user-defined ones whole; begin and end texts as the file says."""
    special, plain = [], []
    # SentencePiece looks for user-defined pieces in the text whose spaces are “▁” already. Where it also puts a space in
    # front, `tokenizers` would put one in front of the piece too: there they are looked for in the text as it is.
    normalized = facts.kind == "llama" and not facts.space_prefix()
    for index, kind in enumerate(facts.types):
        token, ends = facts.tokens[index], index in (facts.bos, facts.eos)
        swallows = facts.swallows() and token not in _SWALLOW_NOTHING
        if kind == USER_DEFINED and not ends:
            plain.append(AddedToken(token, special=False, normalized=normalized, rstrip=swallows))
        elif kind in (CONTROL, USER_DEFINED) or ends:
            special.append(AddedToken(token, special=True, normalized=False, rstrip=swallows))
    # All at once: each call builds its automaton anew, and Gemma has six thousand.
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens(plain)
    begin = [facts.bos] if facts.add_bos and facts.bos is not None else []
    end = [facts.eos] if facts.add_eos and facts.eos is not None else []
    steps: list[Any] = [processors.ByteLevel(trim_offsets=False)] if facts.kind == "gpt2" else []
    if begin or end:
        around = [(facts.tokens[index], index) for index in begin + end]
        single = [facts.tokens[i] for i in begin] + ["$A"] + [facts.tokens[i] for i in end]
        pair = [*single, *[f"{facts.tokens[i]}:1" for i in begin], "$B:1", *[f"{facts.tokens[i]}:1" for i in end]]
        steps.append(processors.TemplateProcessing(single=single, pair=pair, special_tokens=around))
    if steps:
        tokenizer.post_processor = steps[0] if len(steps) == 1 else processors.Sequence(steps)


def _config(facts: _Facts) -> dict[str, Any]:
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "add_bos_token": facts.add_bos,
        "add_eos_token": facts.add_eos,
        "clean_up_tokenization_spaces": False,
        "model_max_length": facts.header.metadata.get(f"{facts.header.architecture}.context_length", 2048),
    }
    for name in ("bos", "eos", "unk", "pad"):
        index = getattr(facts, name)
        if index is not None:
            config[f"{name}_token"] = facts.tokens[index]
    template = facts.metadata.get("tokenizer.chat_template")
    if isinstance(template, str) and template.strip():
        config["chat_template"] = template
    return config

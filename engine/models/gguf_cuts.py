"""How byte-level tokenizers cut a text before their merges, by the names that `tokenizer.ggml.pre` has in llama.cpp.

The expressions are those that the models' authors published in their tokenizer.json. Where there are several, each cuts what
the one before left whole.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
_QWEN2 = _LLAMA3.replace("{1,3}", "")
_QWEN35 = rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACES}"
_SEED_CODER = rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_SPACES}"

# A word of small letters, whatever its first ones are, then one of capitals.
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_BEFORE = r"[^\r\n\p{L}\p{N}]?"
_TEKKEN = rf"{_BEFORE}{_UPPER}*{_LOWER}+|{_BEFORE}{_UPPER}+{_LOWER}*|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
_GPT_4O = (
    rf"{_BEFORE}{_UPPER}*{_LOWER}+{_CONTRACTION}?|{_BEFORE}{_UPPER}+{_LOWER}*{_CONTRACTION}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
)

_DEEPSEEK_V3 = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_SPACES}"
)
_CJK = "[一-龥ࠀ-一가-퟿]+"
_POINTS = r" ?[^(\s|.,!?…。，、।۔،)]+"


@dataclass(frozen=True)
class Cuts:
    """How texts are cut; whether a word that is a token is taken `whole`, whatever the merges; and what is added in `front`.

    `begins`: the token for the beginning of a text is added where the file does not say. `composed`: letters and their accents
    are joined (NFC) first.
    """

    expressions: tuple[str, ...]
    whole: bool = False
    begins: bool = False
    composed: bool = False


def _named(names: str, cuts: Cuts) -> Iterable[tuple[str, Cuts]]:
    return ((name, cuts) for name in names.split())


_GPT2_AFTER_DIGITS = Cuts((r"\p{N}", _GPT2))
CUTS: Mapping[str, Cuts] = {
    "default": Cuts((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", r"[0-9][0-9][0-9]")),
    **dict(_named("gpt-2 gpt2 phi-2 mpt olmo jais gigachat a.x-4.0 mellum exaone4 trillion granite-docling", Cuts((_GPT2,)))),
    **dict(_named("smollm starcoder refact codeshell exaone minerva-7b mellum2", _GPT2_AFTER_DIGITS)),
    "command-r": Cuts((r"\p{N}", _GPT2), composed=True),
    **dict(
        _named("llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2", Cuts((_LLAMA3,), whole=True, begins=True))
    ),
    **dict(_named("dbrx smaug-bpe chatglm-bpe glm4", Cuts((_LLAMA3,)))),
    "qwen2": Cuts((_QWEN2,), composed=True),
    **dict(_named("deepseek-r1-qwen stablelm2 hunyuan megrez kormo grok-2 solar-open", Cuts((_QWEN2,)))),
    "qwen35": Cuts((_QWEN35,), composed=True),
    "seed-coder": Cuts((_SEED_CODER,)),
    "tekken": Cuts((_TEKKEN,), whole=True, begins=True),
    **dict(_named("gpt-4o llama4 kanana2 minimax-m2", Cuts((_GPT_4O,)))),
    "deepseek-coder": Cuts((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK, r"\p{N}")),
    **dict(_named("deepseek-v3 hunyuan-dense joyai-llm", Cuts((r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", _DEEPSEEK_V3)))),
    "falcon": Cuts((r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, r"[0-9][0-9][0-9]")),
    "poro-chat": Cuts((_POINTS,)),
    "viking": Cuts((_POINTS, r"\p{N}")),
}

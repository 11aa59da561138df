"""How byte-level tokenizers cut a text before their merges, by the names that `tokenizer.ggml.pre` has in llama.cpp.

The expressions are those that the models' authors published in their tokenizer.json. Where there are several, each cuts what
the one before left whole.
"""

from collections.abc import Mapping
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
    """How texts are cut.

    `whole`: a word that is a token is taken whole, whatever the merges. `begins`: the token for the beginning of a text is put
    in front where the file does not say. `composed`: letters and their accents are joined (NFC) first.
    """

    expressions: tuple[str, ...]
    whole: bool = False
    begins: bool = False
    composed: bool = False


_BY_NAMES: Mapping[str, Cuts] = {
    "default": Cuts((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", r"[0-9][0-9][0-9]")),
    "gpt-2 gpt2 phi-2 mpt olmo jais gigachat a.x-4.0 mellum exaone4 trillion granite-docling": Cuts((_GPT2,)),
    "smollm starcoder refact codeshell exaone minerva-7b mellum2": Cuts((r"\p{N}", _GPT2)),
    "command-r": Cuts((r"\p{N}", _GPT2), composed=True),
    "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2": Cuts((_LLAMA3,), whole=True, begins=True),
    "dbrx smaug-bpe chatglm-bpe glm4": Cuts((_LLAMA3,)),
    "qwen2": Cuts((_QWEN2,), composed=True),
    "deepseek-r1-qwen stablelm2 hunyuan megrez kormo grok-2 solar-open": Cuts((_QWEN2,)),
    "qwen35": Cuts((_QWEN35,), composed=True),
    "seed-coder": Cuts((_SEED_CODER,)),
    "tekken": Cuts((_TEKKEN,), whole=True, begins=True),
    "gpt-4o llama4 kanana2 minimax-m2": Cuts((_GPT_4O,)),
    "deepseek-coder": Cuts((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK, r"\p{N}")),
    "deepseek-v3 hunyuan-dense joyai-llm": Cuts((r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", _DEEPSEEK_V3)),
    "falcon": Cuts((r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, r"[0-9][0-9][0-9]")),
    "poro-chat": Cuts((_POINTS,)),
    "viking": Cuts((_POINTS, r"\p{N}")),
}
CUTS: Mapping[str, Cuts] = {name: cuts for names, cuts in _BY_NAMES.items() for name in names.split()}

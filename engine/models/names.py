"""Names of models: for people, and for folders."""

import re
import unicodedata

# What a converter appends to say how it stored the weights: “.Q4_1”, “-q8_0”, “.IQ2_XXS”, “-F16”, “-BF16”, “-UD-Q4_K_XL”.
_STORED_AS = re.compile(r"[.\-_](?:UD[.\-_])?(I?Q\d\w*|MXFP4|F16|F32|BF16|FP16)$", re.IGNORECASE)
# How many bits a weight takes, as converters for MLX write it: “4bit”, “8-Bit”.
_BITS = re.compile(r"(?<![\w.])(\d{1,2}) ?bit\b", re.IGNORECASE)
_PART = re.compile(r"-\d{5}-of-\d{5}$")
MAX_BYTES = 120


def human_name(stem: str) -> str:
    """Return a file's or folder's name for people: “SmolLM2-135M-Instruct.Q4_1” is “SmolLM2 135M Instruct”.

    How many bits a weight takes stays, with its hyphen: “Small-1B-4bit” is “Small 1B 4-bit”.
    """
    plain = _STORED_AS.sub("", _PART.sub("", unicodedata.normalize("NFC", stem)))
    return _BITS.sub(r"\1-bit", re.sub(r"[-_\s]+", " ", plain).strip()) or stem


def full_name(stem: str) -> str:
    """Return a file's name for people with how it stores the weights: “SmolLM2 135M Instruct Q4_K_M”."""
    return f"{human_name(stem)} {stored_name(stem)}".strip()


def stored_name(stem: str) -> str:
    """Return how a file stores the weights as its name says, “Q4_K_M”; empty where it does not."""
    stored = _STORED_AS.search(_PART.sub("", unicodedata.normalize("NFC", stem)))
    return stored[1].upper() if stored else ""


def folder_name(name: str) -> str:
    """Return a short, safe folder name: “SmolLM2 135M Instruct” is “smollm2-135m-instruct”; letters of any language stay."""
    text = unicodedata.normalize("NFC", name).casefold()
    text = re.sub(r"[^\w.]+", "-", text).strip("-.") or "model"
    while len(text.encode()) > MAX_BYTES:
        text = text[:-1]
    return text.rstrip("-.")

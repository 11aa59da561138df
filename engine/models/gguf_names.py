"""The name that a GGUF gives itself, for files whose own name tells nothing."""

from collections.abc import Mapping

# `general.file_type` of llama.cpp's format, as its files are named; those that people have.
_FILE_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    38: "MXFP4",
}
LONGEST = 120


def given_name(metadata: Mapping[str, object]) -> str:
    """Return the name in a GGUF's metadata with its kind, as “Llama 3.2 3B Instruct Q4_K_M”; "" where it has none."""
    name = _text(metadata, "general.name")
    if not name:
        parts = [_text(metadata, f"general.{part}") for part in ("basename", "size_label", "finetune")]
        name = " ".join(part for part in parts if part) if parts[0] else ""
    if not name:
        return ""
    name = " ".join(name.replace("_", " ").split())[:LONGEST]
    kind = metadata.get("general.file_type")
    kind_name = _FILE_TYPES.get(kind, "") if isinstance(kind, int) else ""
    return f"{name} {kind_name}".strip() if kind_name.casefold() not in name.casefold() else name


def _text(metadata: Mapping[str, object], key: str) -> str:
    value = metadata.get(key)
    return value.strip() if isinstance(value, str) else ""

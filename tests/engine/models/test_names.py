"""Names of models, for people and for folders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.names import MAX_BYTES, folder_name, human_name


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("SmolLM2-135M-Instruct.Q4_1", "SmolLM2 135M Instruct"),
        ("Llama-3.2-1B-Instruct-Q8_0", "Llama 3.2 1B Instruct"),
        ("mistral-7b-v0.1.Q4_K_M", "mistral 7b v0.1"),
        ("model-f16", "model"),
        ("big-BF16-00001-of-00003", "big"),
        ("gpt-oss-20b-mxfp4", "gpt oss 20b"),
        ("Qwen3-8B-UD-Q4_K_XL", "Qwen3 8B"),
        *((f"Small-1B-{bits}bit", f"Small 1B {bits}-bit") for bits in (2, 3, 4, 5, 6, 8, 16)),
        ("Small-1B-4-bit", "Small 1B 4-bit"),
        ("small_8Bit_dwq", "small 8-bit dwq"),
        ("4bit", "4-bit"),
        ("Rabbit-64bits-v0.4bit", "Rabbit 64bits v0.4bit"),
        ("Größe_Übung", "Größe Übung"),
        ("Q4_0", "Q4 0"),
        ("---", "---"),
    ],
)
def test_a_files_name_becomes_a_name_for_people(stem, name):
    assert human_name(stem) == name


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("SmolLM2 135M Instruct", "smollm2-135m-instruct"),
        ("Llama 3.2 1B", "llama-3.2-1b"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本語 モデル", "日本語-モデル"),
        ("…", "model"),
        ("", "model"),
    ],
)
def test_a_folders_name_is_short_and_safe(name, folder):
    assert folder_name(name) == folder


@given(st.text())
def test_a_folders_name_is_one_visible_component_of_a_path(name):
    folder = folder_name(name)
    assert folder
    assert not folder.startswith(".")
    assert not set(folder) & set("/\\\0\n")
    assert len(folder.encode()) <= MAX_BYTES

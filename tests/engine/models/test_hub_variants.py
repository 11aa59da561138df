"""One model in several quantizations: which repositories are the same one, and what each is called."""

import pytest

from engine.core.hub_facts import HubModel
from engine.models.hub_variants import stem_of, stored_as, variants_of

# As they stand on the hub.
PUBLISHED = [
    ("Qwen3-8B-4bit", "Qwen3-8B", "4-bit"),
    ("Qwen3-8B-4bit-DWQ-053125", "Qwen3-8B", "4-bit DWQ 053125"),
    ("Qwen3-8B-4bit-AWQ", "Qwen3-8B", "4-bit AWQ"),
    ("Qwen3-8B-bf16", "Qwen3-8B", "bf16"),
    ("Qwen3-8B-MLX-8bit", "Qwen3-8B", "MLX 8-bit"),
    ("gpt-oss-20b-MXFP4-Q8", "gpt-oss-20b", "MXFP4 Q8"),
    ("Meta-Llama-3.1-8B-Instruct-8bit", "Meta-Llama-3.1-8B-Instruct", "8-bit"),
    ("gemma-3-4b-it-qat-4bit", "gemma-3-4b-it-qat", "4-bit"),
    ("Qwen2.5-7B-Instruct-1M-3bit", "Qwen2.5-7B-Instruct-1M", "3-bit"),
    ("Mistral-7B-Instruct-v0.3-4bit", "Mistral-7B-Instruct-v0.3", "4-bit"),
    ("SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct", "As published"),
    ("4bit", "4bit", "As published"),
]


@pytest.mark.parametrize(("name", "stem", "stored"), PUBLISHED, ids=[name for name, _, _ in PUBLISHED])
def test_a_name_is_its_model_and_how_it_is_stored(name, stem, stored):
    assert stem_of(name) == stem
    assert stored_as(HubModel(f"org/{name}", name, "org")) == stored


def test_only_the_same_model_by_the_same_author_is_another_quantization_of_it():
    names = (
        *("mlx-community/Qwen3-8B-8bit", "mlx-community/Qwen3-8B-4bit", "mlx-community/qwen3-8b-bf16"),
        *("mlx-community/Qwen3-8B-Base-4bit", "mlx-community/DeepSeek-R1-0528-Qwen3-8B-4bit", "other/Qwen3-8B-3bit"),
    )
    sizes = (8, 4, 16, 4, 4, 3)
    found = [HubModel(name, name, name.partition("/")[0], size_bytes=size) for name, size in zip(names, sizes, strict=True)]
    same = variants_of("mlx-community/Qwen3-8B-8bit", found)
    assert [one.id for one in same] == [names[1], names[0], names[2]]

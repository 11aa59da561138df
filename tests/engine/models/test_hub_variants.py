"""One model in several quantizations: which repositories are the same one, and what each is called."""

import pytest

from engine.core.errors import UsageError
from engine.core.hub_facts import HubFile, HubModel
from engine.models.hub_facts import wanted_files
from engine.models.hub_variants import check_id, chosen_of, gguf_variants, split_id, stem_of, stored_as, variants_of

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


def file(path, size=1):
    return HubFile(path, size, f"{abs(hash(path)):040x}"[:40])


def test_a_file_of_a_repository_is_a_model_of_its_own():
    assert split_id("org/name") == ("org/name", "")
    assert split_id("org/name/file-Q4_K_M.gguf") == ("org/name", "file-Q4_K_M.gguf")
    for name in ("org/name", "org/name/file.gguf", "A-1_b/Qwen2.5-0.5B_x-4bit", "o/_n", "org/name/a file.gguf"):
        check_id(name)
    for name in (
        "name",
        "org/",
        "/name",
        "org/name/",
        "org/name/file.safetensors",
        "org/name/folder/file.gguf",
        "a b/c",
        "org/n\n",
        "../x",
        "org/a--b",
        "-o/n",
        "org/é",
    ):
        with pytest.raises(UsageError):
            check_id(name)


def test_a_repository_of_ggufs_holds_a_model_a_file_or_a_set_of_parts():
    model = HubModel("org/M-GGUF", "M GGUF", "org", base="org/M")
    files = [
        *(file("M-Q8_0.gguf", 80), file("M-Q4_K_M.gguf", 40), file("M-IQ2_XS.gguf", 20), file("mmproj-M-f16.gguf", 5)),
        *(file("M-BF16-00001-of-00002.gguf", 90), file("M-BF16-00002-of-00002.gguf", 70), file("imatrix.gguf", 1)),
        *(file("big/M-F32-00001-of-00001.gguf", 320), file("README.md"), file("config.json")),
    ]
    variants = gguf_variants(model, files)
    assert [(one.id, one.quantization, one.size_bytes, one.name) for one in variants] == [
        ("org/M-GGUF/M-IQ2_XS.gguf", "IQ2_XS", 20, "M IQ2_XS"),
        ("org/M-GGUF/M-Q4_K_M.gguf", "Q4_K_M", 40, "M Q4_K_M"),
        ("org/M-GGUF/M-Q8_0.gguf", "Q8_0", 80, "M Q8_0"),
        ("org/M-GGUF/M-BF16-00001-of-00002.gguf", "BF16", 160, "M BF16"),
    ]
    assert [stored_as(one) for one in variants] == ["IQ2_XS", "Q4_K_M", "Q8_0", "BF16"]
    assert [one.path for one in wanted_files(files, "M-Q8_0.gguf")] == ["M-Q8_0.gguf"]
    parts = ["M-BF16-00001-of-00002.gguf", "M-BF16-00002-of-00002.gguf"]
    assert [one.path for one in wanted_files(files, parts[0])] == parts
    assert chosen_of(variants, "org/M-GGUF") == variants[1]
    assert chosen_of(variants, "org/M-GGUF/M-Q8_0.gguf") == variants[2]
    assert chosen_of(variants, "org/M-GGUF/M-Q5_0.gguf") is None
    assert chosen_of(variants[2:], "org/M-GGUF") == variants[2]
    assert gguf_variants(model, [*files, file("model.safetensors")]) == ()

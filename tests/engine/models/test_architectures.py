"""Which architectures mlx-lm runs, told without importing it."""

import subprocess
import sys

import pytest

from engine.models.architectures import is_supported


@pytest.mark.parametrize("model_type", ["llama", "mistral", "qwen3", "gemma3", "gpt_oss", "lfm2-vl", "phi-msft", "mamba"])
def test_what_mlx_lm_runs_is_known_also_by_another_name(model_type):
    assert is_supported(model_type)


@pytest.mark.parametrize("model_type", ["bert", "whisper", "base", "cache", "switch_layers", "", "../utils", "llama.py", "a/b"])
def test_what_is_no_model_of_mlx_lm_is_not(model_type):
    assert not is_supported(model_type)


def test_it_says_the_same_as_mlx_lm_itself():
    from importlib import import_module
    from pathlib import Path

    import mlx_lm
    from mlx_lm.utils import MODEL_REMAPPING

    for name in ("llama", "olmo2", "rope_utils", "mla", "gemma3n", "ssm", "granite", "activations"):
        module = import_module(f"mlx_lm.models.{name}")
        assert is_supported(name) is hasattr(module, "Model"), name
    models = Path(mlx_lm.__file__).parent / "models"
    for name, other in MODEL_REMAPPING.items():
        assert is_supported(name) is (models / f"{other}.py").exists(), name


def test_asking_imports_neither_mlx_nor_mlx_lm():
    program = (
        "import sys; from engine.models.architectures import is_supported; assert is_supported('mistral');"
        "assert not {'mlx', 'mlx_lm', 'numpy', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

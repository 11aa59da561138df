"""What every test stands on: no screen, no network, a home of its own."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"

import pytest


@pytest.fixture(autouse=True)
def flint_home(tmp_path, monkeypatch):
    """A fresh `FLINT_HOME`; the Hugging Face cache is empty too."""
    home = tmp_path / "flint-home"
    monkeypatch.setenv("FLINT_HOME", str(home))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    return home

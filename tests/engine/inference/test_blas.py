import ctypes
import subprocess
import sys

import pytest

from engine.inference.blas import prefer_system_blas


def test_the_systems_library_is_used_where_there_is_one():
    if not sys.platform.startswith("linux"):
        assert prefer_system_blas() is False
        return
    try:
        ctypes.CDLL("libopenblas.so.0")
    except OSError:
        assert prefer_system_blas() is False
    else:
        assert prefer_system_blas() is True


def test_a_system_without_it_does_without(monkeypatch):
    def missing(name, mode=0):
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert prefer_system_blas() is False


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_are_left_alone(monkeypatch, platform):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: pytest.fail("loaded"))
    assert prefer_system_blas() is False


def test_asking_imports_no_mlx():
    code = "import sys; from engine.inference.blas import prefer_system_blas; prefer_system_blas(); print('mlx.core' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

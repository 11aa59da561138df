"""What holds the whole tree together: who may import whom, how large a file may be, what may be tracked."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Imports every module of a package (or the modules named) in this fresh process; what may not be imported is refused.
# Prints the modules it imported, then the top-level modules that are loaded afterwards.
IMPORT_ALL = """
import importlib, pkgutil, sys

blocked, names = sys.argv[1].split(","), sys.argv[2:]

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ImportError(f"{name} may not be imported here")

sys.meta_path.insert(0, Refuse())
done = []
for name in names:
    module = importlib.import_module(name)
    done.append(name)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
        importlib.import_module(found.name)
        done.append(found.name)
print(*done)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def import_all(*names, blocked):
    """The modules imported and the top-level modules loaded, in a fresh process; the assertion shows its complaint."""
    command = [sys.executable, "-c", IMPORT_ALL, ",".join(blocked), *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported, loaded = done.stdout.splitlines()[-2:]
    return set(imported.split()), set(loaded.split())


def modules_of(package):
    """Every module under a package, by its files."""
    files = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / package).rglob("*.py"))
    return {".".join(file.parts[:-1] if file.name == "__init__" else file.parts) for file in files}


def tracked():
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout: what is tracked cannot be asked")
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).exists()]


def lint(folder):
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    verdicts = dict(re.findall(r"^(\S.*?) (KEPT|BROKEN)\b", text, re.MULTILINE))
    return done.returncode, verdicts, text + done.stderr


def test_every_layering_contract_is_kept():
    code, verdicts, text = lint(ROOT)
    assert code == 0, text
    assert len(verdicts) >= 5, text
    assert set(verdicts.values()) == {"KEPT"}


def test_the_contracts_see_imports_that_cross_the_layers(tmp_path):
    for name in ("app", "engine"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "engine/core/stray.py").write_text("import PySide6\nimport engine.cache\n")
    (tmp_path / "app/widgets/stray.py").write_text("import mlx.core\nimport app.chat\nimport engine.models.gguf\n")
    code, verdicts, text = lint(tmp_path)
    assert code != 0
    assert len(verdicts) >= 5, text
    assert set(verdicts.values()) == {"BROKEN"}, text


def test_pages_may_not_import_each_other(tmp_path):
    for name in ("app", "engine"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "app/chat/stray.py").write_text("import app.models\n")
    code, _, text = lint(tmp_path)
    assert code != 0
    assert "app.chat is not allowed to import app.models" in text


def test_the_whole_engine_imports_without_a_screen():
    imported, loaded = import_all("engine", blocked=["PySide6", "shiboken6", "app"])
    assert imported == modules_of("engine")
    assert not loaded & {"PySide6", "shiboken6", "app"}


def test_the_whole_app_imports_without_the_model_libraries():
    libraries = {"mlx", "mlx_lm", "transformers", "huggingface_hub"}
    imported, loaded = import_all("app", blocked=libraries)
    assert imported == modules_of("app")
    assert not loaded & libraries


@pytest.mark.parametrize(("name", "blocked"), [("engine.core.codec", "json"), ("app", "app")])
def test_a_refused_import_is_seen(name, blocked):
    with pytest.raises(AssertionError, match="may not be imported here"):
        import_all(name, blocked=[blocked])


def test_what_the_app_may_use_of_the_engine_loads_no_model_library():
    shared = [
        "engine.core",
        "engine.chats",
        "engine.hardware",
        "engine.metrics",
        "engine.models.library",
        "engine.models.facts",
    ]
    _, loaded = import_all(*shared, blocked=["PySide6", "app"])
    assert not loaded & {"numpy", "mlx", "mlx_lm", "transformers", "tokenizers", "huggingface_hub", "gguf"}


def test_a_window_comes_without_the_slow_libraries():
    _, loaded = import_all("app.window", blocked=["nothing"])
    assert "PySide6" in loaded
    assert not loaded & {"numpy", "transformers", "mlx", "mlx_lm", "huggingface_hub", "ziamath"}


@pytest.mark.parametrize("package", ["app", "engine/core", "engine/chats"])
def test_what_a_window_imports_compiles_no_methods_for_frozen_dataclasses(package):
    files = [path for path in (ROOT / package).rglob("*.py") if path.name != "record.py"]
    assert [str(path) for path in files if re.search(r"dataclass\(.*frozen", path.read_text(encoding="utf-8"))] == []


def test_no_source_file_reaches_five_hundred_lines():
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for package in ("app", "engine")
        for path in (ROOT / package).rglob("*.py")
    }
    assert lengths
    assert {name: lines for name, lines in lengths.items() if lines >= 500} == {}


def test_the_top_level_holds_what_the_design_says_and_nothing_else():
    top = {name.partition("/")[0] for name in tracked()}
    expected = {"pyproject.toml", "README.md", "LICENSE", "app", "engine", "resources", "tests", "packaging"}
    assert {name for name in top if not name.startswith(".")} == expected


def test_no_tracked_file_names_a_registrys_host():
    hosts = re.compile(rb"(pypi|pythonhosted|deb\.debian|registry\.npmjs|conda|proxy\.golang)\.org")
    assert hosts.search(b"https://files.pythonhosted" + b".org/simple")
    assert [name for name in tracked() if hosts.search((ROOT / name).read_bytes())] == []


def test_the_lock_file_is_not_tracked():
    assert "uv.lock" not in tracked()
    assert "uv.lock" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_tests_hold_no_package_that_would_shadow_the_real_one():
    assert list((ROOT / "tests").rglob("__init__.py")) == []

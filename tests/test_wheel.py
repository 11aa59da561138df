"""The wheel: what it carries, and that it runs in an environment of its own."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.uv import uv

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    done = uv("build", "--wheel", "--out-dir", folder, ROOT, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel):
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_carries_every_resource_under_the_engine(names):
    resources = [path.relative_to(ROOT) for path in (ROOT / "resources").rglob("*") if path.is_file()]
    assert len(resources) > 10
    assert {f"engine/{path.as_posix()}" for path in resources} <= names


def test_the_wheel_carries_both_packages_whole(names):
    sources = [path.relative_to(ROOT).as_posix() for package in ("app", "engine") for path in (ROOT / package).rglob("*.py")]
    assert set(sources) <= names


def test_the_wheel_carries_nothing_else_at_top_level(names):
    top = {name.partition("/")[0] for name in names}
    (facts,) = (name for name in top if name.endswith(".dist-info"))
    assert top == {"app", "engine", facts}


def test_the_wheel_declares_the_command_and_the_licence(wheel, names):
    (scripts,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
    (licence,) = (name for name in names if name.endswith(".dist-info/licenses/LICENSE"))
    with zipfile.ZipFile(wheel) as archive:
        scripts, licence = archive.read(scripts).decode(), archive.read(licence).decode()
    assert "flint = app.__main__:main" in scripts
    assert "Apache License" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


def test_the_wheel_installed_as_a_tool_runs_the_doctor_and_finds_its_resources(wheel, tmp_path):
    place = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    done = uv("tool", "install", "--python", Path(sys.base_prefix, "bin/python3"), wheel, cwd=tmp_path, environ=place)
    assert done.returncode == 0, done.stderr
    command = [tmp_path / "bin/flint", "doctor", "--json"]
    doctor = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert doctor.returncode == 0, doctor.stderr
    details = [check["detail"] for check in json.loads(doctor.stdout)["checks"]]
    assert any(detail.startswith(str(tmp_path / "tools")) for detail in details), details
    (python,) = (tmp_path / "tools").glob("flint/bin/python")
    asked = "from engine.core.paths import resource; print(resource('chips.toml'), resource('icons', 'mark.svg'))"
    found = subprocess.run([python, "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert all(path.startswith(str(tmp_path / "tools")) for path in found)

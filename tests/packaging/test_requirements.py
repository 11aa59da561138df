"""The Mac bundle's pinned requirements: hashed, within the project's bounds, and still to be had as wheels."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.uv import uv

ROOT = Path(__file__).parents[2]
PINNED = ROOT / "packaging/requirements-macos.txt"
MAC = {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64", "os_name": "posix"}
PLATFORM = ["--python-platform", "aarch64-apple-darwin", "--python-version", "3.12", "--only-binary", ":all:"]
DEPLOYMENT = {"MACOSX_DEPLOYMENT_TARGET": "14.0"}


def blocks():
    """The file's requirements, each with its hash lines, by name."""
    text = re.sub(r"^\s*#.*$", "", PINNED.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)((?:\s*\\\s*--hash=\S+)*)\s*$", text, re.MULTILINE)
    return {canonicalize_name(name): (Version(version), hashes) for name, version, hashes in found}


def wanted():
    """What the project itself asks for on a Mac."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    environment = default_environment() | MAC
    found = [Requirement(line) for line in project["dependencies"]]
    return [one for one in found if one.marker is None or one.marker.evaluate(environment)]


def test_every_line_is_a_pinned_package_with_hashes():
    lines = PINNED.read_text(encoding="utf-8").splitlines()
    requirements = [line for line in lines if line and not line.startswith((" ", "#"))]
    assert len(requirements) == len(blocks()) > 20
    for name, (_, hashes) in blocks().items():
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", hashes), name


def test_it_names_no_index_and_no_address():
    text = PINNED.read_text(encoding="utf-8")
    assert not re.search(r"://|^\s*(-i|--index-url|--extra-index-url|-f|--find-links|--trusted-host)\b", text, re.MULTILINE)


@pytest.mark.parametrize("requirement", wanted(), ids=lambda requirement: requirement.name)
def test_each_dependency_of_the_project_is_pinned_within_its_bounds(requirement):
    version, _ = blocks()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)


def test_what_only_linux_needs_is_not_in_it():
    assert not {name for name in blocks() if name in {"mlx-cpu", "mlx-cuda", "secretstorage"}}


def test_the_pins_are_whole_nothing_more_and_nothing_less(tmp_path):
    done = uv(
        *("pip", "compile", "pyproject.toml", "--constraints", PINNED, *PLATFORM),
        *("--no-header", "--no-annotate", "--no-emit-index-url"),
        cwd=ROOT,
        environ=DEPLOYMENT,
    )
    assert done.returncode == 0, done.stderr
    resolved = dict(line.split("==") for line in done.stdout.splitlines() if "==" in line)
    assert resolved == {name: str(version) for name, (version, _) in blocks().items()}


def test_every_pin_is_still_to_be_had_as_a_wheel_for_macos_14_on_arm64(tmp_path):
    done = uv(*install(PINNED, tmp_path), cwd=tmp_path, environ=DEPLOYMENT)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^ \+ \S+==", done.stderr, re.MULTILINE)) == len(blocks())


def test_a_macos_too_old_for_the_wheels_would_be_noticed(tmp_path):
    done = uv(*install(PINNED, tmp_path), cwd=tmp_path, environ={"MACOSX_DEPLOYMENT_TARGET": "13.0"})
    assert done.returncode != 0
    assert "macosx_13_0_arm64" in done.stderr


def install(requirements, folder):
    return ["pip", "install", "--dry-run", "--target", folder / "site", "--require-hashes", *PLATFORM, "-r", requirements]

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


def parse(text):
    """Pinned requirements by name: the version, and the set of hashes."""
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    found = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)((?:\s*\\\s*--hash=\S+)*)\s*$", text, re.MULTILINE)
    hashes = re.compile(r"--hash=sha256:([0-9a-f]{64})\b")
    return {canonicalize_name(name): (Version(version), set(hashes.findall(rest))) for name, version, rest in found}


def blocks():
    return parse(PINNED.read_text(encoding="utf-8"))


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
    assert [name for name, (_, hashes) in blocks().items() if not hashes] == []


def test_it_names_no_index_and_no_address():
    text = PINNED.read_text(encoding="utf-8")
    assert not re.search(r"://|^\s*(-i|--index-url|--extra-index-url|-f|--find-links|--trusted-host)\b", text, re.MULTILINE)


@pytest.mark.parametrize("requirement", wanted(), ids=lambda requirement: requirement.name)
def test_each_dependency_of_the_project_is_pinned_within_its_bounds(requirement):
    version, _ = blocks()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)


def test_what_only_linux_needs_is_not_in_it():
    assert not {name for name in blocks() if name in {"mlx-cpu", "mlx-cuda", "secretstorage"}}


@pytest.fixture(scope="module")
def resolved(tmp_path_factory):
    """What the project resolves to under these pins, with the hashes the registry gives now."""
    pins = tmp_path_factory.mktemp("pins") / "pins.txt"
    pins.write_text("".join(f"{name}=={version}\n" for name, (version, _) in blocks().items()))
    done = uv(
        *("pip", "compile", "pyproject.toml", "--constraints", pins, *PLATFORM),
        *("--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url"),
        cwd=ROOT,
        environ=DEPLOYMENT,
    )
    assert done.returncode == 0, done.stderr
    return parse(done.stdout)


def test_the_pins_are_whole_nothing_more_and_nothing_less(resolved):
    assert {name: version for name, (version, _) in resolved.items()} == {n: version for n, (version, _) in blocks().items()}


def test_every_hash_is_one_the_registry_gives(resolved):
    assert {name: hashes - resolved[name][1] for name, (_, hashes) in blocks().items() if hashes - resolved[name][1]} == {}


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

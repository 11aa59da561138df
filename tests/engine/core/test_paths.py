import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core import paths
from engine.core.paths import Paths, locate, resource


def test_flint_home_holds_everything(flint_home):
    found = locate()
    assert found == Paths(data=flint_home, cache=flint_home / "cache", config=flint_home)
    for path in (found.models, found.chats, found.settings, found.window_socket):
        assert path.is_relative_to(flint_home)


def test_locating_creates_nothing(flint_home):
    assert locate().chats.parent == flint_home
    assert not flint_home.exists()


def test_the_environment_can_be_given():
    assert locate({"FLINT_HOME": "/somewhere/with spaces and ü"}).models == Path("/somewhere/with spaces and ü/models")


def test_a_relative_home_is_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = locate({"FLINT_HOME": "here"})
    monkeypatch.chdir("/")
    assert found.data == tmp_path / "here"


def test_a_tilde_is_the_users_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    assert locate({"FLINT_HOME": "~/flint"}).data == Path("/home/somebody/flint")


def test_a_tilde_of_nobody_is_a_plain_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert locate({"FLINT_HOME": "~no-such-user-here"}).data == tmp_path / "~no-such-user-here"


@pytest.mark.parametrize("environ", [{}, {"FLINT_HOME": ""}])
def test_without_flint_home_the_platform_decides(environ, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    found = locate(environ)
    for path in (found.data, found.cache, found.config):
        assert path.is_relative_to(tmp_path)
        assert "flint" in path.name.lower()
    assert len({found.models, found.chats, found.settings, found.window_socket}) == 4


def test_every_file_and_folder_has_a_place_of_its_own(flint_home):
    found = locate()
    places = [found.models, found.chats, found.settings, found.window_socket, found.cache]
    assert len(set(places)) == len(places)


def test_a_resource_is_found_wherever_flint_is_started():
    assert resource("icons", "send.svg").read_text("utf-8").lstrip().startswith("<svg")
    code = "from engine.core.paths import resource; print(resource('icons', 'send.svg').exists())"
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    assert (
        subprocess.run([sys.executable, "-c", code], cwd="/", env=environ, capture_output=True, text=True, check=True).stdout
        == "True\n"
    )


def test_a_missing_resource_is_named():
    with pytest.raises(FileNotFoundError, match=r"icons/no-such\.svg"):
        resource("icons", "no-such.svg")


def test_the_installed_package_carries_its_resources_inside(tmp_path, monkeypatch):
    packaged = tmp_path / "site-packages" / "engine" / "resources" / "icons"
    packaged.mkdir(parents=True)
    (packaged / "send.svg").write_text("packaged")
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "site-packages" / "engine" / "core" / "paths.py"))
    assert resource("icons", "send.svg").read_text() == "packaged"

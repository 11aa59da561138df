"""Models in memory, loaded once on the tests' own thread. Their sessions are made anew for each test."""

import pytest

from tests.models.loading import load_folder
from tests.models.tiny import tiny_model
from tests.models.tiny_architectures import ARCHITECTURES


@pytest.fixture(scope="session")
def starter_loaded(starter):
    """The starter, unpacked to float32 as a CPU gets it."""
    return load_folder(starter)


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory):
    """A function from a kind of `ARCHITECTURES` to the folder of its tiny random model."""
    made = {}

    def folder(kind):
        if kind not in made:
            made[kind] = tiny_model(tmp_path_factory.mktemp("tiny") / kind, ARCHITECTURES[kind])
        return made[kind]

    return folder


@pytest.fixture(scope="session")
def tiny_loaded(tiny_folders):
    """A function from a kind of `ARCHITECTURES` to its tiny random model in memory."""
    made = {}

    def loaded(kind="growing"):
        if kind not in made:
            made[kind] = load_folder(tiny_folders(kind))
        return made[kind]

    return loaded

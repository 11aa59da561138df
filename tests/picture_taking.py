"""What the scripts that take pictures share: their options, a home of their own for each mode, waiting, and the files' names."""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

PATIENCE_S = 180
_SCREEN = {"name": "pictures", "x": 0, "y": 0, "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
_WIDTH, _HEIGHT = 1920, 1200


class Camera:
    """Writes pictures of one mode at one scale; a file is called by its state: “empty-dark@2x.png”."""

    def __init__(self, folder, mode, scale):
        self.mode = mode
        self._folder, self._end = folder, f"{mode}@{scale}x.png"

    def take(self, widget, name, rest_ms=350):
        """Write a picture of a widget once it had time to come to rest."""
        self.rest(rest_ms)
        widget.grab().save(self.path(name))

    def path(self, name):
        """Return where the picture of a state belongs."""
        return str(self._folder / f"{name}-{self._end}")

    def rest(self, rest_ms):
        """Let the window work for a while."""
        from PySide6.QtTest import QTest

        QTest.qWait(rest_ms)

    def wait(self, done):
        """Let the window work until `done()`; raises `TimeoutError` when that takes too long."""
        end = time.monotonic() + PATIENCE_S
        while not done():
            if time.monotonic() > end:
                raise TimeoutError("what was waited for did not come")
            self.rest(20)


def take_pictures(description, take_all):
    """Read the command line, and call `take_all` with a camera and an empty home for each mode. The process ends with it."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--scale", default="1")
    arguments.add_argument("--mode", choices=("light", "dark"))
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    os.environ["QT_SCALE_FACTOR"] = given.scale
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as screen:
        # The usual one is smaller than the windows: menus would not find room.
        scale = float(given.scale)
        json.dump({"screens": [{**_SCREEN, "width": round(scale * _WIDTH), "height": round(scale * _HEIGHT)}]}, screen)
    os.environ.setdefault("QT_QPA_PLATFORM", f"offscreen:configfile={screen.name}")
    for mode in (given.mode,) if given.mode else ("light", "dark"):
        with tempfile.TemporaryDirectory() as home:
            os.environ["FLINT_HOME"] = home
            take_all(Camera(given.folder, mode, given.scale))
    os._exit(0)


def take_each(states):
    """Bring about one state after the other; one that fails is told and leaves the others."""
    for state in states:
        try:
            state()
        except Exception as error:
            print(f"{state.__name__}: {error!r}")

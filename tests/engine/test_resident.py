"""The model in memory, seen from what Python keeps of it: in a program of its own, as the libraries come once in each."""

import subprocess
import sys
from pathlib import Path

from tests.engine.engines import PATIENCE_S, install

ROOT = Path(__file__).parents[2]
LOADING = """
import gc
import weakref

from engine.core.messages import UnloadModel
from tests.engine.engines import finish, generate, make_host

host = make_host()
host.start()
connection = host.connect()
finish(connection, generate("g"))
model = host._worker._resident.session.loaded.model
model.itself = model  # Only looking for garbage finds it now.
known = weakref.ref(model)
del model
print("looked at less than is kept:", len(gc.get_objects()) * 5 < gc.get_freeze_count())
finish(connection, UnloadModel("u"))
print("gone:", known() is None)
host.close()
"""


def test_the_libraries_are_never_looked_at_for_garbage_and_the_model_is(flint_home, tiny_folders):
    install(tiny_folders, flint_home, one="growing")
    done = subprocess.run(
        [sys.executable, "-c", LOADING], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.stdout == "looked at less than is kept: True\ngone: True\n", done.stderr

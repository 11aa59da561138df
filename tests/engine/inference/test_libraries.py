"""The libraries, first asked for by several threads at once: in a program of its own, as they come once in each."""

import re
import subprocess
import sys
from pathlib import Path

from tests.engine.engines import PATIENCE_S
from tests.models.speaking import speaking_model

ROOT = Path(__file__).parents[3]
THREADS = """
import sys
import threading
from pathlib import Path

sys.setswitchinterval(1e-4)  # They take turns within an import, as they do where it takes seconds.
from engine.inference.libraries import import_libraries
from engine.inference.own_template import read_tokenizer

assert not {"transformers", "mlx_lm"} & set(sys.modules)
ways, failed = [import_libraries, lambda: read_tokenizer(Path(sys.argv[1]))] * 2, []
together = threading.Barrier(len(ways))


def start(way):
    together.wait()
    try:
        way()
    except BaseException as error:
        failed.append(repr(error))


threads = [threading.Thread(target=start, args=(way,)) for way in ways]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failed, flush=True)
"""
FIRST = re.compile(r"^ *(from transformers import|import transformers|import mlx_lm)", re.MULTILINE)


def test_threads_that_ask_for_the_libraries_at_once_all_get_them(tmp_path):
    folder = speaking_model(tmp_path / "model")
    done = subprocess.run(
        [sys.executable, "-c", THREADS, str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.stdout == "[]\n", done.stderr


def test_one_file_alone_asks_for_them_first():
    # A module within them is asked for by what has a tokenizer in hand, which that module came with.
    asking = [path.name for path in (ROOT / "engine").rglob("*.py") if FIRST.search(path.read_text("utf-8"))]
    assert asking == ["libraries.py"]

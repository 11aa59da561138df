"""The real window against a hub of our own on loopback: what the tests of Discover and of downloads share."""

import contextlib

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.models.machine import Machine
from tests.app.window_driver import open_window, row_center
from tests.hub.repositories import MadeUp, Repository
from tests.hub.server import Hub

FOX_ID, GATED_ID, LARGE_ID, SLOW_ID = "org/Fox-4bit", "org/Gated-8B-4bit", "org/Large-70B-bf16", "org/Slow-1B-4bit"
CARD = """---
license: mit
---
# The fox

A model that says **one sentence**. See [its page](https://example.org/fox) for `more`.

- It is small.
- It is quick.

<img src="https://example.org/track.png"><script>alert(1)</script>
"""
MACHINE = Machine(budget=24_000_000_000, bandwidth=400e9, metal=True)
QWEN = {
    "model_type": "qwen3",
    "num_hidden_layers": 36,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 12288,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
    "quantization": {"group_size": 64, "bits": 4},
}
LLAMA = {**QWEN, "model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64}


def repositories(fox):
    """The hub's models: the one that speaks, one that is gated, one too large, one that takes a while."""
    large = {name: value for name, value in LLAMA.items() if name != "quantization"}
    return (
        Repository(FOX_ID, tags=["mlx", "license:mit"], downloads=900, likes=1).add_folder(fox).add("README.md", CARD),
        Repository(GATED_ID, tags=["mlx", "license:llama3.1"], downloads=800, likes=9, gated="auto", parameters={"U32": 10**9})
        .add("config.json", QWEN)
        .add("tokenizer.json", "{}")
        .add("model.safetensors", MadeUp(2000)),
        Repository(LARGE_ID, tags=["mlx", "license:apache-2.0"], downloads=700, likes=5, parameters={"BF16": 70 * 10**9})
        .add("config.json", large)
        .add("tokenizer.json", "{}")
        .add("model.safetensors", MadeUp(2000)),
        Repository(SLOW_ID, tags=["mlx", "license:apache-2.0"], downloads=600, likes=3, parameters={"U32": 10**8})
        .add("config.json", QWEN)
        .add("tokenizer.json", "{}")
        .add("model.safetensors", MadeUp(3_000_000)),
    )


@contextlib.contextmanager
def hub_on_loopback(monkeypatch, fox):
    """Serve the models above to the real client."""
    from huggingface_hub import close_session

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("app.models.machine.read_machine", lambda budget=0: MACHINE)
    with Hub(*repositories(fox)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.base)
        yield hub
    close_session()


@contextlib.contextmanager
def hub_window(qtbot):
    """A window with the models dialog open on Discover."""
    with open_window(qtbot) as driver:
        driver.window.place.show()
        yield Discovering(driver)


class Discovering:
    """What a person does in Discover."""

    def __init__(self, driver):
        self.driver = driver
        self.dialog = driver.window.place.dialog
        self.page = self.dialog.discover
        self.hub = driver.window.place.hub

    def wait(self, condition):
        self.driver.wait(condition)

    def rows(self):
        return self.page._models.rows

    def ids(self):
        return [row.model.id for row in self.rows()]

    def type(self, words):
        """Type a search and press Return."""
        QTest.keyClicks(self.dialog.search, words)
        QTest.keyClick(self.dialog.search, Qt.Key.Key_Return)

    def search(self, words, count):
        """Search, and wait for `count` models with all their facts."""
        self.type(words)
        self.wait(lambda: self.page.query == words and len(self.rows()) == count and all(r.assessment for r in self.rows()))

    def pick(self, model_id):
        """Click a row and wait for what the hub says of it."""
        self.click_row(model_id)
        self.wait(lambda: self.page.detail.detail and self.page.detail.detail.model.id == model_id)

    def click_row(self, model_id):
        place = row_center(self.page.results, self.ids().index(model_id))
        QTest.mouseClick(self.page.results.viewport(), Qt.MouseButton.LeftButton, pos=place)

    def click(self, name):
        self.driver.click(name)

    def text(self, name):
        return self.driver.part(name).text()

    def shows(self, name):
        return self.driver.part(name).isVisible()

    def state(self, model_id):
        download = self.hub.downloads.of(model_id)
        return download.state if download else ""

    def row(self, model_id):
        return self.driver.part(f"download.{model_id}")

    def press(self, model_id, name):
        """Click a button of a download's row."""
        self.driver.press(self.row(model_id), name)

"""Take pictures of the real window with the real starter model, to be looked at before a release.

`uv run python tests/screenshots.py FOLDER` writes one picture a state, light and dark, at twice the size. `--readme` also puts
the two that the README shows into resources/help/.
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "2")

HELP = Path(__file__).parents[1] / "resources" / "help"
QUESTIONS = (
    "What is the capital of France?",
    "Write a short Python function that checks whether a number is prime, then explain it in a list.",
)
PATIENCE_S = 180


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--readme", action="store_true")
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for mode in ("light", "dark"):
        with tempfile.TemporaryDirectory() as home:
            os.environ["FLINT_HOME"] = home
            pictures(given.folder, mode)
        if given.readme:
            HELP.mkdir(exist_ok=True)
            shutil.copy(given.folder / f"reply-{mode}.png", HELP / f"main-{mode}.png")


def pictures(folder: Path, mode: str) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QWidget

    from app.__main__ import build
    from engine.core.errors import ModelBroken
    from engine.core.preferences import Preferences

    preferences = Preferences(Path(os.environ["FLINT_HOME"]) / "settings.json")
    preferences.set("theme", mode)
    preferences.set("temperature", 0.0)
    preferences.set("max_tokens", 320)
    _, window = build(["flint"])
    window.show()

    def take(name: str) -> None:
        QTest.qWait(250)
        window.grab().save(str(folder / f"{name}-{mode}.png"))

    def wait(done) -> None:
        end = time.monotonic() + PATIENCE_S
        while not done() and time.monotonic() < end:
            QTest.qWait(20)

    wait(lambda: window.models.state.state in ("importing", "loading"))
    take("first-launch")
    wait(lambda: window.models.state.state == "ready")
    take("empty")
    composer = window.findChild(QWidget, "composer")
    for question in QUESTIONS:
        window.chat.open(None)
        QTest.keyClicks(composer, question)
        QTest.keyClick(composer, Qt.Key.Key_Return)
        wait(lambda: window.replies.writing_chat() is None or len(_newest(window)) > 200)
        if window.replies.writing_chat():
            take("streaming")
        wait(lambda: window.replies.writing_chat() is None)
    QTest.keyClicks(composer, "And what does that cost?")
    take("reply")
    window.toolbar.settings_button.click()
    take("settings")
    window.show_error(ModelBroken("Qwen3 4B lacks model-00002-of-00003.safetensors.").info())
    take("error")
    window.toaster.dismiss_newest()
    window.toolbar.settings_button.click()
    window.resize(880, 600)
    take("small")
    window.show_models()
    QTest.qWait(500)
    window._dialog.grab().save(str(folder / f"models-{mode}.png"))
    window._dialog.close()
    window.close()


def _newest(window) -> str:
    pending = window.replies.of_chat(window.chat.chat_id)
    return pending.writer.text if pending else ""


if __name__ == "__main__":
    main()

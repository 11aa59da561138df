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
ROLLING = tuple(f"Tell me something about {place}, in a few words." for place in ("Rome", "Oslo", "Lima", "Cairo", "Perth"))
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
            context_pictures(given.folder, mode)
        if given.readme:
            HELP.mkdir(exist_ok=True)
            shutil.copy(given.folder / f"reply-{mode}.png", HELP / f"main-{mode}.png")


def context_pictures(folder: Path, mode: str) -> None:
    """A full context: what rolled out, what a summary stands for, a reply's ledger, and a refusal with its choices."""
    from dataclasses import replace

    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QDialog

    import engine.session as session
    from app.__main__ import build
    from app.chat.conversation.context_marker import ContextMarker
    from app.chat.conversation.message import MessageView
    from app.widgets.link import Link
    from engine.core.preferences import Preferences

    preferences = Preferences(Path(os.environ["FLINT_HOME"]) / "settings.json")
    for name, value in (("theme", mode), ("temperature", 0.0), ("max_tokens", 60), ("context", 256)):
        preferences.set(name, value)
    _, window = build(["flint"])
    window.show()

    def ask(question: str) -> None:
        window.page.composer.set_text(question)
        window.page.composer.submit()
        QTest.qWait(50)
        wait(lambda: window.replies.writing_chat() is None)

    wait(lambda: window.models.state.state == "ready")
    for when_full in ("roll", "compact"):
        window.chat.open(None)
        window._preferences.set("when_full", when_full)
        for question in ROLLING if when_full == "roll" else ROLLING[:4]:
            ask(question)
        window.page.transcript.verticalScrollBar().setValue(window.findChild(ContextMarker).y() - 200)
        QTest.qWait(250)
        window.grab().save(str(folder / f"context-{when_full}-{mode}.png"))
    link = next(link for link in window.findChildren(Link) if link.objectName() == "showSummary")
    link.click()
    QTest.qWait(250)
    for dialog in [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QDialog) and widget.isVisible()]:
        dialog.grab().save(str(folder / f"summary-{mode}.png"))
        dialog.close()
    window.page.transcript.verticalScrollBar().setValue(window.page.transcript.verticalScrollBar().maximum())
    view = [view for view in window.findChildren(MessageView) if view.message.role == "assistant"][-1]
    view._show_details()
    QTest.qWait(250)
    window.grab().save(str(folder / f"ledger-{mode}.png"))
    real = session.read_memory
    session.read_memory = lambda *a, **k: replace(real(*a, **k), budget=window.models.model.weights_bytes + 150_000_000)
    window._preferences.set("context", 8192)
    window._preferences.set("max_tokens", 4096)
    window.chat.open(None)
    ask("Tell me a very long story.")
    QTest.qWait(250)
    window.grab().save(str(folder / f"guard-{mode}.png"))
    session.read_memory = real
    window.close()


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
    window.place.show()
    QTest.qWait(500)
    window.place.dialog.grab().save(str(folder / f"models-{mode}.png"))
    window.place.dialog.close()
    window.close()


def wait(done) -> None:
    """Let the window work until `done()`."""
    from PySide6.QtTest import QTest

    end = time.monotonic() + PATIENCE_S
    while not done() and time.monotonic() < end:
        QTest.qWait(20)


def _newest(window) -> str:
    pending = window.replies.of_chat(window.chat.chat_id)
    return pending.writer.text if pending else ""


if __name__ == "__main__":
    main()

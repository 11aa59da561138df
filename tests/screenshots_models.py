"""Take pictures of the models window in every state, against a hub of our own on loopback.

`uv run python tests/screenshots_models.py FOLDER [--scale 2] [--mode dark]` writes each state light and dark. Whatever lies over
the window (menus, questions, dialogs) is in its picture. Sizes and speeds of the machine are made up, so that each verdict is
there. Only the table of failures is filled in by hand, with the errors that the engine itself raises.
"""

import contextlib
import os
from pathlib import Path

import pytest

from tests.picture_taking import Camera, take_each, take_pictures


def main() -> None:
    take_pictures(__doc__, take_all)


def take_all(camera: Camera) -> None:
    from tests.app.window_driver import remember
    from tests.hub.server import Hub
    from tests.models.shown import put_on_this_machine, repositories
    from tests.models.speaking import speaking_model

    home = Path(os.environ["FLINT_HOME"])
    with pytest.MonkeyPatch.context() as patch:
        for name in ("hf-home", "lmstudio-home", "ollama-models", "share"):
            (home / name).mkdir()
        patch.setenv("HF_HOME", str(home / "hf-home"))
        patch.setenv("LMSTUDIO_HOME", str(home / "lmstudio-home"))
        patch.setenv("OLLAMA_MODELS", str(home / "ollama-models"))
        patch.setenv("XDG_DATA_HOME", str(home / "share"))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        patch.setattr("engine.models.starter.starter_file", lambda *_: None)
        fox = speaking_model(home / "made" / "fox")
        with Hub(*repositories(fox)) as hub:
            patch.setenv("HF_ENDPOINT", hub.base)
            with shown(camera, patch) as pictures:
                take_each([pictures.none_here])
            gguf = put_on_this_machine(fox, home)
            remember(model="Quick-Fox-4bit")
            with shown(camera, patch) as pictures:
                pictures.gguf, pictures.server, pictures.patch = gguf, hub, patch
                pictures.take_all()


@contextlib.contextmanager
def shown(camera: Camera, patch: pytest.MonkeyPatch):
    """The models window of a machine that gives a model 36 GB, driven as the tests drive it."""
    from app.__main__ import build
    from app.models.machine import Machine
    from engine.core.paths import locate
    from engine.core.preferences import Preferences

    machine = Machine(budget=36_000_000_000, bandwidth=273e9, metal=True)
    patch.setattr("app.models.machine.read_machine", lambda budget=0: machine)
    Preferences(locate().settings).set("theme", camera.mode)
    _, window = build(["flint"])
    window.show()
    window.place.show()
    try:
        yield Pictures(camera, window)
    finally:
        window.place.dialog.close()
        window.close()


class Pictures:
    """One models window in one mode, and the states it is brought to."""

    def __init__(self, camera: Camera, window) -> None:
        from tests.app.hub_window import Discovering
        from tests.app.window_driver import Driver

        class Waiting(Driver):
            def wait(self, condition, timeout=0):
                camera.wait(condition)

        self.camera, self.window = camera, window
        self.driver = Waiting(None, window)
        self.found = Discovering(self.driver)
        self.dialog, self.wait = self.found.dialog, self.found.wait

    def take_all(self) -> None:
        """Every state, one after the other."""
        take_each(
            (
                self.machine_list,
                self.menu,
                self.names,
                self.template,
                self.quantizing,
                self.removal,
                self.importing,
                self.recommended,
                self.search,
                self.repository,
                self.downloads,
                self.failures,
                self.token,
                self.no_network,
                self.narrow,
                self.large_text,
            )
        )

    # -- on this machine --------------------------------------------------------------------------------------------

    def none_here(self) -> None:
        self.wait(lambda: self.window.models.state.state == "none")
        self.dialog.show_place("machine")
        self._take("machine-none")

    def machine_list(self) -> None:
        self.dialog.show_place("machine")
        self.wait(lambda: self.window.models.state.state == "ready" and len(self.window.models.entries) > 5)
        for name, words in (
            ("machine", "fox"),
            ("machine-huggingface", "qwen3 4b"),
            ("machine-unsupported", "hyena"),
            ("machine-partial", "mistral"),
            ("machine-twice", "phi"),
            ("machine-ollama", "llama3.2"),
        ):
            self._select(words)
            self._take(name)
        self.driver.type("gemma", "modelSearch")
        self._take("machine-filter-nothing")
        self.dialog.search.clear()

    def menu(self) -> None:
        self._select("tales")
        menu = self._menu()
        self._take("machine-menu")
        copies = next(action.menu() for action in menu.actions() if action.menu())
        copies.popup(menu.mapToGlobal(menu.actionGeometry(copies.menuAction()).topLeft()) - _left(copies))
        self._take("machine-quantize")
        copies.close()
        menu.close()

    def names(self) -> None:
        from PySide6.QtWidgets import QPlainTextEdit

        self._select("tales")
        self._wish("notes")
        notes = self._over("modelNotes")
        notes.findChild(QPlainTextEdit, "modelNotesText").setPlainText("Good at tales, poor at sums.")
        self._take("machine-notes")
        self.driver.press(notes, "modelNotesSave")
        self.wait(lambda: self.dialog.detail.entry.notes)
        self._take("machine-noted")

    def template(self) -> None:
        from PySide6.QtWidgets import QLabel, QPlainTextEdit

        self._wish("template")
        template = self._over("modelTemplate")
        preview = template.findChild(QPlainTextEdit, "modelTemplatePreview")
        self.wait(lambda: preview.toPlainText())
        self._take("machine-template")
        template.findChild(QPlainTextEdit, "modelTemplateText").setPlainText("{% for message in messages %}{{ message }")
        self.wait(lambda: any("does not parse" in label.text() for label in template.findChildren(QLabel)))
        self._take("machine-template-wrong")
        template.reject()

    def quantizing(self) -> None:
        self._wish("quantize", "4")
        self.wait(lambda: self.driver.part("importProgress").value() > 100)
        self._take("machine-quantizing", 50)
        self._wish("quantize", "8")
        self._take("machine-quantizing-refused", 100)
        self.wait(lambda: any("is ready" in toast[0] for toast in self.driver.toasts()))
        self._take("machine-quantized")
        self._quiet()

    def removal(self) -> None:
        self._select("tales")
        self._wish("trash")
        self._take("machine-removal")
        self._over("removeModelQuestion").reject()
        self._wish("trash")
        self.driver.press(self._over("removeModelQuestion"), "removeModelConfirm")
        self.wait(lambda: any("trash" in toast[0] for toast in self.driver.toasts()))
        self._take("machine-removed")
        self._quiet()

    def importing(self) -> None:
        from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
        from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent
        from PySide6.QtWidgets import QApplication

        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(self.gguf))])
        none = Qt.KeyboardModifier.NoModifier
        event = QDragEnterEvent(QPointF(50, 200), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none)
        QApplication.sendEvent(self.dialog, event)
        self._take("machine-drop")
        QApplication.sendEvent(self.dialog, QDragLeaveEvent())
        self.dialog.show_import("gemma-3-27b-it-Q4_K_M.gguf", 6_200_000_000, 16_500_000_000)
        self._take("machine-importing")
        self.dialog.end_import()
        self.dialog.offer(self.gguf.parent / "fox" / "tokenizer.json")
        self._take("machine-not-a-model")
        self._quiet()

    # -- discover ---------------------------------------------------------------------------------------------------

    def recommended(self) -> None:
        self.dialog.show_place("discover")
        self.wait(lambda: all(row.assessment for row in self.found.rows()))
        self._take("discover")

    def search(self) -> None:
        with self._fault("api/models", trickle_s=1.0, piece=20_000):
            self.found.type("qwen3")
            self._take("discover-searching", 100)
        self.wait(lambda: "found" in self.found.text("searchTitle") and all(row.assessment for row in self.found.rows()))
        self._take("discover-results", 1000)
        self.found.click("filterQuantization")
        self._take("discover-filter")
        self.found.page.filters.quantization.menu.close()
        self.found.click("fitsOnly")
        self._take("discover-fits-only")
        self.found.click("fitsOnly")
        self._search("zzzz")
        self._take("discover-nothing")

    def repository(self) -> None:
        from tests.models.shown import GATED, HERE, LARGEST, QWEN, TIGHT

        self._search("")
        self.found.click("showPopular")
        self.wait(lambda: self.found.page.query == "" and all(row.assessment for row in self.found.rows()))
        for name, model_id in (("fits", QWEN), ("gated", GATED), ("too-large", LARGEST), ("here", HERE)):
            self.found.pick(model_id)
            if name == "fits":
                self.wait(lambda: self.found.page.detail.card.toPlainText() and self.found.text("fitMost"))
            self._take(f"repository-{name}", 1000)
        self.found.pick(QWEN)
        self.wait(lambda: self.found.page.detail.card.toPlainText() and self.found.shows("variantRows"))
        self.camera.rest(1000)
        bar = self.found.page.detail.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._take("repository-card")
        bar.setValue(0)
        self.found.page.detail.ensureWidgetVisible(self.found.page.detail.variants)
        self._take("repository-quantizations", 700)
        self._choose_quantization(TIGHT)
        self._take("repository-less-context", 1000)
        self.found.pick(QWEN)
        self.found.click("fitArithmetic")
        self._take("repository-arithmetic")
        self.found.page.detail.fit._popover.hide()
        self.found.pick(GATED)
        slider = self.found.page.detail.fit.slider
        slider.setFocus()
        self.found.page.detail.fit._set_context(2048)
        self._take("repository-smaller-context", 700)
        with self._fault("api/models/mlx-community/Qwen3-14B", status=401, headers={"X-Error-Code": "GatedRepo"}):
            self.found.click_row("mlx-community/Qwen3-14B-4bit")
            self.wait(lambda: self.found.page.detail.problem.text)
            self._take("repository-refused")

    def _choose_quantization(self, model_id: str) -> None:
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        from tests.app.window_driver import row_center

        variants = self.found.page.detail.variants
        place = [row.model.id for row in variants._models.rows].index(model_id)
        QTest.mouseClick(variants.view.viewport(), Qt.MouseButton.LeftButton, pos=row_center(variants.view, place))
        self.wait(lambda: self.found.page.detail.model_id == model_id and self.found.text("fitMost"))

    # -- downloads --------------------------------------------------------------------------------------------------

    def downloads(self) -> None:
        from tests.models.shown import FOX, GATED, QWEN

        downloads, state = self.found.hub.downloads, self.found.state
        with self._fault("cdn/", trickle_s=0.01, piece=60_000):
            for model_id in (QWEN, "mlx-community/Qwen3-8B-4bit"):
                downloads.start(model_id)
            self.wait(lambda: downloads.of(QWEN) and downloads.of(QWEN).left_s)
            self.found.pick(QWEN)
            self._take("downloads-running", 1500)
            self.found.press(QWEN, "downloadMain")
            self.wait(lambda: state(QWEN) == "paused")
            self._take("downloads-paused", 1500)
            downloads.cancel("mlx-community/Qwen3-8B-4bit")
            self.wait(lambda: not state("mlx-community/Qwen3-8B-4bit"))
        with self._fault("cdn/", status=503, headers={"Retry-After": "40"}):
            downloads.start(GATED.replace("3.3-70B", "3.2-3B"))
            downloads.start("mlx-community/Qwen3-8B-4bit")
            self.wait(lambda: state("mlx-community/Qwen3-8B-4bit") == "waiting")
            self._take("downloads-retrying")
            downloads.cancel("mlx-community/Qwen3-8B-4bit")
            self.wait(lambda: not state("mlx-community/Qwen3-8B-4bit"))
        downloads.start(FOX)
        self.wait(lambda: state(FOX) == "done")
        self._take("downloads-done")
        self._quiet()
        for download in downloads.downloads:
            downloads.cancel(download.model_id)
        self.wait(lambda: not downloads.downloads)

    def failures(self) -> None:
        from engine.core.disk import lack_of_room
        from engine.core.errors import DiskFull
        from engine.core.hub_errors import HubError
        from engine.core.hub_facts import Download
        from tests.models.shown import QWEN

        page = f"https://huggingface.co/{QWEN}"
        kinds = [kind for kind in HubError.__subclasses__() if not kind.passing]
        errors = [kind(f"{(kind.__doc__ or '').strip()}", link=page if "licence" in kind.code else "") for kind in kinds]
        errors.append(DiskFull(lack_of_room("Qwen3 30B-A3B Instruct 4-bit", 17_200_000_000, 3_100_000_000)))
        downloads = [
            Download(f"org/{error.code}", "Qwen3 30B-A3B Instruct 4-bit", "failed", 10**9, 17 * 10**9, error=error.info())
            for error in errors
        ]
        for part in range(0, len(downloads), 4):
            self.found.hub.list.show_downloads(tuple(downloads[part : part + 4]), 212_000_000_000)
            self._take(f"downloads-failed-{part // 4 + 1}")
        self.found.hub.list.show_downloads((), 0)

    def token(self) -> None:
        from PySide6.QtTest import QTest

        self.found.hub.ask_for_token(self.dialog)
        self._take("token")
        token = self._over("tokenDialog")
        QTest.keyClicks(token.field, "hf_wrong")
        self.driver.press(token, "saveToken")
        self.wait(lambda: self.driver.part("tokenProblem").text)
        self._take("token-refused")
        token.reject()
        self.wait(lambda: self.found.hub._token is None)

    def no_network(self) -> None:
        with self._fault("api/models", drop=True):
            self._search("llama", wait=False)
            self.wait(lambda: self.found.shows("searchProblem"))
            self._take("discover-no-network")
        self._search("")

    # -- other sizes ------------------------------------------------------------------------------------------------

    def narrow(self) -> None:
        from tests.models.shown import QWEN

        size = self.dialog.size()
        self.dialog.resize(self.dialog.minimumSize())
        self.found.click("showPopular")
        self.wait(lambda: self.found.page.query == "" and all(row.assessment for row in self.found.rows()))
        self.found.pick(QWEN)
        self.wait(lambda: self.found.page.detail.card.toPlainText())
        with self._fault("cdn/", trickle_s=0.01, piece=60_000):
            self.found.hub.downloads.start(QWEN)
            self.wait(lambda: self.found.state(QWEN) == "running" and self.found.hub.downloads.of(QWEN).left_s)
            self._take("narrow-discover", 600)
            self.found.hub.downloads.cancel(QWEN)
            self.wait(lambda: not self.found.hub.downloads.downloads)
        self.dialog.show_place("machine")
        self._select("hyena")
        self._take("narrow-machine")
        self.dialog.resize(size)

    def large_text(self) -> None:
        from tests.models.shown import QWEN

        for percent in (150, 200, 80):
            self.window.settings._on_changed("app", "text_size", percent)
            for words in ("fox", "hyena"):
                self._select(words)
                self._take(f"text-{percent}-machine-{words}")
            self.dialog.show_place("discover")
            self.found.pick(QWEN)
            self.wait(lambda: self.found.page.detail.card.toPlainText())
            with self._fault("cdn/", trickle_s=0.01, piece=60_000):
                self.found.hub.downloads.start(QWEN)
                self.wait(lambda: self.found.state(QWEN) == "running" and self.found.hub.downloads.of(QWEN).left_s)
                self._take(f"text-{percent}-discover", 700)
                self.found.hub.downloads.cancel(QWEN)
                self.wait(lambda: not self.found.hub.downloads.downloads)
            self.found.page.detail.ensureWidgetVisible(self.found.page.detail.fit)
            self._take(f"text-{percent}-fit")
            bar = self.found.page.detail.verticalScrollBar()
            bar.setValue(bar.maximum())
            self._take(f"text-{percent}-card")
            bar.setValue(0)

    # -- doing ------------------------------------------------------------------------------------------------------

    def _take(self, name: str, rest_ms: int = 350) -> None:
        """Write a picture of the models window with all that lies over it, as on a screen."""
        from PySide6.QtCore import QRect
        from PySide6.QtGui import QPainter, QPixmap
        from PySide6.QtWidgets import QApplication

        self.camera.rest(rest_ms)
        over = [top for top in QApplication.topLevelWidgets() if top.isVisible() and top not in (self.window, self.dialog)]
        pictures = [(top.geometry(), top.grab()) for top in (self.dialog, *over)]
        whole = QRect()
        for place, _ in pictures:
            whole = whole.united(place)
        ratio = pictures[0][1].devicePixelRatio()
        picture = QPixmap(whole.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill("gray")
        painter = QPainter(picture)
        for place, part in pictures:
            painter.drawPixmap(place.topLeft() - whole.topLeft(), part)
        painter.end()
        picture.save(self.camera.path(name))

    @contextlib.contextmanager
    def _fault(self, path: str, **how):
        self.server.fault(path, times=None, **how)
        try:
            yield
        finally:
            self.server.faults.clear()

    def _search(self, words: str, *, wait: bool = True) -> None:
        self.dialog.search.clear()
        self.camera.rest(50)
        if words:
            self.found.type(words)
        if wait:
            self.wait(lambda: (self.found.page.query or "") == words)
            self.camera.rest(700)

    def _select(self, words: str) -> None:
        entries = self.window.models.entries
        entry = next(entry for entry in entries if words in f"{entry.name} {entry.id}".casefold())
        self.dialog.select(entry.id)
        self.wait(lambda: self.dialog.detail.entry is not None and self.dialog.detail.entry.id == entry.id)

    def _menu(self):
        from PySide6.QtWidgets import QMenu

        self.driver.press(self.dialog.detail, "modelMore")
        return next(menu for menu in self.dialog.findChildren(QMenu, "modelMoreMenu") if menu.isVisible())

    def _wish(self, what: str, bits: str = "") -> None:
        self.dialog.detail.wished.emit(what, bits, self.dialog.detail.entry)

    def _over(self, name: str):
        """The dialog of that name that lies over the window."""
        from PySide6.QtWidgets import QDialog

        return next(found for found in self.dialog.findChildren(QDialog, name) if found.isVisible())

    def _quiet(self) -> None:
        while self.dialog._toaster.dismiss_newest():
            self.camera.rest(50)


def _left(menu):
    """How far a submenu at the right edge is moved to stand at the left of its own."""
    from PySide6.QtCore import QPoint

    return QPoint(menu.sizeHint().width(), 0)


if __name__ == "__main__":
    main()

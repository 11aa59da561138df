"""What `window_time.py` and `gui_memory.py` start afresh: one window, and a line of JSON about it. Not a benchmark itself.

`first_paint.py flint|bare paint` ends at the first paint; `… settle SECONDS` lets the window be for a while first.
`flint` runs `app.__main__.main` itself, up to its event loop; `bare` is an empty `QMainWindow` of the same size.
"""

import sys
import time


def main() -> None:
    which, when = sys.argv[1:3]
    settle_s = float(sys.argv[3]) if when == "settle" else 0.0
    from PySide6.QtWidgets import QApplication

    if which == "bare":
        from PySide6.QtWidgets import QMainWindow

        app = QApplication(["bare"])
        window = QMainWindow()
        window.setWindowTitle("Bare")
        window.resize(1280, 820)
        window.show()
        tell(window, app.exec, settle_s)
        return
    import app.__main__ as flint

    run_loop = QApplication.exec
    QApplication.exec = staticmethod(lambda: tell(main_window(), run_loop, settle_s))
    if settle_s:
        leave_models_alone()
    sys.argv = ["flint"]
    sys.exit(flint.main())


def main_window():
    """The app's window: the one that is shown."""
    from PySide6.QtWidgets import QApplication, QMainWindow

    return next(widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMainWindow) and widget.isVisible())


def leave_models_alone() -> None:
    """Let the window look for models, but not load the one it finds: what is measured is before any load."""
    from app.models.controller import ModelController

    ModelController.choose = lambda self, model_id: None


def tell(window, run_loop, settle_s: float) -> int:
    """Run the event loop until the window is painted, plus `settle_s`; print what was measured, and end the process."""
    from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer

    class Watch(QObject):
        """Waits for the first paint of the window, then for the end of that paint: all of it is on the screen then."""

        painted_at = cpu_s = 0.0

        def eventFilter(self, watched, event) -> bool:
            if event.type() == QEvent.Type.Paint and not self.painted_at:
                self.painted_at = -1.0
                QCoreApplication.postEvent(self, QEvent(QEvent.Type.User), Qt.EventPriority.HighEventPriority.value)
            return False

        def event(self, event) -> bool:
            if event.type() == QEvent.Type.User:
                self.painted_at, self.cpu_s = time.monotonic(), time.process_time()
                QTimer.singleShot(int(settle_s * 1000), lambda: leave(self.painted_at, self.cpu_s, window))
            return super().event(event)

    watch = Watch()
    window.installEventFilter(watch)
    return run_loop()


def leave(painted_at: float, cpu_s: float, window) -> None:
    """Print the figures and end the process at once: nothing is to be saved."""
    import json
    import os

    from PySide6.QtGui import QGuiApplication

    from engine.hardware.meters import footprint_bytes

    loaded = {name.partition(".")[0] for name in sys.modules}
    heavy = sorted(loaded & {"mlx", "mlx_lm", "transformers", "huggingface_hub", "numpy", "ziamath", "gguf", "tokenizers"})
    facts = {
        "painted_at": painted_at,
        "cpu_s": cpu_s,
        "footprint": footprint_bytes(),
        "heavy_modules": heavy,
        "modules": len(sys.modules),
        "platform": QGuiApplication.platformName(),
        "size": [window.width(), window.height()],
    }
    print(json.dumps(facts), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()

import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app import macos

SAFE_AREA = Qt.WidgetAttribute.WA_ContentsMarginsRespectsSafeArea


class Recorder:
    """Answers every Cocoa message and notes it."""

    def __init__(self, selectors=()):
        self.calls = []
        self._selectors = selectors

    def styleMask(self):
        return 0b1111

    def respondsToSelector_(self, selector):
        return selector in self._selectors

    def __getattr__(self, name):
        return lambda *arguments: self.calls.append((name, *arguments))


class View:
    def __init__(self, ns_window):
        self._window = ns_window

    def window(self):
        return self._window


class Cocoa:
    def __init__(self, ns_window, has_view=True):
        self.asked = []
        self._ns_window, self._has_view = ns_window, has_view

    def view(self, window_id):
        self.asked.append(window_id)
        return View(self._ns_window) if self._has_view else None

    def toolbar(self, identifier):
        return ("toolbar", identifier)


@pytest.fixture
def window(qtbot):
    window = QWidget()
    window.setAttribute(SAFE_AREA)  # As Qt does on a Mac.
    qtbot.addWidget(window)
    return window


def test_the_content_reaches_under_a_clear_title_bar_without_a_title(window):
    ns_window = Recorder(selectors=("setToolbarStyle:",))
    cocoa = Cocoa(ns_window)
    assert macos.unify_title_bar(window, cocoa)
    assert cocoa.asked == [int(window.winId())]
    assert ns_window.calls == [
        ("setStyleMask_", 0b1111 | 1 << 15),
        ("setTitlebarAppearsTransparent_", True),
        ("setTitleVisibility_", 1),
        ("setToolbar_", ("toolbar", "flint")),
        ("setToolbarStyle_", 3),
        ("setTitlebarSeparatorStyle_", 1),
    ]


def test_qt_is_told_to_lay_out_under_the_title_bar(window):
    macos.unify_title_bar(window, Cocoa(Recorder()))
    assert not window.testAttribute(SAFE_AREA)


def test_a_system_without_unified_toolbars_keeps_its_low_title_bar(window):
    ns_window = Recorder()
    assert macos.unify_title_bar(window, Cocoa(ns_window))
    assert [call[0] for call in ns_window.calls] == ["setStyleMask_", "setTitlebarAppearsTransparent_", "setTitleVisibility_"]


@pytest.mark.parametrize("cocoa", [Cocoa(None), Cocoa(None, has_view=False)])
def test_a_window_that_cocoa_does_not_know_is_left_alone(window, cocoa):
    assert not macos.unify_title_bar(window, cocoa)
    assert window.testAttribute(SAFE_AREA)


def test_elsewhere_nothing_happens(window):
    assert macos.find_cocoa() is None
    assert not macos.unify_title_bar(window)
    assert window.testAttribute(SAFE_AREA)


def test_on_a_mac_without_pyobjc_nothing_happens(window, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(macos.QGuiApplication, "platformName", lambda: "cocoa")
    monkeypatch.setitem(sys.modules, "objc", None)
    assert macos.find_cocoa() is None
    assert not macos.unify_title_bar(window)


def test_on_a_mac_pyobjc_is_asked_as_it_wants_to_be(window, monkeypatch):
    class Objc:
        @staticmethod
        def objc_object(*, c_void_p):
            return ("view", c_void_p)

    class AppKit:
        class NSToolbar:
            @classmethod
            def alloc(cls):
                return cls()

            def initWithIdentifier_(self, identifier):
                return ("toolbar", identifier)

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(macos.QGuiApplication, "platformName", lambda: "cocoa")
    monkeypatch.setitem(sys.modules, "objc", Objc)
    monkeypatch.setitem(sys.modules, "AppKit", AppKit)
    cocoa = macos.find_cocoa()
    assert cocoa.view(7) == ("view", 7)
    assert cocoa.toolbar("flint") == ("toolbar", "flint")


def test_without_a_screen_a_mac_is_left_alone_too(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert macos.find_cocoa() is None


def test_importing_it_does_not_touch_cocoa():
    code = "import sys; sys.modules['objc'] = sys.modules['AppKit'] = None; import app.macos"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0

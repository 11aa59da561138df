"""macOS only: a window whose content reaches up under a transparent title bar. Elsewhere nothing here does anything.

Written against AppKit's documentation and not run on a Mac yet. Needs pyobjc; without it the window keeps its title bar.
"""

import importlib
import sys
from typing import Any, Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

# Values of AppKit's enumerations, from its headers: NSWindow.h.
FULL_SIZE_CONTENT_VIEW = 1 << 15
TITLE_HIDDEN = 1
TOOLBAR_STYLE_UNIFIED = 3
SEPARATOR_NONE = 1

TITLE_BAR_HEIGHT = 52
"""Points that a unified title bar is high: the height of Flint's own top strip. The lights are centred in it, at 26."""


class Cocoa(Protocol):
    """What is needed of Cocoa: the view behind a window id, and an empty toolbar."""

    def view(self, window_id: int) -> Any:
        """Return the `NSView` at an address."""

    def toolbar(self, identifier: str) -> Any:
        """Return a new `NSToolbar` without items."""


class PyObjC:
    """Cocoa through pyobjc, from its two modules `objc` and `AppKit`."""

    def __init__(self, objc: Any, app_kit: Any) -> None:
        self._objc, self._app_kit = objc, app_kit

    def view(self, window_id: int) -> Any:
        """Return the `NSView` at an address: on macOS a Qt window's id is one."""
        return self._objc.objc_object(c_void_p=window_id)

    def toolbar(self, identifier: str) -> Any:
        """Return a new `NSToolbar` without items."""
        return self._app_kit.NSToolbar.alloc().initWithIdentifier_(identifier)


def find_cocoa() -> Cocoa | None:
    """Return Cocoa where this is a Mac, Qt draws with it and pyobjc is installed; None otherwise."""
    if sys.platform != "darwin" or QGuiApplication.platformName() != "cocoa":
        return None
    try:
        return PyObjC(importlib.import_module("objc"), importlib.import_module("AppKit"))
    except ImportError:
        return None


def unify_title_bar(window: QWidget, cocoa: Cocoa | None = None) -> bool:
    """Let a window's content reach its top edge, under a transparent title bar without a title; return whether it does now.

    Call it once, before the window is first shown. `cocoa` is found unless it is given. Where it returns False the system's
    title bar is there, and the top strip needs no room for the lights.
    """
    cocoa = cocoa or find_cocoa()
    if cocoa is None:
        return False
    view = cocoa.view(int(window.winId()))
    ns_window = view.window() if view is not None else None
    if ns_window is None:
        return False
    # Qt would keep everything below the title bar, in what it takes for the safe area.
    window.setAttribute(Qt.WidgetAttribute.WA_ContentsMarginsRespectsSafeArea, False)
    ns_window.setStyleMask_(ns_window.styleMask() | FULL_SIZE_CONTENT_VIEW)
    ns_window.setTitlebarAppearsTransparent_(True)
    ns_window.setTitleVisibility_(TITLE_HIDDEN)
    _heighten(ns_window, cocoa)
    return True


def _heighten(ns_window: Any, cocoa: Cocoa) -> None:
    """Make the title bar 52 points high, which the system does for a unified toolbar (macOS 11 and later)."""
    if not ns_window.respondsToSelector_("setToolbarStyle:"):
        return
    ns_window.setToolbar_(cocoa.toolbar("flint"))
    ns_window.setToolbarStyle_(TOOLBAR_STYLE_UNIFIED)
    ns_window.setTitlebarSeparatorStyle_(SEPARATOR_NONE)

"""Colours, type and icons by role: the one place that knows a literal colour, a font's name or a pixel size of text."""

import functools
import re
import sys
from typing import Literal, get_args

from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

from engine.core.paths import resource

type Mode = Literal["system", "light", "dark"]
type Motion = Literal["system", "reduced", "full"]

# Role: (light, dark). Four numbers are red, green, blue and an opacity from 0 to 1.
_COLORS: dict[str, tuple[str, str]] = {
    "content": ("#FFFFFF", "#1B1A18"),
    "sidebar": ("#F5F4F1", "#141312"),
    "panel": ("#FAF9F7", "#171614"),
    "inset": ("#F5F4F1", "#242220"),
    "raised": ("#FFFFFF", "#24221F"),
    "field": ("#FFFFFF", "#11100F"),
    "scrim": ("28,25,23,.32", "0,0,0,.56"),
    "separator": ("#E6E3DE", "#2D2B28"),
    "border": ("#D5D1CB", "#3D3A36"),
    "border-hi": ("#8C867F", "#857F78"),
    "hover": ("28,25,23,.05", "245,240,232,.05"),
    "selected": ("28,25,23,.08", "245,240,232,.09"),
    "pressed": ("28,25,23,.12", "245,240,232,.14"),
    "track": ("#E6E3DE", "#3A3733"),
    "knob": ("#FFFFFF", "#E8E4DE"),
    "segment": ("#FFFFFF", "#4A4641"),
    "segment-line": ("#D5D1CB", "#4A4641"),
    "ink": ("#1C1917", "#EDEAE5"),
    "ink-2": ("#57524D", "#B3ADA6"),
    "ink-3": ("#68625C", "#98928B"),
    "ink-off": ("#A8A29C", "#5F5A55"),
    "accent": ("#E8590C", "#FF8A3D"),
    "accent-ink": ("#B03C08", "#FF9A57"),
    "accent-fill": ("#C2440A", "#FF8A3D"),
    "accent-fill-hover": ("#AD3B07", "#FFA066"),
    "accent-fill-pressed": ("#943206", "#E5752B"),
    "on-accent": ("#FFFFFF", "#1F1208"),
    "accent-soft": ("#FDEEE5", "#35231A"),
    "accent-line": ("#F3B893", "#7A4623"),
    "critical": ("#B4232F", "#FF7A82"),
    "critical-soft": ("#FBEBEC", "#381F20"),
    "m-weights": ("#E8590C", "#FF8A3D"),
    "m-kv": ("#F28B51", "#C76A2E"),
    "m-cache": ("#F6B48D", "#8F4F27"),
    "m-flint": ("#F9D7C1", "#5E3922"),
    "m-mac": ("#A39C95", "#77716A"),
    "m-free": ("#E6E3DE", "#3A3733"),
    "p1": ("0,0,0,0", "0,0,0,0"),
    "p2": ("#FDEEE5", "#35231A"),
    "p3": ("#FAD3BA", "#573219"),
    "p4": ("#F6B48D", "#804719"),
    "c-key": ("#B03C08", "#FF9A57"),
    "c-fn": ("#1C1917", "#EDEAE5"),
    "c-str": ("#6E5A3A", "#CDB48C"),
    "c-num": ("#8F4A1E", "#E9A877"),
    "c-com": ("#68625C", "#98928B"),
    "shadow": ("28,25,23,.14", "0,0,0,.50"),
}
ROLES = tuple(_COLORS)
_RAISED_CONTRAST = {"border": "border-hi", "ink-3": "ink-2"}

# Style: (pixel size, line height in pixels, weight, fixed pitch).
_STYLES: dict[str, tuple[int, int, int, bool]] = {
    "caption": (11, 16, 400, False),
    "small": (12, 16, 400, False),
    "ui": (13, 20, 400, False),
    "title": (13, 18, 600, False),
    "section": (15, 20, 600, False),
    "read-caption": (11, 16, 400, False),
    "read-small": (12, 16, 400, False),
    "read-ui": (13, 20, 400, False),
    "read": (15, 24, 400, False),
    "read-h1": (20, 28, 600, False),
    "read-h2": (17, 24, 600, False),
    "read-h3": (15, 24, 600, False),
    "read-table": (14, 20, 400, False),
    "detail": (17, 24, 600, False),
    "display": (22, 28, 600, False),
    "code": (13, 20, 400, True),
    "token": (12, 20, 400, True),
}
STYLES = tuple(_STYLES)
# What grows with the text size: what is read and written, and the heading over it. The frame around it keeps its measures.
_READING = frozenset({*(style for style in _STYLES if style.startswith("read")), "code", "token", "detail", "display"})

_NATIVE = sys.platform == "darwin"
_STROKE_WIDTH = re.compile(r'stroke-width="[\d.]+"')


class Theme(QObject):
    """Every colour, font and icon a widget paints with, for the mode in force.

    `changed` says that all of them have to be asked for again. One theme per application, handed to every widget.
    """

    changed = Signal()
    # That a person chose, beside a block of code, whether long lines are broken.
    code_wrap_chosen = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._code_wrap = False
        self._mode: Mode = "system"
        self._dark = False
        self._contrast = False
        self._motion: Motion = "system"
        self._text_size = 100
        self._fonts: dict[tuple[str, int | None], QFont] = {}
        self._pixmaps: dict[tuple[str, str, int, float], QPixmap] = {}
        self._sources: dict[str, str] = {}
        self._bases = _bases()
        # Kept: what `accessibility` returns does not outlive the object it came from.
        self._hints = QGuiApplication.styleHints()
        self._hints.colorSchemeChanged.connect(self._follow_system)
        self._hints.accessibility().contrastPreferenceChanged.connect(self._follow_system)
        self._hints.accessibility().motionPreferenceChanged.connect(self._follow_motion)
        self._follow_motion()
        self._follow_system()

    @property
    def dark(self) -> bool:
        """Whether the dark colours are in force."""
        return self._dark

    @property
    def mode(self) -> Mode:
        """What was asked for: "system" follows the desktop."""
        return self._mode

    @property
    def still(self) -> bool:
        """Whether loops stand still: the system, or the person in front of it, asks for less motion."""
        return self._still

    @property
    def text_size(self) -> int:
        """How large what is read and written is, in percent of the design."""
        return self._text_size

    def set_mode(self, mode: Mode) -> None:
        """Follow the system, or stay light or dark. Raises `ValueError` for another word."""
        if mode not in get_args(Mode.__value__):
            raise ValueError(f"{mode!r} is not an appearance")
        self._mode = mode
        # Menus, dialogs and the window's frame are the system's: they have to be told.
        if mode == "system":
            self._hints.unsetColorScheme()
        else:
            self._hints.setColorScheme(Qt.ColorScheme.Dark if mode == "dark" else Qt.ColorScheme.Light)
        self._follow_system()

    def set_motion(self, motion: Motion) -> None:
        """Move as the system says, less, or fully. Raises `ValueError` for another word."""
        if motion not in get_args(Motion.__value__):
            raise ValueError(f"{motion!r} is no way to move")
        self._motion = motion
        self._follow_motion()

    def set_text_size(self, percent: int) -> None:
        """Set how large what is read and written is, from 50 to 300 percent of the design. Raises `ValueError` beyond."""
        if not 50 <= percent <= 300:
            raise ValueError(f"{percent} percent is no text size")
        if percent != self._text_size:
            self._text_size = percent
            self._fonts.clear()
            self.changed.emit()

    @property
    def code_wrap(self) -> bool:
        """Whether long lines of code are broken rather than scrolled sideways."""
        return self._code_wrap

    def set_code_wrap(self, wrap: bool) -> None:
        """Break long lines of code, or let them be scrolled, wherever nobody chose otherwise."""
        if wrap != self._code_wrap:
            self._code_wrap = wrap
            self.changed.emit()

    def choose_code_wrap(self, wrap: bool) -> None:
        """Do so from now on; what is shown stays as it is."""
        self._code_wrap = wrap
        self.code_wrap_chosen.emit(wrap)

    def color(self, role: str) -> QColor:
        """Return a role's colour; fills over other surfaces are translucent. Raises `KeyError` for an unknown role."""
        if self._contrast:
            role = _RAISED_CONTRAST.get(role, role)
        return _parse(_COLORS[role][self._dark])

    def css(self, role: str) -> str:
        """Return a role's colour as style sheets and rich text read it, as `rgba(28,25,23,13)`."""
        color = self.color(role)
        return f"rgba({color.red()},{color.green()},{color.blue()},{color.alpha()})" if color.alpha() < 255 else color.name()

    def dress(self, widget: QWidget, sheet: str, font: QFont) -> None:
        """Give a widget a style sheet and a font, in this order: a sheet set after a font takes the font away again.

        A sheet that it has is not set anew: for the hundreds that larger text meets, that took longer than a frame.
        """
        if widget.styleSheet() != sheet:
            widget.setStyleSheet(sheet)
        widget.setFont(font)

    def font(self, style: str, weight: int | None = None) -> QFont:
        """Return the font of a text style, figures all of one width; `weight` from 100 to 900 replaces the style's own.

        Raises `KeyError` for an unknown style.
        """
        key = (style, weight)
        if key not in self._fonts:
            size, _, own_weight, fixed = _STYLES[style]
            font = QFont(self._bases[fixed])
            font.setPixelSize(self._sized(style, size))
            font.setWeight(QFont.Weight(weight or own_weight))
            font.setFeature(QFont.Tag("tnum"), 1)
            if fixed:
                font.setStyleHint(QFont.StyleHint.Monospace)
                font.setFeature(QFont.Tag("calt"), 0)
                font.setFeature(QFont.Tag("liga"), 0)
            self._fonts[key] = font
        return QFont(self._fonts[key])

    def line(self, style: str) -> int:
        """Return a text style's line height in pixels. Raises `KeyError` for an unknown style."""
        return self._sized(style, _STYLES[style][1])

    def grown(self, pixels: int) -> int:
        """Return the room for what is read that takes `pixels` at the design's text size."""
        return round(pixels * self._text_size / 100)

    def _sized(self, style: str, pixels: int) -> int:
        return self.grown(pixels) if style in _READING else pixels

    def icon(self, name: str, role: str = "ink-2", size: int = 16) -> QIcon:
        """Return a tinted icon, `size` pixels square, with a disabled form in `ink-off`.

        Raises `FileNotFoundError` for an unknown name and `KeyError` for an unknown role.
        """
        icon = QIcon()
        for ratio in (1.0, 2.0):
            icon.addPixmap(self.pixmap(name, role, size, ratio), QIcon.Mode.Normal)
            icon.addPixmap(self.pixmap(name, "ink-off", size, ratio), QIcon.Mode.Disabled)
        return icon

    def pixmap(self, name: str, role: str = "ink-2", size: int = 16, ratio: float = 1.0) -> QPixmap:
        """Return a tinted icon of `size` logical pixels for a screen with `ratio` device pixels to one.

        Raises as `icon` does.
        """
        color = self.color(role).name(QColor.NameFormat.HexRgb)
        key = (name, color, size, ratio)
        if key not in self._pixmaps:
            self._pixmaps[key] = self._draw(name, color, size, ratio)
        return self._pixmaps[key]

    def stylesheet(self) -> str:
        """Return the application's style sheet: surfaces, plain text, and on Linux menus, tool tips, alerts and scroll bars."""
        css = self.css
        sheet = f"""
QMainWindow, QDialog {{ background: {css("content")}; color: {css("ink")}; }}
QLabel {{ color: {css("ink")}; background: transparent; }}
QAbstractScrollArea {{ background: transparent; border: none; }}
QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser {{
    color: {css("ink")}; background: transparent; border: none;
    selection-color: {css("ink")}; selection-background-color: {css("p3")};
    placeholder-text-color: {css("ink-3")};
}}
"""
        return sheet if _NATIVE else sheet + self._linux_sheet()

    def _linux_sheet(self) -> str:
        css = self.css
        family = f"font-family: '{self._bases[False].family()}';"
        return f"""
QMenu {{ background: {css("raised")}; color: {css("ink")}; border: 1px solid {css("border")}; padding: 4px; }}
QMenu::item {{ padding: 4px 24px 4px 12px; border-radius: 4px; }}
QMenu::item:selected {{ background: {css("selected")}; }}
QMenu::item:disabled {{ color: {css("ink-off")}; }}
QMenu::separator {{ height: 1px; background: {css("separator")}; margin: 4px 8px; }}
QToolTip {{ background: {css("raised")}; color: {css("ink")}; border: 1px solid {css("border")}; padding: 4px 6px; }}
QMessageBox QLabel, QDialogButtonBox QPushButton {{ {family} font-size: {_STYLES["ui"][0]}px; }}
QDialogButtonBox QPushButton {{
    background: {css("raised")}; color: {css("ink")}; border: 1px solid {css("border")}; border-radius: 6px;
    min-height: 26px; min-width: 64px; padding: 0 12px; outline: none;
}}
QDialogButtonBox QPushButton:hover {{ background: {css("hover")}; border-color: {css("border-hi")}; }}
QDialogButtonBox QPushButton:pressed {{ background: {css("pressed")}; }}
QDialogButtonBox QPushButton:disabled {{ background: transparent; color: {css("ink-off")}; border-color: {css("separator")}; }}
QDialogButtonBox QPushButton:focus {{ border: 2px solid {css("accent")}; padding: 0 11px; min-height: 24px; }}
QScrollBar {{ background: transparent; border: none; margin: 0; }}
QScrollBar:vertical {{ width: 8px; }}
QScrollBar:horizontal {{ height: 8px; }}
QScrollBar::handle {{ background: {css("pressed")}; border-radius: 3px; margin: 1px; }}
QScrollBar::handle:vertical {{ min-height: 32px; }}
QScrollBar::handle:horizontal {{ min-width: 32px; }}
QScrollBar::handle:hover {{ background: {css("border-hi")}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
"""

    def _follow_system(self) -> None:
        system_dark = self._hints.colorScheme() == Qt.ColorScheme.Dark
        dark = system_dark if self._mode == "system" else self._mode == "dark"
        contrast = self._hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast
        if (dark, contrast) != (self._dark, self._contrast):
            self._dark, self._contrast = dark, contrast
            self.changed.emit()

    def _follow_motion(self) -> None:
        system = self._hints.accessibility().motionPreference() == Qt.MotionPreference.ReducedMotion
        self._still = system if self._motion == "system" else self._motion == "reduced"

    def _draw(self, name: str, color: str, size: int, ratio: float) -> QPixmap:
        if name not in self._sources:
            self._sources[name] = resource("icons", f"{name}.svg").read_text("utf-8")
        source = self._sources[name].replace("currentColor", color)
        if size < 16:
            # The line keeps its 1.5 px when the icon is drawn smaller than its 16 px box.
            source = _STROKE_WIDTH.sub(f'stroke-width="{1.5 * 16 / size:.3f}"', source)
        renderer = QSvgRenderer(QByteArray(source.encode()))
        pixels = round(size * ratio)
        pixmap = QPixmap(pixels, pixels)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(0, 0, pixels, pixels))
        painter.end()
        pixmap.setDevicePixelRatio(ratio)
        return pixmap


def _parse(text: str) -> QColor:
    return QColor(_parsed(text))  # A copy: whoever asked may change it.


@functools.cache
def _parsed(text: str) -> QColor:
    if text.startswith("#"):
        return QColor(text)
    red, green, blue, opacity = text.split(",")
    return QColor(int(red), int(green), int(blue), round(float(opacity) * 255))


def _bases() -> tuple[QFont, QFont]:
    """Return the fonts of text and of code: the system's on a Mac, elsewhere Inter and JetBrains Mono where installed."""
    text = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    code = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    families = set(QFontDatabase.families())
    if _NATIVE:
        # Qt may name Menlo as the fixed font though San Francisco's own is there.
        return text, QFont("SF Mono") if "SF Mono" in families else code
    inter = next((family for family in ("Inter", "Inter Variable") if family in families), "")
    return QFont(inter) if inter else text, QFont("JetBrains Mono") if "JetBrains Mono" in families else code

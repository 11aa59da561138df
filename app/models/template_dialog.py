"""A chat template of one's own for a model, and live beside it what it makes of a short conversation."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.theme import Theme
from app.widgets.button import Button, PrimaryButton
from app.widgets.debounce import Debounce
from app.widgets.label import Label
from app.widgets.line_field import text_style
from app.widgets.sheet import Sheet
from engine.core.facts import ModelEntry
from engine.core.keep_messages import ModelTemplate

SIZE, LEAST = (920, 620), (640, 440)
_WHY = "A wrong template is the most common cause of bad replies. The model’s own stays the default, and can be had again."


class TemplateDialog(Sheet):
    """`tried` carries a draft whose preview is wanted, `kept` the template to use from now on, "" the model's own.

    It opens without text; `show_outcome` brings the first and each preview.
    """

    tried = Signal(str)
    kept = Signal(str)

    def __init__(self, theme: Theme, entry: ModelEntry, parent: QWidget | None = None) -> None:
        super().__init__(theme, f"Chat template of {entry.name}", _WHY, parent)
        self.setObjectName("modelTemplate")
        self._own: str | None = None
        self.setAccessibleName("Chat template")
        self.setWindowTitle("Chat template")
        self.setMinimumSize(*LEAST)
        self.resize(*SIZE)
        self._draft = self._pane("Chat template", "modelTemplateText")
        self._preview = self._pane("What the model would read", "modelTemplatePreview")
        self._preview.setReadOnly(True)
        self._trouble = Label(theme, "Reading the template…", style="small", role="ink-2", wrap=True, parent=self)
        self._later = Debounce(lambda: self.tried.emit(self.draft), self)
        self._reset, self._save = Button(theme, "The Model’s Own"), PrimaryButton(theme, "Use This Template")
        self._lay_out()
        self.add_button(self._reset, "modelTemplateReset", self._take_own, left=True)
        self.add_button(Button(theme, "Cancel"), "modelTemplateCancel", self.reject)
        self.add_button(self._save, "modelTemplateSave", self._keep)
        self._draft.setEnabled(False)
        self._save.setEnabled(False)
        self._reset.setEnabled(False)
        self._draft.textChanged.connect(self._changed)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def draft(self) -> str:
        """The template as it stands in the field."""
        return self._draft.toPlainText()

    def show_outcome(self, outcome: ModelTemplate) -> None:
        """Show the preview of what was tried, or what is wrong with it; the first also brings the text itself."""
        if self._own is None:
            self._own = outcome.own
            self._draft.setEnabled(True)
            self._draft.setPlainText(outcome.instead or outcome.own)
            self._later.forget()
            self._draft.setFocus(Qt.FocusReason.PopupFocusReason)
        if self._later.waiting:
            return  # It is of a draft that was changed since; the next one is on its way.
        if not outcome.problem:
            self._preview.setPlainText(outcome.preview)
        self._say(outcome.problem or "A short conversation, as the model would read it.", bad=outcome.problem != "")
        self._save.setEnabled(not outcome.problem and self.draft.strip() != "")
        self._reset.setEnabled(self.draft != self._own)

    def show_problem(self, text: str) -> None:
        """Say why there is no preview, or why the template was not kept."""
        self._say(text, bad=True)

    def _changed(self) -> None:
        self._save.setEnabled(False)
        self._reset.setEnabled(self.draft != self._own)
        if self.draft.strip():
            self._later.touch()
        else:
            self._later.forget()
            self._say("An empty template says nothing to the model.", bad=True)

    def _take_own(self) -> None:
        self._draft.setPlainText(self._own or "")
        self._later.flush()

    def _keep(self) -> None:
        self.kept.emit("" if self.draft == self._own else self.draft)

    def _say(self, text: str, *, bad: bool) -> None:
        self._trouble.set_role("critical" if bad else "ink-2")
        self._trouble.setText(text)

    def _pane(self, name: str, object_name: str) -> QPlainTextEdit:
        pane = QPlainTextEdit(self)
        pane.setAccessibleName(name)
        pane.setObjectName(object_name)
        pane.setFrameShape(QFrame.Shape.NoFrame)
        pane.setTabChangesFocus(True)
        return pane

    def _lay_out(self) -> None:
        panes = QHBoxLayout()
        panes.setSpacing(12)
        for pane in (self._draft, self._preview):
            side = QVBoxLayout()
            side.setSpacing(4)
            side.addWidget(Label(self._theme, pane.accessibleName(), style="small", weight=600, parent=self))
            side.addWidget(pane, 1)
            panes.addLayout(side, 1)
        self.body.addLayout(panes, 1)
        self.body.addWidget(self._trouble)

    def _dress(self) -> None:
        css = self._theme.css
        frame = f"border: 1px solid {css('border')}; border-radius: 6px; background: {css('field')};"
        for pane in (self._draft, self._preview):
            # In this order: a style sheet set after a font takes the font away again.
            focus = f"QPlainTextEdit:focus {{ border-color: {css('accent')}; }}"
            pane.setStyleSheet(f"{text_style(self._theme, 'QPlainTextEdit')} QPlainTextEdit {{ {frame} }} {focus}")
            pane.setFont(self._theme.font("code"))

"""What stands beside a setting's label in every state of it: one form for all, and never at the label's cost."""

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit

from engine.core.setting import Scope
from engine.core.settings import SETTINGS

NUMBERS = [setting for setting in SETTINGS if setting.kind in (int, float) and not setting.choices]


def other(setting, last=True):
    """Return a value that is not the default, the longest of numbers unless `last` is false."""
    if setting.choices:
        return next(value for value, _ in setting.choices if value != setting.default)
    if setting in NUMBERS:
        ends = [setting.kind(setting.maximum), setting.kind(setting.minimum)]
        return next(value for value in (ends if last else reversed(ends)) if value != setting.default)
    return "late=2" if setting.form else "text"


def show(panel, scope, inherited, own):
    """Have `inherited` set where `scope` inherits from, `own` at it, and every group open."""
    values = {name: (own if name == scope else {}) for name in ("app", "chat", "model")}
    wider = {"chat": "model", "model": "app"}.get(scope)
    if wider:
        values[wider] = inherited
    panel.show_values(values["app"], values["chat"], values["model"])
    panel.set_scope(scope)
    for group in panel._groups.values():
        if group.more:
            group.more.setChecked(True)
    for _ in range(5):
        QApplication.processEvents()


def listed(panel, scope):
    return [panel.field(setting.name) for setting in SETTINGS if scope == "app" or setting.scope is Scope.CHAT]


def cut(field):
    """Return the texts of the heading that have less room than they need."""
    labels = [label for label in field.findChildren(QLabel) if label.isVisible() and not label.wordWrap()]
    return [label.text() for label in labels if label.width() < label.sizeHint().width()]


@pytest.mark.parametrize("scope", ["chat", "model", "app"])
@pytest.mark.parametrize("inherits", [False, True])
def test_no_label_is_cut_in_any_state(panel, scope, inherits):
    inherited = {setting.name: other(setting) for setting in SETTINGS} if inherits else {}
    for own in ({}, {setting.name: other(setting, last=not inherits) for setting in SETTINGS}):
        show(panel, scope, inherited, own)
        for field in listed(panel, scope):
            assert cut(field) == [], (field.setting.name, field.note)
    for field in listed(panel, scope):
        if field.setting in NUMBERS:
            field._take("much", field.changed)
    QApplication.processEvents()
    for field in listed(panel, scope):
        assert cut(field) == [], (field.setting.name, field.note)


@pytest.mark.parametrize("last", [True, False])
def test_no_number_is_cut_in_its_field(panel, last):
    show(panel, "app", {}, {setting.name: other(setting, last) for setting in SETTINGS})
    for setting in NUMBERS:
        field = panel.findChild(QLineEdit, f"setting.{setting.name}")
        assert field.fontMetrics().horizontalAdvance(field.text()) <= field.width() - 14, (setting.name, field.text())


@pytest.mark.parametrize(("scope", "source"), [("chat", "app default"), ("model", "app default"), ("app", "default")])
def test_every_changed_setting_names_what_it_would_be_but_for_texts(panel, scope, source):
    show(panel, scope, {}, {setting.name: other(setting) for setting in SETTINGS})
    for field in listed(panel, scope):
        note, named = field.note, field.setting.kind is not str or field.setting.choices
        assert note.startswith(source), (field.setting.name, note)
        assert (note != source) == bool(named), (field.setting.name, note)
    empty = {setting.name: panel.field(setting.name).note for setting in SETTINGS if setting.optional}
    auto = f"{source} auto"
    assert empty == {"context": auto, "prefill_chunk": auto, "seed": f"{source} random", "dry_window": auto}

"""The models window under every fault of the table: the words in the download's row, what is kept, and what going on costs."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.models.badge import Badge
from app.models.hub_words import failed_badge
from engine.core.errors import ErrorInfo
from tests.app.hub_window import hub_on_loopback, hub_window
from tests.hub.fault_table import CASES, SIZE, stage


class Rows:
    """Notes every word that a download's row showed."""

    def __init__(self, found):
        self.found = found
        self.words = {}
        found.hub.downloads.changed.connect(self.look)

    def look(self):
        for download in self.found.hub.downloads.downloads:
            self.words.setdefault(download.model_id, []).append(self.state_of(download.model_id))

    def state_of(self, model_id):
        return self.found.row(model_id).findChild(QLabel, "downloadState").words


@pytest.mark.drives("downloadMain", "downloadCancel")
def test_each_fault_is_told_in_the_row_and_trying_again_fetches_only_the_rest(qtbot, monkeypatch, fox):
    with hub_on_loopback(monkeypatch, fox) as server, hub_window(qtbot) as found:
        rows = Rows(found)
        for case in CASES:
            with stage(server, monkeypatch, case) as on:
                try:
                    fetch(found, rows, on, case)
                except BaseException as error:
                    error.add_note(f"under the fault “{case.name}”")
                    raise


def fetch(found, rows, on, case):
    case.arrange(on)
    missing = SIZE
    found.hub.downloads.start(on.name)
    if case.waits:
        found.wait(lambda: any(words.startswith(case.waits) for words in rows.words.get(on.name, ())))
        assert any("Tries again" in words for words in rows.words[on.name])
        if case.terminal_ends:
            case.mend(on)
    elif case.code:
        found.wait(lambda: found.state(on.name) == "failed")
        check_failure(found, on, case)
        missing = SIZE if case.fresh else SIZE - on.kept
        on.count_anew()
        case.mend(on)
        found.press(on.name, "downloadMain")
    found.wait(lambda: found.state(on.name) == "done")
    on.check_whole()
    assert on.sent == missing + case.again
    row = found.row(on.name)
    QTest.mouseClick(row._cancel, Qt.MouseButton.LeftButton)
    found.wait(lambda: found.hub.downloads.of(on.name) is None)
    on.check_whole()


def check_failure(found, on, case):
    row = found.row(on.name)
    words = row.findChild(QLabel, "downloadState").words
    badge = failed_badge(ErrorInfo(case.code, "", "", 0, 0))[0]
    assert row.findChild(Badge).accessibleName() == badge
    assert case.hint in words
    assert badge != "Stopped" or case.says.format(name=on.name) in words
    assert row._page.isVisible() == case.link
    assert row._token.isVisible() == case.token
    on.check_nothing_half()
    assert on.kept == case.kept if case.kept is not None else 0 < on.kept < SIZE

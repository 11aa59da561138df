import dataclasses
import json

import pytest
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel

from app.models.detail import ModelDetail
from app.models.path_text import PathText
from tests.app.models.entries import BROKEN, FILE, SMALL

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 30,
    "hidden_size": 576,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "max_position_embeddings": 8192,
    "vocab_size": 49152,
    "quantization": {"bits": 4, "group_size": 32},
}


@pytest.fixture
def detail(qtbot, theme):
    detail = ModelDetail(theme)
    detail.resize(620, 560)
    qtbot.addWidget(detail)
    detail.show()
    qtbot.waitExposed(detail)
    return detail


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return folder


class Opener(QObject):
    """Stands in for the desktop's file manager."""

    def __init__(self):
        super().__init__()
        self.opened = []

    @Slot(QUrl)
    def open(self, url):
        self.opened.append(url.toLocalFile())


@pytest.fixture
def opener():
    opener = Opener()
    QDesktopServices.setUrlHandler("file", opener, "open")
    yield opener
    QDesktopServices.unsetUrlHandler("file")


def test_nothing_chosen_shows_nothing(detail):
    detail.show_entry(None, current=False)
    assert not detail.chat.isVisible()
    assert detail.entry is None


def test_the_facts_of_a_model_come_from_its_entry_and_its_config(detail, folder):
    detail.show_entry(dataclasses.replace(SMALL, path=str(folder)), current=False)
    assert detail.table.facts() == {
        "Architecture": "llama",
        "Quantization": "4-bit, groups of 32",
        "Trained to": "8,192 tokens",
        "Layers": "30",
        "Heads": "9 query, 3 KV",
        "KV a token": "23,040 B",  # 30 layers · 2 · 3 heads · 64 · 2 B
        "Size on disk": "144 MB",
        "From": "Came with Flint",
    }


def test_a_model_whose_config_cannot_be_read_shows_what_is_known(detail):
    detail.show_entry(SMALL, current=False)
    assert detail.table.facts()["Trained to"] == "8,192 tokens"
    assert "Layers" not in detail.table.facts()


def test_the_path_can_be_selected_and_is_never_cut(detail):
    path = "/a/very/long/folder" * 30
    detail.show_entry(dataclasses.replace(SMALL, path=path), current=False)
    text = detail.findChild(PathText)
    text.selectAll()
    assert text.textCursor().selectedText() == path
    assert text.isReadOnly()
    assert text.height() >= 3 * text.fontMetrics().lineSpacing()
    assert text.verticalScrollBar().maximum() == 0


def test_chatting_asks_for_the_model_on_show(qtbot, detail):
    detail.show_entry(SMALL, current=False)
    with qtbot.waitSignal(detail.chat_requested) as asked:
        qtbot.mouseClick(detail.chat, Qt.MouseButton.LeftButton)
    assert asked.args == ["small"]


def test_a_problem_is_told_with_what_to_do_and_stops_chatting(detail):
    detail.show_entry(BROKEN, current=False)
    assert detail.problem.text == "model.safetensors is missing."
    assert detail.problem.accessibleDescription().startswith("Download it again")
    assert not detail.chat.isEnabled()
    detail.show_entry(SMALL, current=False)
    assert detail.problem.text == ""
    assert detail.chat.isEnabled()


@pytest.mark.drives("showFolder")
def test_the_folder_is_opened_by_the_desktop(qtbot, detail, opener, folder):
    link = detail.findChild(QObject, "showFolder")
    detail.show_entry(dataclasses.replace(SMALL, path=str(folder)), current=False)
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    detail.show_entry(dataclasses.replace(FILE, path=str(folder / "a b.gguf")), current=False)
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert opener.opened == [str(folder), str(folder)]


def test_a_narrow_panel_puts_the_facts_in_one_column(detail, folder):
    detail.show_entry(dataclasses.replace(SMALL, path=str(folder)), current=False)
    wide = detail.table.height()
    detail.resize(420, 560)
    detail.grab()
    assert detail.table.height() > wide
    assert detail.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("theme", ["light", "dark"], indirect=True)
def test_the_panel_is_painted_in_its_own_colour(detail, theme):
    image = detail.grab().toImage()
    assert image.pixelColor(image.width() // 2, image.height() - 8).name() == theme.color("panel").name()


def test_a_fact_and_its_name_stand_on_one_line(detail):
    detail.show_entry(SMALL, current=False)
    for name, value in detail.table._cells:
        assert name.alignment() == value.alignment()
        assert name.mapTo(detail, name.contentsRect().topLeft()).y() == value.mapTo(detail, value.contentsRect().topLeft()).y()


def test_a_long_name_is_not_broken_inside_a_word(detail):
    detail.show_entry(dataclasses.replace(SMALL, name="Qwen3 235B-A22B Instruct 2507 4-bit"), current=False)
    shown = detail.findChild(QLabel, "modelName").text()
    assert "-" not in shown
    assert shown.replace("\N{NON-BREAKING HYPHEN}", "-") == "Qwen3 235B-A22B Instruct 2507 4-bit"


def test_a_download_under_way_is_no_failure(detail):
    entry = dataclasses.replace(SMALL, problem="Downloading, 44%", download="running")
    detail.show_entry(entry, current=False)
    assert not detail.problem.isVisibleTo(detail)
    assert not detail.chat.isEnabled()
    note = next(label for label in detail.findChildren(QLabel) if label.text().startswith("Downloading, 44%. It can be used"))
    assert note.isVisibleTo(detail)
    detail.show_entry(dataclasses.replace(entry, download=""), current=False)
    assert detail.problem.text == "Downloading, 44%"
    assert not note.isVisibleTo(detail)


def test_a_list_that_was_read_again_leaves_what_is_read_where_it_is(detail, qtbot):
    detail.resize(300, 160)
    detail.show_entry(SMALL, current=False)
    bar = detail.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 20)
    bar.setValue(20)
    detail.show_entry(dataclasses.replace(SMALL, notes="Quick."), current=True)
    assert bar.value() == 20
    detail.show_entry(BROKEN, current=False)
    assert bar.value() == 0

"""The empty chat in its four states."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QProgressBar, QScrollArea, QWidget

from app.chat.mark import Mark
from app.chat.welcome import Welcome
from app.chat.words import Words
from engine.core.machine import THIS_MACHINE

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def welcome(theme, qtbot):
    welcome = Welcome(theme)
    welcome.resize(1020, 676)
    qtbot.addWidget(welcome)
    welcome.show()
    qtbot.waitExposed(welcome)
    return welcome


def said(welcome):
    return [words.words for words in welcome.findChildren(Words) if words.isVisible()]


def button(welcome, name):
    return welcome.findChild(QAbstractButton, name)


def place(welcome, widget):
    return widget.mapTo(welcome.widget(), QPoint(0, 0))


def visible(welcome, name):
    return welcome.findChild(QWidget, name).isVisible()


def test_the_first_launch_shows_the_import_and_things_to_try(welcome):
    welcome.set_room(39_200_000_000)
    welcome.show_progress("SmolLM2 135M (starter)", 0.71, "Converting for MLX, 102 of 144 MB", first=True)
    assert welcome.state == "progress"
    words = said(welcome)
    assert words[0] == "Getting the first model ready"
    assert f"{THIS_MACHINE} has room for about 39 GB." in words[1]
    assert {"SmolLM2 135M (starter)", "71%", "Converting for MLX, 102 of 144 MB", "Try with the starter"} <= set(words)
    assert welcome.findChild(QProgressBar, "welcomeProgress").value() == 71
    assert visible(welcome, "promptCard.1")
    assert visible(welcome, "promptCard.3")


def test_an_unknown_room_is_not_spoken_of(welcome):
    welcome.show_progress("A model", 0.1, "", first=True)
    assert "room" not in said(welcome)[1]


@pytest.mark.parametrize(("fraction", "percent"), [(-1.0, 0), (0.0, 0), (0.004, 0), (0.5, 50), (1.0, 100), (3.0, 100)])
def test_progress_stays_between_nothing_and_all(welcome, fraction, percent):
    welcome.show_progress("A model", fraction, "Loading")
    assert welcome.findChild(QProgressBar, "welcomeProgress").value() == percent
    assert f"{percent}%" in said(welcome)


def test_the_bar_is_painted_as_far_as_it_is(welcome, theme):
    welcome.show_progress("A model", 0.5, "Loading")
    QApplication.processEvents()
    image = welcome.findChild(QProgressBar, "welcomeProgress").grab().toImage()
    assert image.pixelColor(image.width() // 4, 2) == theme.color("accent")
    assert image.pixelColor(image.width() * 3 // 4, 2) == theme.color("track")


def test_a_later_load_does_not_call_itself_the_first(welcome):
    welcome.show_progress("Qwen3 8B", 0.2, "Reading the weights")
    assert welcome.title == "Getting the model ready"
    assert "Try with the starter" not in said(welcome)


def test_ready_asks_and_offers_prompts_without_a_card(welcome):
    welcome.show_ready("Qwen3 8B")
    assert said(welcome)[:2] == ["What would you like to know?", f"Qwen3 8B answers, on {THIS_MACHINE} alone."]
    assert visible(welcome, "promptCard.1")
    assert not any(visible(welcome, name) for name in ("welcomeCard", "noModelCard", "failureCard"))


@pytest.mark.drives("lookAgainButton", "noModelCard")
def test_no_model_says_where_they_are_looked_for_and_how_to_bring_one(welcome, qtbot):
    welcome.show_no_model(["Flint’s own folder: /home/me/models", "The Hugging Face cache: /home/me/hub"])
    assert "Flint’s own folder: /home/me/models\nThe Hugging Face cache: /home/me/hub" in said(welcome)
    assert not visible(welcome, "promptCard.1")
    for name, signal in (("importButton", welcome.import_requested), ("lookAgainButton", welcome.refresh_requested)):
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(button(welcome, name), LEFT)


@pytest.mark.drives("chooseModelButton", "failureCard", "retryButton")
def test_a_failure_says_why_and_what_to_do(welcome, qtbot):
    welcome.show_failure("The weights end too early.", "Import the model again.")
    assert {"The weights end too early.", "Import the model again."} <= set(said(welcome))
    assert not visible(welcome, "promptCard.1")
    for name, signal in (("retryButton", welcome.retry_requested), ("chooseModelButton", welcome.models_requested)):
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(button(welcome, name), LEFT)


def test_markup_in_an_error_is_shown_as_it_is(welcome):
    welcome.show_failure("<img src='http://example.com/x.png'> & <b>", "")
    label = next(words for words in welcome.findChildren(Words) if words.words.startswith("<img"))
    assert "&lt;img" in label.text()
    assert "<img" not in label.text()


@pytest.mark.drives("otherModelsLink", "welcomeCard")
def test_other_models_are_one_click_away_while_one_loads(welcome, qtbot):
    welcome.show_progress("A model", 0.2, "")
    with qtbot.waitSignal(welcome.models_requested):
        qtbot.mouseClick(button(welcome, "otherModelsLink"), LEFT)


@pytest.mark.drives("promptCard.*", "welcome")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_prompt_card_offers_its_message_by_mouse_and_keyboard(welcome, qtbot, number):
    chosen = []
    welcome.prompt_chosen.connect(chosen.append)
    card = button(welcome, f"promptCard.{number}")
    qtbot.mouseClick(card, LEFT)
    card.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(card, Qt.Key.Key_Space)
    assert len(chosen) == 2
    assert chosen[0] == chosen[1]
    assert len(chosen[0].split()) > 5
    assert card.accessibleDescription()


def test_each_state_replaces_the_one_before(welcome):
    welcome.show_failure("Broken", "Mend it")
    welcome.show_progress("A model", 0.2, "Loading")
    assert visible(welcome, "welcomeCard")
    assert not visible(welcome, "failureCard")
    welcome.show_no_model()
    assert visible(welcome, "noModelCard")
    assert not visible(welcome, "welcomeCard")


def test_the_column_is_560_wide_centred_and_84_from_the_top(welcome):
    mark = welcome.findChild(Mark)
    assert place(welcome, mark) == QPoint((1020 - 560) // 2, 84)
    card = button(welcome, "promptCard.1")
    assert (card.width(), card.height()) == (560, 52)


def test_nothing_is_squeezed_or_overlaps_in_a_small_window_which_scrolls(welcome):
    welcome.resize(430, 300)
    welcome.show_progress("A model with a rather long name of many words", 0.5, "Converting for MLX, 102 of 144 MB", first=True)
    QApplication.processEvents()
    assert welcome.verticalScrollBar().maximum() > 0
    assert welcome.horizontalScrollBar().maximum() == 0
    parts = [*welcome.findChildren(Words), *(button(welcome, f"promptCard.{number}") for number in (1, 2, 3))]
    shown = [part for part in parts if part.isVisible()]
    boxes = [part.rect().translated(place(welcome, part)) for part in shown]
    for index, box in enumerate(boxes):
        assert shown[index].height() >= shown[index].heightForWidth(shown[index].width())
        assert not any(box.intersects(other) for other in boxes[index + 1 :])


def test_the_mark_wears_the_inks_of_the_mode(welcome, theme):
    mark = welcome.findChild(Mark)
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        image = mark.grab().toImage()
        colors = {image.pixelColor(x, y).name() for x in range(48) for y in range(48)}
        assert {theme.color(role).name() for role in ("ink", "ink-2", "ink-3", "accent")} <= colors


def test_the_last_line_says_that_nothing_leaves_the_machine(welcome):
    assert said(welcome)[-1] == f"Models run on {THIS_MACHINE} and your chats stay on it: nothing you write leaves it."
    assert isinstance(welcome, QScrollArea)


@pytest.mark.parametrize("percent", [50, 100, 150, 200, 300])
def test_at_any_text_size_the_heading_leads_and_no_line_is_cut(theme, qtbot, welcome, percent):
    welcome.resize(640, 380)
    welcome.show_ready("A model")
    theme.set_text_size(percent)
    QApplication.processEvents()
    title, subtitle = (words for words in welcome.findChildren(Words) if words.isVisible() and words.wordWrap())
    assert title.font().pixelSize() > subtitle.font().pixelSize()
    for words, style in ((title, "display"), (subtitle, "read")):
        assert f"line-height:{theme.line(style)}px" in words.text()
        assert words.height() >= words.heightForWidth(words.width())
    qtbot.waitUntil(lambda: place(welcome, subtitle).y() >= place(welcome, title).y() + title.height())
    last = button(welcome, "promptCard.3")
    welcome.ensureWidgetVisible(last)
    assert not last.visibleRegion().isEmpty()


def heights(welcome):
    welcome.show_ready("")
    QApplication.processEvents()
    return [words.height() for words in welcome.findChildren(Words) if words.isVisible()]


def test_texts_are_as_high_as_before_once_a_narrow_window_is_wide_again(welcome):
    before = heights(welcome)
    welcome.resize(240, 300)
    assert heights(welcome)[0] > before[0]
    welcome.resize(1020, 676)
    assert heights(welcome) == before


def test_texts_are_as_high_as_before_once_large_text_is_small_again(theme, welcome):
    before = heights(welcome)
    theme.set_text_size(200)
    assert heights(welcome)[0] > before[0]
    theme.set_text_size(100)
    assert heights(welcome) == before


def test_a_short_text_after_a_long_one_takes_no_more_room_than_it_needs(theme, qtbot):
    words = Words(theme, "ui", "ink", wrap=True)
    qtbot.addWidget(words)
    words.resize(200, 20)
    words.show()
    words.say("short")
    before = words.height()
    words.say("a good many words " * 20)
    assert words.height() > before
    words.say("short")
    assert words.height() == before

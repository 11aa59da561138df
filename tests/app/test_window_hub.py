"""Find a model, see whether it fits, fetch it and chat with it: in the real window, against a hub on loopback."""

import dataclasses
import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMessageBox

from engine.core.disk import RESERVE
from engine.core.hub_facts import Download
from engine.core.machine import THIS_MACHINE
from engine.core.messages import Finished
from engine.core.paths import locate
from engine.models import transfer
from tests.app.hub_window import FOX_ID, GATED_ID, LARGE_ID, MACHINE, QWEN, SLOW_ID, hub_on_loopback, hub_window
from tests.app.window_driver import open_window
from tests.hub.repositories import MadeUp, Repository
from tests.models.speaking import FOX


@pytest.fixture
def server(monkeypatch, fox):
    with hub_on_loopback(monkeypatch, fox) as server:
        monkeypatch.setattr(transfer, "CHUNK", 100_000)
        yield server


def slow(server):
    """Have no model come whole until the fault is taken away."""
    server.fault("cdn/", crawl_from=1_000_000, times=None)


@pytest.mark.drives("modelSearch", "hubResults", "downloadModel", "toastAction", "composer")
def test_by_mouse_a_model_is_found_read_about_judged_fetched_and_chatted_with(found):
    found.search("fox", 1)
    found.pick(FOX_ID)
    found.wait(lambda: "one sentence" in found.page.detail.card.toPlainText())
    found.wait(lambda: found.text("fitNeeds").startswith("Needs "))
    assert found.shows("fitCard")
    assert found.rows()[0].badge[0] == "Fits"
    found.click("downloadModel")
    found.wait(lambda: found.state(FOX_ID) == "done")
    found.wait(lambda: found.driver.toasts())
    assert found.driver.toasts()[0][0].endswith("is ready to use.")
    found.wait(lambda: found.rows()[0].here)
    found.dialog.close()
    found.click("toastAction")
    found.driver.wait_ready()
    assert found.driver.window.models.model_id == FOX_ID
    assert found.driver.ask("Hello").text == FOX


@pytest.mark.drives("modelSearch", "hubResults", "downloadModel", "composer")
def test_by_keyboard_the_same(found):
    found.search("fox", 1)
    QTest.keyClick(found.dialog.search, Qt.Key.Key_Return)
    found.wait(lambda: found.page.detail.detail)
    while not found.page.results.hasFocus():
        QTest.keyClick(found.dialog.focusWidget(), Qt.Key.Key_Tab)
    QTest.keyClick(found.page.results, Qt.Key.Key_Return)
    fetch = found.page.detail.fetch
    while not fetch.hasFocus():
        QTest.keyClick(found.dialog.focusWidget(), Qt.Key.Key_Tab)
    QTest.keyClick(fetch, Qt.Key.Key_Space)
    found.wait(lambda: found.page.detail.fetch.text() == "Use it" and found.rows()[0].here)
    QTest.keyClick(fetch, Qt.Key.Key_Space)
    assert not found.dialog.isVisible()
    found.driver.wait_ready()
    assert found.driver.ask("Hello").text == FOX


@pytest.mark.drives("segment.machine", "segment.discover")
def test_nothing_is_asked_of_the_network_until_somebody_asks(found, server):
    found.wait(lambda: all(row.assessment for row in found.rows()))
    assert len(found.rows()) >= 6
    assert found.text("searchTitle") == f"Recommended for {THIS_MACHINE}"
    found.click("segment.machine")
    found.click("segment.discover")
    QTest.qWait(600)
    assert server.asked == []


@pytest.mark.drives("fitContext", "fitContextField", "fitArithmetic")
def test_the_context_slider_moves_the_verdict(found):
    found.search("gated", 1)
    found.click_row(GATED_ID)
    found.wait(lambda: found.text("fitNeeds").startswith("Needs "))
    card = found.page.detail.fit
    before = found.text("fitNeeds")
    QTest.keyClick(card.slider, Qt.Key.Key_Home)
    found.wait(lambda: found.text("fitNeeds") != before)
    assert card.context == 256
    QTest.mouseClick(card.slider, Qt.MouseButton.LeftButton, pos=card.slider.rect().center())
    assert 256 < card.context < 40_960
    card.field.selectAll()
    QTest.keyClicks(card.field, "99,999,999")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    assert card.field.refused
    card.field.selectAll()
    QTest.keyClicks(card.field, "40,960")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    found.wait(lambda: card.context == 40_960)
    found.click("fitArithmetic")
    assert "KV cache" in card._popover.text
    assert "36 layers × 2 × 8 heads × 128 × 2 B" in found.driver.part("fitSum").words


@pytest.mark.drives("fitContextField")
def test_what_is_no_context_is_refused_with_the_reason_and_gives_way_to_what_is_shown(found):
    found.search("gated", 1)
    found.click_row(GATED_ID)
    found.wait(lambda: found.text("fitNeeds").startswith("Needs "))
    card = found.page.detail.fit

    def write(text):
        card.field.setFocus()
        card.field.selectAll()
        QTest.keyClicks(card.field, text)

    for text in ("abc", "0", "-5", "99999999", "12.5", "3x2", ""):
        write("32k")
        QTest.keyClick(card.field, Qt.Key.Key_Return)
        assert card.context == 32_768
        assert not found.shows("fitRefusal")
        write(text or " ")
        QTest.keyClick(card.field, Qt.Key.Key_Return)
        assert card.field.refused
        assert found.shows("fitRefusal")
        card.slider.setFocus()
        assert (card.context, card.field.text(), card.field.refused) == (32_768, "32,768", False), text
        assert found.text("fitRefusal").startswith("Context ")


@pytest.mark.drives("downloadMain", "downloadCancel")
def test_a_download_pauses_goes_on_and_is_cancelled_by_its_row(found, server):
    slow(server)
    found.search("slow", 1)
    found.pick(SLOW_ID)
    found.click("downloadModel")
    found.wait(lambda: found.state(SLOW_ID) == "running" and found.hub.downloads.of(SLOW_ID).done_bytes)
    assert found.rows()[0].badge[0] == "Downloading"
    found.press(SLOW_ID, "downloadMain")
    found.wait(lambda: found.state(SLOW_ID) == "paused")
    assert found.row(SLOW_ID).findChild(QLabel, "downloadState").words.startswith("Paused at")
    assert found.page.detail.fetch.text() == "Resume"
    found.press(SLOW_ID, "downloadMain")
    found.wait(lambda: found.state(SLOW_ID) == "running")
    found.press(SLOW_ID, "downloadCancel")
    found.wait(lambda: found.hub.downloads.of(SLOW_ID) is None)
    assert not found.shows("downloadList")


@pytest.mark.drives("downloadMain", "downloadCancel")
def test_a_row_is_worked_by_keyboard(found, server):
    slow(server)
    found.search("slow", 1)
    found.pick(SLOW_ID)
    found.click("downloadModel")
    found.wait(lambda: found.state(SLOW_ID) == "running")
    row = found.row(SLOW_ID)
    QTest.keyClick(row._main, Qt.Key.Key_Space)
    found.wait(lambda: found.state(SLOW_ID) == "paused")
    assert row._main.accessibleName().startswith("Go on")
    QTest.keyClick(row._cancel, Qt.Key.Key_Space)
    found.wait(lambda: found.hub.downloads.of(SLOW_ID) is None)


@pytest.mark.drives("discoverFirst")
def test_where_there_is_no_model_discover_is_a_click_away(found):
    found.click("segment.machine")
    found.wait(lambda: found.driver.window.models.state.state == "none")
    found.click("discoverFirst")
    assert found.dialog.discovering
    assert found.page.isVisible()


@pytest.mark.drives("pauseModel", "downloadModel")
def test_the_buttons_beside_the_name_pause_and_go_on(found, server):
    slow(server)
    found.search("slow", 1)
    found.pick(SLOW_ID)
    found.click("downloadModel")
    found.wait(lambda: found.state(SLOW_ID) == "running")
    found.click("pauseModel")
    found.wait(lambda: found.state(SLOW_ID) == "paused")
    server.faults.clear()
    found.click("downloadModel")
    found.wait(lambda: found.state(SLOW_ID) == "done")


@pytest.mark.drives("downloadModel", "pauseModel")
def test_the_keyboard_stays_on_the_button_that_takes_the_others_place(found, server):
    slow(server)
    found.search("slow", 1)
    found.pick(SLOW_ID)
    found.dialog.activateWindow()
    detail = found.page.detail
    detail.fetch.setFocus()
    for button, state in ((detail.fetch, "running"), (detail.pause, "paused"), (detail.fetch, "running")):
        found.wait(button.hasFocus)
        QTest.keyClick(button, Qt.Key.Key_Space)
        found.wait(lambda state=state: found.state(SLOW_ID) == state)
    found.wait(detail.pause.hasFocus)


@pytest.mark.drives("hubResults")
def test_what_flint_can_not_run_is_not_offered_and_the_reason_stands_beside(found, server):
    weights, config, tokenizer = ("model.safetensors", MadeUp(2000)), ("config.json", QWEN), ("tokenizer.json", "{}")
    parts = {
        "no weights that Flint runs": (("pytorch_model.bin", "pickled"), config, tokenizer),
        "no config.json": (weights, tokenizer),
        "no tokenizer": (weights, config),
    }
    for number, files in enumerate(parts.values()):
        repository = server.add(Repository(f"org/Lacks-{number}", tags=["mlx"]))
        for file in files:
            repository.add(*file)
    found.type("lacks")
    found.wait(lambda: len(found.rows()) == len(parts))
    for number, reason in enumerate(parts):
        found.pick(f"org/Lacks-{number}")
        assert not found.page.detail.fetch.isEnabled()
        assert found.text("fetchNotice").startswith(f"It can’t be used here: the repository has {reason}")
    found.dialog.search.clear()
    found.search("fox", 1)
    found.pick(FOX_ID)
    assert found.page.detail.fetch.isEnabled()


@pytest.mark.drives("downloadUse")
def test_a_finished_row_uses_the_model(found):
    found.search("fox", 1)
    found.pick(FOX_ID)
    found.click("downloadModel")
    found.wait(lambda: found.state(FOX_ID) == "done" and found.driver.window.models.entry(FOX_ID))
    found.press(FOX_ID, "downloadUse")
    assert not found.dialog.isVisible()
    found.driver.wait_ready()
    assert found.driver.window.models.model_id == FOX_ID


@pytest.mark.drives("toastAction")
def test_a_download_goes_on_at_the_next_start_and_says_so_with_the_dialog_closed(qtbot, server):
    slow(server)
    with hub_window(qtbot) as found:
        found.search("slow", 1)
        found.pick(SLOW_ID)
        found.click("downloadModel")
        found.wait(lambda: found.state(SLOW_ID) == "running" and found.hub.downloads.of(SLOW_ID).done_bytes)
    with open_window(qtbot) as driver:
        driver.wait(driver.toasts)
        toast = driver.part("toast")
        driver.press(toast, "toastAction")
        assert toast.text == f"The download of {driver.window.place.hub.downloads.of(SLOW_ID).name} goes on."
        assert toast.hint.endswith("of 3 MB are here.")
        assert driver.window.place.dialog.isVisible()
        assert driver.part(f"download.{SLOW_ID}").isVisible()


def said(driver, end):
    """Wait for a message, which goes by itself; return the hint of it."""
    driver.wait(lambda: any(text.endswith(end) for text, _ in driver.toasts()))
    return next(hint for text, hint in driver.toasts() if text.endswith(end))


def left_by_an_earlier_run(**states):
    """Keep a queue as a Flint that was killed leaves it."""
    names = {"slow": SLOW_ID, "large": LARGE_ID, "gated": GATED_ID}
    rows = [Download(names[key], key.capitalize(), state, 0, 3_000_000) for key, state in states.items()]
    file = locate().data / "downloads.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([dataclasses.asdict(row) for row in rows]))


@pytest.mark.parametrize("state", ["queued", "running", "waiting", "verifying"])
def test_whatever_a_crash_found_under_way_goes_on(qtbot, server, state):
    slow(server)
    left_by_an_earlier_run(large="paused", slow=state)
    with open_window(qtbot) as driver:
        assert said(driver, "The download of Slow goes on.") == ""
        server.faults.clear()
        driver.wait(lambda: driver.window.place.hub.downloads.of(SLOW_ID).state == "done")
        assert driver.window.place.hub.downloads.of(LARGE_ID).state == "paused"


def test_several_that_go_on_are_told_together(qtbot, server):
    slow(server)
    left_by_an_earlier_run(slow="running", large="queued")
    with open_window(qtbot) as driver:
        assert said(driver, "2 downloads go on.") == "Slow, Large."


def test_what_is_paused_or_over_stays_so_and_asks_nothing_of_the_hub(qtbot, server):
    left_by_an_earlier_run(slow="paused", gated="failed", large="done")
    with open_window(qtbot) as driver:
        driver.wait(lambda: len(driver.window.place.hub.downloads.downloads) == 3)
        assert [one.state for one in driver.window.place.hub.downloads.downloads] == ["paused", "failed", "done"]
        assert (driver.toasts(), server.asked) == ([], [])


def test_one_that_stops_while_no_list_shows_it_says_why(qtbot, server):
    left_by_an_earlier_run(gated="running")
    with open_window(qtbot) as driver:
        hint = said(driver, " stopped.")
        error = driver.window.place.hub.downloads.of(GATED_ID).error
        assert hint == f"{error.text} {error.hint}"


@pytest.mark.drives("downloadToken", "downloadPage", "tokenField", "saveToken", "makeToken")
def test_a_gated_model_asks_for_a_token_which_the_hub_checks(found, server):
    server.tokens.add("hf_good")
    server.repositories[GATED_ID].allowed.add("hf_good")
    found.search("gated", 1)
    found.click_row(GATED_ID)
    found.wait(lambda: found.page.detail.problem.text or found.page.detail.detail)
    found.click("downloadModel")
    found.wait(lambda: found.state(GATED_ID) == "failed")
    assert found.row(GATED_ID).findChild(type(found.page.detail._badge)).accessibleName() == "Needs a token"
    found.press(GATED_ID, "downloadPage")
    question = found.driver.part("linkQuestion")
    assert GATED_ID in question.informativeText()
    question.close()
    found.press(GATED_ID, "downloadToken")
    dialog = found.driver.part("tokenDialog")
    found.wait(dialog.isVisible)
    found.click("makeToken")
    question = dialog.findChild(QMessageBox)
    assert "settings/tokens" in question.informativeText()
    question.reject()
    QTest.keyClicks(dialog.field, "hf_bad")
    assert dialog.field.displayText() != "hf_bad"
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    found.wait(lambda: found.driver.part("tokenProblem").text)
    dialog.field.selectAll()
    QTest.keyClicks(dialog.field, "hf_good")
    found.click("saveToken")
    found.wait(lambda: found.hub._token is None)
    assert any("only you can read" in hint for _, hint in found.driver.toasts())
    found.wait(lambda: found.state(GATED_ID) == "done")


@pytest.mark.drives("searchAgain")
def test_a_search_that_fails_says_why_and_tries_again(found, server):
    server.fault("api/models", status=503, times=1)
    found.type("fox")
    found.wait(lambda: found.shows("searchProblem"))
    assert found.rows() == ()
    found.click("searchAgain")
    found.wait(lambda: found.ids() == [FOX_ID])
    assert not found.shows("searchProblem")


def test_a_search_that_finds_nothing_says_so(found):
    found.type("zzzz")
    found.wait(lambda: found.text("searchTitle") == "Nothing found for “zzzz”")
    assert found.page.detail.model_id == ""
    QTest.keyClick(found.dialog.search, Qt.Key.Key_Escape)
    found.wait(lambda: found.text("searchTitle") == f"Recommended for {THIS_MACHINE}")


@pytest.mark.drives("describeAgain")
def test_a_model_that_can_not_be_described_says_why(found, server):
    found.search("fox", 1)
    server.fault("api/models/org", status=503, times=1)
    found.click_row(FOX_ID)
    found.wait(lambda: found.page.detail.problem.text)
    found.click("describeAgain")
    found.wait(lambda: found.page.detail.detail)
    assert found.page.detail.problem.text == ""


@pytest.mark.drives("openOnHub")
def test_opening_the_page_shows_where_it_goes(found):
    found.search("fox", 1)
    found.pick(FOX_ID)
    found.click("openOnHub")
    assert FOX_ID in found.driver.part("linkQuestion").informativeText()
    found.driver.part("linkQuestion").close()


@pytest.mark.drives("readCard")
def test_a_recommended_model_is_described_when_somebody_asks(found, server):
    found.wait(lambda: all(row.assessment for row in found.rows()))
    assert found.shows("fitCard") or found.text("fitNeeds") is not None
    found.click("readCard")
    found.wait(lambda: found.page.detail.problem.text)
    assert "repository" in found.page.detail.problem.text or found.page.detail.problem.text
    assert any(isinstance(event, Finished) for event in found.driver.events)
    assert len(server.requests("api/models/mlx-community")) == 1


@pytest.mark.drives("moreResults")
def test_more_are_shown_where_there_are_more(found, server):
    for number in range(40):
        server.add(Repository(f"many/m{number}", tags=["mlx"]).add("config.json", "{}"))
    found.type("many")
    found.wait(lambda: len(found.rows()) == 30)
    found.click("moreResults")
    found.wait(lambda: len(found.rows()) == 40)
    assert not found.shows("moreResults")


@pytest.mark.drives("problemPage", "problemToken", "cancelToken")
def test_a_gated_description_leads_to_its_page_and_to_a_token(found, server):
    found.search("gated", 1)
    server.fault("api/models/org", status=401, headers={"X-Error-Code": "GatedRepo"}, times=None)
    found.click_row(GATED_ID)
    found.wait(lambda: found.page.detail.problem.text)
    found.click("problemPage")
    question = found.driver.part("linkQuestion")
    assert GATED_ID in question.informativeText()
    question.reject()
    found.click("problemToken")
    found.wait(lambda: found.shows("tokenDialog"))
    found.click("cancelToken")
    found.wait(lambda: found.hub._token is None)
    assert not server.requests("whoami")


@pytest.mark.drives("searchToken", "forgetToken", "tokenField")
def test_a_search_that_needs_an_account_leads_to_a_token_which_can_be_forgotten(found, server):
    server.tokens.add("hf_good")
    server.fault("api/models", status=401, times=1)
    found.type("fox")
    found.wait(lambda: found.shows("searchToken"))
    found.click("searchToken")
    dialog = found.driver.part("tokenDialog")
    QTest.keyClicks(dialog.field, "hf_good")
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    found.wait(lambda: found.hub._token is None)
    found.wait(lambda: found.ids() == [FOX_ID])  # The search went on by itself.
    found.hub.ask_for_token(found.dialog)
    found.wait(lambda: found.hub._token._forget.isVisible())
    QTest.mouseClick(found.hub._token._forget, Qt.MouseButton.LeftButton)
    found.wait(lambda: found.hub._token is None)
    assert "The token was forgotten." in [text for text, _ in found.driver.toasts()]


@pytest.mark.drives("hubResults", "modelSearch")
def test_arrows_lead_through_the_list_and_the_row_they_rest_on_is_described(found, server):
    found.search("org", 4)
    QTest.keyClick(found.dialog.search, Qt.Key.Key_Down)
    QTest.keyClick(found.dialog.search, Qt.Key.Key_Down)
    assert found.page.detail.model_id == LARGE_ID
    found.wait(lambda: found.page.detail.detail)
    assert server.requests(f"api/models/{LARGE_ID}")
    assert not server.requests(f"api/models/{GATED_ID}")  # The arrows only passed it by.
    found.page.results.setFocus()
    QTest.keyClick(found.page.results, Qt.Key.Key_Up)
    assert found.page.detail.model_id == GATED_ID


def test_a_download_without_a_network_waits_and_says_when_it_tries_again(found, server):
    found.search("slow", 1)
    found.pick(SLOW_ID)
    server.fault("cdn/", status=503, times=None, headers={"Retry-After": "30"})
    found.click("downloadModel")
    found.wait(lambda: found.state(SLOW_ID) == "waiting")
    assert "Tries again" in found.row(SLOW_ID).findChild(QLabel, "downloadState").words
    assert found.text("downloadSummary") == "1 waiting"


def test_what_does_not_fit_on_the_disk_is_told_before_the_first_byte(found):
    found.search("large", 1)
    found.page.detail.set_free(10**9)
    told = "it needs 140 GB, 500 MB have to stay free, and 1.0 GB are free."
    assert found.text("fetchNotice").endswith(told)
    found.page.detail.set_free(140 * 10**9 + RESERVE - 1)
    assert found.shows("fetchNotice")  # As the download would say.
    found.page.detail.set_free(140 * 10**9 + RESERVE)
    assert not found.shows("fetchNotice")


@pytest.mark.drives("paletteField", "cancelToken")
def test_the_palette_leads_to_the_token_and_asks_nothing_of_the_hub(qtbot, server):
    with open_window(qtbot) as driver:
        driver.window.center.open_palette()
        driver.type("hugging face token", "paletteField")
        driver.key(Qt.Key.Key_Return, name="paletteField")
        driver.wait(lambda: driver.part("tokenDialog").isVisible())
        driver.click("cancelToken")
        driver.wait(lambda: driver.window.place.hub._token is None)
        assert server.asked == []


@pytest.mark.drives("readTerms")
def test_the_terms_of_a_gated_model_are_a_click_away_before_it_is_fetched(found):
    found.search("org", 4)
    found.pick(GATED_ID)
    assert "agreed to the terms" in found.text("cardNote")
    found.click("readTerms")
    question = found.driver.part("linkQuestion")
    assert GATED_ID in question.informativeText()
    question.reject()
    found.pick(LARGE_ID)
    assert not found.shows("readTerms")


def test_a_context_that_is_too_long_says_which_one_fits(found):
    found.page.set_machine(dataclasses.replace(MACHINE, budget=4_000_000_000))
    found.search("slow", 1)
    found.pick(SLOW_ID)
    card = found.page.detail.fit
    found.wait(lambda: card.most)
    assert card.most < 40_960
    verdict = found.driver.part("hubVerdict").accessibleName
    QTest.keyClick(card.slider, Qt.Key.Key_Home)
    found.wait(lambda: verdict() == "Fits")
    QTest.keyClick(card.slider, Qt.Key.Key_End)
    found.wait(lambda: verdict() == f"Fits at {card.most // 1024}k")
    for news in (found.page._models.modelReset, found.page.detail.variants.changed):
        news.emit()  # Rows and quantizations come to be known in any order, and go by the usual context.
        assert verdict() == f"Fits at {card.most // 1024}k"


def test_a_cancelled_download_is_no_broken_model_on_this_machine(found, server):
    slow(server)
    found.search("slow", 1)
    found.pick(SLOW_ID)
    found.click("downloadModel")
    found.wait(lambda: found.state(SLOW_ID) == "running" and found.hub.downloads.of(SLOW_ID).done_bytes)
    found.driver.window.models.refresh()
    found.wait(lambda: found.driver.window.models.entry(SLOW_ID))
    found.press(SLOW_ID, "downloadCancel")
    found.wait(lambda: found.driver.window.models.entry(SLOW_ID) is None)


def test_what_can_be_done_about_a_refusal_stands_inside_its_card(found, server):
    found.search("gated", 1)
    server.fault("api/models/org", status=401, headers={"X-Error-Code": "GatedRepo"}, times=None)
    found.click_row(GATED_ID)
    found.wait(lambda: found.page.detail.problem.text)
    for name in ("problemPage", "problemToken", "describeAgain"):
        assert found.page.detail.problem.isAncestorOf(found.driver.part(name))


def test_a_refused_token_leaves_its_window_as_high_as_its_words(found):
    found.hub.ask_for_token(found.dialog)
    dialog = found.driver.part("tokenDialog")
    QTest.keyClicks(dialog.field, "hf_bad")
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    found.wait(lambda: found.driver.part("tokenProblem").text)
    found.wait(lambda: dialog.height() == dialog.layout().totalHeightForWidth(dialog.width()))
    dialog.reject()

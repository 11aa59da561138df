"""The inspector's Reply tab in the real window: asking for probabilities, reading them here and in the chat, branching."""

import pydoc
import threading
from math import exp

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.chat.inspector.odds_popover import OddsPopover
from app.chat.inspector.reply_head import percent
from app.chat.inspector.shaded_text import ShadedText
from app.chat.inspector.token_sheet import SHADES, shade
from engine.chats.store import ChatStore
from engine.core.odds import TokenOdds
from engine.core.paths import locate
from tests.app.chat.inspecting import LEFT, card, open_inspector, point_at, texts
from tests.app.chat.stored import facts
from tests.app.pointer import move
from tests.app.window_driver import give_model, open_window, remember, set_settings
from tests.models.speaking import FOX


@pytest.fixture
def kept(flint):
    """A window with the Reply tab open over a reply whose probabilities were kept, and that reply."""
    flint.window.chat.set_setting("keep_probabilities", "on")
    reply = flint.ask("Hello")
    panel = open_inspector(flint, "reply")
    flint.wait(lambda: panel.page == "reply")
    return flint, panel, reply


def odds_of(flint, reply):
    return flint.window._store.odds(reply.id)


def card_of(flint):
    return card(flint, OddsPopover)


@pytest.mark.drives("regenerateWithOdds", "inspectorTabs", "inspectorNote", "segment.reply")
def test_reply_without_probabilities_is_written_again_with_them(flint):
    first = flint.ask("Hello")
    panel = open_inspector(flint, "reply")
    flint.wait(lambda: panel.page == "note")
    assert "No probabilities were kept" in panel.note.text
    flint.click("regenerateWithOdds")
    flint.wait(lambda: flint.idle and panel.page == "reply")
    again = flint.stored()[-1]
    assert again.id != first.id
    assert "".join(texts(panel.reply_tokens)) == again.text == FOX
    assert flint.window.chat.settings()["keep_probabilities"] == "on"


@pytest.mark.drives("keepProbabilities", "segment.on")
def test_switch_sets_it_for_the_chat_and_is_the_settings_own(flint):
    flint.ask("Hello")
    panel = open_inspector(flint, "reply")
    flint.wait(lambda: panel.page == "note")
    flint.press(flint.part("keepProbabilities"), "segment.on")
    assert flint.window.chat.settings()["keep_probabilities"] == "on"
    flint.click("settingsButton")
    assert flint.part("setting.keep_probabilities").value == "on"
    reply = flint.ask("And now?")
    assert odds_of(flint, reply).ids == reply.facts.output_ids


def test_tokens_are_shaded_and_counted(kept):
    flint, panel, reply = kept
    odds = odds_of(flint, reply)
    assert list(panel.reply_tokens.sheet.grounds) == [SHADES + shade(logprob) for logprob in odds.logprobs]
    assert panel.reply_head.text.startswith(f"{len(odds.ids)} tokens; ")


@pytest.mark.drives("replyTokens")
def test_alternatives_are_shown_under_the_pointer_with_their_probabilities(kept):
    flint, panel, reply = kept
    odds = odds_of(flint, reply)
    point_at(panel.reply_tokens, 3)
    shown = card_of(flint)
    assert shown.title == f"Instead of “{odds.pieces[3].replace(' ', '·')}”"
    assert [figure for _, figure in shown.rows] == [percent(exp(logprob)) for _, logprob in odds.others(3)]
    move(panel.reply_tokens.viewport(), QPoint(200, panel.reply_tokens.height() - 4))
    flint.wait(lambda: card_of(flint) is None)
    panel.reply_tokens.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(panel.reply_tokens, Qt.Key.Key_Home)
    assert card_of(flint).index == 0


@pytest.mark.drives("shadeChat", "showFormatted", "shadedText", "shadedReply", "replyHead")
def test_reply_is_shaded_in_the_chat_and_formatted_again(kept):
    flint, _, reply = kept
    view = flint.view(reply)
    assert view.shaded.text.toPlainText() == FOX
    assert not view.body.isVisible()
    place = view.shaded.text.place_of(3)
    assert view.shaded.text.viewport().rect().contains(place)
    assert place.height() == 24
    move(view.shaded.text.viewport(), QPoint(1, 1))
    move(view.shaded.text.viewport(), place.center())
    assert card_of(flint).index == 3
    QTest.mouseClick(view.shaded.text.viewport(), LEFT, pos=place.center())
    assert card_of(flint).hasFocus()
    QTest.keyClick(card_of(flint), Qt.Key.Key_Escape)
    assert view.shaded.text.hasFocus()
    QTest.keyClick(view.shaded.text, Qt.Key.Key_Right)
    assert card_of(flint).index == 4
    QTest.keyClick(view.shaded.text, Qt.Key.Key_Return)
    assert card_of(flint).hasFocus()
    QTest.keyClick(card_of(flint), Qt.Key.Key_Escape)
    flint.press(view, "showFormatted")
    assert view.shaded is None
    assert view.body.isVisible()
    flint.key(Qt.Key.Key_Space, name="shadeChat")
    assert flint.view(reply).shaded is not None
    flint.press(flint.part("inspectorTabs"), "segment.prompt")
    assert flint.view(reply).shaded is None


def test_closing_the_panel_takes_the_shades_away(kept):
    flint, _, reply = kept
    flint.click("inspectorButton")
    assert flint.view(reply).shaded is None
    assert flint.view(reply).body.isVisible()
    assert flint.shown() == ["Hello", FOX]


def branch_by_mouse(flint, panel, index, row):
    point_at(panel.reply_tokens, index)
    shown = card_of(flint)
    QTest.mouseClick(shown, LEFT, pos=shown.row_rect(row).center())


def branch_by_keyboard(flint, panel, index, row):
    view = panel.reply_tokens
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view, Qt.Key.Key_Home)
    for _ in range(index):
        QTest.keyClick(view, Qt.Key.Key_Right)
    QTest.keyClick(view, Qt.Key.Key_Return)
    shown = card_of(flint)
    for _ in range(len(shown.rows)):
        QTest.keyClick(shown, Qt.Key.Key_Up)
    for _ in range(row):
        QTest.keyClick(shown, Qt.Key.Key_Down)
    QTest.keyClick(shown, Qt.Key.Key_Return)


@pytest.mark.drives("oddsPopover")
@pytest.mark.parametrize("choose", [branch_by_mouse, branch_by_keyboard])
def test_choosing_another_token_writes_a_reply_beside_that_goes_on_from_it(kept, choose):
    flint, panel, reply = kept
    odds = odds_of(flint, reply)
    row = next(row for row, (token, _) in enumerate(odds.others(3)) if token != odds.ids[3])
    other = odds.others(3)[row][0]
    choose(flint, panel, 3, row)
    flint.wait(lambda: flint.idle and flint.stored()[-1].id != reply.id and flint.stored()[-1].state == "complete")
    branch = flint.stored()[-1]
    assert (branch.parent_id, branch.sibling_count) == (reply.parent_id, 2)
    assert branch.facts.output_ids[:4] == (*odds.ids[:3], other)
    assert branch.text.startswith("".join(odds.pieces[:3]))
    assert branch.text != reply.text
    found = odds_of(flint, branch)
    assert found.ids == branch.facts.output_ids
    assert found.logprobs[3] == pytest.approx(dict(odds.others(3))[other], abs=1e-3)
    flint.wait(lambda: panel.page == "reply" and list(panel.reply_tokens.sheet.ids) == list(found.ids))
    flint.press(flint.part("inspectorTabs"), "segment.prompt")
    flint.wait(lambda: panel.page == "prompt" and tuple(panel.tokens.sheet.ids[-4:]) == branch.facts.output_ids[:4])
    whole = branch.facts.prompt_tokens + 4
    assert len(panel.tokens.sheet.ids) == whole
    assert f"{branch.facts.cached_tokens} cached, {whole - branch.facts.cached_tokens} read" in panel.head.text


def test_choosing_the_written_token_changes_nothing(kept):
    flint, panel, reply = kept
    odds = odds_of(flint, reply)
    row = next(row for row, (token, _) in enumerate(odds.others(3)) if token == odds.ids[3])
    branch_by_mouse(flint, panel, 3, row)
    assert card_of(flint) is None
    assert flint.idle
    assert flint.stored()[-1].id == reply.id


def test_probabilities_are_there_after_a_restart(qtbot, fox):
    remember(model=give_model(fox))
    set_settings(keep_probabilities="on")
    with open_window(qtbot) as flint:
        flint.wait_ready()
        reply = flint.ask("Hello")
    with open_window(qtbot) as flint:
        flint.wait_ready()
        panel = open_inspector(flint, "reply")
        flint.wait(lambda: panel.page == "reply")
        assert "".join(texts(panel.reply_tokens)) == FOX
        assert flint.view(reply).shaded is not None


def test_edited_reply_has_no_probabilities_any_more(kept):
    flint, panel, reply = kept
    flint.window._store.edit_reply(reply.id, "Other words")
    flint.window.chat.open(flint.window.chat.chat_id)
    flint.wait(lambda: panel.page == "note")
    assert "This reply was edited" in panel.note.text


def test_what_would_be_sent_next_has_no_probabilities(kept):
    flint, panel, _ = kept
    flint.click("inspectLater")
    assert "Not written yet" in panel.note.text
    assert flint.part("keepProbabilities").isVisible()


PIECES = tuple("end of a line\n" if index % 12 == 11 else f" word{index % 97}" for index in range(20_000))


@pytest.fixture
def long_reply(qtbot, fox):
    """A window with a new chat and the Reply tab open, and the stored reply of another chat: 20,000 tokens and their odds."""
    remember(model=give_model(fox))
    known = sorted(set(PIECES))
    ids = tuple(known.index(piece) for piece in PIECES)
    likely = tuple(-(index % 40) / 10 for index in range(len(ids)))
    with ChatStore(locate().chats) as store:
        chat = store.create_chat("Long")
        question = store.add_message(chat.id, "user", "Hello")
        reply = store.begin_reply(chat.id, question.id, "fox")
        store.keep_odds(reply.id, TokenOdds(1, ids, PIECES, likely, ids, likely, tuple(range(len(known))), tuple(known)))
        told = facts(output_tokens=len(ids), output_ids=ids)
        reply = store.finish_reply(reply.id, "".join(PIECES), "complete", told)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        yield flint, open_inspector(flint, "reply"), reply


def test_long_reply_is_read_beside_the_window_and_shaded_a_slice_at_a_time(long_reply, monkeypatch):
    flint, panel, reply = long_reply
    threads, slices, lay = set(), [], ShadedText.lay
    for work in ("app.chat.inspector.odds_reader.odds_sheet", "engine.chats.odds.read"):
        real = pydoc.locate(work)
        monkeypatch.setattr(work, lambda *args, real=real: threads.add(threading.current_thread()) or real(*args))
    monkeypatch.setattr(ShadedText, "lay", lambda text, width, until: slices.append(until) or lay(text, width, min(until, 0)))
    flint.open_chat(reply.chat_id)
    flint.wait(lambda: slices)
    view = flint.view(reply)
    assert view.body.isVisible()  # There is something to read all the while.
    assert not view.shaded.isVisible()
    flint.wait(lambda: view.shaded.isVisible())
    assert len(slices) > 50
    assert not view.body.isVisible()
    assert threading.main_thread() not in threads
    assert len(threads) == 1
    assert view.shaded.text.toPlainText() == reply.text
    assert len(panel.reply_tokens.sheet.ids) == 20_000


def test_window_closes_and_chats_change_while_a_long_reply_is_read(long_reply):
    flint, panel, reply = long_reply
    flint.open_chat(reply.chat_id)
    flint.window.inspector._controller.refresh()
    flint.click("newChatButton")
    flint.wait(lambda: panel.page == "note")
    flint.open_chat(reply.chat_id)
    flint.window.inspector._controller.refresh()
    flint.window.close()
    assert not flint.window.inspector._controller._odds.found


def test_what_is_read_for_long_says_so(long_reply, monkeypatch):
    flint, panel, reply = long_reply
    gate, real = threading.Event(), ChatStore.odds
    monkeypatch.setattr(ChatStore, "odds", lambda *args: gate.wait(30) and real(*args))
    flint.open_chat(reply.chat_id)
    flint.wait(lambda: "is being read" in panel.note.text)
    gate.set()
    flint.wait(lambda: panel.page == "reply")

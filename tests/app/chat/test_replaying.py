"""A reply run again exactly from the window: asked by menu and by key, what the dialog says, and that nothing is changed."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.chat.conversation.ledger import ledger
from app.chat.conversation.replay_dialog import NO_REASON, ReplayDialog
from engine.chats.store import ChatStore
from engine.core.errors import GenerationFailed
from engine.core.messages import Replayed, TextDelta
from engine.core.paths import locate
from tests.app.chat.inspecting import open_inspector
from tests.app.chat.test_message_actions import body, menu_of, pick
from tests.app.window_driver import give_model, open_window, remember, set_settings
from tests.models.speaking import FOX


def dialog(flint):
    return flint.part("replayDialog", ReplayDialog)


def run(flint, reply):
    """Run a reply again from its menu, and return the dialog with what came of it."""
    pick(menu_of(flint, reply), "Run Again Exactly…")
    flint.wait(lambda: dialog(flint).findChild(QWidget, "replayClose").text() == "Close")
    return dialog(flint)


def change_facts(reply, **changes):
    """Change what is stored of a reply's making, as if it had been made elsewhere."""
    with ChatStore(locate().chats) as store, store._database.writing() as connection:
        (stored,) = connection.execute("SELECT facts FROM messages WHERE id = ?", (reply.id,)).fetchone()
        facts = json.dumps({**json.loads(stored), **changes})
        connection.execute("UPDATE messages SET facts = ? WHERE id = ?", (facts, reply.id))


def reopen(flint, reply):
    flint.click("newChatButton")
    flint.open_chat(reply.chat_id)


@pytest.mark.drives("messageMenu", "replayDialog", "replayClose")
def test_the_same_tokens_are_said_to_be_the_same_and_nothing_is_changed(flint):
    flint.ask("Hello")
    reply = flint.ask("And now?")
    flint.ask("More")
    stored = flint.stored()
    shown = run(flint, reply)
    assert f"Same {len(reply.facts.output_ids)} tokens" in shown.words
    QTest.mouseClick(shown.findChild(QWidget, "replayClose"), Qt.MouseButton.LeftButton)
    flint.wait(lambda: flint.window.findChild(ReplayDialog) is None)
    assert flint.stored() == stored
    assert flint.ask("Still there?").text == FOX


def test_a_replys_tokens_are_the_same_number_wherever_it_is_told(flint):
    flint.choose_setting("keep_probabilities", "on")
    reply = flint.ask("Hello")
    (asked, *_) = {event.request_id for event in flint.events if isinstance(event, TextDelta)}
    count = len(reply.facts.output_ids)
    assert flint.stats(reply).startswith(f"{count} tokens  ")
    assert dict(ledger(reply.facts))["Written"] == str(count)
    assert flint.deltas(asked)[-1].output_tokens == count
    panel = open_inspector(flint, "reply")
    flint.wait(lambda: panel.reply_head.text.startswith(f"{count} tokens"))
    assert f"Same {count} tokens" in run(flint, reply).words


def test_of_a_reply_that_went_on_it_is_told_which_tokens_were_written_again(flint):
    flint.choose_setting("max_tokens", 5)
    reply = flint.ask("Hello")
    pick(menu_of(flint, reply), "Continue")
    flint.wait(lambda: flint.idle)
    reply = flint.stored()[-1]
    assert reply.facts.resumed == (5,)
    words = run(flint, reply).words
    assert f"Same {len(reply.facts.output_ids) - 5} tokens" in words
    assert "since the reply went on after its first 5 came out" in words


@pytest.mark.drives("replayDialog")
def test_it_is_asked_by_key_and_closed_by_escape(flint):
    reply = flint.ask("Hello")
    body(flint, reply).setFocus()
    flint.window.commands.find("runAgain").trigger()
    flint.wait(lambda: "Same" in dialog(flint).words)
    QTest.keyClick(dialog(flint), Qt.Key.Key_Escape)
    flint.wait(lambda: flint.window.findChild(ReplayDialog) is None)


def test_after_a_restart_it_is_the_same(qtbot, fox):
    remember(model=give_model(fox))
    set_settings(temperature=1.5, top_k=0, min_p=0.0)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        flint.ask("Hello")
        reply = flint.ask("More")
    remember(chat=reply.chat_id)
    with open_window(qtbot) as flint:
        flint.wait_ready()
        assert f"Same {len(reply.facts.output_ids)} token" in run(flint, reply).words


def test_the_first_other_token_and_what_is_known_of_it_are_told(flint):
    reply = flint.ask("Hello")
    ids = list(reply.facts.output_ids)
    change_facts(reply, output_ids=[*ids[:3], ids[0], *ids[4:]], template_hash="another")
    reopen(flint, reply)
    words = run(flint, reply).words
    assert "Different from token 4 on" in words
    assert "The first 3 tokens came out as they were." in words
    assert "“The”" in words
    assert "The model's chat template is another one now." in words


def test_without_a_known_reason_that_is_said(flint):
    reply = flint.ask("Hello")
    change_facts(reply, output_ids=[0, *reply.facts.output_ids[1:]])
    reopen(flint, reply)
    words = run(flint, reply).words
    assert "Different from token 1 on" in words
    assert NO_REASON in words


def test_another_system_prompt_is_named(flint):
    reply = flint.ask("Hello")
    flint.window.chat.set_setting("system_prompt", "Be brief.")
    words = run(flint, reply).words
    assert "What stands before the reply is another text now" in words


def test_a_failure_is_told_in_the_dialog(flint, monkeypatch):
    reply = flint.ask("Hello")

    def fail(*_):
        raise GenerationFailed("The model failed.")

    monkeypatch.setattr("engine.session.Session._planned", fail)
    words = run(flint, reply).words
    assert "It could not be run again" in words
    assert "The model failed." in words
    assert not flint.toasts()


@pytest.mark.drives("replayClose")
def test_cancel_stops_it_in_the_engine(writing):
    flint, _ = writing
    flint.wait(lambda: len(flint.window.page.transcript.messages[-1].text) > 2_000)
    flint.window.page.composer.stop()
    flint.wait(lambda: flint.idle)
    reply = flint.stored()[-1]
    pick(menu_of(flint, reply), "Run Again Exactly…")
    flint.wait(lambda: "tokens compared" in dialog(flint).words)
    request_id = flint.window.replays._request_id
    QTest.mouseClick(dialog(flint).findChild(QWidget, "replayClose"), Qt.MouseButton.LeftButton)
    flint.wait(lambda: flint.ends(request_id))
    assert not any(isinstance(event, Replayed) for event in flint.events)
    assert flint.stored()[-1] == reply


@pytest.mark.parametrize("theme", ["light", "dark"], indirect=True)
def test_what_the_dialog_says_fits_in_it(theme, qtbot):
    shown = ReplayDialog(theme)
    qtbot.addWidget(shown)
    shown.show_result(
        Replayed("r", False, 213, "\n", "the end of the reply", ("MLX is 0.33 now; it was 0.32.", "And another."))
    )
    shown.show()
    assert "Different from token 214 on" in shown.words
    assert "“⏎”" in shown.words
    assert "The end of the reply" in shown.words
    for label in shown.findChildren(QWidget):
        assert shown.rect().contains(label.geometry()) or label.parentWidget() is not shown

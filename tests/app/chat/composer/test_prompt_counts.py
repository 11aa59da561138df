"""The composer's note: what would be sent in tokens and what of it is cached, in the real window with a real model."""

import re
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from app.chat.composer.count_words import Mine, note, tip
from app.chat.composer.token_estimate import about, estimate
from engine.chats.attachment import Attachment
from engine.core.messages import CountPrompt, PromptCounted, TextDelta
from tests.app.chat.inspecting import open_inspector
from tests.app.window_driver import open_window, set_settings


def told(flint):
    return flint.window.page.composer.note


def counts(flint):
    return [event for event in flint.events if isinstance(event, PromptCounted)]


def settled(flint):
    """Wait until what was typed last is counted."""
    window = flint.window
    flint.wait(lambda: not window.counts._timer.isActive() and flint.ends(window.counts._asked) and told(flint))


def test_what_is_typed_is_counted_and_the_reply_reads_as_much(flint):
    flint.type("Hello there, the brown fox")
    settled(flint)
    words = counts(flint)[-1].words
    assert told(flint) == f"{words} tokens"
    expected = counts(flint)[-1].tokens
    reply = flint.ask("")
    assert reply.facts.prompt_tokens == expected
    settled(flint)
    cached = counts(flint)[-1].cached
    assert told(flint) == f"{cached} tokens cached"
    flint.type("And the dog?")
    settled(flint)
    assert told(flint).endswith(f"{cached} cached")
    assert "cached and need not be read again" in flint.window.page.composer.foot.note.toolTip()
    expected = counts(flint)[-1].tokens
    reply = flint.ask("")
    assert reply.facts.prompt_tokens == expected
    assert reply.facts.cached_tokens == cached


def agrees(flint):
    """Wait until the count is of the messages that are shown: it is what counting anew, as a key would have it, comes to."""
    window = flint.window
    flint.wait(lambda: not window.counts._timer.isActive() and flint.ends(window.counts._asked))
    on_its_own, hover = counts(flint)[-1], window.page.composer.foot.note.toolTip()
    window.counts.count()
    asked = window.counts._asked
    flint.wait(lambda: flint.ends(asked))
    anew = counts(flint)[-1]
    assert replace(on_its_own, request_id=asked) == anew
    assert hover == tip(anew, window.counts._mine)
    return anew.tokens


def test_every_change_of_the_shown_messages_is_counted(flint):
    window, actions = flint.window, flint.window.message_actions
    totals = [flint.ask("Hello") and agrees(flint)]
    asked = flint.stored()[0]
    actions.keep_edit(asked.id, "Hello to the quick brown fox and to the lazy dog")
    flint.wait(lambda: flint.idle)
    totals.append(agrees(flint))
    flint.part("composer").setFocus()
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
        flint.key(key, Qt.KeyboardModifier.AltModifier)
        totals.append(agrees(flint))
    assert totals == [totals[0], totals[1], totals[0], totals[1]]
    actions.keep_edit(flint.stored()[-1].id, "The fox " * 40)
    totals.append(agrees(flint))
    window.message_actions.delete(flint.stored()[-1].id)
    totals.append(agrees(flint))
    window.commands.find("restoreMessages").trigger()
    totals.append(agrees(flint))
    window.chat.reveal(asked.id)
    totals.append(agrees(flint))
    longest = totals[4]
    assert totals[4:] == [longest, totals[1], longest, totals[0]]
    actions.fork(asked.id)
    assert agrees(flint) < totals[0] < totals[1] < longest


def test_a_chat_that_is_opened_again_says_what_is_cached(flint):
    flint.ask("Hello")
    chat = flint.window.chat.chat_id
    flint.click("newChatButton")
    flint.wait(lambda: told(flint) == "")
    flint.open_chat(chat)
    flint.wait(lambda: told(flint).endswith("tokens cached"))


def test_it_is_counted_while_a_reply_is_written(writing):
    flint, _ = writing
    before = len(counts(flint))
    flint.type("What comes next")
    flint.wait(lambda: len(counts(flint)) > before and counts(flint)[-1].words)
    assert flint.phase == "writing"
    assert counts(flint)[-1].cached > 0
    assert counts(flint)[-1].words <= 15  # The question before is not counted again.
    deltas = len([event for event in flint.events if isinstance(event, TextDelta)])
    flint.wait(lambda: len([event for event in flint.events if isinstance(event, TextDelta)]) > deltas)


def test_chips_get_the_models_count(flint):
    attachments = flint.window.page.composer.attachments
    attachments.show([Attachment("a.txt", "file", "The quick brown fox " * 20)])
    assert "about" in flint.part("attachment.0").words
    flint.wait(lambda: "about" not in flint.part("attachment.0").words)
    tokens = attachments.attachments[0].tokens
    assert flint.part("attachment.0").words == f"a.txt, {tokens} tokens"
    flint.type("Read it")
    flint.wait(lambda: told(flint).startswith(str(counts(flint)[-1].words)) and counts(flint)[-1].words > tokens)
    flint.key(Qt.Key.Key_Return)
    flint.wait(lambda: flint.idle)
    asked = flint.stored()[0]
    assert (asked.text, asked.attachments[0].tokens) == ("Read it", tokens)
    assert flint.view(asked).findChild(object, "attachment.0").words == f"a.txt, {tokens} tokens"
    assert flint.window.page.composer.attachments.items == []


def test_attachments_alone_are_sent(flint):
    flint.window.page.composer.attachments.show([Attachment("a.txt", "file", "The fox")])
    flint.click("sendButton")
    flint.wait(lambda: flint.idle)
    asked, reply = flint.stored()
    assert (asked.text, [one.name for one in asked.attachments]) == ("", ["a.txt"])
    assert reply.state == "complete"
    assert flint.window.chats._store.chat(flint.window.chat.chat_id).title == "a.txt"


def test_what_does_not_fit_is_said_quietly(flint):
    flint.window.chat.set_setting("context", 256)
    flint.window.page.composer.set_text("fox " * 600)
    flint.wait(lambda: "the context holds 256" in told(flint))
    assert "Shorten the message" in flint.window.page.composer.foot.note.toolTip()


def test_without_a_model_it_is_an_estimate(qtbot, flint_home):
    set_settings(models_folder=str(flint_home / "none"))
    with open_window(qtbot) as flint:
        flint.window.page.composer.set_text("word " * 80)
        flint.wait(lambda: told(flint).startswith("about") and told(flint).endswith("tokens"))
        flint.window.page.composer.set_text("")
        flint.wait(lambda: told(flint) == "")


def test_until_the_count_comes_there_is_an_estimate(flint, monkeypatch):
    monkeypatch.setattr(flint.window.bridge, "send", lambda command: None)
    flint.window.page.composer.set_text("word " * 80)
    flint.wait(lambda: told(flint).startswith("about"))


def test_a_count_that_comes_late_is_let_pass(flint):
    flint.type("Hello")
    settled(flint)
    said = told(flint)
    flint.window.bridge.received.emit(PromptCounted("count-0", 9999, 9999, 0, 32768))
    assert told(flint) == said


@pytest.mark.parametrize(
    ("counted", "words", "warned"),
    [
        (PromptCounted("c", 18_012, 312, 17_900, 32_768), "312 tokens, 17.9k cached", False),
        (PromptCounted("c", 330, 312, 0, 32_768), "312 tokens", False),
        (PromptCounted("c", 20, 1, 0, 32_768), "1 token", False),
        (PromptCounted("c", 17_950, 0, 17_900, 32_768), "17.9k tokens cached", False),
        (PromptCounted("c", 20, 0, 1, 32_768), "1 token cached", False),
        (PromptCounted("c", 17_950, 0, 0, 32_768), "", False),
        (PromptCounted("c", 40_100, 40_000, 0, 32_768), "40.1k tokens, the context holds 32.8k", True),
        (PromptCounted("c", 40_100, 300, 0, 32_768, fits=False), "40.1k tokens, the context holds 32.8k", True),
        (PromptCounted("c", 20_000, 300, 100, 32_768, left_out=4), "300 tokens, 100 cached", False),
    ],
)
def test_the_words_of_a_count(counted, words, warned):
    assert note(counted, Mine()) == (words, warned)
    assert ("oldest 4 messages" in tip(counted, Mine())) == (counted.left_out == 4)
    assert ("Shorten" in tip(counted, Mine())) == warned


@pytest.mark.parametrize(
    ("counted", "says"),
    [
        (
            PromptCounted("c", 280, 3, 265, 512, said=243),
            "The whole prompt has 280 tokens: your message 3, what was said before 240, the template's own 37. "
            "265 of them are cached and need not be read again, 15 are to read. The context holds 512.",
        ),
        (
            PromptCounted("c", 341, 312, 0, 512, texts=(200, 88), said=312),
            "The whole prompt has 341 tokens: your message 312 (288 in files, 24 in the words and the empty lines between), "
            "the template's own 29. "
            "341 tokens are to read. The context holds 512.",
        ),
        (
            PromptCounted("c", 256, 0, 252, 512, said=219),
            "The conversation so far has 256 tokens: what was said 219, the template's own 37. "
            "252 of them are cached and need not be read again, 4 are to read. The context holds 512.",
        ),
        (
            PromptCounted("c", 20, 1, 0, 512),
            "The whole prompt has 20 tokens. 20 tokens are to read. The context holds 512.",
        ),
    ],
)
def test_the_figures_behind_a_count_add_up(counted, says):
    assert tip(counted, Mine()) == says


@pytest.mark.parametrize(
    ("tokens", "cached", "says"),
    [
        (20, 0, "20 tokens are to read."),
        (1, 0, "1 token is to read."),
        (20, 1, "1 of them is cached and need not be read again, 19 are to read."),
        (20, 19, "19 of them are cached and need not be read again, 1 is to read."),
        (20, 20, "All of them are cached and need not be read again."),
    ],
)
def test_none_one_and_all_are_said_as_people_say_them(tokens, cached, says):
    assert f" {says} " in tip(PromptCounted("c", tokens, 0, cached, 512), Mine())


@pytest.mark.parametrize(
    ("counted", "short", "says"),
    [
        (
            PromptCounted("c", 431, 0, 425, 256),
            "250 tokens cached",
            "The context holds 256: the oldest 175 leave it. "
            "250 of those that stay are cached and need not be read again, 6 are to read.",
        ),
        (
            PromptCounted("c", 257, 9, 200, 256),
            "9 tokens, 199 cached",
            "The context holds 256: the oldest 1 leaves it. "
            "199 of those that stay are cached and need not be read again, 57 are to read.",
        ),
        (
            PromptCounted("c", 431, 9, 100, 256),
            "9 tokens",
            "The context holds 256: the oldest 175 leave it. 331 tokens are to read.",
        ),
    ],
)
def test_of_a_context_that_rolls_it_tells_what_leaves_and_what_is_known_of_the_rest(counted, short, says):
    assert note(counted, Mine()) == (short, False)
    assert tip(counted, Mine()).endswith(says)


@pytest.mark.parametrize(
    ("mine", "short", "named"),
    [
        (
            Mine(False, False, True),
            "6 tokens unanswered, 91 cached",
            "The conversation so far has 97 tokens: the question without a reply 6,",
        ),
        (Mine(True, True, True), "6 tokens, 91 cached", "tokens: your message and the question without a reply before it 6,"),
        (Mine(), "6 tokens, 91 cached", "The whole prompt has 97 tokens: your message 6,"),
    ],
)
def test_the_last_message_is_called_what_it_is(mine, short, named):
    counted = PromptCounted("c", 97, 6, 91, 512, said=60)
    assert note(counted, mine) == (short, False)
    assert named in tip(counted, mine)


def test_nobody_is_told_to_shorten_a_message_that_is_not_there(flint):
    asked = flint.ask("fox " * 600).parent_id
    flint.window.message_actions.delete(flint.stored()[-1].id)
    flint.wait(lambda: "unanswered" in told(flint))
    assert "the question without a reply" in flint.window.page.composer.foot.note.toolTip()
    flint.window.chat.set_setting("context", 256)
    flint.window.chat.settings_changed.emit()
    flint.wait(lambda: "the context holds 256" in told(flint))
    hover = flint.window.page.composer.foot.note.toolTip()
    assert "Shorten" not in hover
    assert "Edit or delete the question without a reply" in hover
    assert flint.stored()[-1].id == asked
    flint.type("Now")
    flint.wait(lambda: "Shorten the message" in flint.window.page.composer.foot.note.toolTip())


@pytest.mark.parametrize(
    ("mine", "where"),
    [(Mine(False), "the empty lines between them"), (Mine(), "the words and the empty lines between")],
)
def test_chips_and_what_is_between_them_are_the_whole_message(mine, where):
    counted = PromptCounted("c", 220, 196, 0, 512, texts=(22, 25, 17, 105, 19), said=196)
    assert f"your message 196 (188 in files, 8 in {where})," in tip(counted, mine)


def figures(text):
    return [int(found.replace(",", "")) for found in re.findall(r"\d[\d,]*", text)]


@pytest.mark.parametrize("files", [False, True])
def test_composer_and_inspector_tell_the_same_figures_of_the_same_prompt(flint, files):
    flint.window.chat.set_setting("system_prompt", "Be brief.")
    flint.ask("Hello")
    panel = open_inspector(flint)
    if files:
        flint.window.page.composer.attachments.show((Attachment("a.csv", "file", "day,cups\n" * 9),))
    flint.type("And now?")
    settled(flint)
    flint.wait(lambda: panel.target == "What would be sent next" and panel.head.text.endswith("to read"))
    note = flint.window.page.composer.foot.note.toolTip()
    total, mine, *in_files, before, own, cached, read, _ = figures(note)
    assert len(in_files) == 2 * files
    assert total == mine + before + own == cached + read
    assert not files or sum(in_files) == mine
    flint.wait(lambda: figures(panel.head.text) == [total, cached, read])
    assert told(flint).startswith(f"{mine} tokens")


def test_estimates():
    assert estimate("") == 0
    assert 60 <= estimate("word " * 60) <= 90
    assert 250 <= estimate("2024-07-01,3\n" * 30) <= 400
    assert estimate("東京" * 50) == 100
    assert about("x" * 4_960) == "about 1,200 tokens"


def test_a_count_travels_as_json():
    from engine.core.codec import from_json, to_json
    from tests.engine.engines import generate

    for message in (CountPrompt("c", generate("r"), ("a", "b")), PromptCounted("c", 1, 2, 3, 4, texts=(5,))):
        assert from_json(to_json(message)) == message

"""Whatever goes wrong is told in the window with what to do about it, nothing is lost, and no traceback is ever seen."""

import re
import shutil
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTextBrowser

from engine.chats.store import ChatStore
from engine.core.errors import DiskFull
from engine.core.paths import locate
from tests.app.window_driver import give_model, open_window, remember, set_settings
from tests.disks import small_disk
from tests.models.speaking import FOX, GREETING
from tests.models.tiny_gguf import tiny_gguf

INNER = re.compile(r"Traceback|File \"|line \d+, in|Error:|Errno|Exception|NoneType|\.py\b|0x[0-9a-f]{6}|<class")


def calm(flint):
    """Return all that is said on screen, after a look that nothing of the program's inside is among it."""
    words = flint.said() + "\n" + "\n".join(flint.shown())
    found = INNER.search(words)
    assert not found, words[max(0, found.start() - 200) : found.end() + 200]
    return words


def note(flint, message):
    """Return what the note of a failed reply says."""
    return flint.view(message).findChild(object, "failureNote").accessibleName()


def unlink(folder):
    """Make a model's files its own: they are hard links to what other tests use."""
    for path in folder.iterdir():
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)
    return folder


def lack_weights(folder):
    (folder / "model.safetensors").unlink()


def cut_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-5000])


def unknown_architecture(folder):
    text = (folder / "config.json").read_text()
    (folder / "config.json").write_text(text.replace('"llama"', '"hypermamba9"'))


BAD = [(lack_weights, "has no weights"), (cut_weights, "model.safetensors"), (unknown_architecture, "hypermamba9")]


# -- models that do not fit ----------------------------------------------------------------------------------------------


@pytest.mark.drives("loadAnywayButton")
def test_a_model_that_does_not_fit_is_refused_and_loaded_when_somebody_insists(qtbot, fox, monkeypatch):
    import engine.inference.load_guard as guard

    real = guard.read_memory
    monkeypatch.setattr(guard, "read_memory", lambda *a, **k: replace(real(*a, **k), budget=1000))
    remember(model=give_model(fox))
    with open_window(qtbot) as flint:
        flint.wait(lambda: flint.window.models.state.state == "failed")
        assert "Nothing has been loaded" in flint.window.models.state.error.text
        flint.click("loadAnywayButton")
        flint.wait_ready()
        assert not flint.part("loadAnywayButton").isVisible()


# -- models that can't be used -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spoil", "word"), BAD)
def test_bad_model_is_shown_with_its_reason_and_can_not_be_chosen(qtbot, fox, greeting, spoil, word):
    remember(model=give_model(fox))
    spoil(unlink(locate().models / give_model(greeting)))
    with open_window(qtbot) as flint:
        flint.wait_ready()
        flint.window.place.show()
        entry = flint.window.models.entry("greeting")
        assert word in entry.problem
        flint.window.place.dialog.select("greeting")
        assert entry.problem in calm(flint)
        assert flint.ask("Still there?").text == FOX


def test_model_that_goes_bad_while_its_chat_is_open_is_told_in_a_message(flint, greeting):
    give_model(greeting)
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("greeting"))
    flint.ask("Hello")
    lack_weights(unlink(locate().models / "greeting"))
    flint.choose_model("greeting")
    flint.wait(lambda: flint.window.models.state.state == "failed")
    ((text, hint),) = flint.toasts()
    assert "has no weights" in text
    assert hint == "Download or import the model again."
    assert flint.window.toolbar.picker.line == "Could not be loaded"
    calm(flint)
    flint.press(flint.window, "toastAction")
    assert flint.part("modelsDialog").isVisible()


def test_model_that_can_not_be_loaded_is_told_on_the_empty_page_with_a_way_on(qtbot, fox):
    remember(model=give_model(fox))
    (unlink(locate().models / "fox") / "tokenizer.json").write_text("{}")  # Found out only in the middle of a load.
    with open_window(qtbot) as flint:
        flint.wait(lambda: flint.window.models.state.state == "failed")
        assert flint.window.page.welcome.state == "failure"
        assert flint.toasts() == []  # The card says it.
        words = calm(flint)
        assert "fox could not be loaded" in words
        assert "Download or import the model again." in words
        shutil.copy(fox / "tokenizer.json", locate().models / "fox")
        flint.window.page.welcome.retry_requested.emit()
        flint.wait_ready()
        assert flint.ask("Hello").text == FOX


def test_message_for_a_model_that_can_not_be_loaded_keeps_question_and_reason(qtbot, fox):
    remember(model=give_model(fox))
    (unlink(locate().models / "fox") / "tokenizer.json").write_text("{}")
    with open_window(qtbot) as flint:
        flint.send("Precious question")
        flint.wait(lambda: flint.idle)
        question, reply = flint.stored()
        assert (question.text, reply.state) == ("Precious question", "failed")
        assert reply.error.text in note(flint, reply)
        assert reply.error.hint in note(flint, reply)
        calm(flint)
        shutil.copy(fox / "tokenizer.json", locate().models / "fox")
        flint.press(flint.view(reply), "regenerate")
        flint.wait(lambda: flint.idle)
        assert flint.shown() == ["Precious question", FOX]


def test_path_with_spaces_and_letters_of_all_kinds_works(qtbot, fox, monkeypatch, tmp_path):
    home = tmp_path / "Größe & 名前 'x'"
    monkeypatch.setenv("FLINT_HOME", str(home))
    remember(model=give_model(fox, "modèle 模型 😀"))
    with open_window(qtbot) as flint:
        flint.wait_ready()
        assert flint.ask("Hello").text == FOX
        assert "modèle 模型 😀" in flint.window.toolbar.picker.accessibleName()
    assert locate().chats.is_relative_to(home)


def fill(path):
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)


# -- importing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda path: tiny_gguf(path, metadata={"general.architecture": "hypermamba9"}), "hypermamba9"),
        (lambda path: (tiny_gguf(path), path.write_bytes(path.read_bytes()[:-4000])), "cut short"),
    ],
)
def test_gguf_that_can_not_be_imported_is_told_where_it_was_chosen(flint, tmp_path, make, word):
    path = tmp_path / "ein Modell mit ü.gguf"
    make(path)
    flint.window.place.show()
    flint.window.place.dialog.import_requested.emit(str(path))
    flint.wait(lambda: word in flint.said())
    calm(flint)
    assert flint.window.models.model.id == "fox"
    flint.window.place.dialog.close()
    assert flint.ask("Still there?").text == FOX


def test_gguf_that_was_imported_before_is_told_under_the_name_it_has(flint, tmp_path):
    tiny_gguf(tmp_path / "first.gguf")
    (tmp_path / "second.gguf").write_bytes((tmp_path / "first.gguf").read_bytes())
    flint.window.place.show()
    flint.window.place.dialog.import_requested.emit(str(tmp_path / "first.gguf"))
    flint.wait(lambda: "is ready to use." in flint.said())
    flint.window.place.dialog.import_requested.emit(str(tmp_path / "second.gguf"))
    flint.wait(lambda: "It is already here as “first”." in flint.said())


def test_full_disk_while_the_starter_is_imported_is_told_and_leaves_nothing_half_made(qtbot, starter_gguf):
    with small_disk(locate().data, "8m"):
        with open_window(qtbot) as flint:
            flint.wait(lambda: flint.window.models.state.state == "failed")
            words = calm(flint)
            assert "The disk is too full" in words
            assert "Free some space" in words
            flint.type("A thought to keep")
        assert not any(path.stat().st_size for path in locate().models.rglob("*") if path.is_file())
        with ChatStore(locate().chats) as store:
            assert store.draft(None) == "A thought to keep"


def test_full_disk_in_mid_reply_is_told_once_and_the_reply_goes_on(qtbot, endless):
    with small_disk(locate().data, "12m") as disk:
        remember(model=give_model(endless))
        set_settings(max_tokens=30_000)
        with open_window(qtbot) as flint:
            flint.wait_ready()
            pending = flint.send("Go")
            flint.wait(lambda: flint.deltas(pending.request_id))
            filler = disk / "filler"
            with pytest.raises(OSError, match="space"):
                fill(filler)
            flint.wait(lambda: flint.toasts())
            ((text, hint),) = flint.toasts()
            assert "disk is full" in text
            assert "Free some space" in hint
            count = len(flint.deltas(pending.request_id))
            flint.wait(lambda: len(flint.deltas(pending.request_id)) > count + 3)
            filler.unlink()
            flint.key(Qt.Key.Key_Escape)
            flint.wait(lambda: flint.idle)
            written = "".join(piece.text for piece in flint.deltas(pending.request_id))
            assert (flint.stored()[-1].state, flint.stored()[-1].text) == ("cancelled", written)


# -- a reply that fails --------------------------------------------------------------------------------------------------


def fail_after(monkeypatch, calls, error):
    """Have the model's layer raise after so many calls."""
    from mlx_lm.models.llama import TransformerBlock

    whole, count = TransformerBlock.__call__, [0]

    def layer(self, *arguments, **options):
        count[0] += 1
        if count[0] > calls:
            raise error
        return whole(self, *arguments, **options)

    monkeypatch.setattr(TransformerBlock, "__call__", layer)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError('boom in File "/x/y.py", line 3, in f'), "The model failed while it worked on the reply."),
        (MemoryError(), "The memory ran out while the reply was being made."),
        (RuntimeError("[metal::malloc] Unable to allocate 9 bytes: out of memory"), "The memory ran out"),
    ],
)
def test_model_that_fails_in_mid_reply_is_told_and_keeps_what_was_written(qtbot, endless, error, words):
    remember(model=give_model(endless))
    with open_window(qtbot) as flint, pytest.MonkeyPatch.context() as patch:
        flint.wait_ready()
        fail_after(patch, 25, error)
        flint.send("Go")
        flint.wait(lambda: flint.idle)
        reply = flint.stored()[-1]
        assert reply.state == "failed"
        assert reply.text.startswith("The quick brown fox")
        assert flint.shown() == ["Go", reply.text.strip()]
        assert words in note(flint, reply)
        assert reply.error.hint in note(flint, reply)
        calm(flint)
        patch.undo()
        flint.send("Go on")
        flint.wait(lambda: flint.phase == "writing")  # The engine survived it.
        flint.key(Qt.Key.Key_Escape)
        flint.wait(lambda: flint.idle)


def test_model_without_a_chat_template_is_told(qtbot, fox):
    remember(model=give_model(fox))
    folder = unlink(locate().models / "fox")
    for path in folder.glob("*template*"):
        path.unlink()
    config = (folder / "tokenizer_config.json").read_text()
    (folder / "tokenizer_config.json").write_text(re.sub(r'"chat_template": ".*?(?<!\\)",?', "", config))
    with open_window(qtbot) as flint:
        flint.send("Hello")
        flint.wait(lambda: flint.idle)
        assert flint.stored()[-1].state == "failed"
        assert "chat model" in note(flint, flint.stored()[-1])
        calm(flint)


# -- files of Flint's own ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["{ not json", "[]", '{"values": 3}', "\0\0\0"])
def test_damaged_settings_file_is_told_and_kept_aside(qtbot, content):
    locate().config.mkdir(parents=True)
    locate().settings.write_text(content)
    with open_window(qtbot) as flint:
        flint.wait(lambda: flint.toasts())
        ((text, _),) = flint.toasts()
        assert "settings file could not be read" in text
        (aside,) = locate().config.glob("settings.json.damaged-*")
        assert aside.name in text
        assert aside.read_text() == content
        calm(flint)


def test_settings_out_of_bounds_are_named_and_the_others_kept(qtbot):
    locate().config.mkdir(parents=True)
    locate().settings.write_text('{"version": 1, "values": {"temperature": 99, "top_k": 7}}')
    with open_window(qtbot) as flint:
        flint.wait(lambda: flint.toasts())
        assert "Temperature" in flint.toasts()[0][0]
        flint.click("settingsButton")
        assert flint.part("setting.top_k").text() == "7"


def test_markup_of_a_name_or_a_message_is_shown_as_it_is(qtbot, fox):
    remember(model=give_model(fox, "<b>bold<br>"))
    with open_window(qtbot) as flint:
        flint.wait_ready()
        flint.ask("<b>not bold</b> & <script>alert(1)</script>")
        assert flint.shown()[0] == "<b>not bold</b> & <script>alert(1)</script>"
        flint.window.sidebar.wishes.delete_requested.emit((flint.window.chat.chat_id,))
        assert "<b>not bold</b>" in flint.toasts()[0][0]
        assert flint.window.findChildren(QTextBrowser)


def test_no_model_at_all_says_how_to_get_one_and_sends_nothing(qtbot):
    with open_window(qtbot) as flint:
        flint.wait(lambda: flint.window.models.state.state == "none")
        assert flint.window.page.welcome.state == "no-model"
        words = calm(flint)
        assert "No model here yet" in words
        assert "Import" in words
        flint.type("Hello")
        flint.key(Qt.Key.Key_Return)
        assert flint.part("composer").text == "Hello"
        assert flint.window.page.composer.note == "Choose a model first"
        assert flint.idle


def test_two_models_and_a_failing_one_between_them_lose_nothing(flint, greeting, fox):
    give_model(greeting)
    give_model(fox, "broken")
    (unlink(locate().models / "broken") / "tokenizer.json").write_text("{}")
    flint.window.models.refresh()
    flint.wait(lambda: flint.window.models.entry("greeting") and flint.window.models.entry("broken"))
    flint.ask("One")
    flint.choose_model("broken")
    flint.wait(lambda: flint.window.models.state.state == "failed")
    flint.send("Two")
    flint.wait(lambda: flint.idle)
    flint.choose_model("greeting")
    flint.wait_ready()
    flint.ask("Three")
    assert [(message.state, message.text) for message in flint.stored() if message.role == "assistant"] == [
        ("complete", FOX),
        ("failed", ""),
        ("complete", GREETING),
    ]


def test_an_error_of_a_chat_stays_until_the_chat_is_left_and_any_other_stays(qtbot, flint_home):
    with open_window(qtbot) as flint:
        flint.window.replies.failed.emit(DiskFull("A").info())
        flint.window.chat.failed.emit(DiskFull("B").info())
        assert sorted(title for title, _ in flint.toasts()) == ["A.", "B."]
        flint.window.chat.open(None)
        flint.wait(lambda: [title for title, _ in flint.toasts()] == ["A."])
        assert not flint.window.toaster.toasts[0].timer.isActive()

"""The line that says what the KV cache would take: its figures and words, and that it follows what they come from."""

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.settings.kv_line import kv_line
from app.settings.kv_needs import KvModel
from engine.core.settings import BY_NAME
from engine.core.sizes import size_text
from engine.models.fit import predict
from tests.app.window_driver import give_model, open_window, remember
from tests.engine.models.test_fit import FOUR_BITS, LLAMA
from tests.models.tiny import tiny_llama

TRAINED = 131_072


def line(config=LLAMA, trained=TRAINED, seen=0, **values):
    fit = predict({**config, "quantization": FOUR_BITS}, context=1, metal=True)
    defaults = {name: BY_NAME[name].default for name in ("context", "kv_bits")}
    return kv_line(fit, KvModel("/there", trained, seen), {**defaults, **values})


def shown(flint):
    label = flint.part("kvNeeds")
    return label.text() if label.isVisible() else ""


def test_line_is_that_of_the_picture():
    assert line(context=32_768) == "KV needs 4.3 GB at this length, 2.3 GB at 8/8."


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"context": 32_768, "kv_bits": "8"}, "KV needs 2.3 GB at this length, 4.3 GB when off."),
        ({"context": 32_768, "kv_bits": "4"}, "KV needs 1.2 GB at this length, 4.3 GB when off."),
        ({}, "KV needs 4.3 GB at 32,768 tokens, 2.3 GB at 8/8."),
        ({"context": 1_000_000}, "KV needs 17.2 GB at 131,072 tokens, 9.1 GB at 8/8."),
        ({"context": 1_000_000, "trained": 0}, "KV needs 17.2 GB at 131,072 tokens, 9.1 GB at 8/8."),
        ({"trained": 4096}, "KV needs 537 MB at 4,096 tokens, 294 MB at 8/8."),
    ],
)
def test_line_names_the_tokens_and_the_precision_it_is_for(values, words):
    assert line(**values) == words


def test_what_the_loaded_model_was_seen_to_take_counts():
    assert line(context=32_768, seen=2 * 131_072) == "KV needs 8.6 GB at this length, 4.6 GB at 8/8."


def test_an_architecture_that_was_never_compared_is_a_rough_figure():
    assert line({**LLAMA, "model_type": "newcomer"}, context=32_768).startswith("KV needs about 4.3 GB")


def test_line_follows_context_precision_and_scope_with_the_guards_own_figures(qtbot, tmp_path):
    folder = tiny_llama(tmp_path / "packs", hidden=256, heads=4, kv_heads=2, context=2048)
    remember(model=give_model(folder))
    config = json.loads((folder / "config.json").read_text())
    with open_window(qtbot) as flint:
        flint.wait_ready()
        element_bytes = flint.window.bridge._host._worker._resident.session.loaded.element_bytes

        def needs(context, bits):
            return size_text(predict(config, context=context, kv_bits=bits, element_bytes=element_bytes).kv_bytes)

        flint.click("settingsButton")
        flint.wait(lambda: shown(flint) == f"KV needs {needs(2048, 'off')} at 2,048 tokens, {needs(2048, '8')} at 8/8.")
        flint.choose_setting("context", "512", scope="app")
        flint.wait(lambda: shown(flint) == f"KV needs {needs(512, 'off')} at this length, {needs(512, '8')} at 8/8.")
        flint.choose_setting("kv_bits", "8", scope="chat")
        flint.wait(lambda: shown(flint) == f"KV needs {needs(512, '8')} at this length, {needs(512, 'off')} when off.")
        flint.press(flint.part("settingsScope"), "segment.app")
        flint.wait(lambda: shown(flint) == f"KV needs {needs(512, 'off')} at this length, {needs(512, '8')} at 8/8.")


def test_line_follows_a_drag_before_it_ends(flint):
    flint.click("settingsButton")
    flint.wait(lambda: shown(flint))
    slider = flint.part("slider.context")
    for place in (0.1, 0.4):
        before = shown(flint)
        QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(round(slider.width() * place), 5))
        flint.wait(lambda before=before: shown(flint) != before)


def test_line_needs_no_loaded_model_but_a_known_one(qtbot, fox):
    with open_window(qtbot) as flint:
        flint.click("settingsButton")
        flint.wait(lambda: flint.window.models.state.state == "none")
        assert shown(flint) == ""
        give_model(fox)
        flint.window.models.refresh()
        flint.wait(lambda: shown(flint))
        line = shown(flint)
        flint.window.models.unload()
        flint.wait(lambda: flint.window.models.model is None)
        assert shown(flint) == line


def test_a_model_that_can_not_be_judged_has_no_line(flint, tmp_path):
    flint.click("settingsButton")
    flint.wait(lambda: shown(flint))
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text('{"model_type": 7}')
    needs = flint.window.settings._kv_needs
    needs.show_model(KvModel(str(broken)))
    flint.wait(lambda: not needs._work._awaited)
    assert shown(flint) == ""

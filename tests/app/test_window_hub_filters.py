"""Narrow what was found, and choose among a model's quantizations: in the real window, against a hub on loopback."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from engine.core.machine import THIS_MACHINE
from tests.app.hub_window import FOX_ID, GATED_ID, LARGE_ID, MACHINE, QWEN, SLOW_ID, hub_on_loopback
from tests.app.window_driver import row_center
from tests.hub.repositories import MadeUp, Repository
from tests.models.tiny_gguf import tiny_gguf


@pytest.fixture
def server(monkeypatch, fox):
    with hub_on_loopback(monkeypatch, fox) as server:
        yield server


@pytest.mark.drives("showPopular", "sortResults", "filterQuantization", "filterLicence", "fitsOnly")
@pytest.mark.drives("sortResults.menu", "filterQuantization.menu", "filterLicence.menu")
def test_popular_models_are_sorted_and_filtered(found):
    found.click("showPopular")
    found.wait(lambda: found.ids() == [FOX_ID, GATED_ID, LARGE_ID, SLOW_ID] and all(r.assessment for r in found.rows()))
    found.click("sortResults")
    QTest.keyClick(found.page.filters.sort_choice.menu, Qt.Key.Key_Down)
    assert found.page.filters.sort_choice.menu.isVisible()
    found.page.filters.sort_choice.menu.close()
    choose(found.page.filters.sort_choice, "Liked")
    found.wait(lambda: found.ids() == [GATED_ID, LARGE_ID, SLOW_ID, FOX_ID])
    found.click("filterQuantization")
    choose(found.page.filters.quantization, "4-bit or less")
    assert found.ids() == [GATED_ID, SLOW_ID]
    found.click("filterLicence")
    choose(found.page.filters.licence, "Not gated")
    assert found.ids() == [SLOW_ID]
    choose(found.page.filters.quantization, "Any quantization")
    choose(found.page.filters.licence, "Any licence")
    found.wait(lambda: all(row.assessment for row in found.rows()))
    found.click("fitsOnly")
    assert LARGE_ID not in found.ids()
    assert "3 shown" in found.text("searchTitle")


def task_models(server):
    """Models of every task, beside those that every test has: those have no chat template."""
    for name, tags, task, bits in (
        ("Talk-3B", ["conversational"], "text-generation", 10**9),
        ("Talk-Coder-9B", ["conversational"], "text-generation", 3 * 10**9),
        ("Look-4B", [], "image-text-to-text", 10**9),
        ("Hear-1B", [], "automatic-speech-recognition", 10**8),
    ):
        server.add(Repository(f"org/{name}", tags=["mlx", *tags], pipeline_tag=task, parameters={"U32": bits}))


@pytest.mark.drives("filterTask", "filterTask.menu", "filterSize", "filterSize.menu")
def test_by_mouse_models_are_found_by_task_and_size(found, server):
    task_models(server)
    found.type("org")
    found.wait(lambda: len(found.rows()) == 8)
    asked = len(server.requests("api/models$"))
    pick_with_mouse(found.page.filters.task_choice, "Chat")
    found.wait(lambda: found.text("searchTitle") == "2 found")
    assert found.ids() == ["org/Talk-3B", "org/Talk-Coder-9B"]
    assert len(server.requests("api/models$")) == asked + 1
    pick_with_mouse(found.page.filters.size_choice, "Up to 4 GB")
    assert found.ids() == ["org/Talk-3B"]
    assert len(server.requests("api/models$")) == asked + 1
    pick_with_mouse(found.page.filters.size_choice, "Any size")
    pick_with_mouse(found.page.filters.task_choice, "Vision")
    found.wait(lambda: found.ids() == ["org/Look-4B"])
    assert "Flint runs its text alone" in found.text("fetchNotice")
    pick_with_mouse(found.page.filters.task_choice, "Any task")
    found.wait(lambda: len(found.rows()) == 8)
    found.pick("org/Hear-1B")
    assert "automatic-speech-recognition" in found.text("fetchNotice")


@pytest.mark.drives("filterTask", "filterSize")
def test_by_keyboard_the_recommended_are_narrowed_without_the_network(found, server):
    found.wait(lambda: all(row.assessment for row in found.rows()))
    choose(found.page.filters.task_choice, "Code")
    assert found.ids() == ["mlx-community/Qwen3-Coder-30B-A3B-Instruct-4bit"]
    choose(found.page.filters.task_choice, "Any task")
    choose(found.page.filters.size_choice, "Up to 2 GB")
    assert {row.model.size_bytes < 2 * 10**9 for row in found.rows()} == {True}
    assert server.asked == []


@pytest.mark.drives("filterTask")
def test_those_without_a_chat_template_are_looked_for_among_all_that_the_hub_gives(found, server):
    for number in range(98):
        server.add(Repository(f"many/m{number}", tags=["mlx", "conversational"], downloads=9))
    server.add(Repository("many/base", tags=["mlx"]))
    found.type("many")
    found.wait(lambda: len(found.rows()) == 30)
    choose(found.page.filters.task_choice, "Completion")
    found.wait(lambda: found.text("searchTitle") == "1 found")
    assert found.ids() == ["many/base"]
    assert not found.shows("moreResults")


def quantizations(server, *bits):
    """One model in several quantizations, of which the search finds the first alone."""
    for number in bits:
        tags = ["mlx", "conversational", "base_model:Org/Many-9B", "base_model:quantized:Org/Many-9B"]
        repository = Repository(f"org/Many-9B-{number}bit", tags=tags, parameters={"U32": number * 280_000_000})
        config = {**QWEN, "quantization": {"group_size": 64, "bits": number}}
        server.add(
            repository.add("config.json", config)
            .add("tokenizer.json", "{}")
            .add("model.safetensors", MadeUp(2000, number))
            .add("README.md", "# Many")
        )


def variants(found):
    return [(row.model.id[-4:], row.size, row.badge[0]) for row in found.page.detail.variants._models.rows]


@pytest.mark.drives("variantRows", "downloadModel")
def test_by_mouse_another_quantization_is_seen_judged_chosen_and_fetched(found, server):
    quantizations(server, 4, 6, 8, 16, 24)
    found.search("9b-4bit", 1)
    found.pick("org/Many-9B-4bit")
    fits = [("4bit", "4.5 GB", "Fits"), ("6bit", "6.7 GB", "Fits"), ("8bit", "9.0 GB", "Fits"), ("6bit", "17.9 GB", "Fits")]
    found.wait(lambda: variants(found) == [*fits, ("4bit", "26.9 GB", "Does not fit")])
    view = found.page.detail.variants.view
    asked = len(server.requests("api/models$"))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=row_center(view, 2))
    found.wait(lambda: found.page.detail.detail and found.page.detail.detail.model.id == "org/Many-9B-8bit")
    assert found.ids() == ["org/Many-9B-4bit"]
    assert found.text("hubModelName").startswith("Many 9B 8")
    assert view.currentIndex().row() == 2
    assert len(server.requests("api/models$")) == asked
    found.click("downloadModel")
    found.wait(lambda: found.state("org/Many-9B-8bit") == "done" and variants(found)[2][2] == f"On {THIS_MACHINE}")
    found.click_row("org/Many-9B-4bit")
    found.wait(lambda: found.page.detail.model_id == "org/Many-9B-4bit" and view.currentIndex().row() == 0)


@pytest.mark.drives("variantRows")
def test_by_keyboard_another_quantization_is_chosen(found, server):
    quantizations(server, 4, 8)
    found.search("many 8bit", 1)
    found.pick("org/Many-9B-8bit")
    view = found.page.detail.variants.view
    found.wait(lambda: view.isVisible() and view.currentIndex().row() == 1)
    while not view.hasFocus():
        QTest.keyClick(found.dialog.focusWidget(), Qt.Key.Key_Tab)
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert found.page.detail.model_id == "org/Many-9B-8bit"
    QTest.keyClick(view, Qt.Key.Key_Return)
    found.wait(lambda: found.page.detail.detail and found.page.detail.detail.model.id == "org/Many-9B-4bit")


@pytest.mark.drives("fitContext")
def test_quantizations_say_which_context_they_are_judged_with(found, server):
    quantizations(server, 4, 8)
    found.page.set_machine(replace(MACHINE, budget=10_000_000_000))
    found.search("9b-8bit", 1)
    found.pick("org/Many-9B-8bit")
    detail = found.page.detail
    found.wait(lambda: variants(found)[-1:] and variants(found)[-1][2].startswith("Fits at "))
    before = variants(found)
    assert found.text("variantsBasis").startswith("Each with 32,768 tokens of context")
    QTest.keyClick(detail.fit.slider, Qt.Key.Key_Home)
    found.wait(lambda: found.driver.part("hubVerdict").accessibleName() == "Fits")
    assert variants(found) == before


@pytest.mark.drives("variantRows")
def test_the_list_marks_the_row_of_another_quantization_where_it_has_one(found, server):
    quantizations(server, 4, 8)
    found.search("many-9b", 2)
    found.pick("org/Many-9B-4bit")
    view = found.page.detail.variants.view
    found.wait(lambda: view.isVisible() and len(variants(found)) == 2)
    for place, model_id in ((1, "org/Many-9B-8bit"), (0, "org/Many-9B-4bit")):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=row_center(view, place))
        found.wait(lambda m=model_id: found.page.detail.detail and found.page.detail.detail.model.id == m)
        assert found.rows()[found.page.results.currentIndex().row()].model.id == model_id
        assert view.currentIndex().row() == place


@pytest.mark.drives("variantsAgain")
def test_quantizations_that_can_not_be_looked_up_say_why_and_the_rest_stays(found, server):
    quantizations(server, 4, 8)
    found.search("9b-4bit", 1)
    server.fault("api/models$", status=503, times=1)
    found.pick("org/Many-9B-4bit")
    found.wait(lambda: found.shows("variantsAgain"))
    assert "hub" in found.text("variantsNote")
    assert found.page.detail.problem.text == ""
    found.click("variantsAgain")
    found.wait(lambda: [name for name, _, _ in variants(found)] == ["4bit", "8bit"])
    assert not found.shows("variantsNote")


def ggufs(server, folder):
    """A repository of two GGUFs, which a search for MLX does not find; the model they were made from says their shape."""
    repository = Repository("org/Tiny-GGUF", tags=["gguf", "base_model:quantized:Org/Tiny"], downloads=9)
    for kind in ("Q4_0", "Q8_0"):
        tiny_gguf(folder / f"Tiny-{kind}.gguf", kind=kind)
        repository.add(f"Tiny-{kind}.gguf", (folder / f"Tiny-{kind}.gguf").read_bytes())
    server.add(repository)
    server.add(Repository("Org/Tiny").add("config.json", QWEN))


@pytest.mark.drives("filterFormat", "filterFormat.menu", "variantRows", "downloadModel")
def test_a_file_of_a_repository_of_ggufs_is_found_chosen_fetched_and_used(found, server, tmp_path):
    ggufs(server, tmp_path)
    found.type("tiny")
    found.wait(lambda: found.text("searchTitle") == "Nothing found for “tiny”")
    pick_with_mouse(found.page.filters.format_choice, "Any format")
    found.wait(lambda: found.ids() == ["org/Tiny-GGUF", "Org/Tiny"])
    assert not found.page.detail.fetch.isEnabled()
    found.click_row("org/Tiny-GGUF")
    found.wait(lambda: found.page.detail.detail is not None)
    assert found.page.detail.fetch.isEnabled()
    assert found.page.detail.model_id == "org/Tiny-GGUF/Tiny-Q4_0.gguf"
    found.wait(lambda: [row.badge[0] for row in found.page.detail.variants._models.rows] == ["Fits", "Fits"])
    view = found.page.detail.variants.view
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=row_center(view, 1))
    chosen = "org/Tiny-GGUF/Tiny-Q8_0.gguf"
    found.wait(lambda: found.page.detail.detail and found.page.detail.model_id == chosen)
    assert found.page.detail.table.facts()["Quantization"] == "Q8_0"
    found.click("downloadModel")
    found.wait(lambda: found.driver.window.models.entry(chosen) is not None)
    assert found.page.detail.fetch.text() == "Use it"
    found.click("downloadModel")
    found.driver.wait_ready()
    assert found.driver.window.models.model_id


@pytest.mark.drives("filterFormat")
def test_by_keyboard_another_format_is_asked_for(found, server, tmp_path):
    ggufs(server, tmp_path)
    found.type("tiny-gguf")
    choose(found.page.filters.format_choice, "Any format")
    found.wait(lambda: found.ids() == ["org/Tiny-GGUF"])
    choose(found.page.filters.format_choice, "MLX")
    found.wait(lambda: found.ids() == [])


def test_a_model_with_one_quantization_has_no_list_of_them(found, server):
    found.search("fox", 1)
    found.pick(FOX_ID)
    found.wait(lambda: len(server.requests("api/models$")) == 2 and not found.shows("variants"))


def pick_with_mouse(button, label):
    """Open a menu and click a choice of it."""
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    action = next(action for action in button.menu.actions() if action.text() == label)
    QTest.mouseClick(button.menu, Qt.MouseButton.LeftButton, pos=button.menu.actionGeometry(action).center())


def choose(button, label):
    """Take a choice of an open menu with the keyboard."""
    if not button.menu.isVisible():
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    action = next(action for action in button.menu.actions() if action.text() == label)
    button.menu.setActiveAction(action)
    QTest.keyClick(button.menu, Qt.Key.Key_Return)

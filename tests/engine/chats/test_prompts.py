"""Named system prompts: those that ship, and a person's own."""

import pytest

from engine.chats.prompts import KEY, SystemPrompt, SystemPrompts
from engine.core.errors import UsageError


@pytest.fixture
def prompts(store):
    return SystemPrompts(store)


def test_a_few_good_ones_ship(prompts):
    shipped = prompts.all()
    assert [prompt.name for prompt in shipped] == ["Code reviewer", "Concise", "Editor", "Translator", "Tutor"]
    assert all(not prompt.own and 100 < len(prompt.text) < 800 for prompt in shipped)


def test_own_ones_come_first_and_survive_a_restart(store, prompts):
    prompts.save("Pirate", "Talk like a pirate.")
    prompts.save("  Bard ", "Rhyme.\n")
    again = SystemPrompts(store).all()
    assert again[:2] == [SystemPrompt("Bard", "Rhyme."), SystemPrompt("Pirate", "Talk like a pirate.")]
    assert prompts.named(" Rhyme. ") == SystemPrompt("Bard", "Rhyme.")
    assert prompts.named("Sing.") is None


def test_a_prompt_is_renamed_and_changed(prompts):
    prompts.save("Pirate", "Arr.")
    prompts.save("Captain", "Arr, matey.", instead_of="Pirate")
    assert [prompt for prompt in prompts.all() if prompt.own] == [SystemPrompt("Captain", "Arr, matey.")]
    prompts.save("CAPTAIN", "Aye.", instead_of="Captain")
    assert [prompt.name for prompt in prompts.all() if prompt.own] == ["CAPTAIN"]


def test_an_own_one_hides_the_built_in_of_its_name_until_it_is_deleted(prompts):
    before = prompts.all()
    prompts.save("tutor", "My tutor.")
    assert [prompt.text for prompt in prompts.all() if prompt.name.casefold() == "tutor"] == ["My tutor."]
    prompts.delete("Tutor")
    assert prompts.all() == before
    prompts.delete("Concise")  # It ships: nothing of a person's is dropped.
    assert prompts.all() == before


@pytest.mark.parametrize(("name", "text"), [("", "x"), ("  ", "x"), ("x", " \n"), ("n" * 61, "x"), ("pirate", "x")])
def test_what_cannot_be_kept_is_refused(prompts, name, text):
    prompts.save("Pirate", "Arr.")
    with pytest.raises(UsageError):
        prompts.save(name, text)
    assert [prompt for prompt in prompts.all() if prompt.own] == [SystemPrompt("Pirate", "Arr.")]


@pytest.mark.parametrize("kept", ["{", "3", '[{"name": "x"}]'])
def test_what_another_flint_kept_breaks_nothing(store, prompts, kept):
    store.remember(KEY, kept)
    assert all(not prompt.own for prompt in prompts.all())

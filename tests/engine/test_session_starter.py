"""A session with a real model, the starter: held against mlx-lm, against itself cold, and dense against as stored."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.facts import Message
from engine.core.messages import Replayed
from engine.core.settings import Sampling
from engine.inference.loader import is_quantized
from engine.session import Session
from tests.engine.talk import GREEDY, ask, assistant, next_logits, prompt_ids, request, reusable, user
from tests.models.loading import load_folder

FRANCE = user("What is the capital of France?")
RIVER = user("Which river runs through it?")
STORY = user("Write a story of three sentences about a lighthouse.")


@pytest.fixture(scope="module")
def stored(starter):
    """The starter with its quantized weights, as a Mac holds it."""
    return load_folder(starter, "as-stored")


def test_greedy_ids_are_those_of_mlx_lm(starter_loaded):
    from mlx_lm.generate import stream_generate
    from mlx_lm.tokenizer_utils import TokenizerWrapper

    session = Session(starter_loaded)
    answer = ask(session, STORY, sampling=replace(GREEDY, max_tokens=17))
    wrapped = TokenizerWrapper(starter_loaded.tokenizer, eos_token_ids=starter_loaded.end_ids)
    responses = stream_generate(starter_loaded.model, wrapped, list(prompt_ids(session, STORY)), max_tokens=17)
    theirs = list(responses)
    assert answer.ids == [response.token for response in theirs][:16]
    assert len(answer.ids) == 16
    assert answer.text.startswith("".join(response.text for response in theirs[:-2]))


def test_the_prompt_is_the_models_own_template_encoded_once(starter_loaded):
    tokenizer = starter_loaded.tokenizer
    conversation = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": FRANCE.text}]
    text = tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
    expected = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids
    session = Session(starter_loaded)
    facts = ask(session, Message("system", "Be brief."), FRANCE, sampling=replace(GREEDY, max_tokens=1)).facts
    assert facts.prompt_tokens == len(expected)
    assert session.cache.tokens == expected


def test_a_conversation_reads_only_what_is_new_and_answers_as_if_cold(starter_loaded):
    session = Session(starter_loaded)
    one = ask(session, FRANCE)
    assert "Paris" in one.text
    assert one.facts.finish_reason == "stop"
    following = (FRANCE, assistant(one.text), RIVER)
    two = ask(session, *following, sampling=replace(GREEDY, max_tokens=13))
    assert two.facts.cached_tokens == reusable(session, two, *following)
    assert (
        two.facts.cached_tokens == one.facts.prompt_tokens + one.facts.output_tokens + 1
    )  # The whole first turn, its end too.
    fresh = ask(Session(starter_loaded), *following, sampling=replace(GREEDY, max_tokens=13))
    assert two.ids == fresh.ids
    assert len(two.ids) == 12


def test_weights_as_stored_answer_as_dense_ones_do(starter_loaded, stored):
    assert is_quantized(stored.model)
    assert not is_quantized(starter_loaded.model)
    assert stored.facts.weights_bytes < starter_loaded.facts.weights_bytes / 3
    assert stored.facts.fingerprint == starter_loaded.facts.fingerprint
    quantized, dense = Session(stored), Session(starter_loaded)
    assert [ask(session, FRANCE).text for session in (quantized, dense)] == ["The capital of France is Paris."] * 2
    ours, theirs = next_logits(quantized, FRANCE), next_logits(dense, FRANCE)
    assert ours.argmax() == theirs.argmax()
    np.testing.assert_allclose(ours, theirs, atol=2e-2)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=1.0, top_p=0.9, max_tokens=12),
        Sampling(temperature=0.8, min_p=0.1, repetition_penalty=1.2, max_tokens=12),
    ],
    ids=["top-p", "min-p and penalty"],
)
def test_a_reply_run_again_exactly_is_the_same(starter_loaded, sampling):
    session = Session(starter_loaded)
    one = ask(session, FRANCE, sampling=sampling)
    told = Message("assistant", one.text, one.facts.output_ids, one.facts.fingerprint)
    two = ask(session, FRANCE, told, RIVER, sampling=sampling)
    ask(session, STORY, sampling=sampling)
    asked = replace(request([FRANCE, told, RIVER], two.facts.sampling, two.facts.context), replay=two.facts)
    for place in (session, Session(starter_loaded)):  # With what is cached, and as after a restart.
        replayed = list(place.generate(asked))[-2]
        assert replayed == Replayed("reply", True, len(two.facts.output_ids), "", "", ())

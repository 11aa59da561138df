"""A session with every kind of cache: what people do in chats reads little more than was never seen."""

from dataclasses import replace

import pytest

from engine.core.facts import Message
from engine.session import Session
from tests.engine.talk import GREEDY, agree, ask, assistant, prompt_ids, reusable, user
from tests.models.tiny_architectures import ARCHITECTURES

HELLO, MORE, OTHER = user("hello, what is the capital of France?"), user("and then?"), user("The quick brown fox jumps")
SAMPLING = replace(GREEDY, max_tokens=30)
SLACK = 16

every_kind = pytest.mark.parametrize("kind", ARCHITECTURES)


@every_kind
def test_little_more_is_read_than_was_never_seen(tiny_loaded, kind):
    session = Session(tiny_loaded(kind))
    one = ask(session, HELLO, sampling=SAMPLING)
    for messages in ((HELLO, assistant(one.text), MORE), (HELLO, assistant(one.text), OTHER), (HELLO,)):
        answer = ask(session, *messages, sampling=SAMPLING)
        assert answer.facts.cached_tokens >= reusable(session, answer, *messages) - SLACK
        assert agree(session)
    back = ask(session, HELLO, assistant(one.text), MORE, sampling=SAMPLING)
    assert back.facts.cached_tokens == back.facts.prompt_tokens - 1, "all of it was seen, though other branches came between"
    assert ask(session, OTHER, sampling=SAMPLING).facts.cached_tokens >= 3, "new chats share what the template begins with"


@every_kind
def test_a_reply_is_spliced_with_its_own_ids_and_only_the_new_turn_is_read(tiny_loaded, kind):
    """Random replies rarely encode to the ids that they were sampled with."""
    session = Session(tiny_loaded(kind))
    messages, sampling = [HELLO], replace(SAMPLING, temperature=1.5, top_k=0, seed=3)
    for question in (MORE, OTHER, MORE):
        answer = ask(session, *messages, sampling=sampling)
        reply = Message("assistant", answer.text, answer.facts.output_ids, session.loaded.facts.fingerprint)
        following = (*messages, reply, question)
        held = len(session.cache.tokens)
        facts = ask(session, *following, sampling=sampling).facts
        assert facts.cached_tokens == held
        encoded = prompt_ids(session, *messages, assistant(answer.text), question)
        assert len(encoded) != facts.prompt_tokens, "its text encodes to others"
        messages = list(following)

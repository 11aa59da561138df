"""When a conversation no longer fits, its older turns become a summary that the model makes."""

from engine.core.facts import Message
from engine.core.messages import Compacting, ContextCompacted, Finished, Generate
from engine.core.settings import Sampling
from engine.inference.compaction import HEADING, reserve, summary_request, with_summary
from engine.session import Session
from tests.engine.talk import request

LONG = "The quick brown fox jumps over the lazy dog. " * 3


def conversation(turns):
    return tuple(Message("user" if index % 2 == 0 else "assistant", f"{index}: {LONG}") for index in range(2 * turns + 1))


def test_a_summary_stands_in_the_system_message():
    told = with_summary((Message("system", "Be brief."), Message("user", "Go on.")), "They met.")
    assert told == (Message("system", f"Be brief.\n\n{HEADING}\nThey met."), Message("user", "Go on."))
    assert with_summary((Message("user", "x"),), "They met.")[0] == Message("system", f"{HEADING}\nThey met.")
    assert with_summary((Message("user", "x"),), " ") == (Message("user", "x"),)


def test_the_room_for_a_reply_is_at_most_a_quarter():
    assert (reserve(4096, 100), reserve(4096, 100_000)) == (100, 1024)


def test_the_summary_is_asked_of_the_older_turns_and_the_summary_before():
    base = Generate("r", "m", (), Sampling(), summary="Earlier, they met.")
    asked = summary_request(base, (Message("user", "old " * 500), Message("assistant", "newest words")), 300)
    text = asked.messages[0].text
    assert "Earlier, they met." in text
    assert text.endswith("Assistant: newest words")
    assert (asked.sampling.temperature, asked.summary, asked.when_full) == (0.0, "", "roll")


def test_a_conversation_that_fits_is_left_alone(tiny_loaded):
    events = list(Session(tiny_loaded()).generate(request(conversation(0), Sampling(max_tokens=4), 512, when_full="compact")))
    assert not any(isinstance(event, Compacting | ContextCompacted) for event in events)


def test_one_that_does_not_fit_is_summarised_and_answered(tiny_loaded):
    session = Session(tiny_loaded())
    asked = request(conversation(6), Sampling(temperature=0.0, max_tokens=8), 512, when_full="compact")
    events = list(session.generate(asked))
    made = [event for event in events if isinstance(event, ContextCompacted)]
    assert len(made) == 1
    assert made[0].summary
    assert 0 < made[0].messages < len(asked.messages)
    assert made[0].messages % 2 == 0, "what is left begins with a user's message"
    assert isinstance(events[-1], Finished)
    assert events[-1].reply.prompt_tokens <= 512 - 8
    assert sum(isinstance(event, Finished) for event in events) == 1


def test_stopping_while_it_is_summarised_ends_the_request(tiny_loaded):
    session = Session(tiny_loaded())
    asked = request(conversation(6), Sampling(temperature=0.0, max_tokens=8), 512, when_full="compact")
    seen = []
    for event in session.generate(asked, lambda: any(isinstance(each, Compacting) for each in seen)):
        seen.append(event)
    assert type(seen[-1]).__name__ == "Cancelled"
    assert not any(isinstance(event, ContextCompacted) for event in seen)

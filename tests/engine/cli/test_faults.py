"""`flint models pull` under every fault of the table: what it says, what is on the disk, and what going on costs."""

import pytest

from engine.cli import hub as cli_hub
from tests.hub.fault_table import CASES, SIZE, stage
from tests.hub.server import Hub


@pytest.fixture(scope="module")
def server():
    with Hub() as server:
        yield server


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_pull_says_what_is_wrong_keeps_what_it_has_and_fetches_only_the_rest(flint, server, monkeypatch, case):
    monkeypatch.setattr(cli_hub, "LOOK_S", 0.005)
    with stage(server, monkeypatch, case) as on:
        missing = SIZE
        case.arrange(on)
        outcome = flint("models", "pull", on.name)
        if case.code and (case.terminal_ends or not case.waits):
            assert (outcome.status, outcome.out) == (case.exit_code, ""), outcome.err
            _, error = outcome.err.split("Error: ")
            text, hint, *link = error.splitlines()
            assert (case.says or case.waits).format(name=on.name) in text
            assert case.hint in hint
            assert link == ([f"{server.base}/{on.name}"] if case.link else [])
            on.check_nothing_half()
            kept = on.kept
            assert kept == case.kept if case.kept is not None else 0 < kept < SIZE
            missing = SIZE if case.fresh else SIZE - kept
            on.count_anew()
            case.mend(on)
            outcome = flint("models", "pull", on.name)
        elif case.waits:
            assert case.waits in outcome.err
            assert "Trying again in " in outcome.err
        else:
            assert outcome.err == ""
        assert outcome.status == 0, outcome.err
        assert outcome.out.endswith(f" is ready: flint chat --model {on.name}\n")
        on.check_whole()
        assert on.sent == missing + case.again

"""Nothing that can go wrong is left out of the table of faults."""

from dataclasses import fields

from engine.core.hub_errors import HubError
from tests.hub.fault_table import CASES, all_errors, stage
from tests.hub.faults import Fault
from tests.hub.server import Hub

LISTED = {
    *("cut connections at any byte", "429 with Retry-After", "401/403 of each kind", "500s", "slow trickle", "wrong length"),
    *("wrong hash", "a file changed between requests", "redirects", "IPv6-only", "a proxy", "no network", "disk full"),
}
WHICH_AND_WHEN = {"path", "method", "times", "skip", "headers", "body", "piece", "crawl_from"}


def test_every_fault_of_the_projects_list_is_in_the_table_and_no_other():
    assert {case.of for case in CASES} == LISTED
    assert len({case.name for case in CASES}) == len(CASES)


def test_everything_that_the_hub_can_do_wrong_is_done_to_a_download(monkeypatch):
    done = set()
    with Hub() as server:
        for case in CASES:
            with stage(server, monkeypatch, case) as on:
                case.arrange(on)
                done |= {
                    each.name for each in fields(Fault) for fault in server.faults if getattr(fault, each.name) != each.default
                }
    assert {each.name for each in fields(Fault)} - WHICH_AND_WHEN <= done


def test_every_error_of_the_hub_comes_of_a_fault_in_the_table():
    waited_for = {"hub-rate-limit", "hub-trouble"}
    assert {kind.code for kind in all_errors()} - {HubError.code} == {case.code for case in CASES if case.code} | waited_for


def test_every_case_says_something_or_costs_nothing():
    for case in CASES:
        assert bool(case.code) == bool(case.hint), case.name
        assert not case.code or case.says or case.waits, case.name

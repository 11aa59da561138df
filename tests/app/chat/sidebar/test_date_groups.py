"""Headings of the chat list follow the calendar, not lengths of time."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from app.chat.sidebar.date_groups import group_by_date, heading_of, seconds_to_midnight

BERLIN = ZoneInfo("Europe/Berlin")


def at(text, zone=BERLIN):
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def headings(moments, now, zone=BERLIN):
    return [heading for heading, _ in group_by_date(moments, now, zone)]


def test_a_minute_before_midnight_is_yesterday_a_minute_later():
    assert headings([at("2026-05-04 23:59:30")], at("2026-05-05 00:00:30")) == ["Yesterday"]
    assert headings([at("2026-05-05 00:00:01")], at("2026-05-05 23:59:59")) == ["Today"]


def test_the_day_is_the_local_one_not_utc():
    moment, now = at("2026-05-05 00:30"), at("2026-05-05 12:00")
    assert headings([moment], now, BERLIN) == ["Today"]
    assert headings([moment], now, UTC) == ["Yesterday"]


def test_the_night_the_clocks_change_keeps_its_days():
    # 29 March 2026 has 23 hours in Berlin.
    assert headings([at("2026-03-28 23:50"), at("2026-03-29 00:10")], at("2026-03-29 23:50")) == ["Today", "Yesterday"]
    assert headings([at("2026-03-28 00:10")], at("2026-03-30 00:05")) == ["Previous 7 days"]


def test_borders_of_the_groups_are_whole_days():
    today = date(2026, 5, 15)
    expected = {0: "Today", 1: "Yesterday", 2: "Previous 7 days", 7: "Previous 7 days", 8: "Previous 30 days"}
    expected |= {30: "Previous 30 days", 31: "April 2026", 200: "October 2025"}
    assert {age: heading_of(today - timedelta(days=age), today) for age in expected} == expected


def test_a_clock_set_back_puts_chats_under_today():
    assert headings([at("2026-05-09 12:00")], at("2026-05-05 12:00")) == ["Today"]


def test_months_of_different_years_are_apart():
    assert headings([at("2025-03-05 12:00"), at("2024-03-05 12:00")], at("2026-05-05 12:00")) == ["March 2025", "March 2024"]


def test_newest_first_and_equal_moments_in_the_order_given():
    now = at("2026-05-05 12:00")
    moments = [at("2026-05-05 08:00"), at("2026-05-05 10:00"), at("2026-05-05 08:00")]
    assert group_by_date(moments, now, BERLIN) == [("Today", [1, 0, 2])]


NEAR = st.integers(0, 80 * 24).map(lambda hours: 1_774_000_000.0 + 3600 * hours)


@given(st.lists(NEAR | st.floats(0, 2e9), max_size=60), NEAR, st.sampled_from([UTC, BERLIN, ZoneInfo("America/Asuncion")]))
def test_every_chat_stands_under_the_heading_of_its_own_day_once(moments, now, zone):
    groups = group_by_date(moments, now, zone)
    today = datetime.fromtimestamp(now, zone).date()
    for heading, members in groups:
        for index in members:
            assert heading_of(datetime.fromtimestamp(moments[index], zone).date(), today) == heading
    assert sorted(index for _, members in groups for index in members) == list(range(len(moments)))
    assert len({heading for heading, _ in groups}) == len(groups)


def test_midnight_is_as_far_as_the_local_day_is_long():
    assert seconds_to_midnight(at("2026-05-05 23:00"), BERLIN) == 3600
    assert seconds_to_midnight(at("2026-03-29 00:00"), BERLIN) == 23 * 3600

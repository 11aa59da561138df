"""Which heading a chat stands under: Today, Yesterday, the last 7 and 30 days, then months, by the calendar people live by."""

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta, tzinfo

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def group_by_date(moments: Sequence[float], now: float, zone: tzinfo | None = None) -> list[tuple[str, list[int]]]:
    """Return headings with the positions in `moments` that stand under each, newest first.

    `moments` and `now` are seconds since 1970; days begin at midnight in `zone` (None: this machine's). Equal moments keep
    their order. A moment in the future counts as today. Costs a sort, and a date per heading.
    """
    today = datetime.fromtimestamp(now, zone).date()
    groups: list[tuple[str, list[int]]] = []
    start = math.inf
    for position in sorted(range(len(moments)), key=lambda index: -moments[index]):
        if moments[position] < start:
            day = datetime.fromtimestamp(moments[position], zone).date()
            groups.append((heading_of(day, today), []))
            start = datetime.combine(_first_day(day, today), time.min, tzinfo=zone).timestamp()
        groups[-1][1].append(position)
    return groups


def _first_day(day: date, today: date) -> date:
    """Return the first day that stands under the same heading as `day`."""
    age = (today - day).days
    if age <= 1:
        return today - timedelta(days=max(0, age))
    if age <= 30:
        return today - timedelta(days=7 if age <= 7 else 30)
    return day.replace(day=1)


def heading_of(day: date, today: date) -> str:
    """Return the heading of a day: "Today", "Yesterday", "Previous 7 days", "Previous 30 days", or as "March 2026"."""
    age = (today - day).days
    if age <= 0:
        return "Today"
    if age == 1:
        return "Yesterday"
    if age <= 7:
        return "Previous 7 days"
    if age <= 30:
        return "Previous 30 days"
    return f"{_MONTHS[day.month - 1]} {day.year}"


def seconds_to_midnight(now: float, zone: tzinfo | None = None) -> float:
    """Return how many seconds are left of the day, more than 0: the headings change then."""
    moment = datetime.fromtimestamp(now, zone)
    midnight = datetime.combine(moment.date() + timedelta(days=1), time.min, tzinfo=zone)
    return max(1.0, midnight.timestamp() - now)


def day_of(moment: float, now: float, zone: tzinfo | None = None) -> str:
    """Return the day of a moment in few letters: "Today", "Yesterday", as "14 Mar", or in another year as "14 Mar 2025"."""
    day, today = datetime.fromtimestamp(moment, zone).date(), datetime.fromtimestamp(now, zone).date()
    if (today - day).days <= 1:
        return heading_of(day, today)
    month = f"{day.day} {_MONTHS[day.month - 1][:3]}"
    return month if day.year == today.year else f"{month} {day.year}"

"""The moment at which the tests of the sidebar happen: near midnight, “Today” is another day from one line to the next."""

from datetime import datetime

NOON = datetime(2026, 5, 15, 12).timestamp()

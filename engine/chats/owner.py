"""Who writes a streaming reply: a process, told by its id and the time it started, since ids are used again."""

import os

from engine.core.record import Record

CLOCK_SLACK_S = 2.0
"""The start time is derived from the boot time, which a clock correction moves a little between two readings."""


class Owner(Record):
    """A process: `pid`, and `started` in Unix seconds."""

    pid: int
    started: float

    def is_alive(self) -> bool:
        """Say whether that very process still runs; one that ended and was not yet collected by its parent does not."""
        import psutil  # Here, as below: it takes a while to import, and the first window needs none of it.

        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) <= CLOCK_SLACK_S
            return same and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True


def this_process() -> Owner:
    """Return the running process."""
    import psutil

    return Owner(os.getpid(), psutil.Process().create_time())

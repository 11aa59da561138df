"""What the loopback hub does wrong on demand."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Fault:
    """Does something wrong with the requests whose path matches `path`, the first `times` of them (None: always).

    `status` answers so instead, with `headers` ("{asked}" in them is the address asked for) and `body`. Of a file's body:
    `cut_after` bytes the connection is dropped; `short_by` bytes fewer are sent than the length says; `flip_at` changes one
    byte; `trickle_s` seconds go by between pieces of `piece` bytes; from byte `crawl_from` of the file on it is one byte at a time, which ends only with the fault;
    `stall_after` so many nothing more comes; `crop_to` says and sends that the file is no longer than that;
    `ignore_range` sends the whole file though a part was asked for; `etag` names it otherwise. `drop` closes the connection
    without an answer, `hang` leaves it open without one. `change` is called first, as when somebody changes the repository.
    """

    path: str
    method: str = "GET"
    times: int | None = 1
    skip: int = 0
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    drop: bool = False
    hang: bool = False
    change: Callable[[], object] | None = None
    cut_after: int | None = None
    stall_after: int | None = None
    crop_to: int | None = None
    short_by: int = 0
    flip_at: int | None = None
    trickle_s: float = 0.0
    crawl_from: int | None = None
    piece: int = 1 << 16
    ignore_range: bool = False
    etag: str = ""

    def meets(self, method, path):
        """Whether it strikes now; counts down when it does."""
        if (self.method not in ("*", method)) or not re.search(self.path, path) or self.times == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True

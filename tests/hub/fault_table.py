"""Everything that can go wrong between Flint and the hub: what both the terminal and the window say of it, and what it costs.

Each case is one download of a model whose weights take `SIZE` bytes, begun under the fault and, where it failed, begun again
once the fault is mended.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.core.hub_errors import HubError
from engine.models import backoff, transfer
from engine.models import hub as flint_hub
from engine.models.huggingface_cache import cache_folder, cached_repositories
from engine.models.repository_download import repository_folder
from engine.models.transfer import OWN, PARTIAL, sure_bytes
from tests.hub.repositories import MadeUp, Repository
from tests.hub.server import Hub

SIZE = 400_000
CHUNK = 100_000
MIDDLE = 123_457
WEIGHTS = "model.safetensors"
FILE, CDN, API = r"/resolve/.*safetensors", r"/cdn/", r"/api/models/"
NOWHERE = "http://127.0.0.1:9"


class Stage:
    """A hub with one repository, the environment in which Flint looks for it, and what is in the cache afterwards."""

    def __init__(self, server, patch, name):
        self.server, self.patch, self.name = server, patch, name
        self.repository = server.add(Repository(name, tags=["mlx"]).add(WEIGHTS, MadeUp(SIZE, len(name))))
        self._have("config.json", '{"model_type": "llama"}')
        self._have("tokenizer.json", "{}")
        server.faults.clear()
        self.fault = server.fault
        self.use_hub(server.base)
        self.count_anew()

    def use_hub(self, base):
        """Look for the hub at an address."""
        from huggingface_hub import close_session

        close_session()  # It keeps the proxies it began with.
        self.patch.setenv("HF_ENDPOINT", base)

    def move_to(self, server):
        """Serve the repository elsewhere."""
        server.add(self.repository)
        self.server = server
        self.use_hub(server.base)
        self.count_anew()

    def use_proxy(self, proxy):
        """Reach a hub that has no address of its own through a proxy alone."""
        for name in ("HTTP_PROXY", "http_proxy"):
            self.patch.setenv(name, proxy)
        for name in ("NO_PROXY", "no_proxy"):
            self.patch.setenv(name, "")
        self.use_hub("http://hub.invalid")

    def use_token(self, token, *, valid=True):
        """Have a token that the hub knows, or one that it does not."""
        self.patch.setenv("HF_TOKEN", token)
        if valid:
            self.server.tokens.add(token)

    def gate(self, token=""):
        """Ask for agreement to terms; a `token` is one of an account that has not agreed."""
        self.repository.gated = "manual"
        if token:
            self.use_token(token)

    def let_in(self):
        """The authors let every account in."""
        self.repository.gated, self.repository.private = "", False
        self.server.faults.clear()

    def change(self):
        """The authors put other weights into the repository."""
        self.repository.add(WEIGHTS, MadeUp(SIZE, 99))

    def rename(self, new):
        """The authors call the repository otherwise; the hub sends on whoever asks for its old name."""
        self.server.add(Repository(new, files=self.repository.files, tags=["mlx"]))
        del self.server.repositories[self.name]
        self.server.moved[self.name] = new

    def mend(self):
        """Take the faults away."""
        self.server.faults.clear()

    @property
    def folder(self):
        """The repository's folder in the cache."""
        return repository_folder(cache_folder(os.environ), self.name)

    @property
    def kept(self):
        """Bytes of the weights that are on the disk for sure, though not whole."""
        return sum(sure_bytes(path) for path in self.folder.glob(f"blobs/*{PARTIAL}"))

    def _have(self, path, content):
        """Put a small file into the repository, and its bytes where they are fetched to: the faults are the weights' alone."""
        stored = self.repository.add(path, content).files[path]
        blob = self.folder / "blobs" / stored.etag
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(stored.content.read(0, stored.content.size))

    def count_anew(self):
        """Count what is sent from here on, not what a connection that is given up still pours out."""
        self._counted = len(self.server.asked)

    @property
    def sent(self):
        """Bytes of the weights that the hub sent."""
        return sum(asked.sent for asked in self.server.asked[self._counted :] if asked.path.startswith("/cdn/"))

    def check_nothing_half(self):
        """No tool may take what is there for a model: no snapshot, and no name for one."""
        assert not list(self.folder.glob("snapshots/**/*"))
        assert not (self.folder / "refs" / "main").exists()

    def check_whole(self):
        """The model is there with every byte, and nothing else of ours."""
        found = next(each for each in cached_repositories(cache_folder(os.environ)) if each.id == self.name)
        stored = self.repository.files[WEIGHTS]
        assert (found.snapshot / WEIGHTS).read_bytes() == stored.content.read(0, SIZE)
        assert (found.snapshot / WEIGHTS).resolve().name == stored.etag
        assert not list(self.folder.glob(f"blobs/*{OWN}*"))


@contextlib.contextmanager
def stage(server, monkeypatch, case):
    """Set a stage for one case, with a repository of its own: small chunks, short pauses, a login of nobody's."""
    from huggingface_hub import close_session

    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        patch.setattr(transfer, "CHUNK", CHUNK)
        patch.setattr(backoff, "FIRST_PAUSE_S", 0.05)
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        patch.delenv("HF_TOKEN", raising=False)
        try:
            yield Stage(server, patch, f"org/{case.name.replace(' ', '-').replace(',', '')}")
        finally:
            close_session()


@dataclass(frozen=True)
class Case:
    """One fault. `of` names the faults of the project's list that it is one of.

    `waits` is what is said while it is waited for, "" where it is not; such a download ends whole, with `again` bytes of the
    weights sent a second time. Otherwise it fails with the error `code`, `says` and `hint`; `kept` bytes of the
    weights (None: some) stay and are not sent again. `link` and `token`: a page, or a token, is offered. `terminal_ends`: the terminal fails with the words
    of `waits`, for nothing has begun, where the window waits. `fresh`: what was kept is of no use by then.
    """

    name: str
    of: str
    arrange: Callable[[Stage], object]
    waits: str = ""
    again: int = 0
    code: str = ""
    says: str = ""
    hint: str = ""
    kept: int | None = 0
    link: bool = False
    token: bool = False
    terminal_ends: bool = False
    fresh: bool = False
    mend: Callable[[Stage], object] = field(default=Stage.mend)

    @property
    def exit_code(self):
        """What the terminal's command ends with."""
        kinds = {kind.code: kind for kind in all_errors()}
        return kinds[self.code].exit_code


def all_errors():
    """Return every kind of error that can come of the hub, and the disk's."""
    from engine.core.errors import DiskFull

    def tree(kind):
        return [kind, *(below for child in kind.__subclasses__() for below in tree(child))]

    return [*tree(HubError), DiskFull]


BROKE, TROUBLE, FEWER = "The connection to the hub broke off.", "The hub has a fault", "The hub asks for fewer requests."
UNREACHED, SILENT, STRANGE = "The hub can't be reached.", "The hub does not answer.", "What answered is not the hub."
HTML = {"status": 200, "headers": {"Content-Type": "text/html"}, "body": b"<html>Welcome to our hotel</html>"}


def cut_then(stage, **how):
    """Break off in the middle, then do something else for good."""
    stage.fault(CDN, cut_after=MIDDLE)
    stage.fault(FILE, skip=1, times=None, **how)


def full_disk(stage):
    """Have the disk refuse the second chunk, as a full one does when it is asked to keep what was written."""
    real, kept = os.fsync, []

    def fsync(handle):
        large = os.fstat(handle).st_size >= CHUNK
        if large and kept:
            raise OSError(28, "No space left on device")
        real(handle)
        kept.extend([handle] if large else [])

    stage.patch.setattr(transfer.os, "fsync", fsync)


def small_disk(stage):
    stage.patch.setattr("shutil.disk_usage", lambda _folder: type("Usage", (), {"free": 1000, "total": 2000, "used": 1000}))


def impatient(stage, path, **how):
    """Wait no longer than a blink for a hub that says nothing more."""
    stage.patch.setattr(flint_hub, "TIMEOUT_S", 0.3)
    stage.fault(path, **how)


def offline(stage):
    stage.patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def cuts():
    return [
        Case(f"cut after {at} bytes", "cut connections at any byte", lambda s, at=at: s.fault(CDN, cut_after=at), waits=BROKE)
        for at in (0, 1, CHUNK, MIDDLE, SIZE - 1)
    ]


def statuses():
    for status, words, of in ((429, FEWER, "429 with Retry-After"), (500, TROUBLE, "500s"), (503, TROUBLE, "500s")):
        wait = {"status": status, "headers": {"Retry-After": "0.1"} if status != 500 else {}}
        yield Case(f"{status} for the file", of, lambda s, wait=wait: s.fault(FILE, **wait), waits=words)
        yield Case(f"{status} of the storage", of, lambda s, wait=wait: s.fault(CDN, **wait), waits=words)
        yield Case(f"{status} for the facts", of, lambda s, wait=wait: s.fault(API, **wait), waits=words)


def refusals():
    of = "401/403 of each kind"
    page, denied = {"link": True, "mend": Stage.let_in}, "Use another account"
    yield Case("no such repository", of, lambda s: s.server.repositories.pop(s.name), code="hub-no-repository",
               says="The hub has no model “{name}”.", hint="Check the name.", mend=lambda s: s.server.add(s.repository))  # fmt: skip
    yield Case("private, no token", of, lambda s: setattr(s.repository, "private", True), code="hub-no-repository",
               says="The hub has no model", hint="A private repository needs a token", mend=Stage.let_in)  # fmt: skip
    yield Case("gated, no token", of, Stage.gate, code="hub-no-token", says="only for accounts that accepted its terms",
               hint="Make a token with read access", token=True, **page)  # fmt: skip
    yield Case("401 without a word why", of, lambda s: s.fault(CDN, status=401), code="hub-no-token", says="needs an account",
               hint="Make a token", token=True, **page)  # fmt: skip
    yield Case("gated, terms not accepted", of, lambda s: s.gate("hf_new"), code="hub-licence",
               says="The terms of {name} are not accepted yet.", hint="Accept the terms once on the model's page",
               token=True, **page)  # fmt: skip
    yield Case("gated, not answered yet", of, lambda s: (s.gate("hf_wait"), s.repository.pending.add("hf_wait")),
               code="hub-access-pending", says="have not answered yet", hint="The authors decide", **page)  # fmt: skip
    yield Case("gated, turned down", of, lambda s: (s.gate("hf_no"), s.repository.rejected.add("hf_no")),
               code="hub-access-denied", says="turned this account down", hint=denied, **page)  # fmt: skip
    yield Case("a token that the hub does not know", of, lambda s: s.use_token("hf_old", valid=False), code="hub-token-refused",
               says="The hub does not accept the token.", hint="Make a new one", token=True,
               mend=lambda s: s.use_token("hf_right"))  # fmt: skip
    yield Case("403 for the file", of, lambda s: s.fault(FILE, status=403), code="hub-access-denied", says="may not read {name}",
               hint=denied, **page)  # fmt: skip
    yield Case("403 on the way", of, lambda s: cut_then(s, status=403), code="hub-access-denied", says="may not read",
               hint=denied, kept=MIDDLE, **page)  # fmt: skip


def slow_ones():
    of = "slow trickle"
    yield Case("a trickle", of, lambda s: s.fault(CDN, trickle_s=0.002, piece=20_000))
    yield Case("a stall", of, lambda s: impatient(s, CDN, stall_after=MIDDLE), waits=SILENT)
    yield Case("no answer for the file", of, lambda s: impatient(s, FILE, hang=True), waits=SILENT)
    yield Case("no answer for the facts", of, lambda s: impatient(s, API, hang=True), waits=SILENT, code="hub-no-network",
               hint="Check the connection.", terminal_ends=True)  # fmt: skip


def wrong_bytes():
    damaged = {"code": "hub-file-damaged", "hint": "only this file is fetched again"}
    yield Case("fewer bytes than said", "wrong length", lambda s: s.fault(CDN, short_by=1000), waits=BROKE)
    yield Case("shorter than its page says", "wrong length", lambda s: s.fault(CDN, crop_to=MIDDLE, times=None),
               says=f"{WEIGHTS} is shorter on the hub", **damaged)  # fmt: skip
    yield Case("shorter, and no ranges", "wrong length", lambda s: s.fault(CDN, crop_to=MIDDLE, ignore_range=True, times=None),
               says=f"{WEIGHTS} is shorter on the hub", kept=MIDDLE, **damaged)  # fmt: skip
    yield Case("a wrong hash once", "wrong hash", lambda s: s.fault(CDN, flip_at=5), again=SIZE)
    yield Case("a wrong hash each time", "wrong hash", lambda s: s.fault(CDN, flip_at=5, times=None),
               says="did not arrive as the hub describes it", **damaged)  # fmt: skip
    yield Case("a range that is ignored", "wrong length",
               lambda s: (s.fault(CDN, cut_after=MIDDLE), s.fault(CDN, ignore_range=True)), waits=BROKE, again=MIDDLE)  # fmt: skip


def changes():
    of, changed = "a file changed between requests", {"code": "hub-changed", "hint": "Start the download again", "link": False}
    yield Case("a file changed on the way", of, lambda s: cut_then(s, etag="0" * 64), says=f"{WEIGHTS} changed on the hub",
               kept=MIDDLE, **changed)  # fmt: skip
    gone = {**changed, "says": "no longer as it was when the download began", "link": True}
    yield Case("another version before the first byte", of, lambda s: s.fault(FILE, change=s.change), **gone)
    yield Case("another version on the way", of, lambda s: cut_then(s, change=s.change), kept=MIDDLE, fresh=True, **gone)
    yield Case("a file taken away", of, lambda s: s.fault(FILE, status=404, headers={"X-Error-Code": "EntryNotFound"}), **gone)


def redirects():
    of, wait = "redirects", {"waits": STRANGE, "code": "hub-no-network", "hint": "sign in first", "terminal_ends": True}
    yield Case("a repository renamed", of, lambda s: s.rename(f"{s.name}-new"), mend=lambda s: None)
    yield Case("a sign-in page for the facts", of, lambda s: s.fault(API, **HTML), **wait)
    yield Case("a sign-in page for the file", of, lambda s: s.fault(FILE, **HTML), waits=STRANGE)
    # To the whole of what was asked: it is mended at any turn of the loop, after which the next one is answered.
    yield Case("redirected for ever", of, lambda s: s.fault(API, status=302, headers={"Location": "{asked}"}, times=25), **wait)


def networks(six):
    yield Case("IPv6 alone", "IPv6-only", lambda s: s.move_to(six))
    yield Case("no network", "no network", lambda s: s.use_hub(NOWHERE), waits=UNREACHED, code="hub-no-network",
               hint="Check the connection. What was fetched is kept", terminal_ends=True,
               mend=lambda s: s.use_hub(s.server.base))  # fmt: skip
    yield Case("no answer", "cut connections at any byte", lambda s: s.fault(FILE, drop=True), waits=BROKE)
    yield Case("through a proxy", "a proxy", lambda s: s.use_proxy(s.server.base))
    yield Case("a proxy that is not there", "a proxy", lambda s: s.use_proxy(NOWHERE), code="hub-no-network",
               waits="The hub can't be reached through the proxy 127.0.0.1:9.", hint="HTTPS_PROXY", terminal_ends=True,
               mend=lambda s: s.use_proxy(s.server.base))  # fmt: skip
    yield Case("a proxy that wants a login", "a proxy", lambda s: s.fault("", method="*", status=407, times=1), code="hub-proxy",
               says="The proxy wants a login.", hint="Check HTTPS_PROXY")  # fmt: skip
    yield Case("a proxy that wants a login on the way", "a proxy", lambda s: cut_then(s, status=407), code="hub-proxy",
               says="The proxy wants a login.", hint="Check HTTPS_PROXY", kept=MIDDLE)  # fmt: skip
    yield Case("forbidden by the environment", "no network", offline, code="hub-offline", says="HF_HUB_OFFLINE is set",
               hint="Unset HF_HUB_OFFLINE",
               mend=lambda s: s.patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False))  # fmt: skip


def disks():
    of, mend = "disk full", lambda s, real=os.fsync: s.patch.setattr(transfer.os, "fsync", real)
    yield Case("the disk fills up", of, full_disk, code="disk-full", says="The disk is full", hint="Free some space",
               kept=None, mend=mend)  # fmt: skip
    import shutil

    yield Case("too small a disk", of, small_disk, code="disk-full", says="have to stay free", hint="What was fetched is kept",
               mend=lambda s, real=shutil.disk_usage: s.patch.setattr("shutil.disk_usage", real))  # fmt: skip


class _Later:
    """A hub on IPv6 alone, begun when a case asks for it."""

    def __init__(self):
        self._hub = None

    def __getattr__(self, name):
        self._hub = self._hub or Hub(host="::1")
        return getattr(self._hub, name)


CASES = [
    *cuts(), *statuses(), *refusals(), *slow_ones(), *wrong_bytes(), *changes(), *redirects(), *networks(_Later()), *disks()
]  # fmt: skip

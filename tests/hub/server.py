"""A hub on loopback that the real `huggingface_hub` client talks to: the API, files with ranges, tokens, and faults on demand."""

import contextlib
import json
import re
import select
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit

from tests.hub.faults import Fault
from tests.hub.repositories import Repository

PAGE = 100
PIECE = 1 << 16
CRAWL_S = 0.01
_SORTS = {
    "downloads": lambda one: one.downloads,
    "likes": lambda one: one.likes,
    "lastModified": lambda one: one.last_modified,
}


@dataclass
class Asked:
    """One request: what for, which range, with which token, and how many bytes of body were sent."""

    method: str
    path: str
    range: str
    token: str
    status: int
    sent: int
    query: dict = field(default_factory=dict)


class Hub:
    """Serves repositories until `close`. `tokens` are the valid ones; `asked` is what was asked for, in order.

    `moved` holds the new names of renamed repositories by their old ones.

    `host` may be "::1"; `base` is its address for `HF_ENDPOINT`. Large files are redirected to `/cdn/…`, as the real one does.
    """

    def __init__(self, *repositories, host="127.0.0.1"):
        self.repositories = {repository.id: repository for repository in repositories}
        self.tokens = set()
        self.moved = {}
        self.faults = []
        self.asked = []
        self.lock = threading.Lock()
        self.open = True
        kind = type("Server", (_Server,), {"address_family": socket.AF_INET6 if ":" in host else socket.AF_INET})
        name = f"[{host}]" if ":" in host else host
        # Two addresses, as the real hub and the servers of its large files: the client follows redirects only within one.
        self._servers = [kind((host, 0), _Handler) for _ in range(2)]
        self.base, self.cdn = (f"http://{name}:{server.server_address[1]}" for server in self._servers)
        for server in self._servers:
            server.hub = self
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def add(self, repository):
        """Serve one more repository."""
        self.repositories[repository.id] = repository
        return repository

    def fault(self, path, **how):
        """Do something wrong; see `Fault`."""
        fault = Fault(path, **how)
        self.faults.append(fault)
        return fault

    def bytes_sent(self, path=r"/cdn/|/resolve/"):
        """Return how many bytes of bodies were sent for matching paths."""
        with self.lock:
            return sum(asked.sent for asked in self.asked if asked.method == "GET" and re.search(path, asked.path))

    def requests(self, path="", method="*"):
        """Return the matching requests."""
        with self.lock:
            return [one for one in self.asked if re.search(path, one.path) and method in ("*", one.method)]

    def close(self):
        """Stop serving; open connections are dropped."""
        self.open = False
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def server_bind(self):
        """Bind, and look nobody's name up."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request, client_address):
        """A client that went away is nothing to print."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._answer()

    def do_HEAD(self):
        self._answer()

    def log_message(self, *_):
        """Say nothing."""

    def _answer(self):
        hub = self.server.hub
        # A proxy is asked with a whole address; this one serves what it is asked for itself.
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        with hub.lock:
            self._fault = next((fault for fault in hub.faults if fault.meets(self.command, path)), None)
        self._token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        # Noted before it is answered: who got the answer may look at once.
        query = parse_qs(parts.query)
        self._asked = Asked(self.command, path, self.headers.get("Range", ""), self._token, 0, 0, query)
        with hub.lock:
            hub.asked.append(self._asked)
        try:
            self._route(path, query)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _route(self, path, query):
        fault = self._fault
        if fault and fault.change:
            fault.change()
        if fault and fault.drop:
            self._drop()
        elif fault and fault.hang:
            self._wait_until_gone()
        elif fault and fault.status:
            headers = {key: text.replace("{asked}", self.path) for key, text in fault.headers.items()}
            self._send(fault.status, fault.body, headers)
        elif old := next((old for old in self.server.hub.moved if f"/{old}/" in f"{path}/"), ""):
            self._send(307, b"", {"Location": self.path.replace(old, self.server.hub.moved[old], 1)})
        elif path == "/api/models":
            self._search(query)
        elif path == "/api/whoami-v2":
            self._whoami()
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?", path):
            self._describe(found[1], found[2], query)
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)/?(.*)", path):
            self._tree(found[1], found[2])
        elif found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self._resolve(*found.groups())
        elif found := re.fullmatch(r"/cdn/([^/]+/[^/]+)/([0-9a-f]+)/(.+)", path):
            self._file(found[1], found[3])
        else:
            self._refuse(404, "", "Not here")

    # -- the API -------------------------------------------------------------------------------------------------------

    def _search(self, query):
        words = " ".join(query.get("search", [])).casefold().split()
        filters = [tag for tags in query.get("filter", []) for tag in tags.split(",")]
        author, task, sort = (query.get(name, [""])[0] for name in ("author", "pipeline_tag", "sort"))
        if sort not in ("", *_SORTS):
            self._refuse(400, "", f"Invalid sort: {sort}")
            return
        found = [
            repository
            for repository in self.server.hub.repositories.values()
            if not repository.private
            and all(word in repository.id.casefold() for word in words)
            and all(tag in repository.tags for tag in filters)
            and (not author or repository.id.startswith(f"{author}/"))
            and task in ("", repository.pipeline_tag)
        ]
        found.sort(key=_SORTS.get(sort, lambda one: one.id), reverse=bool(sort))
        start, limit = int(query.get("cursor", ["0"])[0]), int(query.get("limit", [PAGE])[0])
        page = found[start : start + min(PAGE, limit)]
        headers = {}
        if start + len(page) < len(found):
            rest = "&".join(f"{name}={quote(value)}" for name, values in query.items() for value in values if name != "cursor")
            headers["Link"] = f'<{self.server.hub.base}/api/models?{rest}&cursor={start + len(page)}>; rel="next"'
        self._json([repository.described(expand=query.get("expand", [])) for repository in page], headers)

    def _whoami(self):
        if self._token in self.server.hub.tokens:
            self._json({"type": "user", "name": "somebody", "auth": {"type": "access_token"}})
        else:
            self._refuse(401, "", "Invalid credentials in Authorization header")

    def _describe(self, name, revision, query):
        repository = self._repository(name, revision)
        if repository:
            self._json(repository.described(blobs="true" in [value.casefold() for value in query.get("blobs", [])]))

    def _tree(self, name, revision):
        repository = self._repository(name, revision)
        if repository:
            facts = []
            for path, stored in sorted(repository.files.items()):
                entry = {"type": "file", "path": path, "size": stored.content.size, "oid": stored.etag[:40]}
                if stored.lfs:
                    entry["lfs"] = {"oid": stored.etag, "size": stored.content.size, "pointerSize": 134}
                facts.append(entry)
            self._json(facts)

    # -- files ---------------------------------------------------------------------------------------------------------

    def _resolve(self, name, revision, path):
        repository = self._repository(name, revision, gate=True)
        if not repository:
            return
        stored = repository.files.get(path)
        if stored is None:
            self._refuse(404, "EntryNotFound", "Entry not found")
            return
        fault = self._fault
        etag = fault.etag if fault and fault.etag else stored.etag
        headers = {"X-Repo-Commit": repository.commit, "ETag": f'"{etag}"', "Accept-Ranges": "bytes"}
        if stored.lfs:
            headers |= {
                "X-Linked-ETag": f'"{etag}"',
                "X-Linked-Size": str(stored.content.size),
                "Location": f"{self.server.hub.cdn}/cdn/{quote(name)}/{stored.etag}/{quote(path)}",
            }
            self._send(302, b"", headers)
        else:
            self._body(stored, headers)

    def _file(self, name, path):
        repository = self.server.hub.repositories.get(name)
        stored = repository.files.get(path) if repository else None
        if stored is None:
            self._refuse(404, "", "Gone")
        else:
            etag = self._fault.etag if self._fault and self._fault.etag else stored.etag
            self._body(stored, {"ETag": f'"{etag}"', "Accept-Ranges": "bytes"})

    def _body(self, stored, headers):
        fault, size = self._fault, stored.content.size
        if fault and fault.crop_to is not None:
            size = fault.crop_to
        start, end = 0, size
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        same = self.headers.get("If-Range", headers["ETag"]) == headers["ETag"]
        if asked and same and not (fault and fault.ignore_range):
            start = int(asked[1])
            end = min(size, int(asked[2]) + 1) if asked[2] else size
            if start >= size:
                self._send(416, b"", {"Content-Range": f"bytes */{size}"})
                return
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        self._asked.status = 206 if "Content-Range" in headers else 200
        self.send_response(self._asked.status)
        for key, value in (headers | {"Content-Length": str(end - start)}).items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self._pour(stored, start, end)

    def _pour(self, stored, start, end):
        fault = self._fault
        last = end - (fault.short_by if fault else 0)
        if fault and fault.cut_after is not None:
            last = min(last, start + fault.cut_after)
        if fault and fault.stall_after is not None:
            last = min(last, start + fault.stall_after)
        piece = fault.piece if fault else PIECE
        position = start
        while position < last:
            crawls = fault in self.server.hub.faults and fault.crawl_from is not None and position >= fault.crawl_from
            part = stored.content.read(position, 1 if crawls else min(piece, last - position))
            if fault and fault.flip_at is not None and position <= fault.flip_at < position + len(part):
                at = fault.flip_at - position
                part = part[:at] + bytes([part[at] ^ 0xFF]) + part[at + 1 :]
            self._asked.sent += len(part)
            self.wfile.write(part)
            position += len(part)
            if crawls or (fault and fault.trickle_s):
                self.wfile.flush()
                time.sleep(CRAWL_S if crawls else fault.trickle_s)
        if last < end and fault.stall_after is not None:
            self._wait_until_gone()
        elif last < end:
            self._drop()

    # -- answers -------------------------------------------------------------------------------------------------------

    def _repository(self, name, revision, gate=False):
        """Return the repository if this token may see it, else answer why not."""
        hub = self.server.hub
        repository = hub.repositories.get(name)
        if self._token and self._token not in hub.tokens:
            self._refuse(401, "", "Invalid credentials in Authorization header")
        elif repository is None or (repository.private and self._token not in repository.allowed):
            self._refuse(404 if self._token else 401, "RepoNotFound", "Repository not found")
        elif revision not in (None, "main", repository.commit):
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif gate and repository.gated and self._token not in repository.allowed:
            self._refuse_gated(repository)
        else:
            return repository
        return None

    def _refuse_gated(self, repository):
        if not self._token:
            say = f"Access to model {repository.id} is restricted. You must have access to it and be authenticated to access it. Please log in."
            self._refuse(401, "GatedRepo", say)
        elif self._token in repository.pending:
            self._refuse(
                403, "GatedRepo", f"Your request to access model {repository.id} is awaiting a review from the repo authors."
            )
        elif self._token in repository.rejected:
            self._refuse(
                403, "GatedRepo", f"Your request to access model {repository.id} has been rejected by the repo's authors."
            )
        else:
            say = f"Access to model {repository.id} is restricted and you are not in the authorized list. Visit the page to ask for access."
            self._refuse(403, "GatedRepo", say)

    def _refuse(self, status, code, message):
        headers = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        self._send(status, json.dumps({"error": message}).encode(), headers | {"Content-Type": "application/json"})

    def _json(self, document, headers=None):
        self._send(200, json.dumps(document).encode(), {"Content-Type": "application/json"} | (headers or {}))

    def _send(self, status, body, headers):
        self._asked.status = status
        self.send_response(status)
        for key, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self._asked.sent += len(body)
            self.wfile.write(body)

    def _wait_until_gone(self):
        """Hold the connection without a word until the client closes it, or the hub does."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            while self.server.hub.open and not select.select([self.connection], [], [], 0.05)[0]:
                pass

    def _drop(self):
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


__all__ = ["Asked", "Fault", "Hub", "Repository"]

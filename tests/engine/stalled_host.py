"""An engine in a process of its own that asks a hub for something and is closed when a line comes in: for `test_closing`.

`python -m tests.engine.stalled_host COMMAND`, a command as JSON. The hub's client never gives up by itself.
"""

import sys

from engine.core.codec import from_json
from engine.core.paths import locate
from engine.core.preferences import Preferences
from engine.host import Host
from engine.models import hub, transfer

if __name__ == "__main__":
    hub.TIMEOUT_S = 100_000
    transfer.CHUNK = 1 << 30
    paths = locate()
    host = Host(paths, Preferences(paths.settings))
    host.start()
    host.connect().send(from_json(sys.argv[1]))
    sys.stdin.readline()
    host.close()

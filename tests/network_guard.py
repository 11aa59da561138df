"""No test reaches a network: what tries is refused, and the test fails, in whatever thread it was.

Loopback is for tests that took the hub's client online, to speak with a hub of their own.
"""

import ipaddress
import sys
import traceback


class NetworkGuard:
    """An audit hook: hears of every connection and look-up that Python code or its C modules make. `tried` holds those refused."""

    def __init__(self):
        self.tried = []

    def __call__(self, event, arguments):
        if not event.startswith("socket."):
            return
        host = _host(event, arguments)
        if host is None or (_is_loopback(host) and _online()):
            return
        self.tried.append(f"{event} {host}\n{''.join(traceback.format_stack(limit=40))}")
        raise OSError(101, f"the tests have no network: {host}")


def _host(event, arguments):
    """Return which host an event is about; None where it is none, as of a socket in the file system."""
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1] if len(arguments) > 1 else None
        return str(address[0]) if isinstance(address, tuple) and address and isinstance(address[0], str | bytes) else None
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        return str(arguments[0] or "127.0.0.1")
    return None


def _is_loopback(host):
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _online():
    constants = sys.modules.get("huggingface_hub.constants")
    return constants is not None and not constants.HF_HUB_OFFLINE


def stand_guard():
    """Install a guard for as long as the process lives, and return it."""
    guard = NetworkGuard()
    sys.addaudithook(guard)
    return guard

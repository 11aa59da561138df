"""The hub's token: where it is looked for, and where one that was entered is kept. It is never logged and never in an event."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from engine.core.disk import disk_errors, write_whole

type TokenSource = Literal["", "keychain", "file", "environment", "login"]

SERVICE, ACCOUNT = "Flint", "hub-token"
FILE_NAME = "hub-token"


class HubToken:
    """Looks in this order: `HF_TOKEN`, the system's keychain, Flint's private file, an existing login of the hub's own tools.

    Where the system has no keychain a token is kept in a file that only its owner may read (0600).
    """

    def __init__(self, folder: Path, environ: Mapping[str, str] = os.environ) -> None:
        self._file = folder / FILE_NAME
        self._environ = environ

    def read(self) -> tuple[str, TokenSource]:
        """Return the token and where it comes from; two empty texts where there is none."""
        if token := self._environ.get("HF_TOKEN", "").strip():
            return token, "environment"
        if token := self._from_keychain():
            return token, "keychain"
        if token := self._from_file():
            return token, "file"
        if token := self._from_login():
            return token, "login"
        return "", ""

    def keep(self, token: str) -> TokenSource:
        """Keep a token, "" forgets the one that was kept; return where it is now. Raises `DiskFull` or `ReadOnly`."""
        kept = self._to_keychain(token)
        if kept or not token:
            with disk_errors(self._file):
                self._file.unlink(missing_ok=True)
        if kept:
            return "keychain"
        if token:
            self._to_file(token)
            return "file"
        return ""

    def _from_keychain(self) -> str:
        import keyring  # Not before it is wanted: it looks for the system's services.

        try:
            return keyring.get_password(SERVICE, ACCOUNT) or ""
        except Exception:
            return ""

    def _to_keychain(self, token: str) -> bool:
        import keyring

        try:
            if token:
                keyring.set_password(SERVICE, ACCOUNT, token)
                return keyring.get_password(SERVICE, ACCOUNT) == token
            keyring.delete_password(SERVICE, ACCOUNT)
        except Exception:
            return False
        return False

    def _from_file(self) -> str:
        try:
            return self._file.read_text("utf-8").strip()
        except (OSError, ValueError):
            return ""

    def _to_file(self, token: str) -> None:
        with disk_errors(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._file, [token], private=True)

    def _from_login(self) -> str:
        cache = Path(self._environ.get("XDG_CACHE_HOME") or Path(self._environ.get("HOME") or "~") / ".cache")
        home = Path(self._environ.get("HF_HOME") or cache / "huggingface")
        path = Path(self._environ.get("HF_TOKEN_PATH") or home / "token")
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            return path.expanduser().read_text("utf-8").strip()
        return ""

"""One window for one data folder: a second start raises the first and ends."""

import contextlib
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDeadlineTimer, QLockFile, QObject, QThread, QTimer, Signal

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

RAISE = b"raise"
TIMEOUT_MS = 5000
LISTEN_AFTER_MS = 300
"""The first paint comes before Qt's network code is loaded; who asks meanwhile waits, up to `TIMEOUT_MS`."""
_TRY_AGAIN_MS = 50


class Instance(QObject):
    """Holds the window's lock of a data folder. `raise_requested` fires when another start asks for the window."""

    raise_requested = Signal()

    def __init__(self, data: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._data = data
        self._lock = QLockFile(str(data / "window.lock"))
        self._lock.setStaleLockTime(0)  # Age alone makes no lock stale.
        self._server: QLocalServer | None = None
        self._start = QTimer(self, singleShot=True, interval=LISTEN_AFTER_MS)
        self._start.timeout.connect(self._listen)

    def acquire(self) -> bool:
        """Become the window of this data folder; return False when another process is.

        A folder that cannot be written counts as ours: what is wrong with it is told by whoever writes there. It answers other
        starts as soon as the event loop has run for a moment.
        """
        with contextlib.suppress(OSError):
            self._data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._locks() and self._lock.error() is QLockFile.LockError.LockFailedError:
            return False
        self._start.start()
        return True

    def ask_to_raise(self) -> bool:
        """Ask the process that has the window to show it; return whether it answered."""
        from PySide6.QtNetwork import QLocalSocket

        socket = QLocalSocket()
        if not self._reaches(socket):
            return False
        socket.write(RAISE)
        socket.waitForBytesWritten(TIMEOUT_MS)
        answered = socket.waitForReadyRead(TIMEOUT_MS)
        socket.disconnectFromServer()
        return answered

    def release(self) -> None:
        """Give the lock back, so that the next start gets the window."""
        self._start.stop()
        if self._server:
            self._server.close()
            self._server = None
        self._lock.unlock()

    def _locks(self) -> bool:
        """Take the lock, also from a process that is gone.

        Qt goes by the process id and the machine's name, which another program or another network may have by now; a file of
        a living process can't be removed, since the system holds a lock on it too.
        """
        return self._lock.tryLock(0) or (self._lock.removeStaleLockFile() and self._lock.tryLock(0))

    @cached_property
    def _name(self) -> str:
        """What the socket is called."""
        import hashlib  # With what it takes of OpenSSL it would hold the first paint up.

        return "flint-" + hashlib.sha256(str(self._data).encode()).hexdigest()[:16]

    def _listen(self) -> None:
        from PySide6.QtNetwork import QLocalServer

        QLocalServer.removeServer(self._name)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._answer)
        self._server.listen(self._name)

    def _reaches(self, socket: "QLocalSocket") -> bool:
        """Connect to the process that has the window; it may have the lock already and not listen yet."""
        deadline = QDeadlineTimer(TIMEOUT_MS)
        while True:
            socket.connectToServer(self._name)
            if socket.waitForConnected(TIMEOUT_MS):
                return True
            if deadline.hasExpired():
                return False
            QThread.msleep(_TRY_AGAIN_MS)

    def _answer(self) -> None:
        socket = self._server.nextPendingConnection() if self._server else None
        if socket is None:
            return
        # Kept until this object goes: a `deleteLater` at the end of the connection crashes where that comes after the server's.
        socket.setParent(self)
        socket.readyRead.connect(partial(self._read, socket))
        if socket.bytesAvailable():
            self._read(socket)

    def _read(self, socket: "QLocalSocket") -> None:
        if bytes(socket.readAll().data()).startswith(RAISE):
            socket.write(b"ok")
            socket.flush()
            self.raise_requested.emit()

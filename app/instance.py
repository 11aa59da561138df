"""One window for one data folder: a second start raises the first and ends."""

import hashlib
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

RAISE = b"raise"
TIMEOUT_MS = 2000


class Instance(QObject):
    """Holds the window's lock of a data folder. `raise_requested` fires when another start asks for the window."""

    raise_requested = Signal()

    def __init__(self, data: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = QLockFile(str(data / "window.lock"))
        self._lock.setStaleLockTime(0)  # A lock is stale only when its process is gone.
        self._name = "flint-" + hashlib.sha256(str(data).encode()).hexdigest()[:16]
        self._server: QLocalServer | None = None

    def acquire(self) -> bool:
        """Become the window of this data folder; return False when another process is.

        A folder that cannot be written counts as ours: what is wrong with it is told by whoever writes there.
        """
        if not self._lock.tryLock(0) and self._lock.error() is QLockFile.LockError.LockFailedError:
            return False
        QLocalServer.removeServer(self._name)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._answer)
        self._server.listen(self._name)
        return True

    def ask_to_raise(self) -> bool:
        """Ask the process that has the window to show it; return whether it answered."""
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(TIMEOUT_MS):
            return False
        socket.write(RAISE)
        socket.waitForBytesWritten(TIMEOUT_MS)
        answered = socket.waitForReadyRead(TIMEOUT_MS)
        socket.disconnectFromServer()
        return answered

    def release(self) -> None:
        """Give the lock back, so that the next start gets the window."""
        if self._server:
            self._server.close()
            self._server = None
        self._lock.unlock()

    def _answer(self) -> None:
        socket = self._server.nextPendingConnection() if self._server else None
        if socket is None:
            return

        def read() -> None:
            if bytes(socket.readAll().data()).startswith(RAISE):
                socket.write(b"ok")
                socket.flush()
                self.raise_requested.emit()

        socket.readyRead.connect(read)
        socket.disconnected.connect(socket.deleteLater)
        if socket.bytesAvailable():
            read()

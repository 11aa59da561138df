"""The model in memory: how it comes and goes, what it was asked as, and who may not delete it meanwhile."""

import contextlib
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cache.upkeep import Upkeep
from engine.core.facts import MemoryReading, ModelEntry, Weights
from engine.hardware.meters import mlx_counters, read_memory
from engine.inference.libraries import import_libraries
from engine.models.in_use import in_use
from engine.models.superseded import sweep

if TYPE_CHECKING:
    from engine.cache.prefix import PrefixCache
    from engine.session import Session

SPARE_BUFFERS_BYTES = 512 << 20
"""What MLX may keep of freed buffers; without a limit it keeps all."""


class Resident:
    """At most one model, and what it has read of chats. Used on the engine thread, but for `let_go`."""

    def __init__(self, upkeep: Upkeep) -> None:
        self.session: Session | None = None
        self._upkeep = upkeep
        self._weights: Weights = "auto"
        self._asked_as = ""
        self._use = contextlib.ExitStack()
        self._path = ""

    @property
    def cache(self) -> "PrefixCache | None":
        """What the model has read."""
        return self.session.cache if self.session else None

    def matching(self, model_id: str, weights: Weights) -> "Session | None":
        """Return the session if it holds that model in that way; an empty id means any model. It looks at no disk."""
        session = self.session
        if session and (not model_id or (weights == self._weights and model_id in (session.loaded.facts.id, self._asked_as))):
            return session
        return None

    def take(
        self, entry: ModelEntry, asked_as: str, weights: Weights, template: str, progress: Callable[[float, str], None]
    ) -> "Session":
        """Load a model where none is. Raises what loading does; `drop` then lets go of what there is of it."""
        import_libraries()
        import mlx.core as mx

        from engine.inference.loader import load
        from engine.session import Session

        mx.set_cache_limit(SPARE_BUFFERS_BYTES)
        path = Path(entry.path)
        self._path = entry.path
        self._use.callback(sweep, path)  # Last of all: an update may have waited for it.
        self._use.enter_context(in_use(path, entry.name))
        self.session = Session(load(entry, weights, progress, template), self._upkeep.memory, self._upkeep.disk)
        self._weights, self._asked_as = weights, asked_as
        return self.session

    def use_template(self, path: Path, template: str) -> None:
        """Go on with another chat template; what was read is saved under the one before."""
        from engine.inference.loader import with_template
        from engine.session import Session

        if self.session is not None:
            loaded = with_template(self.session.loaded, path, template)
            self._upkeep.leave(self.session.cache)
            self.session = Session(loaded, self._upkeep.memory, self._upkeep.disk)

    def drop(self) -> None:
        """Save what was read, drop every reference to the model, then give MLX's spare buffers back."""
        if self.session is not None:
            self._upkeep.leave(self.session.cache)
            self.session = None
            give_memory_back()
        self._use.close()

    def let_go(self, path: str) -> None:
        """Let the model at a path be removed: whoever asks that here knows that it is loaded here. Any thread may call it."""
        if path == self._path:
            self._use.close()

    def read_memory(self) -> MemoryReading:
        """Return what the model and its cache take, and what is left. Raises what the system does."""
        session = self.session
        return read_memory(
            mlx_counters() if "mlx.core" in sys.modules else (0, 0, 0),
            weights=session.loaded.facts.weights_bytes if session else 0,
            kv=session.cache.nbytes if session else 0,
            working_set=session.loaded.device.working_set_bytes if session else None,
        )


def give_memory_back() -> None:
    """Give MLX's spare buffers back to the system."""
    if "mlx.core" in sys.modules:
        import mlx.core as mx

        gc.collect()
        mx.clear_cache()


def leave_mlx() -> None:
    """Let what still computes end, and let go of this thread's streams, as MLX asks of every thread that ends."""
    if "mlx.core" in sys.modules:
        import mlx.core as mx

        mx.synchronize()
        mx.clear_streams()

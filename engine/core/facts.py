"""What travels in commands and events: a conversation's turns, models, what was measured. Frozen plain data."""

from dataclasses import field
from typing import Literal

from engine.core.record import Record
from engine.core.sampling import Recommended
from engine.core.settings import Sampling

type Role = Literal["system", "user", "assistant"]
type Weights = Literal["auto", "as-stored", "dense"]
type KVBits = Literal["off", "8", "8/4", "4"]
type WhenFull = Literal["stop", "roll", "compact"]
type MemoryGuard = Literal["ask", "adapt", "off"]
type KeepProbabilities = Literal["off", "on"]
type FinishReason = Literal["stop", "length", "context", "cancelled"]


class Message(Record):
    """One turn of a conversation as the model is given it.

    A reply brings the token `ids` it was written with, without the one that ended it, and the `fingerprint` of the model that
    wrote them: its text does not always encode to the same ids again. `reasoning` is told of a reply that is to go on.
    """

    role: Role
    text: str
    ids: tuple[int, ...] = ()
    fingerprint: str = ""
    reasoning: str = ""


type Origin = Literal["flint", "huggingface", "starter", "folder", "lmstudio", "ollama"]


class ModelCopy(Record):
    """Where else a model is: the id it would have there, its path, whose it is and the bytes it takes."""

    id: str
    path: str
    origin: Origin
    size_bytes: int = 0


class ModelEntry(Record):
    """A model on this machine, as the library lists it.

    `id` names it for `LoadModel`; `kind` is "mlx" (ready to load) or "gguf" (imported first); `problem` is empty or says why
    it cannot be used, `unsupported` that no other copy of it could; `recommended` is the sampling it comes with; `copies` are
    the other places it is in. Sizes in bytes; `older_bytes` is what older versions of it take besides. `notes` are a person's,
    `renamed` says that the name is too, and `own_template` that a chat template stands for its own; `used_at` is when it was
    last loaded, in seconds since 1970, 0 never. `download` tells of one that is not here whole yet whether somebody fetches it.
    """

    id: str
    name: str
    path: str
    origin: Origin
    kind: Literal["mlx", "gguf"]
    size_bytes: int
    architecture: str = ""
    context: int = 0
    quantization: str = ""
    problem: str = ""
    unsupported: bool = False
    recommended: Recommended = field(default_factory=Recommended)
    copies: tuple[ModelCopy, ...] = ()
    notes: str = ""
    renamed: bool = False
    own_template: bool = False
    used_at: float = 0.0
    older_bytes: int = 0
    download: Literal["", "running", "stopped"] = ""

    @property
    def disk_bytes(self) -> int:
        """What it takes on the disk, its copies not counted."""
        return self.size_bytes + self.older_bytes


class LoadedModel(Record):
    """What is known of a model once it is in memory.

    `context` is the trained length in tokens; `weights_bytes` what is held; `read_bytes_per_token` what one decode step reads
    of the weights; `kv_bytes_per_token` what one token adds to the KV cache; `bandwidth_bytes_per_s` the machine's published
    memory bandwidth, where it is known; `fingerprint` identifies the weights; `recommended` is the sampling it comes with.
    """

    id: str
    name: str
    architecture: str
    parameters: int
    context: int
    weights_bytes: int
    read_bytes_per_token: int
    kv_bytes_per_token: int
    bandwidth_bytes_per_s: float | None
    quantization: str
    fingerprint: str
    load_s: float
    recommended: Recommended = field(default_factory=Recommended)


class ReplyFacts(Record):
    """Everything measured about one reply; stored with it. Times in seconds, rates in tokens a second, sizes in bytes.

    `cached_tokens` of the `prompt_tokens` were already in the KV cache; `chunks` are the prefill's chunk lengths; `seed`,
    `sampling`, `fingerprint` and `template_hash` make the reply reproducible. `output_ids` are the tokens written and
    `output_tokens` how many they are, both without the one that ended the turn; `kv_bits` is the KV cache's precision;
    `kv_bytes` are those of what the next token would see, whatever room the cache has besides. `dropped_tokens` have left the
    context by the reply's end, and with them the first `dropped_messages` of the conversation.
    `reasoning_s` went by from the first reasoning token to the first token of the answer.

    A reply that was cut may have gone on: `resumed` holds how many tokens it had each time. `output_tokens` and `output_ids`
    are then of all of it, `prompt_tokens` of what was before it; `seed`, `sampling`, `chunks` and `cached_tokens` (in which the
    reply's own count) are of its last stretch.

    What else it takes to make it once more, bit for bit: `history` tells in which forwards the cached tokens had been computed
    (runs of a forward's length and of the tokens computed in such ones, as `engine.cache.forwards` has them), `reread` the
    chunks in which the window was read again while it was written. `prompt_hash` stands for the ids before it; `made_with`
    names the versions and the device.
    """

    model: str
    finish_reason: FinishReason
    seed: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    ttft_s: float
    prefill_s: float
    decode_s: float
    prefill_tps: float
    decode_tps: float
    weights_bytes: int
    kv_bytes: int
    peak_bytes: int
    context: int
    fingerprint: str
    template_hash: str
    sampling: Sampling
    chunks: tuple[int, ...] = ()
    output_ids: tuple[int, ...] = ()
    kv_bits: str = "off"
    dropped_tokens: int = 0
    dropped_messages: int = 0
    reasoning_s: float = 0.0
    resumed: tuple[int, ...] = ()
    history: tuple[tuple[int, int], ...] = ()
    reread: tuple[int, ...] = ()
    prompt_hash: str = ""
    made_with: tuple[tuple[str, str], ...] = ()


class MemoryReading(Record):
    """Memory at one moment, in bytes; 0 where a figure is not known.

    `footprint` is this process as the system's memory killer counts it; `active`, `cached`, `peak` are MLX's counters;
    `weights` and `kv` are parts of `active`; `total` is the machine's memory, `available` what the system would still give;
    `budget` is what a model may take here.
    """

    footprint: int
    active: int
    cached: int
    peak: int
    weights: int
    kv: int
    total: int
    available: int
    budget: int


class GuardChoice(Record):
    """A change that would make a reply fit: the settings to change (name and value as text), and the figures it leads to."""

    title: str
    detail: str
    changes: tuple[tuple[str, str], ...]
    weights_bytes: int
    kv_bytes: int
    peak_bytes: int

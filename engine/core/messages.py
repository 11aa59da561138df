"""Commands go to the engine, events come back: frozen plain data in two closed unions, which `codec` writes as JSON."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from engine.core.errors import ErrorInfo
from engine.core.record import Record
from engine.core.settings import Sampling

type Role = Literal["system", "user", "assistant"]
type Weights = Literal["auto", "as-stored", "dense"]
type KVBits = Literal["off", "8", "8/4", "4"]
type WhenFull = Literal["stop", "roll", "compact"]
type MemoryGuard = Literal["ask", "adapt", "off"]
type FinishReason = Literal["stop", "length", "context", "cancelled"]


@dataclass(frozen=True, repr=False, eq=False)
class Message(Record):
    """One turn of a conversation as the model is given it.

    A reply brings the token `ids` it was written with, without the one that ended it, and the `fingerprint` of the model that
    wrote them: its text does not always encode to the same ids again.
    """

    role: Role
    text: str
    ids: tuple[int, ...] = ()
    fingerprint: str = ""


# -- facts that travel ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class ModelEntry(Record):
    """A model on this machine, as the library lists it.

    `id` names it for `LoadModel`; `kind` is "mlx" (ready to load) or "gguf" (imported first); `problem` is empty or says why
    it cannot be used. Sizes in bytes.
    """

    id: str
    name: str
    path: str
    origin: Literal["flint", "huggingface", "starter", "folder"]
    kind: Literal["mlx", "gguf"]
    size_bytes: int
    architecture: str = ""
    context: int = 0
    quantization: str = ""
    problem: str = ""


@dataclass(frozen=True, repr=False, eq=False)
class LoadedModel(Record):
    """What is known of a model once it is in memory.

    `context` is the trained length in tokens; `weights_bytes` what is held; `read_bytes_per_token` what one decode step reads
    of the weights; `kv_bytes_per_token` what one token adds to the KV cache; `bandwidth_bytes_per_s` the machine's published
    memory bandwidth, where it is known; `fingerprint` identifies the weights.
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


@dataclass(frozen=True, repr=False, eq=False)
class ReplyFacts(Record):
    """Everything measured about one reply; stored with it. Times in seconds, rates in tokens a second, sizes in bytes.

    `cached_tokens` of the `prompt_tokens` were already in the KV cache; `chunks` are the prefill's chunk lengths; `seed`,
    `sampling`, `fingerprint` and `template_hash` make the reply reproducible. `output_ids` are the tokens written, without the
    one that ended the turn; `kv_bits` is the KV cache's precision; `dropped_tokens` have left the context by the reply's end,
    and with them the first `dropped_messages` of the conversation.
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


@dataclass(frozen=True, repr=False, eq=False)
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


# -- commands ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class ListModels(Record):
    """Look for the models on this machine; answered by `ModelsListed`, then the request's end."""

    request_id: str


@dataclass(frozen=True, repr=False, eq=False)
class ImportModel(Record):
    """Import a GGUF into Flint's own folder; reports `ImportProgress`, then `ModelImported`."""

    request_id: str
    source: str
    name: str = ""


@dataclass(frozen=True, repr=False, eq=False)
class LoadModel(Record):
    """Load a model (importing it first where it must be) in place of the one before.

    Reports `ImportProgress` and `LoadProgress`, then `ModelLoaded`. Where its memory is not there it is refused, unless
    `memory_guard` is "off".
    """

    request_id: str
    model_id: str
    weights: Weights = "auto"
    memory_guard: MemoryGuard = "ask"


@dataclass(frozen=True, repr=False, eq=False)
class UnloadModel(Record):
    """Drop the loaded model and give its memory back; reports `ModelUnloaded`."""

    request_id: str


@dataclass(frozen=True, repr=False, eq=False)
class Generate(Record):
    """Continue a conversation: `messages` end with the user's. `context` None means as large as the model allows.

    `summary` stands for what came before the messages. `model_id` names the model that must answer: it is loaded first when
    another one is. Empty takes the loaded one, else the starter. `prefill_chunk` bounds the tokens read at a time.
    Where the memory is not there, `memory_guard` says whether it is refused with a `MemoryRefused` ("ask"), takes the first
    change that makes it fit ("adapt"), or goes ahead ("off").
    """

    request_id: str
    model_id: str
    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    context: int | None = None
    weights: Weights = "auto"
    kv_bits: KVBits = "off"
    when_full: WhenFull = "roll"
    chat_id: str = ""
    summary: str = ""
    prefill_chunk: int | None = None
    memory_guard: MemoryGuard = "ask"


@dataclass(frozen=True, repr=False, eq=False)
class Cancel(Record):
    """Stop the request named by `target`: within one prefill chunk or one token when it runs, at once when it waits."""

    request_id: str
    target: str


@dataclass(frozen=True, repr=False, eq=False)
class SetUnloadAfter(Record):
    """Unload an idle model after this many seconds; 0 never."""

    request_id: str
    seconds: float


@dataclass(frozen=True, repr=False, eq=False)
class SetPrefixCache(Record):
    """Keep at most so many bytes of what was read: in memory besides the live conversation, and on disk. 0 keeps nothing."""

    request_id: str
    memory_bytes: int
    disk_bytes: int


@dataclass(frozen=True, repr=False, eq=False)
class ForgetChats(Record):
    """Take what belongs to none but these chats out of the prefix cache, of every model; for chats removed for good."""

    request_id: str
    chat_ids: tuple[str, ...]


@dataclass(frozen=True, repr=False, eq=False)
class ClearPrefixCache(Record):
    """Forget everything that was read, in memory and on disk."""

    request_id: str


@dataclass(frozen=True, repr=False, eq=False)
class Shutdown(Record):
    """Cancel what runs, end every request, free the model and end the engine thread."""

    request_id: str


# -- events --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class ModelsListed(Record):
    """The models on this machine, the ready ones first."""

    request_id: str
    models: tuple[ModelEntry, ...]


@dataclass(frozen=True, repr=False, eq=False)
class ImportProgress(Record):
    """Bytes converted so far, of all."""

    request_id: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, repr=False, eq=False)
class ModelImported(Record):
    """The GGUF is now a model in Flint's own folder."""

    request_id: str
    model: ModelEntry


@dataclass(frozen=True, repr=False, eq=False)
class LoadProgress(Record):
    """How far a load is: `fraction` from 0 to 1, `stage` in words."""

    request_id: str
    model_id: str
    fraction: float
    stage: str


@dataclass(frozen=True, repr=False, eq=False)
class ModelLoaded(Record):
    """The model can answer now."""

    request_id: str
    model: LoadedModel


@dataclass(frozen=True, repr=False, eq=False)
class ModelUnloaded(Record):
    """No model is held any more; `idle` says that it was Flint's own decision."""

    request_id: str
    idle: bool = False


@dataclass(frozen=True, repr=False, eq=False)
class GuardChoice(Record):
    """A change that would make a reply fit: the settings to change (name and value as text), and the figures it leads to."""

    title: str
    detail: str
    changes: tuple[tuple[str, str], ...]
    weights_bytes: int
    kv_bytes: int
    peak_bytes: int


@dataclass(frozen=True, repr=False, eq=False)
class MemoryRefused(Record):
    """A reply would take more memory than is safe; its request fails, and nothing was read. Sizes in bytes.

    `context` is the number of tokens it was judged with; `choices` would make it fit, the smallest loss first.
    """

    request_id: str
    weights_bytes: int
    kv_bytes: int
    prefill_bytes: int
    budget_bytes: int
    context: int
    choices: tuple[GuardChoice, ...]
    arithmetic: tuple[str, ...]


@dataclass(frozen=True, repr=False, eq=False)
class Compacting(Record):
    """The older turns are being summarised: `tokens` of the summary are written."""

    request_id: str
    tokens: int


@dataclass(frozen=True, repr=False, eq=False)
class ContextCompacted(Record):
    """The first `messages` of the request's conversation (the system's not counted) are now this `summary` to the model."""

    request_id: str
    summary: str
    messages: int


@dataclass(frozen=True, repr=False, eq=False)
class PrefillProgress(Record):
    """Prompt tokens read: `done` of `total` new ones, beside `cached` that were known.

    `rate` in tokens a second so far; `context` the context length in tokens that the reply gets.
    """

    request_id: str
    done: int
    total: int
    cached: int
    rate: float
    context: int = 0


@dataclass(frozen=True, repr=False, eq=False)
class TextDelta(Record):
    """More of the reply: answer `text`, or `reasoning` where the model thinks aloud.

    `output_tokens` so far; `rate` decode tokens a second; `context_used` tokens of the `context`
    length are taken.
    """

    request_id: str
    text: str
    reasoning: str
    output_tokens: int
    rate: float
    context_used: int
    ttft_s: float
    context: int = 0


@dataclass(frozen=True, repr=False, eq=False)
class MemoryMeasured(Record):
    """A memory reading, sent while something runs and when something changed."""

    request_id: str
    reading: MemoryReading


@dataclass(frozen=True, repr=False, eq=False)
class Finished(Record):
    """The request is done; a reply's facts come with it."""

    request_id: str
    reply: ReplyFacts | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Cancelled(Record):
    """The request was stopped because somebody asked; what was measured of a reply until then comes with it."""

    request_id: str
    reply: ReplyFacts | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Failed(Record):
    """The request could not be done."""

    request_id: str
    error: ErrorInfo


type Command = (
    ListModels
    | ImportModel
    | LoadModel
    | UnloadModel
    | Generate
    | Cancel
    | SetUnloadAfter
    | SetPrefixCache
    | ForgetChats
    | ClearPrefixCache
    | Shutdown
)
type Event = (
    ModelsListed
    | ImportProgress
    | ModelImported
    | LoadProgress
    | ModelLoaded
    | ModelUnloaded
    | MemoryRefused
    | Compacting
    | ContextCompacted
    | PrefillProgress
    | TextDelta
    | MemoryMeasured
    | Finished
    | Cancelled
    | Failed
)
type Terminal = Finished | Cancelled | Failed

COMMANDS: tuple[type[Any], ...] = get_args(Command.__value__)
EVENTS: tuple[type[Any], ...] = get_args(Event.__value__)
TERMINALS: tuple[type[Any], ...] = get_args(Terminal.__value__)

"""Commands go to the engine, events come back: frozen plain data in two closed unions, which `codec` writes as JSON."""

from dataclasses import field
from typing import Any, get_args

from engine.core.errors import ErrorInfo
from engine.core.facts import (
    GuardChoice,
    KeepProbabilities,
    KVBits,
    LoadedModel,
    MemoryGuard,
    MemoryReading,
    Message,
    ModelEntry,
    ReplyFacts,
    Weights,
    WhenFull,
)
from engine.core.hub_messages import (
    AskHubAccount,
    CancelDownload,
    DescribeHub,
    DownloadChanged,
    DownloadsListed,
    FindVariants,
    HubAccount,
    HubDescribed,
    HubFound,
    HubVariants,
    ListDownloads,
    PauseDownload,
    SearchHub,
    SetHubToken,
    StartDownload,
)
from engine.core.keep_messages import KeepCommand, KeepEvent
from engine.core.odds import TokenOdds
from engine.core.record import Record
from engine.core.settings import Sampling

# -- commands ------------------------------------------------------------------------------------------------------------


class ListModels(Record):
    """Look for the models on this machine; answered by `ModelsListed`, then the request's end."""

    request_id: str


class ImportModel(Record):
    """Import a GGUF into Flint's own folder; reports `ImportProgress`, then `ModelImported`."""

    request_id: str
    source: str
    name: str = ""


class LoadModel(Record):
    """Load a model (importing it first where it must be) in place of the one before.

    Reports `ImportProgress` and `LoadProgress`, then `ModelLoaded`. Where its memory is not there it is refused, unless
    `memory_guard` is "off".
    """

    request_id: str
    model_id: str
    weights: Weights = "auto"
    memory_guard: MemoryGuard = "ask"


class UnloadModel(Record):
    """Drop the loaded model and give its memory back; reports `ModelUnloaded`."""

    request_id: str


class Generate(Record):
    """Continue a conversation: `messages` end with the user's, or with a reply that goes on where it was cut.

    `context` None means as large as the model allows.

    `summary` stands for what came before the messages. `model_id` names the model that must answer: it is loaded first when
    another one is. Empty takes the loaded one, else the starter. `prefill_chunk` bounds the tokens read at a time.
    `unset` names the sampling settings that nobody set: what the model itself recommends stands for them.
    Where the memory is not there, `memory_guard` says whether it is refused with a `MemoryRefused` ("ask"), takes the first
    change that makes it fit ("adapt"), or goes ahead ("off"). With `keep_probabilities` "on" a `ReplyOdds` comes before
    the end; "off", nothing of it is computed.

    With `replay`, the facts of an earlier reply, that one is made once more and nothing else: a `Replayed` tells what came of
    it. `sampling`, `context` and `kv_bits` are then those of the facts.
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
    keep_probabilities: KeepProbabilities = "off"
    replay: ReplyFacts | None = None
    unset: tuple[str, ...] = ()


class InspectPrompt(Record):
    """Show what the loaded model would be given for `prompt`, which is not answered; reports `PromptInspected`.

    Nothing is loaded or computed for it, and it does not wait for a reply that is being written.
    """

    request_id: str
    prompt: Generate


class CountPrompt(Record):
    """Count the tokens of the prompt that `request` would be, and of each of the `texts`; answered by `PromptCounted`.

    It is never in the way of a reply: it is served between two tokens. A newer one from the same consumer cancels it, and where
    the model of the request is not loaded it ends without an answer.
    """

    request_id: str
    request: Generate
    texts: tuple[str, ...] = ()


class Cancel(Record):
    """Stop the request named by `target`: within one prefill chunk or one token when it runs, at once when it waits."""

    request_id: str
    target: str


class SetUnloadAfter(Record):
    """Unload an idle model after this many seconds; 0 never."""

    request_id: str
    seconds: float


class SetPrefixCache(Record):
    """Keep at most so many bytes of what was read: in memory besides the live conversation, and on disk. 0 keeps nothing."""

    request_id: str
    memory_bytes: int
    disk_bytes: int


class ForgetChats(Record):
    """Take what belongs to none but these chats out of the prefix cache, of every model; for chats removed for good."""

    request_id: str
    chat_ids: tuple[str, ...]


class ClearPrefixCache(Record):
    """Forget everything that was read, in memory and on disk."""

    request_id: str


class Shutdown(Record):
    """Cancel what runs, end every request, free the model and end the engine thread."""

    request_id: str


# -- events --------------------------------------------------------------------------------------------------------------


class ModelsListed(Record):
    """The models on this machine, the ready ones first."""

    request_id: str
    models: tuple[ModelEntry, ...]


class ImportProgress(Record):
    """Bytes converted so far, of all."""

    request_id: str
    done_bytes: int
    total_bytes: int


class ModelImported(Record):
    """The GGUF is now a model in Flint's own folder, or was `already`: then it keeps the name that it has."""

    request_id: str
    model: ModelEntry
    already: bool = False


class LoadProgress(Record):
    """How far a load is: `fraction` from 0 to 1, `stage` in words."""

    request_id: str
    model_id: str
    fraction: float
    stage: str


class ModelLoaded(Record):
    """The model can answer now."""

    request_id: str
    model: LoadedModel


class ModelUnloaded(Record):
    """No model is held any more; `idle` says that it was Flint's own decision."""

    request_id: str
    idle: bool = False


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


class Compacting(Record):
    """The older turns are being summarised: `tokens` of the summary are written."""

    request_id: str
    tokens: int


class ContextCompacted(Record):
    """The first `messages` of the request's conversation (the system's not counted) are now this `summary` to the model."""

    request_id: str
    summary: str
    messages: int


class PrefillProgress(Record):
    """Prompt tokens read: `done` of `total` new ones, beside `cached` that were known.

    `rate` in tokens a second so far; `context` the context length in tokens that the reply gets. `dropped_tokens` have left it
    by now, and with them the first `dropped_messages`, as in `ReplyFacts`.
    """

    request_id: str
    done: int
    total: int
    cached: int
    rate: float
    context: int = 0
    dropped_tokens: int = 0
    dropped_messages: int = 0


class PromptInspected(Record):
    """The exact prompt: `ids` in order, the first `cached` of which would not be read again now; `text` is what was encoded.

    Each different id stands once in `known_ids`, with its text (empty where it is only a part of a character), its bytes in
    hexadecimal and whether it is special at the same place of `texts`, `bytes_hex` and `special`. Section i reaches up to the
    token `section_ends[i]` and belongs to a message of `section_roles[i]`: "system", "user", "assistant", or "template" for
    what the template adds by itself. `left_out` messages, the oldest, did not fit into the `context`, and with them
    `left_out_tokens`; of what is there, all but the first `pinned` tokens may leave it while the reply is made.
    """

    request_id: str
    model: str
    fingerprint: str
    template_hash: str
    context: int
    ids: tuple[int, ...]
    cached: int
    left_out: int
    text: str
    known_ids: tuple[int, ...]
    texts: tuple[str, ...]
    bytes_hex: tuple[str, ...]
    special: tuple[bool, ...]
    section_roles: tuple[str, ...]
    section_ends: tuple[int, ...]
    left_out_tokens: int = 0
    pinned: int = 0


class TextDelta(Record):
    """More of the reply: answer `text`, or `reasoning` where the model thinks aloud.

    `output_tokens` so far, without the one that ends the turn; `rate` decode tokens a second; `context_used` tokens of the
    `context` length are taken; `reasoning_s` is how long the model has thought, and stands still once it answers.
    `dropped_tokens` have left the context by now, and with them the first `dropped_messages`, as in `ReplyFacts`.
    """

    request_id: str
    text: str
    reasoning: str
    output_tokens: int
    rate: float
    context_used: int
    ttft_s: float
    context: int = 0
    reasoning_s: float = 0.0
    dropped_tokens: int = 0
    dropped_messages: int = 0


class ReplyOdds(Record):
    """How likely the tokens of a reply were, right before its end."""

    request_id: str
    odds: TokenOdds


class Replayed(Record):
    """A reply was made once more: the `same`, or the first `tokens` of it and then `got` where `expected` was written.

    `reasons` tell in words what is known to be different from then.
    """

    request_id: str
    same: bool
    tokens: int
    expected: str
    got: str
    reasons: tuple[str, ...]


class PromptCounted(Record):
    """A prompt of so many `tokens`: `words` of them are the last message's own, `cached` need not be read again.

    The `context` holds so many; to fit in it, the oldest `left_out` messages go, and where `fits` is False even that is not
    enough, or not wanted. `texts` are the tokens of each text. All messages' own words are `said` tokens, the rest is the
    template's (0: the template changes the words it is given, so that nobody can tell).
    """

    request_id: str
    tokens: int
    words: int
    cached: int
    context: int
    left_out: int = 0
    fits: bool = True
    texts: tuple[int, ...] = ()
    said: int = 0


class NextTokens(Record):
    """A next-token distribution of a reply, before its end: the newest that left a choice, as the model gave it.

    `before` is the end of the text it followed; `texts` are those of the likeliest tokens, `logprobs` the log-probabilities of
    more of them, falling. Those after them come in blocks: `tail_counts` tokens with the log of their mean probability each.
    """

    request_id: str
    before: str
    texts: tuple[str, ...]
    logprobs: tuple[float, ...]
    tail_counts: tuple[int, ...] = ()
    tail_logprobs: tuple[float, ...] = ()


class MemoryMeasured(Record):
    """A memory reading, sent while something runs and when something changed."""

    request_id: str
    reading: MemoryReading


class Finished(Record):
    """The request is done; a reply's facts come with it."""

    request_id: str
    reply: ReplyFacts | None = None


class Cancelled(Record):
    """The request was stopped because somebody asked; what was measured of a reply until then comes with it."""

    request_id: str
    reply: ReplyFacts | None = None


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
    | InspectPrompt
    | CountPrompt
    | Cancel
    | SetUnloadAfter
    | SetPrefixCache
    | ForgetChats
    | ClearPrefixCache
    | SearchHub
    | DescribeHub
    | FindVariants
    | StartDownload
    | PauseDownload
    | CancelDownload
    | ListDownloads
    | SetHubToken
    | AskHubAccount
    | KeepCommand
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
    | Replayed
    | ContextCompacted
    | PrefillProgress
    | PromptInspected
    | TextDelta
    | ReplyOdds
    | PromptCounted
    | NextTokens
    | MemoryMeasured
    | HubFound
    | HubDescribed
    | HubVariants
    | DownloadChanged
    | DownloadsListed
    | HubAccount
    | KeepEvent
    | Finished
    | Cancelled
    | Failed
)
type Terminal = Finished | Cancelled | Failed

COMMANDS: tuple[type[Any], ...] = get_args(Command.__value__)
EVENTS: tuple[type[Any], ...] = get_args(Event.__value__)
TERMINALS: tuple[type[Any], ...] = get_args(Terminal.__value__)

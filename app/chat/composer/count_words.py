"""What is said of a count of the prompt: the composer's note, and the sentences behind it."""

from engine.core.messages import PromptCounted
from engine.core.record import Record
from engine.core.sizes import count_text, figure


class Mine(Record):
    """Whose the last message's words are: is there a `draft`, words `typed` in it (not files alone), a question `unanswered`.

    A question without a reply and the draft after it are one message to the model.
    """

    typed: bool = True
    draft: bool = True
    unanswered: bool = False

    @property
    def called(self) -> str:
        """What the last message is called."""
        if not self.draft:
            return "the question without a reply"
        return "your message and the question without a reply before it" if self.unanswered else "your message"


def note(counted: PromptCounted, mine: Mine) -> tuple[str, bool]:
    """Return what the composer says of a count, and whether it is a warning."""
    known = _known(counted)
    if _too_long(counted):
        what = "" if mine.draft else "unanswered, "
        return f"{count_text(counted.tokens, 'token', short=True)}, {what}the context holds {figure(counted.context)}", True
    if not counted.words:
        return f"{count_text(known, 'token', short=True)} cached" if known else "", False
    words = count_text(counted.words, "token", short=True) + ("" if mine.draft else " unanswered")
    return f"{words}, {figure(known)} cached" if known else words, False


def tip(counted: PromptCounted, mine: Mine) -> str:
    """Return the sentences behind the note; their figures add up, and are those the inspector shows of the same prompt."""
    which = "The whole prompt" if counted.words and mine.draft else "The conversation so far"
    sentences = [f"{which} has {count_text(counted.tokens, 'token')}{_parts(counted, mine)}.", *_reading(counted)]
    if counted.left_out:
        gone = "message is" if counted.left_out == 1 else f"{counted.left_out:,} messages are"
        sentences.append(f"To fit, the oldest {gone} left out.")
    if _too_long(counted) and not mine.draft:
        sentences.append("Edit or delete the question without a reply, or raise the context length in the settings.")
    elif _too_long(counted):
        sentences.append("Shorten the message, take a file away, or raise the context length in the settings.")
    elif not counted.fits:
        sentences.append("Raise the context length in the settings.")
    return " ".join(sentences)


def _too_long(counted: PromptCounted) -> bool:
    """Return whether the last message is what stands in the way."""
    return counted.words > 0 and (not counted.fits or counted.words >= counted.context)


def _leaving(counted: PromptCounted) -> int:
    """Return how many tokens leave a context that rolls."""
    return 0 if _too_long(counted) or not counted.fits else max(0, counted.tokens - counted.context)


def _known(counted: PromptCounted) -> int:
    """Return how many tokens of those that stay in the context are cached."""
    return max(0, counted.cached - _leaving(counted))


def _reading(counted: PromptCounted) -> list[str]:
    """Say what is read again, and how much has no room in the context."""
    holds, read = f"The context holds {counted.context:,}", counted.tokens - counted.cached
    gone, known = _leaving(counted), _known(counted)
    which = "of those that stay" if gone else "of them"
    if not known:
        told = f"{_are(read, 'token is', 'tokens are')} to read."
    elif not read:
        told = f"All {which} are cached and need not be read again."
    else:
        told = f"{known:,} {which} {'is' if known == 1 else 'are'} cached and need not be read again, {_are(read)} to read."
    return [f"{holds}: the oldest {_are(gone, 'leaves it', 'leave it')}.", told] if gone else [told, f"{holds}."]


def _are(count: int, one: str = "is", several: str = "are") -> str:
    """Return a number with its verb, as “1 is” or “12,345 are”."""
    return f"{count:,} {one if count == 1 else several}"


def _parts(counted: PromptCounted, mine: Mine) -> str:
    """Return whose the tokens of a prompt are; nothing where the template changes words, so that nobody can tell."""
    if not counted.said:
        return ""
    before = counted.said - counted.words
    parts = [f"{mine.called} {counted.words:,}{_in_files(counted, mine)}"] if counted.words else []
    parts += [f"{'what was said before' if counted.words else 'what was said'} {before:,}"] if before else []
    return f": {', '.join(parts)}, the template's own {counted.tokens - counted.said:,}"


def _in_files(counted: PromptCounted, mine: Mine) -> str:
    """Return what the files of a message are of it: what the chips say, and the rest."""
    files = sum(counted.texts)
    if not 0 < files <= counted.words:
        return ""
    rest = counted.words - files
    where = "the words and the empty lines between" if mine.typed or mine.unanswered else "the empty lines between them"
    return f" ({files:,} in files{f', {rest:,} in {where}' if rest else ''})"

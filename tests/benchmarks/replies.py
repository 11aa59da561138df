"""Replies for the benchmarks of the chat view: the parts a long technical answer has, over and over."""

from engine.chats.records import StoredMessage

SECTION = """## Reading the prompt, part {part}

The model reads the prompt in **chunks**; each chunk is one forward pass over `n` tokens, and the weights are read once a chunk. \
That is why *prefill* is bound by arithmetic and decode by memory. See [the notes](https://example.org/notes) for the figures.

1. The template makes text of the messages.
2. The tokenizer makes ids of the text:
   - the ids that are in the cache already are skipped,
   - the others are read.
3. The last position's logits give the first token.

```python
def prefill(model, ids, cache, chunk=512):
    for start in range(0, len(ids), chunk):
        logits = model(ids[start : start + chunk], cache=cache)  # evaluated chunk by chunk
    return logits[-1]
```

| part | bound by | share |
|---|---|--:|
| prefill | arithmetic | 12 % |
| decode | bandwidth | 88 % |

> What is measured is written down; what is written down is measured again.

"""


def message(message_id: str, role: str, text: str, chat_id: str = "chat", state: str = "complete") -> StoredMessage:
    """A stored message without facts."""
    return StoredMessage(message_id, chat_id, None, role, text, "", state, 0.0, "", None, None, 0, 1)  # type: ignore[arg-type]


def mixed(parts: int) -> str:
    """Headings, prose, lists, code, tables and quotes: about 260 tokens a part."""
    return "".join(SECTION.format(part=part) for part in range(1, parts + 1))


def kinds(parts: int) -> dict[str, str]:
    """Replies of `parts` thousand characters that are one single block: what an incremental view finds hardest."""
    lines = parts * 12
    return {
        "code": "```python\n"
        + "".join(f"    total[{n}] = sum(value * {n} for value in row)  # line {n}\n" for n in range(lines)),
        "list": "".join(f"{n}. Step {n} of a list that goes **on and on** with some `code` in it.\n" for n in range(1, lines)),
        "table": "| step | what it does | cost |\n|---|---|--:|\n"
        + "".join(f"| step {n} | reads the next chunk of the prompt | {n * 3} ms |\n" for n in range(lines)),
    }

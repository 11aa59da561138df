"""ChatGPT's export (conversations.json): a tree of nodes for each conversation, as one of Flint's chats.

What the model did in several steps (thinking, calling tools, writing) is one reply here; hidden and system nodes are left out.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.chats.converted import Converted, id_of, object_of, one_active, text_of, time_of, with_names
from engine.chats.records import ChatSummary, ChatTree, MessageNode
from engine.chats.titles import title_from
from engine.core.errors import UsageError
from engine.core.facts import Role
from engine.core.record import Record

_CITATION = re.compile("\ue200[^\ue201]*\ue201")
_UNSAID = frozenset({"reasoning_recap", "user_editable_context", "model_editable_context", "app_pairing_content"})
_MEDIA = {"image_asset_pointer": "image", "audio_asset_pointer": "audio", "video_container_asset_pointer": "video"}


class _Said(Record):
    """What one node says."""

    role: Role
    text: str
    reasoning: str = ""
    model: str = ""
    at: float | None = None
    stopped: bool = False


class _Run(Record):
    """The nodes of one reply so far; `id` is the last one's."""

    id: str
    said: _Said

    def then(self, id_: str, said: _Said) -> "_Run":
        """Return the run with one more node."""
        text = "\n\n".join(part for part in (self.said.text, said.text) if part)
        reasoning = "\n\n".join(part for part in (self.said.reasoning, said.reasoning) if part)
        at = self.said.at if self.said.at is not None else said.at
        return _Run(id_, _Said("assistant", text, reasoning, said.model or self.said.model, at, said.stopped))


def chat_from_chatgpt(raw: Mapping[str, Any], default_time: float = 0.0) -> Converted:
    """Return a conversation as a chat, every branch; `default_time` is for one without.

    Raises `UsageError` where it holds no tree of messages.
    """
    mapping = raw.get("mapping")
    id_ = id_of(raw.get("conversation_id")) or id_of(raw.get("id"))
    if not isinstance(mapping, dict) or not id_:
        raise UsageError("A conversation in this file is not one.", "Choose the file as ChatGPT exported it.")
    created = time_of(raw.get("create_time"), time_of(raw.get("update_time"), default_time))
    walk = _Walk({key: node for key, node in mapping.items() if id_of(key) and isinstance(node, dict)}, created)
    walk.go()
    nodes = one_active(walk.nodes, walk.depths(raw.get("current_node")))
    first = next((node.text for node in nodes if node.role == "user"), "")
    title = " ".join(text_of(raw.get("title")).split()) or title_from(first)
    model = text_of(raw.get("default_model_slug")) or next((node.model_id for node in reversed(nodes) if node.model_id), "")
    updated = time_of(raw.get("update_time"), max((node.created_at for node in nodes), default=created))
    pinned = raw.get("is_starred") is True or raw.get("pinned_time") is not None
    chat = ChatSummary(id_, title, created, updated, pinned, model)
    return Converted(ChatTree(chat, {}, "", nodes), walk.skipped)


class _Walk:
    """One way through a conversation's nodes, parents first, without recursion: a long chat is a deep tree."""

    def __init__(self, mapping: dict[str, dict[str, Any]], created: float) -> None:
        self._mapping = mapping
        self._created = created
        self.nodes: list[MessageNode] = []
        self.skipped = 0
        self._written: set[str] = set()

    def go(self) -> None:
        """Fill `nodes`."""
        roots = [key for key, node in self._mapping.items() if text_of(node.get("parent")) not in self._mapping]
        waiting: list[tuple[str, str | None, _Run | None]] = [(key, None, None) for key in reversed(roots)]
        seen = set(roots)
        while waiting:
            key, parent, run = waiting.pop()
            said = self._said(self._mapping[key].get("message"))
            if said is not None and said.role == "assistant":
                run = run.then(key, said) if run else _Run(key, said)
            elif said is not None:
                parent = self._write(key, said, self._end(run, parent))
                run = None
            children = [child for child in self._children(key) if child not in seen]
            seen.update(children)
            if not children:
                self._end(run, parent)
            waiting += [(child, parent, run) for child in reversed(children)]

    def depths(self, leaf: object) -> dict[str, int]:
        """Return how far along the path to `leaf` each node on it is."""
        path: list[str] = []
        met: set[str] = set()
        while isinstance(leaf, str) and leaf in self._mapping and leaf not in met:
            met.add(leaf)
            path.append(leaf)
            leaf = self._mapping[leaf].get("parent")
        return {key: depth for depth, key in enumerate(reversed(path))}

    def _children(self, key: str) -> list[str]:
        children = self._mapping[key].get("children")
        listed = [child for child in children if isinstance(child, str)] if isinstance(children, list) else []
        return [child for child in dict.fromkeys(listed) if child in self._mapping]

    def _end(self, run: _Run | None, parent: str | None) -> str | None:
        """Write the reply that ends here, once; return the parent of what follows."""
        return self._write(run.id, run.said, parent) if run else parent

    def _write(self, key: str, said: _Said, parent: str | None) -> str:
        if key not in self._written:
            self._written.add(key)
            self.nodes.append(
                MessageNode(
                    id=key,
                    parent_id=parent,
                    role=said.role,
                    text=said.text,
                    reasoning=said.reasoning,
                    state="interrupted" if said.stopped else "complete",
                    created_at=self._created if said.at is None else said.at,
                    model_id=said.model,
                    facts=None,
                    error=None,
                    active=False,
                )
            )
        return key

    def _said(self, message: Any) -> _Said | None:
        """Return what a node says, None where it is not to be seen; count what can't be told."""
        if not isinstance(message, dict):
            return None
        author, metadata, content = (object_of(message.get(name)) for name in ("author", "metadata", "content"))
        kind = text_of(content.get("content_type")) or "text"
        role = author.get("role")
        if role == "system" or metadata.get("is_visually_hidden_from_conversation") is True or kind in _UNSAID:
            return None
        recipient = message.get("recipient")
        if role not in ("user", "assistant") or recipient not in (None, "", "all"):
            self.skipped += 1
            return None
        reasoning = _thoughts(content) if kind == "thoughts" else ""
        text = _CITATION.sub("", _words(content, kind)).strip("\n")
        text = with_names(text, _names(content, metadata))
        if not text.strip() and not reasoning:
            self.skipped += bool(content) and kind not in ("text", "thoughts", "multimodal_text")
            return None
        ended = object_of(metadata.get("finish_details")).get("type")
        at = time_of(message.get("create_time"), -1.0)
        said = _Said("user", text) if role == "user" else _Said("assistant", text, reasoning)
        return replace(
            said,
            model=text_of(metadata.get("model_slug")) if role == "assistant" else "",
            at=at if at >= 0 else None,
            stopped=role == "assistant" and ended == "interrupted",
        )


def _words(content: Mapping[str, Any], kind: str) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        texts = [part if isinstance(part, str) else text_of(object_of(part).get("text")) for part in parts]
        return "\n\n".join(text for text in texts if text.strip())
    text = text_of(content.get("text"))
    if kind == "code" and text.strip():
        language = text_of(content.get("language"))
        return f"```{'' if language == 'unknown' else language}\n{text}\n```"
    return text


def _thoughts(content: Mapping[str, Any]) -> str:
    thoughts = content.get("thoughts")
    told = [object_of(thought) for thought in thoughts] if isinstance(thoughts, list) else []
    parts = [text_of(thought.get(name)).strip() for thought in told for name in ("summary", "content")]
    return "\n\n".join(part for part in parts if part)


def _names(content: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[str]:
    """Return the names of what went with a message; where a picture's is not known, what it is."""
    attachments = metadata.get("attachments")
    named = [text_of(object_of(one).get("name")) for one in attachments] if isinstance(attachments, list) else []
    named = [name for name in named if name.strip()]
    parts = content.get("parts")
    kinds = [text_of(object_of(part).get("content_type")) for part in parts] if isinstance(parts, list) else []
    return named or [_MEDIA[kind] for kind in kinds if kind in _MEDIA]

"""LM Studio's conversation files (*.conversation.json): a list of messages, each with versions, as one of Flint's chats.

What follows a message there follows the version that is selected; the other versions become siblings that nothing follows.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.chats.converted import Converted, id_of, object_of, one_active, text_of, time_of, with_names
from engine.chats.records import ChatSummary, ChatTree, Folder, MessageNode
from engine.chats.titles import title_from
from engine.core.errors import UsageError

_SYSTEM_PROMPT = "llm.prediction.systemPrompt"
_SETTINGS = {
    "llm.prediction.temperature": "temperature",
    "llm.prediction.topKSampling": "top_k",
}


def chat_from_lmstudio(raw: Mapping[str, Any], name: str, folder: Folder | None = None, default_time: float = 0.0) -> Converted:
    """Return a conversation as a chat; `name` is its file's, by which LM Studio knows it. `default_time` is for one without.

    Raises `UsageError` where it holds no messages.
    """
    messages = raw.get("messages")
    if not isinstance(messages, list):
        raise UsageError("This is not a conversation of LM Studio's.", "Choose a file that ends in .conversation.json.")
    stem = name.removesuffix(".json").removesuffix(".conversation")
    created = time_of(raw.get("createdAt"), time_of(_number(stem), default_time))
    updated = time_of(raw.get("userLastMessagedAt"), time_of(raw.get("assistantLastMessagedAt"), created))
    chat_id = id_of(f"lmstudio-{stem}") or "lmstudio"
    model = object_of(raw.get("lastUsedModel"))
    model_id = text_of(model.get("indexedModelIdentifier")) or text_of(model.get("identifier"))
    reading = _Reading(chat_id, created, model_id)
    for place, message in enumerate(messages):
        reading.add(place, object_of(message))
    nodes = one_active(reading.nodes, reading.depths)
    title = " ".join(text_of(raw.get("name")).split())
    title = title or title_from(next((node.text for node in nodes if node.role == "user"), ""))
    chat = ChatSummary(
        chat_id, title, created, updated, raw.get("pinned") is True, model_id, folder_id=folder.id if folder else None
    )
    return Converted(ChatTree(chat, _settings(raw), text_of(raw.get("clientInput")), nodes, folder=folder), reading.skipped)


class _Reading:
    """The messages read so far; `parent` is the selected version of the last one."""

    def __init__(self, chat_id: str, created: float, model_id: str) -> None:
        self._chat_id, self._created, self._model_id = chat_id, created, model_id
        self._parent: str | None = None
        self.nodes: list[MessageNode] = []
        self.depths: dict[str, int] = {}
        self.skipped = 0

    def add(self, place: int, message: Mapping[str, Any]) -> None:
        """Read one message with all of its versions."""
        versions = message.get("versions")
        if not isinstance(versions, list):
            versions = [message]
        selected = message.get("currentlySelected")
        shown: str | None = None
        for number, version in enumerate(versions):
            node = self._node(f"{self._chat_id}-{place}-{number}", object_of(version))
            if node is None:
                continue
            self.nodes.append(node)
            if number == selected or shown is None:
                shown = node.id
        if shown is not None:
            self.depths[shown] = place
            self._parent = shown

    def _node(self, id_: str, version: Mapping[str, Any]) -> MessageNode | None:
        role = version.get("role")
        if role not in ("user", "assistant", "system"):
            self.skipped += 1
            return None
        texts: list[str] = []
        thoughts: list[str] = []
        names: list[str] = []
        model = ""
        for step in _steps(version):
            if text_of(step.get("type")) not in ("", "contentBlock", "singleStep"):
                self.skipped += text_of(step.get("type")).startswith("tool")
                continue
            found, files, tools = _content(step.get("content"))
            self.skipped += tools
            thinking = text_of(object_of(step.get("style")).get("type")) == "thinking"
            (thoughts if thinking else texts).append(found)
            names += files
            info = object_of(step.get("genInfo"))
            model = text_of(info.get("indexedModelIdentifier")) or text_of(info.get("identifier")) or model
        text = with_names("\n\n".join(part for part in texts if part.strip()), names)
        reasoning = "\n\n".join(part for part in thoughts if part.strip())
        if not text.strip() and not reasoning:
            return None
        sender = text_of(object_of(version.get("senderInfo")).get("senderName"))
        return MessageNode(
            id=id_,
            parent_id=self._parent,
            role=role,
            text=text,
            reasoning=reasoning,
            state="complete",
            created_at=self._created,
            model_id=(model or sender or self._model_id) if role == "assistant" else "",
            facts=None,
            error=None,
            active=False,
        )


def _steps(version: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    steps = version.get("steps")
    if isinstance(steps, list):
        yield from (object_of(step) for step in steps)
    else:
        yield {"type": "contentBlock", "content": version.get("content")}


def _content(content: Any) -> tuple[str, list[str], int]:
    """Return the words of a content block, the names of its files, and how many steps of tools it holds."""
    if isinstance(content, str):
        return content, [], 0
    texts, names, tools = [], [], 0
    for block in content if isinstance(content, list) else []:
        part = object_of(block)
        kind = text_of(part.get("type"))
        if kind == "text":
            texts.append(text_of(part.get("text")))
        elif kind == "file" or "fileIdentifier" in part:
            names.append(text_of(part.get("name")) or text_of(part.get("fileIdentifier")) or "file")
        else:
            tools += 1
    return "".join(texts), names, tools


def _settings(raw: Mapping[str, Any]) -> dict[str, object]:
    """Return what the chat set for itself that Flint has, too: its system prompt, above all."""
    found: dict[str, object] = {}
    fields = object_of(raw.get("perChatPredictionConfig")).get("fields")
    for field in fields if isinstance(fields, list) else []:
        key, value = text_of(object_of(field).get("key")), object_of(field).get("value")
        if key == _SYSTEM_PROMPT and isinstance(value, str) and value.strip():
            found["system_prompt"] = value
        elif key in _SETTINGS and isinstance(value, int | float) and not isinstance(value, bool):
            found[_SETTINGS[key]] = value
    prompt = text_of(raw.get("systemPrompt"))
    if prompt.strip():
        found.setdefault("system_prompt", prompt)
    return found


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 16 else None

"""Conversations as ChatGPT and LM Studio export them, for tests of reading them."""


def node(key, parent, children, role=None, parts=("",), at=None, **changes):
    """One node of ChatGPT's tree; without a role it has no message."""
    message = None
    if role:
        content = changes.pop("content", {"content_type": "text", "parts": list(parts)})
        message = {
            "id": key,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": at,
            "content": content,
            "status": "finished_successfully",
            "weight": 1.0,
            "metadata": changes.pop("metadata", {}),
            "recipient": changes.pop("recipient", "all"),
        }
    return {"id": key, "message": message, "parent": parent, "children": list(children), **changes}


def conversation(*nodes, current=None, **changes):
    """One of ChatGPT's conversations."""
    return {
        "title": "Coffee at night",
        "create_time": 1_700_000_000.25,
        "update_time": 1_700_000_900.5,
        "mapping": {one["id"]: one for one in nodes},
        "current_node": current or nodes[-1]["id"],
        "conversation_id": "c-1",
        "id": "c-1",
        "default_model_slug": "gpt-4o",
        **changes,
    }


def branching():
    """A question asked twice; its second form was answered twice, and the first answer is shown. The root is hidden."""
    return conversation(
        node("root", None, ["system"]),
        node("system", "root", ["q1", "q2"], "system", [""], metadata={"is_visually_hidden_from_conversation": True}),
        node("q1", "system", ["a1"], "user", ["How late?"], 1_700_000_001.0),
        node("a1", "q1", [], "assistant", ["Early."], 1_700_000_002.0),
        node("q2", "system", ["a2", "a3"], "user", ["How late can I drink coffee?"], 1_700_000_003.0),
        node("a2", "q2", ["q3"], "assistant", ["Before 15:00."], 1_700_000_004.0, metadata={"model_slug": "gpt-4o"}),
        node("q3", "a2", [], "user", ["Thanks, 谢谢 🙂"], 1_700_000_005.0),
        node("a3", "q2", [], "assistant", ["Never."], 1_700_000_006.0),
        current="q3",
    )


def with_tools():
    """One reply in steps: thinking, a call, what the tool said, and the answer; the question has a file and a picture."""
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://x", "size_bytes": 5}
    return conversation(
        node("root", None, ["about"]),
        node(
            "about",
            "root",
            ["q"],
            "user",
            content={"content_type": "user_editable_context", "user_profile": "secret"},
            metadata={"is_visually_hidden_from_conversation": True},
        ),
        node(
            "q",
            "about",
            ["t"],
            "user",
            content={"content_type": "multimodal_text", "parts": [picture, "What is in it?"]},
            metadata={"attachments": [{"name": "week-29.csv"}, {"name": "cup.png"}]},
        ),
        node(
            "t",
            "q",
            ["call"],
            "assistant",
            content={"content_type": "thoughts", "thoughts": [{"summary": "Looking", "content": "It is a table."}]},
        ),
        node(
            "call",
            "t",
            ["out"],
            "assistant",
            content={"content_type": "code", "language": "python", "text": "open('week-29.csv')"},
            recipient="python",
        ),
        node("out", "call", ["recap"], "tool", content={"content_type": "execution_output", "text": "ok"}),
        node("recap", "out", ["a"], "assistant", content={"content_type": "reasoning_recap", "content": "Thought for 3 s"}),
        node("a", "recap", ["b"], "assistant", ["Two cups\ue200cite\ue202turn0\ue201 a day."], 1_700_000_009.0),
        node("b", "a", [], "assistant", ["And a cake."]),
        conversation_id="c-2",
    )


def said(role, *texts, **changes):
    """A message of LM Studio's in one step."""
    content = [{"type": "text", "text": text} for text in texts]
    return {"type": "singleStep", "role": role, "content": content, **changes}


def steps(*blocks, model="qwen3-4b"):
    """A reply of LM Studio's in several steps: (kind, text), the kind "thinking" or ""."""
    return {
        "type": "multiStep",
        "role": "assistant",
        "senderInfo": {"senderName": model},
        "steps": [
            {
                "type": "contentBlock",
                "stepIdentifier": str(number),
                "content": [{"type": "text", "text": text}],
                **({"style": {"type": "thinking", "ended": True}} if kind == "thinking" else {}),
                "genInfo": {"indexedModelIdentifier": f"org/{model}", "stats": {"tokensPerSecond": 9.5}},
            }
            for number, (kind, text) in enumerate(blocks)
        ],
    }


def lmstudio(*messages, **changes):
    """A conversation of LM Studio's; each message is a list of its versions, the last of which is selected."""
    return {
        "name": "Cups",
        "pinned": True,
        "createdAt": 1_727_000_000_000,
        "userLastMessagedAt": 1_727_000_100_000,
        "messages": [{"versions": list(versions), "currentlySelected": len(versions) - 1} for versions in messages],
        "perChatPredictionConfig": {"fields": [{"key": "llm.prediction.systemPrompt", "value": "Be brief."}]},
        "clientInput": "and then",
        "lastUsedModel": {"indexedModelIdentifier": "org/qwen3-4b"},
        **changes,
    }

"""Take pictures of the chat window in every state, from stored chats: what people read, find, branch and set.

`uv run python tests/screenshots_chat.py FOLDER [--scale 2]` writes each state light and dark. Nothing is generated but the one
reply that the inspector and the distribution need.
"""

from pathlib import Path

from tests.picture_taking import Camera, take_each, take_pictures

TEXTS = Path(__file__).parent / "pictures"
THOUGHT = "The user asks when the second coffee is fine.\n\nA half-life of five hours: from 15:00 to 23:00 are 8 hours."


def main() -> None:
    take_pictures(__doc__, lambda camera: Pictures(camera).take_all())


class Pictures:
    """One window in one mode, and the states it is brought to."""

    def __init__(self, camera: Camera) -> None:
        from app.__main__ import build
        from engine.core.paths import locate
        from engine.core.preferences import Preferences

        self._camera = camera
        preferences = Preferences(locate().settings)
        for name, value in (("theme", camera.mode), ("temperature", 0.8), ("max_tokens", 80), ("keep_probabilities", "on")):
            preferences.set(name, value)
        self._chats = _fill()
        _, self._window = build(["flint"])
        self._window.show()

    def take_all(self) -> None:
        """Every state, one after the other."""
        take_each(
            (
                self.welcome,
                self.technical,
                self.math,
                self.table,
                self.reasoning,
                self.branches,
                self.find,
                self.search,
                self.narrow,
                self.zoomed,
                self.palette,
                self.generated,
            )
        )
        self._window.close()

    def welcome(self) -> None:
        self._window.chat.open(None)
        self._camera.wait(lambda: self._window.models.state.state == "ready")
        self._take("empty")

    def technical(self) -> None:
        self._open("technical")
        self._window.page.transcript.verticalScrollBar().setValue(0)
        self._take("technical-top")
        self._window.page.transcript.jump_to_bottom()
        self._take("technical-end")

    def math(self) -> None:
        self._open("math")
        self._camera.rest(1500)
        self._take("math")

    def table(self) -> None:
        self._open("table")
        self._take("table")

    def reasoning(self) -> None:
        from app.chat.conversation.disclosure import Disclosure

        self._open("reasoning")
        for disclosure in self._window.findChildren(Disclosure):
            if disclosure.isVisible():
                disclosure.click()
        self._take("reasoning")

    def branches(self) -> None:
        self._open("branches")
        self._take("branches")

    def find(self) -> None:
        self._open("technical")
        self._window.commands.find("findInChat").trigger()
        self._camera.rest(200)
        self._window.findChild(object, "findField").setText("read")
        self._take("find")
        self._window.findChild(object, "findClose").click()

    def search(self) -> None:
        field = self._window.findChild(object, "chatSearch")
        field.setText("coffee")
        self._take("search", 600)
        field.setText("")

    def narrow(self) -> None:
        self._open("technical")
        size = self._window.size()
        self._window.resize(700, 760)
        self._take("narrow")
        self._window.commands.find("showSettings").trigger()
        self._take("narrow-settings")
        self._window.commands.find("showSettings").trigger()
        self._window.resize(size)

    def zoomed(self) -> None:
        for _ in range(5):
            self._window.commands.find("zoomIn").trigger()
        self._take("zoomed")
        self._window.commands.find("zoomReset").trigger()

    def palette(self) -> None:
        self._window.commands.find("commandPalette").trigger()
        self._take("palette")
        self._window.commands.find("commandPalette").trigger()
        self._window.commands.find("showShortcuts").trigger()
        self._camera.rest(200)
        sheet = self._window.findChild(object, "shortcutsSheet")
        self._camera.take(sheet, "shortcuts", 0)
        sheet.accept()

    def generated(self) -> None:
        """A real reply: what the model saw of it, and what the settings do to its next token."""
        self._window.chat.open(None)
        self._window.page.composer.set_text("Why does water boil at a lower temperature up a mountain?")
        self._window.page.composer.submit()
        self._camera.rest(200)
        self._camera.wait(lambda: self._window.replies.writing_chat() is None)
        self._window.commands.find("showSettings").trigger()
        self._take("settings", 800)
        self._window.commands.find("showInspector").trigger()
        self._take("inspector-prompt", 800)
        reply = next((child for child in self._window.findChildren(object) if child.objectName() == "segment.reply"), None)
        if reply is not None:
            reply.click()
            self._take("inspector-reply", 800)

    def _open(self, name: str) -> None:
        self._window.chat.open(self._chats[name])

    def _take(self, name: str, rest_ms: int = 350) -> None:
        from app.chat.text.formulas import formulas

        self._camera.rest(rest_ms)
        formulas().wait()
        self._camera.take(self._window, name, 50)


def _fill() -> dict[str, str]:
    """Store the chats; return their ids by name."""
    from engine.chats.store import ChatStore
    from engine.core.facts import ReplyFacts
    from engine.core.paths import locate
    from engine.core.settings import Sampling

    facts = ReplyFacts(
        model="DeepSeek R1 Distill 8B 4-bit", finish_reason="stop", seed=29034418, prompt_tokens=16_900, cached_tokens=16_600,
        output_tokens=386, ttft_s=0.41, prefill_s=0.4, decode_s=6.2, prefill_tps=750.0, decode_tps=62.3,
        weights_bytes=4_520_000_000, kv_bytes=2_300_000_000, peak_bytes=7_100_000_000, context=32_768, fingerprint="f",
        template_hash="t", sampling=Sampling(), chunks=(300,), reasoning_s=4.2,
    )  # fmt: skip
    chats = {}
    with ChatStore(locate().chats) as store:
        for name, title, question, tries in (
            ("table", "Models compared", "Compare three models for me.", ["table"]),
            ("math", "Caffeine left at bedtime", "How much caffeine of my coffee is left at 23:00?", ["math"]),
            ("branches", "Three tries at a haiku", "Write a haiku about flint.", ["Sparks", "Stone", "Cold stone, hot sparks"]),
            ("reasoning", "How late can the second coffee be?", "I want at most 25 mg left at 23:00.", ["At 11:15, no later."]),
            ("technical", "Why the second turn is fast", "Why is the second turn so much faster?", ["technical"]),
        ):
            chat = store.create_chat(model_id="m")
            chats[name] = chat.id
            asked = store.add_message(chat.id, "user", question)
            for answer in tries:
                path = TEXTS / f"{answer}.md"
                text = path.read_text("utf-8") if path.exists() else answer
                reply = store.begin_reply(chat.id, asked.id, "m")
                store.finish_reply(reply.id, text, "complete", facts, None, THOUGHT if name == "reasoning" else "")
            store.rename_chat(chat.id, title)
    return chats


if __name__ == "__main__":
    main()

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chats.export import export_json, export_markdown
from engine.chats.export_files import write_json, write_markdown, write_markdowns
from engine.chats.file_names import MOST_BYTES, as_taken, free_name, safe_name
from engine.core.errors import ChatNotFound, FlintError, Stopped, UsageError


def chats(store, *titles):
    ids = []
    for title in titles:
        ids.append(store.create_chat(title).id)
        store.add_message(ids[-1], "user", f"About {title}")
    return ids


def test_json_and_markdown_are_written_as_they_are_exported(store, tmp_path):
    ids = chats(store, "One", "Two 東京 \u2028")
    write_json(store, ids, tmp_path / "x.json")
    write_markdown(store, ids[1], tmp_path / "x.md")
    assert (tmp_path / "x.json").read_bytes() == export_json(store, ids).encode()
    assert (tmp_path / "x.md").read_bytes() == export_markdown(store, ids[1]).encode()


def test_many_are_written_beside_what_is_there_and_over_nothing(store, tmp_path):
    (tmp_path / "coffee.md").write_text("mine")
    ids = chats(store, "Coffee", "COFFEE", "Café", "Cafe\u0301", "a/b: c", "...")
    written = write_markdowns(store, ids, tmp_path)
    assert [path.name for path in written] == [
        "Coffee 2.md",
        "COFFEE 3.md",
        "Café.md",
        "Cafe\u0301 2.md",
        "a b c.md",
        "Untitled chat.md",
    ]
    assert (tmp_path / "coffee.md").read_text() == "mine"
    assert written[0].read_text("utf-8") == export_markdown(store, ids[0])


def test_a_file_that_can_not_be_written_whole_leaves_the_one_before(store, tmp_path):
    path = tmp_path / "x.json"
    path.write_text("before")
    with pytest.raises(ChatNotFound):
        write_json(store, [*chats(store, "One"), "nope"], path)
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "data"] == ["x.json"]


def test_a_folder_that_is_not_there_is_told(store, tmp_path):
    ids = chats(store, "One")
    for write in (
        lambda: write_json(store, ids, tmp_path / "gone" / "x.json"),
        lambda: write_markdowns(store, ids, tmp_path / "gone"),
    ):
        with pytest.raises(FlintError) as caught:
            write()
        assert caught.value.hint


def test_a_folder_in_the_files_place_is_told(store, tmp_path):
    (tmp_path / "x.json").mkdir()
    with pytest.raises(UsageError):
        write_json(store, chats(store, "One"), tmp_path / "x.json")


def test_progress_counts_chats_and_can_stop(store, tmp_path):
    ids = chats(store, "One", "Two", "Three")
    told = []
    write_markdowns(store, ids, tmp_path, lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3)]

    def stop(done, total):
        if done == 1:
            raise Stopped

    with pytest.raises(Stopped):
        write_json(store, ids, tmp_path / "x.json", stop)
    assert not (tmp_path / "x.json").exists()


@given(st.text(max_size=300))
def test_any_title_becomes_a_name_that_can_be_written(title):
    name = safe_name(title)
    assert name.strip()
    assert len(name.encode()) <= MOST_BYTES
    assert not set(name) & set('/\\:*?"<>|\x00\n\r\t')
    assert not name.startswith(".")
    assert not name.endswith((".", " "))


@given(st.text(min_size=150, max_size=200), st.sampled_from("é東👩"))
def test_a_long_title_in_any_script_can_be_written(title, letter):
    assert len(safe_name(title + letter * 300).encode()) <= MOST_BYTES


def test_free_names_are_numbered():
    taken = {as_taken("A.md"), as_taken("a 2.md")}
    assert free_name("a", ".md", taken) == "a 3.md"
    assert free_name("b", ".md", taken) == "b.md"

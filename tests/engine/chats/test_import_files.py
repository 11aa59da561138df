import json
import zipfile

import pytest

from engine.chats.export import export_json
from engine.chats.import_files import import_files
from engine.chats.store import ChatStore
from engine.core.errors import Stopped, UsageError
from tests.engine.chats.foreign import branching, lmstudio, said, with_tools


@pytest.fixture
def other(tmp_path):
    with ChatStore(tmp_path / "other" / "chats.sqlite3") as opened:
        yield opened


@pytest.fixture
def put(tmp_path):
    def put(name, content):
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    return put


def titles(store):
    return {chat.title for chat in store.chats()}


def flint_export(store, count=2):
    ids = []
    folder = store.folders.create("Work")
    for number in range(count):
        chat = store.create_chat(f"Chat {number}")
        store.add_message(chat.id, "user", f"Hello {number}")
        ids.append(chat.id)
    store.folders.move(ids[:1], folder.id)
    store.pin_chats(ids[1:], True)
    return ids, export_json(store, ids)


def test_flints_own_file_comes_back_byte_by_byte(store, other, put):
    ids, text = flint_export(store)
    report = import_files(other, [put("chats.json", text)])
    assert (report.chat_ids, report.known, report.skipped, report.unreadable) == (tuple(ids), 0, 0, 0)
    assert export_json(other, ids) == text


def test_what_is_there_already_is_left_alone(store, put):
    ids, text = flint_export(store)
    store.rename_chat(ids[0], "Changed since")
    store.add_message(ids[0], "user", "More")
    report = import_files(store, [put("chats.json", text)])
    assert (report.known, report.chat_ids) == (2, ())
    assert titles(store) == {"Changed since", "Chat 1"}


def test_what_says_something_else_or_is_in_the_trash_comes_as_a_copy(store, put):
    ids, text = flint_export(store)
    store.delete_chat(ids[1])
    report = import_files(store, [put("chats.json", text.replace("Hello 0", "Hello there"))])
    assert (report.known, len(report.chat_ids)) == (0, 2)
    assert not set(report.chat_ids) & set(ids)


def test_fields_in_another_order_are_read_as_well(store, other, put):
    ids, text = flint_export(store)
    document = json.loads(text)
    turned = {"version": document["version"], "format": document["format"], "more": [1], "chats": document["chats"]}
    assert import_files(other, [put("x.json", turned)]).chat_ids == tuple(ids)


@pytest.mark.parametrize("damage", ["cut", "field", "version", "no version"])
def test_of_a_damaged_file_of_flints_nothing_stays(store, other, put, damage):
    _, text = flint_export(store, 3)
    document = json.loads(text)
    if damage == "field":
        document["chats"][2]["title"] = 5
    elif damage == "version":
        document["version"] = 99
    elif damage == "no version":
        del document["version"]
    path = put("chats.json", text[:-40] if damage == "cut" else document)
    with pytest.raises(UsageError) as caught:
        import_files(other, [path])
    assert caught.value.hint
    assert (other.chats(), other.trash()) == ([], [])


def test_chatgpts_file_and_archive_are_read(store, other, put, tmp_path):
    path = put("conversations.json", [branching(), with_tools(), {"mapping": 5}, "x"])
    report = import_files(store, [path])
    assert (report.chat_ids, report.skipped, report.unreadable) == (("c-1", "c-2"), 2, 2)
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(path, "export/conversations.json")
        packed.writestr("export/user.json", "{}")
        packed.writestr("export/chat.html", "<html>")
    assert import_files(other, [archive]).chat_ids == ("c-1", "c-2")
    assert titles(other) == titles(store)
    assert [hit.chat_id for hit in store.search("谢谢")] == ["c-1"]
    assert import_files(store, [archive]).known == 2


def test_one_conversation_alone_is_read(store, put):
    assert import_files(store, [put("one.json", branching())]).chat_ids == ("c-1",)


def test_of_a_conversation_list_cut_short_what_is_whole_stays_and_that_is_told(store, put):
    text = json.dumps([branching(), with_tools()])
    report = import_files(store, [put("conversations.json", text[:-200])])
    assert report.chat_ids == ("c-1",)
    assert "cut short" in report.problem


def test_a_folder_of_lmstudios_keeps_its_folders(store, put):
    put("conversations/1.conversation.json", lmstudio([said("user", "One")], name="One"))
    put("conversations/Work/2.conversation.json", lmstudio([said("user", "Two")], name="Two"))
    put("conversations/Work/3.conversation.json", lmstudio([said("user", "Three")], name="Three"))
    root = put("conversations/settings.json", {"theme": "dark"}).parent
    report = import_files(store, [root])
    assert (len(report.chat_ids), report.unreadable) == (3, 0)
    (work,) = store.folders.all()
    assert work.name == "Work"
    assert {chat.title for chat in store.chats() if chat.folder_id == work.id} == {"Two", "Three"}
    assert import_files(store, [root]).known == 3


def test_empty_conversations_are_counted_not_made(store, put):
    paths = [put("1.json", lmstudio()), put("2.json", lmstudio([said("user", "Two")]))]
    report = import_files(store, paths)
    assert (len(report.chat_ids), report.unreadable) == (1, 1)


def test_a_file_that_is_something_else_does_not_keep_the_others_out(store, put):
    report = import_files(store, [put("x.json", {"a": 1}), put("c.json", [branching()]), put("y.json", "words")])
    assert (report.chat_ids, report.unreadable) == (("c-1",), 2)


@pytest.mark.parametrize("content", ["words", "", "{}", "[]", "[1, 2]", '{"messages": 5}', '{"a": [1]}'])
def test_a_file_without_chats_is_refused_with_what_to_do(store, put, content):
    with pytest.raises(UsageError) as caught:
        import_files(store, [put("x.json", content)])
    assert caught.value.hint
    assert store.chats() == []


def test_a_file_that_is_not_there_or_no_archive_is_refused(store, put, tmp_path):
    for path in (tmp_path / "gone.json", put("x.zip", "words")):
        with pytest.raises(UsageError):
            import_files(store, [path])
    empty = tmp_path / "empty.zip"
    with zipfile.ZipFile(empty, "w") as packed:
        packed.writestr("notes.txt", "x")
    with pytest.raises(UsageError, match=r"conversations\.json"):
        import_files(store, [empty])


def test_a_damaged_archive_is_told(store, put, tmp_path):
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(put("conversations.json", [branching()] * 50), "conversations.json")
    data = bytearray(archive.read_bytes())
    data[60:80] = bytes(20)
    archive.write_bytes(bytes(data))
    with pytest.raises(UsageError) as caught:
        import_files(store, [archive])
    assert caught.value.hint
    assert store.chats() == []


@pytest.fixture
def pack(put, tmp_path):
    """Pack a list of conversations; `marks` are bytes to put at places of its entry in the archive's table."""

    def pack(method=zipfile.ZIP_DEFLATED, marks=()):
        archive = tmp_path / "export.zip"
        with zipfile.ZipFile(archive, "w", method) as packed:
            packed.write(put("conversations.json", [branching()] * 50), "conversations.json")
        data = bytearray(archive.read_bytes())
        start = data.rindex(b"PK\x01\x02")
        for place, value in marks:
            data[start + place] = value
        archive.write_bytes(bytes(data))
        return archive

    return pack


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_is_read_however_it_is_packed_and_told_where_it_is_damaged(store, pack, method):
    archive = pack(method)
    assert import_files(store, [archive]).chat_ids[0] == "c-1"
    data = bytearray(archive.read_bytes())
    for place in range(60, 120):
        data[place] ^= 0xFF
    archive.write_bytes(bytes(data))
    with pytest.raises(UsageError) as caught:
        import_files(store, [archive])
    assert caught.value.hint


# Places in an entry: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.12.
@pytest.mark.parametrize(
    ("marks", "told"),
    [
        ([(8, 0x01)], "password"),
        ([(8, 0x41)], "password"),
        ([(10, 9)], "does not know"),
        ([(10, 93)], "does not know"),
        ([(6, 99)], "does not know"),
        ([(8, 0x20)], "does not know"),
    ],
    ids=["locked", "locked strongly", "Deflate64", "Zstandard", "a newer form", "patches"],
)
def test_an_archive_that_can_not_be_unpacked_is_told_why(store, pack, marks, told):
    with pytest.raises(UsageError, match=told) as caught:
        import_files(store, [pack(marks=marks)])
    assert "Unpack it" in caught.value.hint
    assert store.chats() == []


def test_a_file_that_is_too_large_is_refused_unread(store, put, monkeypatch):
    monkeypatch.setattr("engine.chats.import_source.MOST_BYTES", 100)
    with pytest.raises(UsageError, match="too large"):
        import_files(store, [put("c.json", [branching()])])


def test_a_folder_of_everything_is_refused(store, put, monkeypatch):
    monkeypatch.setattr("engine.chats.import_source.MOST_FILES", 2)
    for number in range(3):
        root = put(f"all/{number}.json", "{}").parent
    with pytest.raises(UsageError, match="more than 2 files"):
        import_files(store, [root])


def test_progress_tells_bytes_of_all_files(store, put):
    paths = [put("1.json", [branching()]), put("2.json", [with_tools()])]
    told = []
    import_files(store, paths, lambda done, total: told.append((done, total)))
    total = sum(path.stat().st_size for path in paths)
    assert told[-1] == (total, total)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_stopped_import_leaves_nothing(store, put):
    kept = store.create_chat("Kept")
    paths = [put("1.json", [branching()]), put("2.json", [with_tools()])]

    def stop(done, total):
        if len(store.chats()) > 1:
            raise Stopped

    with pytest.raises(Stopped):
        import_files(store, paths, stop)
    assert [chat.id for chat in store.chats()] == [kept.id]
    assert store.trash() == []
    assert len(import_files(store, paths).chat_ids) == 2


def test_a_stopped_import_leaves_no_folder_but_those_that_were_there(store, put):
    chosen = put("all/Here/1.conversation.json", lmstudio([said("user", "One")])).parents[1]
    import_files(store, [chosen])
    store.delete_chats([chat.id for chat in store.chats()])
    store.empty_trash()
    (here,) = store.folders.all()
    for number, folder in ((2, "Here"), (3, "New"), (4, "Then")):
        put(f"all/{folder}/{number}.conversation.json", lmstudio([said("user", folder)]))
    mine = []

    def stop(done, total):
        mine[:] = mine or [store.folders.create("Made meanwhile")]
        if len(store.chats()) > 2:
            raise Stopped

    with pytest.raises(Stopped):
        import_files(store, [chosen], stop)
    assert store.chats() == []
    assert {folder.id for folder in store.folders.all()} == {here.id, mine[0].id}


def test_fields_in_another_order_are_the_same_chats(store, other, put):
    """As a program that sorts them writes them: the chats come before what says whose they are."""
    chat = store.create_chat("Tea")
    store.add_message(chat.id, "user", "Which tea?")
    document = json.loads(export_json(store, [chat.id]))
    import_files(other, [put("sorted.json", json.dumps(document, sort_keys=True))])
    assert other.read_chat(chat.id) == store.read_chat(chat.id)


def test_a_list_past_the_fields_that_are_kept_is_no_fault(store, put, monkeypatch):
    monkeypatch.setattr("engine.chats.import_files._MOST_FIELDS", 1)
    with pytest.raises(UsageError):
        import_files(store, [put("many.json", {"one": 1, "two": [2]})])

"""Transcripts, notes and exports become what memory holds: once, and as they are now."""

import json
import os
from pathlib import Path

import pytest

from metamem.core.access import Scope
from metamem.core.errors import Busy, DataError, UsageError
from metamem.service.importing import exports, lines, notes
from metamem.service.importing.hiding import kept_pattern
from metamem.service.importing.items import Brought, Piece, bring
from metamem.service.importing.keeping import Keeper, Kept, scope_of
from metamem.service.importing.places import Places, excluded
from metamem.service.importing.plan import carried_out, planned
from metamem.service.importing.sources import Source
from metamem.service.service import MemoryService
from metamem.service.words import Draft, Fact, Listing
from metamem.service.writing.fields import identifier
from tests.service.importing.written import Claude, Codex, use
from tests.service.writing.planted import drawn

SCOPE = "local/project/shop"


class Home:
    def __init__(self, folder: Path) -> None:
        self.service = MemoryService(folder / "memory")
        self.memories = self.service.local()
        self.places = Places(self.service.database)

    def keep(self, source: Source) -> Kept:
        return Keeper(self.memories, self.places).keep(source)

    def bring(self, source: str, pieces: list[Piece]) -> Brought:
        return bring(self.memories, self.places, SCOPE, source, pieces)

    def facts(self, *lifecycle: str) -> list[Fact]:
        return list(
            self.memories.browse(Listing(lifecycle=lifecycle or ("active",), limit=900)).facts
        )

    def texts(self, *lifecycle: str) -> list[str]:
        return [fact.text for fact in self.facts(*lifecycle)]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


# --- sessions --------------------------------------------------------------------------------


def test_a_growing_session_is_kept_line_by_line(home: Home, tmp_path: Path) -> None:
    session, path = Claude("s", str(tmp_path)), tmp_path / "s.jsonl"
    session.user("The first line of it.")
    path.write_text(session.text())
    source = Source("claude-code", path)
    assert home.keep(source).stored == 1
    assert home.keep(source).stored == 0
    session.agent("The second line of it.")
    path.write_text(session.text())
    kept = home.keep(source)
    assert (kept.stored, kept.known, kept.scope) == (1, 1, str(scope_of(str(tmp_path))))
    assert home.texts() == ["The first line of it.", "The second line of it."]
    user, agent = home.facts()
    assert (user.trust, agent.trust) == (3, 2)
    assert (user.author, agent.author) == ("user", "claude-code")


def test_what_was_rewound_after_it_was_kept_is_archived(home: Home, tmp_path: Path) -> None:
    session, path = Claude("s", str(tmp_path)), tmp_path / "s.jsonl"
    session.user("Add a cache to the shop.")
    kept = session.agent("Added with a dict.")
    session.user("Use Redis instead of that.")
    path.write_text(session.text())
    source = Source("claude-code", path)
    home.keep(source)
    session.user("Use memcached instead of that.", parent=kept)
    path.write_text(session.text())
    assert home.keep(source).rewound == 1
    assert "Use Redis instead of that." not in home.texts()
    assert home.texts("archived") == ["Use Redis instead of that."]


def test_a_folder_with_a_secret_in_its_name_can_be_left_out(home: Home) -> None:
    secret = "gh" + "p_" + drawn(36)
    folder = f"/home/ada/{secret}"
    home.places.exclude([kept_pattern(f"{folder}/")])
    patterns = home.places.exclusions()
    assert secret not in repr(patterns)
    assert excluded(folder, patterns) and excluded(f"{folder}/src", patterns)
    assert not excluded("/home/ada/other", patterns)
    assert home.places.include(kept_pattern(folder))
    with pytest.raises(UsageError, match="cannot be kept"):
        kept_pattern(f"*/{secret}/*")
    glued = f"/home/ada/{secret[:4]}tools/my{secret}"  # not where its beginning is first met
    assert secret not in kept_pattern(glued)


def test_what_earlier_versions_kept_of_paths_and_ids_becomes_digests(tmp_path: Path) -> None:
    secret, home = "gh" + "p_" + drawn(36), Home(tmp_path)
    session, path = Claude("s", str(tmp_path)), tmp_path / f"{secret}.jsonl"
    session.user("The first line of it.")
    path.write_text(session.text())
    source = Source("claude-code", path)
    home.keep(source)
    with home.service.database.writing() as execute:
        execute("DELETE FROM service_settings WHERE name = 'import_sources'")
        execute("UPDATE import_places SET source = ?", (str(path),))
        execute(  # glued to what is before it
            "UPDATE import_places SET state = json_set(state, '$.reader.thread.folder', ?)",
            (f"/home/ada/my{secret}",),
        )
        execute(
            "INSERT INTO briefed_sessions (host, session, at) VALUES ('codex', ?, 1)", (secret,)
        )
        for pattern in (f"/home/ada/{secret}", "/home/ada/client-*"):
            execute("INSERT INTO import_exclusions (pattern, at) VALUES (?, 1)", (pattern,))
        execute(
            "INSERT INTO import_items (source, scope, key, digest, fact, own, at)"
            " VALUES (?, ?, 'k', 'd', 'f', 1, 1)",
            (f"/notes/{secret}/CLAUDE.md", SCOPE),
        )
    home.service.close()
    again = Home(tmp_path)
    assert again.keep(source).stored == 0  # it is known where reading stopped
    assert again.places.briefed("codex", identifier(secret))
    assert list(again.places.items(f"/notes/{secret}/CLAUDE.md", SCOPE)) == ["k"]
    patterns = again.places.exclusions()
    assert excluded(f"/home/ada/{secret}/src", patterns) and excluded(
        "/home/ada/client-x", patterns
    )
    again.service.close()
    for file in (tmp_path / "memory").rglob("*"):
        assert not (file.is_file() and secret.encode() in file.read_bytes()), file


def test_what_was_erased_does_not_come_back_with_the_rest_of_its_session(
    home: Home, tmp_path: Path
) -> None:
    session, path = Claude("s", str(tmp_path)), tmp_path / "s.jsonl"
    session.user("From now on always use uv for Python.")
    session.agent("I will.", use("t1", "Bash", command="uv sync"))
    session.result("t1", "done")
    path.write_text(session.text())
    source = Source("claude-code", path)
    scope = home.keep(source).scope
    home.memories.erase(scope, "somebody asked for it")
    again = home.keep(source)
    assert (again.stored, again.known, again.erased, again.facts) == (0, 0, 2, 0)
    session.user("Show the billing page.")
    # The host wrote its file anew, so that all of it is read again.
    path.write_text('{"type": "summary", "summary": "Of the shop"}\n' + session.text())
    for stored in (1, 0):
        again = home.keep(source)
        assert (again.stored, again.erased, again.calls, again.facts) == (stored, 2, 0, 0)
    assert home.texts() == ["Show the billing page."]


def test_what_was_erased_while_its_session_was_read_stays_so(home: Home, tmp_path: Path) -> None:
    session, path = Claude("s", str(tmp_path)), tmp_path / "s.jsonl"
    session.user("The first line of it.")
    path.write_text(session.text())
    source = Source("claude-code", path)
    home.keep(source)

    def meanwhile(folder: str) -> Scope:
        scope = scope_of(folder)
        if home.texts():
            home.memories.erase(str(scope), "somebody asked for it")
        return scope

    session.user("The second line of it.")
    path.write_text(session.text())
    Keeper(home.memories, home.places, meanwhile).keep(source)
    path.write_text('{"type": "summary", "summary": "Of the shop"}\n' + session.text())
    home.keep(source)
    assert home.texts() == ["The second line of it."]


@pytest.mark.parametrize("erased_first", [True, False])
def test_what_was_erased_stays_so_where_its_project_was_left_out_meanwhile(
    home: Home, tmp_path: Path, erased_first: bool
) -> None:
    session, path = Claude("s", str(tmp_path)), tmp_path / "s.jsonl"
    session.user("The first line of it.")
    path.write_text(session.text())
    source = Source("claude-code", path, folder=str(tmp_path))
    scope = home.keep(source).scope
    if erased_first:
        home.memories.erase(scope, "somebody asked for it")
    home.places.exclude([str(tmp_path)])
    assert home.keep(source).skipped
    if not erased_first:
        home.memories.erase(scope, "somebody asked for it")
    home.places.include(str(tmp_path))
    session.user("The second line of it.")
    path.write_text(session.text())
    home.keep(source)
    assert home.texts() == ["The second line of it."]


def test_nobody_reads_a_source_that_another_reads(home: Home) -> None:
    with home.places.reading("codex", "x"), pytest.raises(Busy), home.places.reading("codex", "x"):
        pass
    with home.places.reading("codex", "x") as state:
        assert state is None


def test_who_could_not_let_go_is_not_waited_for(home: Home) -> None:
    """A full disk keeps a reader from saying that it is through."""
    with home.places.reading("codex", "x"), home.service.database.reading() as execute:
        ((held_by, until),) = execute("SELECT held_by, held_until FROM import_places")
    with home.service.database.writing() as execute:
        execute("UPDATE import_places SET held_by = ?, held_until = ?", (held_by, until))
    with home.places.reading("codex", "x"), pytest.raises(Busy), home.places.reading("codex", "x"):
        pass


@pytest.mark.parametrize("asked_for", [False, True])
def test_who_died_is_not_waited_for(home: Home, asked_for: bool) -> None:
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitid(os.P_PID, gone, os.WEXITED | (0 if asked_for else os.WNOWAIT))
    with home.places.reading("codex", "x"), home.service.database.writing() as execute:
        execute("UPDATE import_places SET held_by = ?", (f"{gone}/r",))
    with home.places.reading("codex", "x"):
        pass
    if not asked_for:
        os.waitpid(gone, 0)


def test_a_plan_says_what_there_is_and_exclusions_are_kept(home: Home, tmp_path: Path) -> None:
    environment = {"CODEX_HOME": str(tmp_path / "codex")}
    for number, project in enumerate(("shop", "shop", "client-x", "bank")):
        session = Codex(f"x{number}", f"/home/ada/{project}")
        session.user(f"A line about {project} number {number}.")
        path = tmp_path / "codex" / "sessions" / f"rollout-{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(session.text())
    (tmp_path / "codex" / "sessions" / "rollout-9.jsonl.zst").write_bytes(b"not packed")
    home.places.exclude(["/home/ada/client-*"])
    plan = planned("codex", home.places, environment=environment)
    assert plan.unreadable == 1
    assert [(p.folder, p.sessions, p.excluded) for p in plan.projects] == [
        ("/home/ada/bank", 1, False),
        ("/home/ada/client-x", 1, True),
        ("/home/ada/shop", 2, False),
    ]
    only = planned("codex", home.places, only=["shop"], environment=environment)
    assert len(only.chosen()) == 2
    keeper = Keeper(home.memories, home.places)
    seen: list[tuple[int, int]] = []
    done = carried_out(plan.chosen(), keeper, lambda n, of: seen.append((n, of)))
    assert (done.sessions, done.stored, done.failed) == (3, 3, ())
    assert seen[-1] == (3, 3)
    again = carried_out(plan.chosen(), keeper, lambda n, of: None)
    assert (again.stored, again.known) == (0, 3)
    assert not any("client-x" in text for text in home.texts("active", "archived"))


@pytest.mark.parametrize(
    ("folder", "pattern", "expected"),
    [
        ("/home/ada/shop", "/home/ada/shop", True),
        ("/home/ada/shop/src", "/home/ada/shop", True),
        ("/home/ada/shop2", "/home/ada/shop", False),
        ("/home/ada/client-x", "client-*", True),
        ("/home/ada/client-x/a", "client-*", True),
        ("/home/ada/shop", "*/client-*", False),
        ("/home/ada/shop", "", False),
        ("/home/ada/hidden-plans/a", "hidden-plans", True),
        ("", "*", False),
    ],
)
def test_exclusions(folder: str, pattern: str, expected: bool) -> None:
    assert excluded(folder, [pattern]) is expected


def test_lines_that_were_read_before_are_known_and_damaged_ones_told(
    home: Home, tmp_path: Path
) -> None:
    session, path = Claude("s", str(tmp_path)), tmp_path / "s.jsonl"
    session.user("The first line of it.")
    session.agent("The second line of it.")
    path.write_text(session.text() + "{broken\n")
    source = Source("claude-code", path)
    first = home.keep(source)
    assert (first.stored, first.known, first.damaged) == (2, 0, 1)
    again = home.keep(source)
    assert (again.stored, again.known, again.damaged) == (0, 2, 0)


def test_a_line_that_is_too_long_is_left_out_and_no_other(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST", 5000)
    monkeypatch.setattr(lines, "CHUNK", 700)
    session, path = Claude("s", str(tmp_path)), tmp_path / "s.jsonl"
    session.user("The first line of it.")
    before = session.text()
    session.user("It goes on and on. " * 2000)
    long = session.text()
    session.agent("The last line of it.")
    source = Source("claude-code", path)
    path.write_text(long[:-20])  # its end is not written yet
    assert home.keep(source).stored == 1
    path.write_text(session.text())
    kept = home.keep(source)
    assert (kept.stored, kept.damaged) == (1, 1)
    assert home.keep(source).stored == 0
    other = tmp_path / "ends.jsonl"
    other.write_text(long.rstrip("\n"))
    whole = lines.whole(other)
    assert len(list(whole.records())) == 1 and whole.damaged == 1
    assert whole.place.offset == len(long) - 1 > len(before)


def test_what_is_no_plain_file_is_told_and_not_waited_for(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "claude" / "projects" / "p"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "a.jsonl")
    (folder / "b.jsonl").write_text(_one(tmp_path))
    plan = planned(
        "claude-code", home.places, environment={"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    )
    assert (plan.sessions, plan.unreadable) == (1, 1)
    with pytest.raises(DataError, match="no plain file"):
        home.keep(Source("claude-code", folder / "a.jsonl"))


def _one(folder: Path) -> str:
    session = Claude("b", str(folder))
    session.user("The only line of it.")
    return session.text()


def test_a_session_that_is_no_longer_left_out_is_kept(home: Home, tmp_path: Path) -> None:
    session, path = Claude("s", str(tmp_path)), tmp_path / "s.jsonl"
    session.user("The first line of it.")
    path.write_text(session.text())
    source = Source("claude-code", path, folder=str(tmp_path))
    home.places.exclude([str(tmp_path)])
    for _ in range(2):
        skipped = home.keep(source)
        assert (skipped.stored, skipped.known) == (0, 0) and skipped.skipped
    home.places.include(str(tmp_path))
    assert (home.keep(source).stored, home.keep(source).known) == (1, 1)


# --- notes -----------------------------------------------------------------------------------

NOTE = """---
name: ignored
---
# The shop

Welcome to the shop's repository.

## Tests
- Run `make test` before every commit.
  - Also `make lint`.
- Never mock the database.

@other.md

## Deploy
To deploy, do this:

```sh
- make deploy
```

1. Ask Ada first.
2. Watch the blue pipeline.
"""


def test_a_note_is_read_piece_by_piece(tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text(NOTE)
    pieces = notes.instructions(file)
    assert [piece.draft.text for piece in pieces] == [
        "Welcome to the shop's repository.",
        "Tests: Run `make test` before every commit.\n- Also `make lint`.",
        "Tests: Never mock the database.",
        "Deploy: To deploy, do this:\n```sh\n- make deploy\n```",
        "Deploy: Ask Ada first.",
        "Deploy: Watch the blue pipeline.",
    ]
    assert {(p.draft.type, p.draft.source) for p in pieces} == {("instruction", "user")}


def test_a_note_that_was_edited_changes_what_changed(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text(NOTE)
    first = home.bring(str(file), notes.instructions(file))
    assert (first.new, first.refused) == (6, ())
    assert home.bring(str(file), notes.instructions(file)).same == 6
    before = {fact.text: fact.id for fact in home.facts()}
    file.write_text(NOTE.replace("every commit", "each push").replace("1. Ask Ada first.\n", ""))
    second = home.bring(str(file), notes.instructions(file))
    assert (second.new, second.changed, second.same, second.gone) == (0, 1, 4, 1)
    assert home.texts("archived") == ["Deploy: Ask Ada first."]
    (old,) = home.facts("superseded")
    assert "every commit" in old.text
    assert before["Tests: Never mock the database."] in [fact.id for fact in home.facts()]


def test_what_a_person_forgot_does_not_come_back_by_itself(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text("- Use tabs in this project.\n- Use spaces in Python files.\n")
    home.bring(str(file), notes.instructions(file))
    home.memories.forget(home.facts()[0].id)
    home.bring(str(file), notes.instructions(file))
    assert home.texts() == ["Use spaces in Python files."]


def test_a_fact_that_was_there_before_is_not_archived_with_the_note(
    home: Home, tmp_path: Path
) -> None:
    home.memories.remember(SCOPE, [Draft("Use tabs in this project.", "instruction", "user")])
    file = tmp_path / "AGENTS.md"
    file.write_text("- Use tabs in this project.\n")
    home.bring(str(file), notes.instructions(file))
    file.write_text("")
    home.bring(str(file), notes.instructions(file))
    assert home.texts() == ["Use tabs in this project."]


def test_a_folder_of_memories(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text(
        "# Memory\n- [Ports](ports.md) — which are used\n- A plain remark.\n"
    )
    (tmp_path / "ports.md").write_text(
        "---\nname: ports\ndescription: Ports in use\ntype: feedback\n---\nStaging uses 8443.\n"
    )
    found = {path.name: pieces for path, pieces in notes.memories_of(tmp_path)}
    assert [p.draft.text for p in found["MEMORY.md"]] == ["A plain remark."]
    (piece,) = found["ports.md"]
    assert (piece.draft.text, piece.draft.type) == (
        "Ports in use: Staging uses 8443.",
        "correction",
    )
    assert piece.draft.source == "agent"


# --- exports of others -----------------------------------------------------------------------


def test_mem0(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    entry = {
        "id": "m1",
        "memory": "Prefers dark mode",
        "user_id": "ada",
        "created_at": "2026-01-05T10:00:00Z",
    }
    file.write_text(json.dumps({"results": [entry, {"id": "m2", "memory": ""}, 5]}))
    (piece,) = exports.mem0(file).pieces
    assert (piece.key, piece.draft.author) == ("m1", "ada")
    home.bring(str(file), list(exports.mem0(file).pieces))
    file.write_text(json.dumps([{**entry, "memory": "Prefers light mode"}]))
    assert home.bring(str(file), list(exports.mem0(file).pieces)).changed == 1
    assert home.texts() == ["Prefers light mode"]
    for bad in ("{", '{"a": 1}', '"x"'):
        file.write_text(bad)
        with pytest.raises(DataError):
            exports.mem0(file)


def test_mem0_of_several_users(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    told = [
        ("ada", "Prefers tea"),
        ("bob", "Prefers tea"),
        ("bob", "Bob plays chess"),
        ("", "Somebody sings"),
    ]
    entries = [{"memory": text, "user_id": user} for user, text in told]
    file.write_text(json.dumps([*entries, {"memory": ""}, 5]))
    read = exports.mem0(file)
    assert (read.users, read.damaged) == ({"ada": 1, "bob": 2, "": 1}, 2)
    assert [(p.draft.author, p.draft.entities) for p in read.pieces][1] == ("bob", ("bob",))
    done = home.bring(str(file), list(read.pieces))
    assert (done.new, done.same, done.known, done.refused) == (4, 0, 0, ())
    everything = ["Bob plays chess", "Somebody sings", "ada: Prefers tea", "bob: Prefers tea"]
    assert sorted(home.texts()) == everything
    # What is one user's, asked for alone, is the same, and leaves the others be.
    others = [piece.key for piece in read.pieces if read.whose[piece.key] != "ada"]
    again = bring(home.memories, home.places, SCOPE, str(file), read.of("ada"), others)
    assert (again.new, again.same, again.gone) == (0, 1, 0)
    assert sorted(home.texts()) == everything


def test_mem0_ids_that_are_each_users_own(tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    users = ("ada", "bob", "bob")
    file.write_text(json.dumps([{"id": "1", "memory": f"of {u}", "user_id": u} for u in users]))
    assert [piece.draft.text for piece in exports.mem0(file).pieces] == ["of ada", "of bob"]


def test_words_that_memory_holds_from_elsewhere_are_not_as_before(home: Home) -> None:
    home.memories.remember(SCOPE, [Draft("Use tabs here.", "note", "user")])
    piece = Piece("1", Draft("Use tabs here.", "note", "agent", origin="x"))
    done = home.bring("x", [piece, Piece("2", Draft("Deploy on Fridays.", "note", "agent"))])
    assert (done.new, done.same, done.known) == (1, 0, 1)
    again = home.bring("x", [piece])
    assert (again.new, again.same, again.known) == (0, 1, 0)


def test_mcp_reference_memory(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    lines = [
        {
            "type": "entity",
            "name": "Ada",
            "entityType": "person",
            "observations": ["Ada likes tea", "plays chess"],
        },
        {"type": "relation", "from": "Ada", "to": "Acme", "relationType": "works_at"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n{broken\n")
    home.bring(str(file), list(exports.mcp_memory(file).pieces))
    assert sorted(home.texts()) == ["Ada likes tea", "Ada works at Acme", "Ada: plays chess"]
    assert home.bring(str(file), list(exports.mcp_memory(file).pieces)).same == 3
    assert exports.mcp_memory(file).damaged == 1
    odd = [{"type": "entity"}, {"type": "relation", "from": "Ada"}, {"type": "other"}, 5]
    lines.append({"type": "entity", "name": "Bob", "observations": ["Bob sings", 7, ""]})
    file.write_text("\n".join(map(json.dumps, [*odd, *lines])))
    assert exports.mcp_memory(file).damaged == 6
    file.write_text("{}")
    with pytest.raises(DataError):
        exports.mcp_memory(file)

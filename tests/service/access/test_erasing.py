"""What is erased is gone from every file; what others said is as it was."""

import random
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from metamem.core.access import Scope
from metamem.core.errors import Denied, StoreError, UsageError
from metamem.core.types import Design
from metamem.promotion.ledger import Ledger
from metamem.search.handoff.place import run_folder
from metamem.service import changing, facts, log, picture
from metamem.service.access import audit
from metamem.service.database import new_id
from metamem.service.erasers import ArchiveEraser, DesignEraser, FolderEraser, HandoffEraser
from metamem.service.erasing import tombstones
from metamem.service.service import MemoryService
from metamem.service.sight import scope_number, sight
from metamem.service.words import Ask, Change, Draft, Listing, Session, Turn
from metamem.store.records import Origin, Place, Subject
from metamem.store.sql.base import insert
from metamem.store.sqlite import SqliteArchive
from tests.service.access.world import World, world

WORD = "zanzibarsecret"  # stands in what is erased and nowhere else
PICTURE = ("facts", "fact_versions", "fact_entities", "links", "sessions", "postings")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path / "memory") as made:
        for name in ("ada", "bob"):
            made.person(name)
        yield made


def raw(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def drawn(service: MemoryService) -> dict[str, list[tuple[Any, ...]]]:
    with service.database.reading() as execute:
        return {t: sorted(execute(f"SELECT * FROM {t}"), key=repr) for t in PICTURE}


def assert_redraws(service: MemoryService) -> None:
    before = drawn(service)
    with service.database.writing() as execute:
        picture.redraw(execute)
    assert drawn(service) == before


def link(world_: World, scope: str, source: str, target: str, kind: Any) -> None:
    with world_.service.database.writing() as execute:
        number = scope_number(execute, Scope.parse(scope))
        assert number is not None
        changing.linked(execute, number, source, target, kind, 1.0, by="job")


def asked(world_: World, who: str, query: str, scopes: Sequence[str], fact: str) -> None:
    """A recall as it is kept, with feedback."""
    with world_.service.database.writing() as execute:
        caller = world_.caller(who)
        view = sight(execute, caller, "read", scopes)
        number, _ = facts.by_id(execute, sight(execute, caller, "read"), fact)
        recall = new_id("r")
        columns = {"id": recall, "tenant": "acme", "who": who, "at": 1, "kind": "recall"}
        insert(execute, "recalls", {**columns, "query": query, "settings": "{}"})
        for scope in view.scopes:
            insert(execute, "recall_scopes", {"recall": recall, "scope": scope})
        item = {"recall": recall, "fact": number, "rank": 1, "score": 1.0, "propensity": 1.0}
        insert(execute, "recall_items", {**item, "shown": 1, "why": f'{{"{query}": 1}}'})
        given = {"recall": recall, "fact": number, "verdict": "useful", "given_by": who}
        insert(execute, "feedback", {**given, "at": 1, "note": query})


def test_a_scope_is_gone_from_every_file(here: World) -> None:
    scope, other = here.scope("ada", "shop"), here.scope("ada", "blog")
    first = here.fact("ada", scope, f"The password hint is {WORD} and more.")
    here.service.edit(here.caller("ada"), first, Change(text=f"Better {WORD} text", reason=WORD))
    here.service.forget(here.caller("ada"), here.fact("ada", scope, f"{WORD} two"), WORD)
    kept = here.fact("ada", other, "The blog survives with gorgonzola.")
    derived = here.fact("ada", other, f"A summary elsewhere of {WORD}.", entities=(WORD,))
    link(here, other, derived, first, "merges")
    asked(here, "ada", f"what about {WORD}", [scope], first)
    asked(here, "ada", f"both about {WORD}", [scope, other], kept)
    with here.service.database.writing() as execute:
        reply = {"tenant": "acme", "who": "ada", "key": "1", "at": 1, "request": WORD}
        insert(execute, "replies", {**reply, "reply": WORD})
        number = scope_number(execute, Scope.parse(scope))
        assert number is not None
        body = {"id": "s", "host": "h", "title": WORD, "started_at": 1, "ended_at": None}
        picture.apply(
            execute, log.append(execute, number, "session", "ada", {**body, "outcome": ""})
        )
    folder = here.service.folder
    (folder / "memory.db.service-1.backup").write_bytes(WORD.encode())
    here.service.flush()

    stone = here.service.erase(here.caller("ada"), scope, "asked by the customer")

    assert WORD.encode() not in raw(folder)
    assert b"gorgonzola" in raw(folder)
    assert here.service.get(here.caller("ada"), kept).text.startswith("The blog")
    assert stone.counts["facts"] == 3 and stone.counts["backups"] == 1
    assert stone.counts["recalls"] == 2 and stone.counts["replies"] == 1
    with here.service.database.reading() as execute:
        assert tombstones(execute, "acme") == [stone]
        assert list(execute("SELECT query FROM recalls")) == [("",)]
    with pytest.raises(Denied):
        here.service.recall(here.caller("ada"), Ask("x", scopes=(scope,)))
    with pytest.raises(Denied):
        here.service.erase(here.caller("ada"), scope, "again")
    assert_redraws(here.service)


def test_one_person_is_gone_and_others_words_stay(here: World) -> None:
    scope = here.scope("ada", "shop", "shared")
    service, ada = here.service, here.caller("ada")
    service.administration.grant(ada, scope, "bob", "writer")
    bob = here.caller("bob")
    mixed = service.remember(
        ada,
        scope,
        [
            Draft("Ada likes gorgonzola."),
            Draft(f"Bob said {WORD}.", author="Bob"),
            Draft("Ada likes roquefort."),
        ],
    )
    bobs = here.fact("bob", scope, f"My own {WORD}!")
    derived = here.fact("ada", scope, f"Summary of what Bob said: {WORD}")
    again = here.fact("ada", scope, f"Derived of the derived: {WORD}")
    link(here, scope, derived, mixed[1].id, "merges")
    link(here, scope, again, derived, "about")
    link(here, scope, mixed[0].id, bobs, "contradicts")
    link(here, scope, mixed[0].id, mixed[2].id, "repeats")
    # Bob changed what Ada said, and Ada changed it again; and he forgot another of hers.
    service.edit(ada, mixed[0].id, Change(text="Ada likes gorgonzola a lot."))
    service.edit(bob, mixed[0].id, Change(text=f"Ada likes {WORD}", reason=WORD))
    service.edit(bob, mixed[0].id, Change(importance=0.9, reason=WORD))
    service.forget(bob, mixed[2].id, f"since {WORD}")
    asked(here, "bob", f"bob asks {WORD}", [scope], mixed[0].id)
    asked(here, "ada", "ada asks", [scope], mixed[0].id)

    stone = service.erase(ada, scope, "Bob asked for it", person="bob")

    assert WORD.encode() not in raw(service.folder)
    page = service.browse(ada, Listing(lifecycle=()))
    assert [(f.text, f.lifecycle) for f in page.facts] == [
        ("Ada likes gorgonzola a lot.", "active"),
        ("Ada likes roquefort.", "archived"),
    ]
    assert page.facts[0].importance == 0.9
    assert [v.text for v in service.history(ada, mixed[0].id)] == [
        "Ada likes gorgonzola.",
        "Ada likes gorgonzola a lot.",
        "Ada likes gorgonzola a lot.",
    ]
    assert stone.counts["facts"] == 4 and "bob" not in stone.what
    with service.database.reading() as execute:
        assert execute("SELECT query FROM recalls") == [("ada asks",)]
        view = sight(execute, ada, "read")
        assert [each["kind"] for each in facts.linked(execute, view, mixed[0].id)] == ["repeats"]
    assert [i.fact.id for i in service.recall(ada, Ask("gorgonzola")).items] == [mixed[0].id]
    assert_redraws(service)


def test_sessions_lose_their_titles_with_the_words(here: World) -> None:
    scope = here.scope("ada", "shop")
    service = here.service
    with service.database.writing() as execute:
        number = scope_number(execute, Scope.parse(scope))
        assert number is not None
        for session, authors in (("mixed", ("bob", "ada")), ("bobs", ("bob",)), ("adas", ("ada",))):
            body = {"id": session, "host": "h", "title": f"title of {session}", "started_at": 1}
            rest = {"ended_at": None, "outcome": ""}
            event = log.append(execute, number, "session", "ada", {**body, **rest})
            picture.apply(execute, event)
            given = [
                turn(f"{session} {author} {i}", author, session, i)
                for i, author in enumerate(authors)
            ]
            event = log.append(execute, number, "remembered", "ada", {"facts": given})
            picture.apply(execute, event)
    service.erase(here.caller("ada"), scope, "asked", person="Bob")
    with service.database.reading() as execute:
        assert execute("SELECT id, title FROM sessions ORDER BY id") == [
            ("adas", "title of adas"),
            ("mixed", ""),
        ]
    assert b"title of bobs" not in raw(service.folder)
    assert_redraws(service)


def turn(text: str, author: str, session: str, position: int) -> dict[str, Any]:
    return {
        "id": f"f-{session}-{position}",
        "type": "turn",
        "text": text,
        "digest": text,
        "author": author,
        "source": "user",
        "origin": "",
        "trust": 3,
        "quarantined": False,
        "said_at": 1,
        "meant_from": None,
        "meant_to": None,
        "importance": 0.3,
        "session": session,
        "position": position,
        "tokens": 3,
        "pinned": False,
        "entities": [],
    }


def test_words_that_replaced_others_are_not_left_in_reasons(here: World) -> None:
    """What takes another's place is named where the log says why; an agent writes for both."""
    scope = here.scope("ada", "shop")
    service, ada = here.service, here.caller("ada")
    service.remember(ada, scope, [Draft("The office is in Hamburg.", author="Carla")])
    (new,) = service.remember(
        ada,
        scope,
        [Draft(f"The office is in {WORD} now.", author="Dora", type="correction", source="user")],
    )
    assert new.superseded
    service.erase(ada, scope, "asked", person="dora")
    assert WORD.encode() not in raw(service.folder)
    assert new.id.encode() not in raw(service.folder)
    (left,) = service.browse(ada, Listing(lifecycle=())).facts
    assert left.author == "Carla" and left.lifecycle == "superseded"
    assert_redraws(service)


def test_lines_whose_speaker_was_corrected_go_with_either(here: World) -> None:
    scope = here.scope("ada", "shop")
    service, ada = here.service, here.caller("ada")

    def give(speaker: str, text: str) -> None:
        turns = (
            Turn("Carla", "The weather is fine in Bremen.", id="1"),
            Turn(speaker, text, id="2"),
        )
        service.ingest(ada, scope, Session("s", turns))

    give("Dora", f"I said {WORD} first in the meeting.")
    give("Emil", "Something else was said in the meeting.")
    service.erase(ada, scope, "asked", person="Dora")
    assert WORD.encode() not in raw(service.folder)
    assert [f.author for f in service.browse(ada, Listing(lifecycle=())).facts] == ["Carla"]
    # Ada brought all of it; what others said stays when she goes.
    service.erase(ada, scope, "asked", person="ada")
    assert [f.author for f in service.browse(ada, Listing(lifecycle=())).facts] == ["Carla"]
    assert_redraws(service)


@pytest.mark.slow
def test_an_erasure_while_others_read_and_write(here: World) -> None:
    scope, other = here.scope("ada", "shop"), here.scope("bob", "blog")
    for i in range(30):
        here.fact("ada", scope, f"{WORD} number {i * 37} of the harbour")
    stop, troubles = threading.Event(), []

    def work() -> None:
        mine = here.service.with_key(here.keys["bob"])
        count = 0
        while not stop.is_set():
            try:
                count += 1
                mine.remember(other, [Draft(f"Ship {count * 31} came from port {count}.")])
                mine.recall(Ask("which ship came"))
            except Exception as error:
                troubles.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        here.service.erase(here.caller("ada"), scope, "asked")
        found = raw(here.service.folder)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert WORD.encode() not in found and not troubles
    assert_redraws(here.service)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_byte_is_left_however_pages_were_filled(here: World, seed: int) -> None:
    """SQLite leaves copies of rows behind when pages are split: they must go as well."""
    luck = random.Random(seed)
    scope, other = here.scope("ada", "shop"), here.scope("ada", "blog")
    for round_ in range(60):
        for where, mark in ((scope, "GONE"), (other, "KEPT")):
            drafts = [
                Draft(f"{mark}{round_}x{i} " + "word " * luck.randint(1, 300))
                for i in range(luck.randint(1, 6))
            ]
            here.service.remember(here.caller("ada"), where, drafts)
    here.service.erase(here.caller("ada"), scope, "asked")
    found = raw(here.service.folder)
    assert b"GONE" not in found and b"gone" not in found
    assert all(f"KEPT{round_}x0".encode() in found for round_ in range(60))


def test_other_places_are_erased_and_learned_designs_withdrawn(here: World, tmp_path: Path) -> None:
    scope = here.scope("ada", "shop")
    here.fact("ada", scope, f"The recipe is {WORD} and salt.")
    with SqliteArchive(tmp_path / "archive.db") as archive:
        archive.put_blob("b", WORD.encode())
        archive.create_run("run-1", {})
        for kind, identifier in (("blob", "b"), ("run", "run-1")):
            archive.add_origin(Origin(scope, kind, identifier))  # type: ignore[arg-type]
        designs = {
            name: Design(kind="code", name=name, source=source)
            for name, source in (
                ("holds", f"x = 'The recipe is {WORD} and salt.'"),
                ("waits", f"y = 'The recipe is {WORD} and salt.'"),
                ("there", "z = 1"),
                ("innocent", "w = 1"),
            )
        }
        ledger = Ledger(archive)
        places = {"there": Place("scope", scope)}
        for name, design in designs.items():
            archive.add_design(design)
            place = places.get(name, Place("domain", name))
            subject = Subject("design", design.id)
            ledger.promote(subject, place, reason="r", evidence={}, risk="code")
            if name != "waits":
                ledger.approve(subject, place, by="ada", evidence={"without_comparison": "a test"})
        dossier = run_folder(tmp_path, "run-1") / "0001"
        dossier.mkdir(parents=True)
        (dossier / "dossier.md").write_text(WORD)
        snapshots = tmp_path / "snapshots" / "acme"
        snapshots.mkdir(parents=True)
        (snapshots / "a.snapshot").write_text(WORD)
        here.service.erasing.erasers += [
            DesignEraser(archive),
            HandoffEraser(tmp_path, archive),
            ArchiveEraser(archive),
            FolderEraser("snapshots", lambda _: snapshots),
        ]
        stone = here.service.erase(here.caller("ada"), scope, "asked")
        assert {k: stone.counts[k] for k in ("designs", "dossiers", "archived", "snapshots")} == {
            "designs": 3,
            "dossiers": 1,
            "archived": 2,
            "snapshots": 1,
        }
        assert [e.subject.id for e in ledger.in_use()] == [designs["innocent"].id]
        assert not ledger.pending()
        assert not dossier.exists() and not snapshots.exists()
        assert WORD.encode() not in raw(here.service.folder)


class Failing:
    def __init__(self, times: int) -> None:
        self.times, self.seen = times, 0

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        self.seen += 1
        if self.seen <= self.times:
            raise StoreError("the disk is away")
        return {"elsewhere": 1}


def test_what_failed_elsewhere_is_done_when_the_service_is_opened_again(here: World) -> None:
    scope = here.scope("ada", "shop")
    here.fact("ada", scope, f"{WORD} here")
    failing = Failing(2)
    here.service.erasing.erasers.append(failing)
    with pytest.raises(StoreError, match="not everywhere"):
        here.service.erase(here.caller("ada"), scope, "asked", person="ada")
    assert here.service.counts(here.caller("ada"))["waiting"]["erasures"] == 1
    assert not here.service.browse(here.caller("ada"), Listing()).facts
    here.service.close()
    again = MemoryService(here.service.folder, erasers=[failing])
    assert again.erasing.trouble is not None
    again.erasing.finish()
    with again.database.reading() as execute:
        assert again.erasing.waiting(execute) == 0
        (stone,) = tombstones(execute, "acme")
    assert stone.counts["elsewhere"] == 1 and stone.reason == "asked"
    assert WORD.encode() not in raw(again.folder)
    again.close()


def test_an_erasure_needs_a_reason_and_leaves_its_trace(here: World) -> None:
    scope = here.scope("ada", "shop")
    with pytest.raises(UsageError, match="reason"):
        here.service.erase(here.caller("ada"), scope, " ")
    here.service.erase(here.caller("ada"), scope, "asked")
    here.service.flush()
    with here.service.database.reading() as execute:
        entries = [each.entry for each in audit.read(execute, "acme", limit=1000)]
    assert sorted((e.who, e.scope, e.outcome) for e in entries if e.verb == "erase") == [
        ("ada", scope, "granted"),
        ("ada", scope, "refused"),
    ]


def test_an_erased_name_can_be_used_again_by_another_who_finds_nothing(here: World) -> None:
    scope = here.scope("ada", "shop", "shared")
    here.service.administration.grant(here.caller("ada"), scope, "bob", "reader")
    fact = here.fact("ada", scope, f"{WORD} here")
    here.service.erase(here.caller("ada"), scope, "asked")
    here.scope("bob", "shop")
    assert not here.service.browse(here.caller("bob"), Listing(lifecycle=())).facts
    assert not here.caller("ada").reads
    new = here.fact("bob", scope, "Something new.")
    assert new != fact
    assert_redraws(here.service)

"""Whatever was done before: what a person said is gone, and the rest is what the log draws."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from metamem.core.errors import MetamemError
from metamem.service.erasing import tombstones
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Change, Draft, Listing, Session, Turn
from tests.service.access.test_erasing import WORD, assert_redraws, link, raw
from tests.service.access.world import World, world

MARKS = {"ada": "quartzada", "bob": "zincbob", "bot": "neutralbot"}  # words of each
SUBJECTS = ("The office", "The harbour", "Our server", "The garden", "The meeting")
VERBS = ("is in", "closes at", "belongs to", "runs on", "moved to")


def text(luck: random.Random, who: str) -> str:
    what = f"{luck.choice(SUBJECTS)} {luck.choice(VERBS)} {MARKS[who]} {luck.randint(1, 40)}"
    return f"{what}."


def step(luck: random.Random, here: World, scope: str, other: str) -> None:
    """One thing that somebody does. Words are marked by whose they are."""
    who = luck.choice(list(MARKS))
    mine = here.service.with_key(here.keys[who])
    known = [fact.id for fact in mine.browse(Listing(lifecycle=(), limit=1000)).facts]
    kind = luck.choice(
        ["remember"] * 4 + ["edit", "edit", "forget", "restore", "ingest", "link", "recall"]
    )
    if kind == "remember":
        drafts = []
        for _ in range(luck.randint(1, 4)):
            author = luck.choice(list(MARKS))
            drafts.append(
                Draft(
                    text(luck, author),
                    type=luck.choice(["observation", "correction", "decision"]),
                    author=author.upper() if luck.random() < 0.3 else author,
                    source=luck.choice(["user", "agent"]),
                    entities=(MARKS[author],),
                )
            )
        mine.remember(luck.choice([scope, scope, other]), drafts)
    elif kind == "ingest":
        speakers = [luck.choice(["ada", "bob"]) for _ in range(luck.randint(1, 4))]
        turns = tuple(
            Turn(speaker, text(luck, speaker), id=str(i)) for i, speaker in enumerate(speakers)
        )
        title = MARKS["bob"] if "bob" in speakers else MARKS["ada"]
        mine.ingest(scope, Session(f"s{luck.randint(1, 3)}", turns, title=title))
    elif kind == "recall":
        mine.recall(Ask(text(luck, who)))
    elif known:
        fact = luck.choice(known)
        if kind == "edit":
            mine.edit(fact, Change(text=text(luck, who), reason=MARKS[who]))
        elif kind == "link":
            # Summaries are made by machines, of anybody's words.
            mine.forget(fact, MARKS[who])
        else:
            getattr(mine, kind)(fact, MARKS[who])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_person_goes_and_the_rest_stays(tmp_path: Path, seed: int) -> None:
    luck = random.Random(seed)
    with world(tmp_path) as here:
        for who in MARKS:
            here.person(who)
        scope = here.scope("ada", "shop", "shared")
        other = here.scope("ada", "blog", "shared")
        for place in (scope, other):
            for who in ("bob", "bot"):
                here.service.administration.grant(here.caller("ada"), place, who, "writer")
        for _ in range(60):
            try:
                step(luck, here, scope, other)
            except MetamemError:
                continue  # edited what is archived, and the like
        ada = here.service.with_key(here.keys["ada"])
        page = ada.browse(Listing(scopes=(scope,), lifecycle=(), limit=1000))
        bobs = [fact for fact in page.facts if fact.author.lower() == "bob"]
        if bobs:
            made = here.fact("bot", other, f"In sum: {MARKS['bob']} and the like, all told.")
            link(here, other, made, bobs[0].id, "merges")
        before = {fact.id: fact.text for fact in page.facts if MARKS["bob"] not in fact.text}
        for place in (scope, other):
            here.service.erase(here.caller("ada"), place, "asked", person="Bob")
        assert MARKS["bob"].encode() not in raw(here.service.folder)
        after = {
            fact.id: fact.text
            for fact in ada.browse(Listing(scopes=(scope,), lifecycle=(), limit=1000)).facts
        }
        lost = {fact for fact in before if fact not in after}
        known = {fact.id: fact for fact in page.facts}
        # Gone are those that Bob had said before others changed them, and no others.
        assert all(known[fact].author.lower() == "bob" or known[fact].version > 1 for fact in lost)
        assert all(before[fact] == after[fact] for fact in before if fact in after)
        assert_redraws(here.service)
        here.service.erase(here.caller("ada"), scope, "asked")
        here.service.erase(here.caller("ada"), other, "asked")
        found = raw(here.service.folder)
        assert not any(mark.encode() in found for mark in MARKS.values())
        assert_redraws(here.service)


KILLED = """
import os, signal, sys
from pathlib import Path
from metamem.service.service import MemoryService

class Killing:
    def erase(self, scope, person, texts):
        os.kill(os.getpid(), signal.SIGKILL)

service = MemoryService(Path(sys.argv[1]), erasers=[Killing()])
service.local().erase("local/project/shop", "asked", person=sys.argv[2])
"""


@pytest.mark.parametrize("person", ["", "bob"])
def test_an_erasure_that_was_killed_is_ended_at_the_next_start(tmp_path: Path, person: str) -> None:
    service = MemoryService(tmp_path)
    drafts = [Draft(f"The word is {WORD} today.", author="bob")]
    service.local().remember("local/project/shop", drafts)
    service.close()
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), person], check=False)
    assert done.returncode == -signal.SIGKILL
    again = MemoryService(tmp_path)
    try:
        assert WORD.encode() not in raw(tmp_path)
        with again.database.reading() as execute:
            assert [stone.counts["facts"] for stone in tombstones(execute, "local")] == [1]
            assert again.erasing.waiting(execute) == 0
        assert_redraws(again)
    finally:
        again.close()

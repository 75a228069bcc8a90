"""What was corrected in a conversation is told after what corrected it; nothing else is moved."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metamem.service.bound import Bound
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Draft, Session, Turn
from tests.service.access.world import world
from tests.service.writing.support import assert_redrawn_alike

SHOP = "local/project/shop"
OLD, NEW = "The test database listens on port 5432.", "No, the port is 5433 now."
ASKED = "Which port does the test database use?"
FIRST = 1_790_000_000_000


@pytest.fixture
def service(tmp_path: Path) -> Iterator[MemoryService]:
    made = MemoryService(tmp_path)
    yield made
    made.close()


def talk(memories: Bound, *said: tuple[str, str], session: str = "s", first: int = FIRST) -> None:
    turns = tuple(
        Turn(who, text, who, first + n * 1000, f"{session}{n}")
        for n, (who, text) in enumerate(said)
    )
    memories.ingest(SHOP, Session(session, turns))


def texts(memories: Bound, query: str = ASKED, **more: object) -> list[str]:
    found = memories.recall(Ask(query, (SHOP,), now=FIRST + 86_400_000, **more))  # type: ignore[arg-type]
    return [item.fact.text for item in found.items]


def test_the_newer_word_of_a_conversation_comes_first_and_says_why(service: MemoryService) -> None:
    memories = service.local()
    talk(memories, ("agent", OLD), ("agent", "The tests need it."), ("user", NEW))
    found = memories.recall(Ask(ASKED, (SHOP,)))
    assert [item.fact.text for item in found.items][:2] == [NEW, OLD]
    assert found.items[0].why["corrects"] == found.items[1].fact.id
    assert found.text.index("5433") < found.text.index("5432")
    assert_redrawn_alike(service.database)
    talk(memories, ("agent", OLD), ("agent", "The tests need it."), ("user", NEW))  # given again
    assert texts(memories)[:2] == [NEW, OLD]


def test_a_correction_of_a_correction_is_first_of_all(service: MemoryService) -> None:
    memories, last = service.local(), "No, the port is 5434."
    talk(memories, ("agent", OLD), ("user", NEW), ("agent", "ok"), ("user", last))
    assert texts(memories)[:3] == [last, NEW, OLD]
    assert texts(memories, limit=2) == [last, NEW]


def test_what_is_no_correction_moves_nothing(service: MemoryService) -> None:
    memories = service.local()
    talk(
        memories,
        ("agent", OLD),
        ("user", "No, thanks."),
        ("user", "no, wait, which port?"),
        ("user", "Is the port 5433 free?"),
        ("agent", "No, the port is 5433 now."),  # not the user's word
        ("user", "No, the lamps are in hall 7."),
    )
    with service.database.reading() as execute:
        assert execute("SELECT COUNT(*) FROM links") == [(0,)]
    assert texts(memories)[0] == OLD


@pytest.mark.parametrize(
    ("old", "new", "asked"),
    [
        (OLD, NEW, ASKED),
        ("The timeout of the gateway is 30 seconds.", "No, the timeout is 45.", "gateway timeout"),
        ("Ines leads the search team.", "No, Omar leads the search team.", "who leads search?"),
        ("Ines maintains the parser.", "Actually, Omar maintains the parser.", "who maintains it?"),
    ],
)
def test_a_correction_in_a_later_conversation_is_first_too(
    service: MemoryService, old: str, new: str, asked: str
) -> None:
    memories = service.local()
    talk(memories, ("agent", old), ("agent", "The tests need it."))
    talk(memories, ("agent", "Let me look."), ("user", new), session="t", first=FIRST + 9_000_000)
    found = texts(memories, f"{asked} {old}")
    assert found.index(new) < found.index(old)


@pytest.mark.parametrize(
    "said",
    [
        (OLD, "The port of the API is 8080."),  # either could be meant
        ("The port of the bridge is closed.",),  # no value that could be another
        ("Omar leads the platform team.",),
    ],
)
def test_what_a_later_conversation_may_not_mean_stays(
    service: MemoryService, said: tuple[str, ...]
) -> None:
    memories = service.local()
    talk(memories, *(("agent", text) for text in said))
    new = (("user", NEW), ("user", "No, Ines leads the search team."))
    talk(memories, *new, session="t", first=FIRST + 9_000_000)
    with service.database.reading() as execute:
        assert execute("SELECT COUNT(*) FROM links") == [(0,)]


def test_a_question_s_own_limits_hold_for_corrections(service: MemoryService) -> None:
    memories = service.local()
    talk(memories, ("agent", OLD), ("user", NEW))
    assert NEW not in texts(memories, speaker="agent")
    assert NEW not in texts(memories, until=FIRST + 500)
    memories.remember(SHOP, [Draft(OLD, source="user")])
    assert texts(memories, evidence=False) == [OLD]
    newer = next(
        item.fact.id for item in memories.recall(Ask(ASKED, (SHOP,))).items if item.fact.text == NEW
    )
    memories.forget(newer)
    assert NEW not in texts(memories)


def test_corrections_of_another_scope_are_not_seen(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        made.person("ada")
        made.person("bob")
        mine, hers = made.scope("ada", "shop"), made.scope("bob", "bank")
        ada, bob = made.caller("ada"), made.caller("bob")
        made.service.ingest(ada, mine, Session("s", (Turn("agent", OLD, "agent", FIRST),)))
        made.service.ingest(bob, hers, Session("s", (Turn("user", NEW, "user", FIRST + 1),)))
        found = made.service.recall(ada, Ask(ASKED))
        assert [item.fact.text for item in found.items] == [OLD]

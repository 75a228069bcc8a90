"""What is erased in one process is gone from the memory of another, and from what it would write."""

from pathlib import Path

from metamem.core.access import Caller
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Draft
from tests.service.recall.engine import SHOP

ONE = frozenset({SHOP})
ADA = Caller("acme", "ada", reads=ONE, writes=ONE, manages=ONE)
TEXT = "Carol keeps the postgresql password in her blue notebook."


def test_a_person_who_is_erased_is_in_no_recall_of_another_process(tmp_path: Path) -> None:
    here, other = MemoryService(tmp_path), MemoryService(tmp_path)
    here.make_scope(SHOP)
    drafts = [Draft(TEXT, source="user", author="Carol"), Draft("The till is from 1987.")]
    here.remember(ADA, str(SHOP), drafts)
    asked = Ask("where is the postgresql password", floor=0.0)
    shown = other.recall(ADA, asked)
    assert TEXT in [item.fact.text for item in shown.items]
    other.flush()
    here.erase(ADA, str(SHOP), "she asked for it", person="Carol")
    again = other.recall(ADA, asked)
    assert TEXT not in again.text
    assert TEXT not in [item["text"] for item in other.why(ADA, shown.id)["items"]]
    assert "1987" in other.recall(ADA, Ask("how old is the till", floor=0.0)).text
    here.close()
    other.close()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"blue notebook" not in path.read_bytes()

"""The tree that a session began with: kept once, drawn anew alike, exported, erased."""

from pathlib import Path

import pytest

from metamem.core.access import Scope
from metamem.core.errors import UsageError
from metamem.service.picture import redraw
from metamem.service.service import MemoryService
from metamem.service.sight import scope_number
from metamem.service.trees import read_tree
from metamem.service.words import Session, ToolCall, Tree

SCOPE = "local/project/shop"
TALK = Session("s1", (), "codex")
DIFF = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n"
TREE = Tree("/home/ada/shop", "0a" * 20, DIFF, 1000)


@pytest.fixture
def service(tmp_path: Path) -> MemoryService:
    return MemoryService(tmp_path / "memory")


def tree(service: MemoryService, session: str = "s1") -> Tree | None:
    with service.database.reading() as execute:
        number = scope_number(execute, Scope.parse(SCOPE))
        return None if number is None else read_tree(execute, number, session)


def keep(service: MemoryService, given: Tree = TREE, session: Session = TALK) -> bool:
    return service.keep_tree(service.local_caller(), SCOPE, session, given)


def test_the_first_word_counts(service: MemoryService) -> None:
    assert keep(service)
    assert not keep(service, Tree("/elsewhere", "1b" * 20))
    assert tree(service) == TREE
    with service.database.writing() as execute:
        redraw(execute)
    assert tree(service) == TREE


def test_it_comes_too_late_when_tools_were_used(service: MemoryService) -> None:
    service.local().keep_calls(SCOPE, TALK, [ToolCall("a", "bash", {"command": "make"})])
    assert not keep(service)
    assert tree(service) is None


@pytest.mark.parametrize("commit", ["", "HEAD", "0a" * 19, "--output=/etc/passwd"])
def test_a_commit_is_all_of_its_letters(service: MemoryService, commit: str) -> None:
    with pytest.raises(UsageError):
        keep(service, Tree("/f", commit))
    assert tree(service) is None


def test_an_export_brings_it_elsewhere(service: MemoryService, tmp_path: Path) -> None:
    keep(service)
    lines = list(service.local().export([SCOPE]))
    other = MemoryService(tmp_path / "other")
    assert other.local().read_export(SCOPE, lines).trees == 1
    assert tree(other) == TREE
    assert other.local().read_export(SCOPE, lines).trees == 0


@pytest.mark.parametrize("whole", [True, False])
def test_it_goes_when_its_scope_or_its_person_does(service: MemoryService, whole: bool) -> None:
    keep(service)
    who = "" if whole else service.local_caller().who
    assert service.local().erase(SCOPE, "asked for", who).counts["trees"] == 1
    assert tree(service) is None
    assert b"+new" not in (service.folder / "memory.db").read_bytes()

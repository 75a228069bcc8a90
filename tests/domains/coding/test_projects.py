"""The projects and their faults: each fault shows, each fix mends, and no split tells another's."""

import ast
import random
from collections import Counter
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.errors import DataError, UsageError
from metamem.domains.coding.projects import PROJECTS, SIZES, UNSEEN, Bug, bugs, clean_tree
from metamem.domains.coding.projects.deal import HABITS
from metamem.domains.coding.projects.entry import entries, faulty_text
from metamem.domains.coding.projects.mutate import FAMILIES, mutations
from metamem.domains.coding.projects.symptom import Symptom, tell
from metamem.domains.coding.projects.trial import run_tests

SPLITS = ("train", "valid", "test", "shift")
ALL = (*PROJECTS, UNSEEN)


def mended_places(bug: Bug) -> set[tuple[str, str, int]]:
    """The lines of the clean project that a fix brings back."""
    places = set()
    for path, fixed in bug.fix.items():
        before, after = bug.files[path].splitlines(), fixed.splitlines()
        for tag, _, _, start, end in SequenceMatcher(None, before, after, False).get_opcodes():
            if tag != "equal":
                places |= {(bug.project, path, line) for line in range(start, max(end, start + 1))}
    return places


@pytest.mark.parametrize("project", ALL)
def test_clean_projects_pass_their_tests(project: str) -> None:
    outcome = run_tests(clean_tree(project))
    assert len(outcome) >= 40
    assert [test for test, symptom in outcome.items() if symptom is not None] == []


@pytest.mark.parametrize("split", SPLITS)
def test_a_sample_of_faults_shows_and_is_mended(split: str) -> None:
    for bug in random.Random(5).sample(bugs(split), 5):
        faulty = run_tests(bug.files)
        assert tuple(t for t, symptom in faulty.items() if symptom is not None) == bug.fail_to_pass
        assert tuple(t for t, symptom in faulty.items() if symptom is None) == bug.pass_to_pass
        assert not any(run_tests({**bug.files, **bug.fix}).values())


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
def test_every_bug_has_tests_that_tell_it_and_a_fix_that_is_the_clean_project(split: str) -> None:
    for bug in bugs(split):
        assert bug.fail_to_pass
        assert len(bug.pass_to_pass) > len(bug.fail_to_pass)
        assert bug.files != {**bug.files, **bug.fix} == clean_tree(bug.project)
        for text in bug.files.values():
            ast.parse(text)


def test_splits_have_their_sizes_and_share_no_bug_and_no_line() -> None:
    for seed in (0, 1):
        seen_ids: set[str] = set()
        seen_places: set[tuple[str, str, int]] = set()
        for split in SPLITS:
            found = bugs(split, seed)
            assert len(found) == SIZES[split]
            ids = {bug.id for bug in found}
            places = {place for bug in found for place in mended_places(bug)}
            assert len(ids) == len(found)
            assert not ids & seen_ids
            assert not places & seen_places
            seen_ids |= ids
            seen_places |= places


def test_the_shift_split_alone_has_the_seventh_project() -> None:
    assert {bug.project for bug in bugs("shift")} == {UNSEEN}
    for split in ("train", "valid", "test"):
        assert {bug.project for bug in bugs(split)} == set(PROJECTS)


def test_train_and_test_have_the_same_habits() -> None:
    for split in ("train", "test"):
        for project in PROJECTS:
            families = Counter(bug.family for bug in bugs(split) if bug.project == project)
            habitual = sum(families[family] for family in HABITS[project])
            assert habitual / families.total() >= 0.5


def test_the_bugs_written_by_hand() -> None:
    by_hand = [entry for entry in entries() if entry.written]
    levels = Counter(entry.difficulty for entry in by_hand if entry.project != UNSEEN)
    assert levels == {"easy": 17, "medium": 23, "hard": 14}
    assert sum(entry.project == UNSEEN for entry in by_hand) == 12


def test_seeds_choose_other_bugs_and_repeat() -> None:
    assert bugs("test", 3) == bugs("test", 3)
    assert {b.id for b in bugs("test", 3)} != {b.id for b in bugs("test", 4)}


def test_statements_do_not_tell_where_or_how() -> None:
    for split in SPLITS:
        for bug in bugs(split):
            assert bug.statement.startswith(f"{bug.project}: ")
            assert ".py" not in bug.statement
            for path, fixed in bug.fix.items():
                mended = set(fixed.splitlines()) - set(bug.files[path].splitlines())
                assert not any(line.strip() in bug.statement for line in mended)


def test_an_unknown_split_is_a_clear_error() -> None:
    with pytest.raises(UsageError, match="no split"):
        bugs("holdout")


def test_a_catalogue_that_does_not_fit_the_sources_is_a_clear_error() -> None:
    with pytest.raises(DataError, match="does not fit"):
        faulty_text("a = 1\nb = 2\n", 2, "c = 3\n", "c = 4\n")


def test_every_family_finds_its_fault() -> None:
    """One line for each family, and what it must become."""
    cases = {
        "boundary": ("x = a < b\n", "x = a <= b\n"),
        "condition": ("x = a and b\n", "x = a or b\n"),
        "off_by_one": ("x = range(n + 1)\n", "x = range(n)\n"),
        "operator": ("x = a + b\n", "x = a - b\n"),
        "normalisation": ("x = a.strip().lower()\n", "x = a.strip()\n"),
        "order": ("x = sorted(a, reverse=True)\n", "x = sorted(a)\n"),
        "alias": ("x = list(a)\n", "x = a\n"),
        "guard": (
            "def f(a):\n    if not a:\n        return 0\n    return a\n",
            "def f(a):\n    return a\n",
        ),
        "default": ("def f(a=2):\n    return a\n", "def f(a=3):\n    return a\n"),
        "constant": ("x = a % 60\n", "x = a % 61\n"),
        "arguments": ("x = f(a, b)\n", "x = f(b, a)\n"),
    }
    assert set(cases) == set(FAMILIES)
    for family, (clean, faulty) in cases.items():
        found = {
            faulty_text(clean, m.line, m.clean, m.faulty)
            for m in mutations("m.py", clean)
            if m.family == family
        }
        assert faulty in found, family


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(ALL), st.data())
def test_mutations_change_the_text_and_leave_a_program(project: str, data: st.DataObject) -> None:
    tree = clean_tree(project)
    path = data.draw(st.sampled_from(sorted(p for p in tree if not p.startswith("tests/"))))
    for mutation in mutations(path, tree[path]):
        changed = faulty_text(tree[path], mutation.line, mutation.clean, mutation.faulty)
        assert changed != tree[path]
        ast.parse(changed)


def test_a_symptom_is_told_in_a_users_words() -> None:
    told = tell("lib", Symptom("value", "f(1)", "2", "3", ("x = 5",)), seed=1)
    assert told.startswith("lib: After\n    x = 5\n")
    assert "`f(1)`" in told and "2" in told and "3" in told

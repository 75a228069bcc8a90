"""The projects and their faults: each fault shows, each fix mends, and no split tells another's."""

import ast
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.errors import DataError, UsageError
from metamem.core.types import SPLITS
from metamem.domains.coding.projects import SIZES, bugs, deal, kinds, projects
from metamem.domains.coding.projects.deal import dealt
from metamem.domains.coding.projects.library import functions, parse
from metamem.domains.coding.projects.symptom import tell
from metamem.domains.coding.projects.validate import complaints, failing, unsound
from metamem.domains.coding.projects.variant import Call, Outcome

FUNCTION = """@ near
: The %s near a place.
def fn(items, place):
    {{guard: if not items:\\n    return [] || }}
    return [item for item in items if item {{boundary: < || <=}} place{{off by one:  + 1 || }}]
? fn([1, 2, 3], 2)
? fn([1, 2, 3], 1)
? fn([], 1)
"""


@pytest.mark.parametrize("split", SPLITS)
def test_every_fault_shows_and_is_mended(split: str) -> None:
    assert list(unsound(split, 0)) == []


def test_a_bug_whose_fix_does_not_mend_it_is_told() -> None:
    bug = bugs("train")[0]
    assert failing(bug.files) == frozenset(bug.fail_to_pass)
    assert failing({**bug.files, **bug.fix}) == frozenset()


def test_the_forms_of_a_slot_are_told_apart_and_style_is_not() -> None:
    wrong = [line for function in functions()[::6] for line in complaints(function)]
    assert wrong == []
    (blurred,) = parse(FUNCTION.replace("< || <=", "< || <  "))
    assert any("not told apart" in line for line in complaints(blurred))
    (loud,) = parse(FUNCTION.replace("boundary:", "=:"))
    assert any("style" in line for line in complaints(loud))


def test_a_function_is_shown_in_one_pool_alone() -> None:
    for seed in (0, 1):
        pools = dealt(seed)
        names = [function.name for pool in pools.values() for function in pool]
        assert sorted(names) == sorted(function.name for function in functions())
        assert all({k for f in pool for k in f.kinds} == set(kinds()) for pool in pools.values())
        half = SIZES["train"] // 2
        train = bugs("train", seed)
        groups = [train[:half], train[half:], *(bugs(s, seed) for s in SPLITS if s != "train")]
        sources = [{bug.source for bug in group} for group in groups]
        assert sum(map(len, sources)) == len(set().union(*sources))


def test_halves_of_a_smaller_train_split_are_apart_too() -> None:
    few = bugs("train", 0, 10)
    assert not {b.source for b in few[:5]} & {b.source for b in few[5:]}


def test_the_right_form_of_a_slot_is_drawn_anew_each_time() -> None:
    """Of two forms each is the right one about as often: to have seen one says nothing."""
    turned: Counter[str] = Counter()
    for bug in (bug for seed in range(3) for bug in bugs("test", seed)):
        if bug.family == "boundary":
            (path,) = bug.fix
            turned[
                "more" if bug.fix[path].count("=") > bug.files[path].count("=") else "fewer"
            ] += 1
    assert 0.3 < turned["more"] / turned.total() < 0.7 and turned.total() > 30


def test_splits_have_their_sizes_and_share_no_bug() -> None:
    for seed in (0, 1):
        found = {split: bugs(split, seed) for split in SPLITS}
        assert {split: len(own) for split, own in found.items()} == SIZES
        ids = [bug.id for own in found.values() for bug in own]
        assert len(set(ids)) == len(ids)


def test_shift_alone_has_the_unseen_projects() -> None:
    seen = {project.project for project in projects() if project.seen}
    unseen = {project.project for project in projects() if not project.seen}
    assert {bug.project for bug in bugs("shift")} == unseen
    for split in ("train", "valid", "test"):
        assert {bug.project for bug in bugs(split)} == seen


@pytest.mark.parametrize("split", ["train", "test"])
def test_projects_keep_their_habits(split: str) -> None:
    for project in (project for project in projects() if project.seen):
        own = [bug for bug in bugs(split) if bug.project == project.project]
        habitual = sum(bug.family in project.shares for bug in own)
        assert habitual / len(own) >= 0.5
    assert len({bug.family for bug in bugs(split)}) == len(kinds()) >= 13


def test_a_project_has_one_order_of_time_over_its_splits() -> None:
    for project in (project.project for project in projects() if project.seen):
        times = [
            b.time for s in ("train", "valid", "test") for b in bugs(s) if b.project == project
        ]
        assert times == list(range(len(times)))


def test_seeds_choose_other_bugs_and_repeat() -> None:
    first = bugs("test", 3)
    deal._bugs.cache_clear()
    assert bugs("test", 3) == first
    assert {b.id for b in first}.isdisjoint(b.id for b in bugs("test", 4))


def test_statements_do_not_tell_where_or_how() -> None:
    for split in SPLITS:
        for bug in bugs(split):
            assert bug.statement.startswith(f"{bug.project}: ")
            assert ".py" not in bug.statement
            for path, fixed in bug.fix.items():
                mended = set(fixed.splitlines()) - set(bug.files[path].splitlines())
                assert not any(line.strip() in bug.statement for line in mended)


def test_an_unknown_split_and_too_many_tasks_are_clear_errors() -> None:
    with pytest.raises(UsageError, match="no split"):
        bugs("holdout")
    with pytest.raises(UsageError, match="at most"):
        bugs("train", 0, 10**6)


@pytest.mark.parametrize("cut", [": The %s near a place.\n", "? "], ids=["summary", "calls"])
def test_a_function_that_lacks_something_is_a_clear_error(cut: str) -> None:
    with pytest.raises(DataError, match="near needs"):
        parse(FUNCTION.replace(cut, "    "))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(functions()), st.randoms(use_true_random=False))
def test_any_choice_of_forms_is_a_program(function, rng: random.Random) -> None:
    chosen = [rng.randrange(len(slot.forms)) for slot in function.slots]
    assert "{{" not in function.text(chosen)
    assert len(ast.parse(function.text(chosen)).body) == 1


def test_a_symptom_is_told_in_a_users_words() -> None:
    call = Call(("x = 5",), "f(x)")
    told = tell("lib", call, Outcome(2), Outcome(3), seed=1)
    assert told.startswith("lib: After\n    x = 5\n")
    assert "`f(x)`" in told and "2" in told and "3" in told
    assert "KeyError" in tell("lib", call, Outcome(error="KeyError"), Outcome(3), seed=1)
    assert "ValueError" in tell("lib", call, Outcome(2), Outcome(error="ValueError"), seed=1)

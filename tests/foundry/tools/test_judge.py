"""A tool that does its workflow passes; one that is subtly wrong, or that nobody can judge, does not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.foundry.judging import chance_of_passing

from metamem.foundry.tools.judge import FEWEST, MOST, Remembered, judge, trying
from metamem.foundry.tools.operations import NotATool
from metamem.foundry.tools.replay import Replayer
from metamem.foundry.tools.template import TemplateWriter
from metamem.foundry.tools.tool import Case, NotYet, Tool
from metamem.foundry.tools.trial import Budget
from metamem.foundry.tools.verdict import Replayed
from metamem.foundry.words import Hole, Occurrence, Snapshot, Trace, Workflow
from metamem.foundry.workflows.candidates import Candidate
from metamem.sandbox import bubblewrap
from tests.foundry.tools.made import WHO, bash
from tests.foundry.tools.recorded import BUMP, bump, repository, snapshot

in_jail = pytest.mark.skipif(
    not bubblewrap.works(), reason="the isolation bwrap does not work here"
)
Look = Callable[[str], Trace | None]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return snapshot(repository(tmp_path_factory.mktemp("repository") / "project"))


def candidate(cases: Sequence[Case], unfit: Sequence[Case] = ()) -> tuple[Candidate, Look]:
    """The first three cases are those to write from."""
    everything = [*cases, *unfit]
    found = {case.trace.session: case.trace for case in everything}
    workflow = replace(BUMP, occurrences=tuple(c.occurrence for c in cases[:3]))
    held_out = tuple(case.occurrence for case in cases[3:])
    made = Candidate("kept", workflow, held_out, tuple(case.occurrence for case in unfit))
    return made, found.get


class Written:
    """A writer that always writes the same."""

    name = "same"

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.seen: list[Case] = []

    def write(self, workflow: Workflow, cases: Sequence[Case]) -> Tool:
        self.seen = list(cases)
        return self.tool


# --- with real replays ---------------------------------------------------------------------------


@in_jail
async def test_a_planted_tool_passes_by_21_of_21_and_judging_it_again_costs_nothing(
    given: Snapshot, tmp_path: Path
) -> None:
    made, look = candidate([bump(given, n) for n in range(FEWEST + 3)])
    replays = Remembered()
    replayer = Replayer(Budget(at_once=4), tmp_path)
    verdict = await judge(made, look, TemplateWriter(), replayer=replayer, replays=replays)
    assert verdict.decided == "promoted", verdict.why
    assert verdict.workflow == "kept" and verdict.replayable == 1.0
    assert 0.8 <= verdict.lower < 0.81
    assert [r.equal for r in verdict.replays] == [True] * FEWEST
    assert not list(tmp_path.iterdir())
    broken = Replayer(Budget(seconds=0.001), tmp_path)  # could not replay anything
    again = await judge(made, look, TemplateWriter(), replayer=broken, replays=replays)
    assert again == verdict


@in_jail
async def test_a_subtly_wrong_tool_is_refused_at_its_first_failure(
    given: Snapshot, tmp_path: Path
) -> None:
    """It is right as long as the second number of a version has one digit."""
    made, look = candidate([bump(given, n) for n in range(FEWEST + 3)])
    tool = TemplateWriter().write(BUMP)
    wrong = tool.program.replace(
        "def steps(v):", "def steps(v):\n    v['version'] = v['version'].replace('.10.', '.1.')"
    )
    writer = Written(replace(tool, program=wrong))
    replayer = Replayer(Budget(at_once=4), tmp_path)
    verdict = await judge(made, look, writer, replayer=replayer)
    assert verdict.decided == "refused"
    assert "7 of 8 held-out cases came out equal: VERSION differs" in verdict.why
    assert [c.trace.session for c in writer.seen] == ["bump00", "bump01", "bump02"]


@in_jail
async def test_a_workflow_that_never_comes_out_the_same_is_never_promoted(
    given: Snapshot, tmp_path: Path
) -> None:
    """The null: what is recorded is chance, so that no case can be replayed."""
    steps = (
        bash("echo $RANDOM$RANDOM >> VERSION"),
        bash(WHO + " commit -qam 'Release ", Hole("version"), "'"),
    )
    chance = replace(BUMP, steps=steps, parameters=BUMP.parameters[:1])
    made, look = candidate([bump(given, n, chance) for n in range(7)])
    tool = TemplateWriter().write(BUMP)
    writer = Written(replace(tool, given=tool.given[:1]))
    verdict = await judge(made, look, writer, replayer=Replayer(scratch=tmp_path))
    assert verdict.decided == "waits" and verdict.replayable == 0.0
    assert "4 cannot be replayed (it does not come out the same way twice" in verdict.why
    with pytest.raises(NotATool):  # nor does the template take it
        TemplateWriter().write(chance)


@in_jail
async def test_cases_that_do_not_fit_count_against_a_tool_if_they_can_be_replayed(
    given: Snapshot, tmp_path: Path
) -> None:
    cases = [bump(given, n) for n in range(5)]
    other = replace(BUMP, steps=(*BUMP.steps, bash("touch more")))
    unfit = [bump(given, 7, other), bump(replace(given, whole=False), 8, other)]
    made, look = candidate(cases, unfit)
    verdict = await judge(made, look, TemplateWriter(), replayer=Replayer(scratch=tmp_path))
    assert verdict.decided == "waits"
    assert [r.equal for r in verdict.replays] == [True, True, False, None]
    assert verdict.replays[2].why == "the tool was written for other steps than these"
    assert "2 of 3" in verdict.why and "28 more are needed" in verdict.why


@in_jail
async def test_a_writer_may_try_what_it_wrote_on_the_cases_it_was_written_from(
    given: Snapshot, tmp_path: Path
) -> None:
    attempt = trying(Replayer(scratch=tmp_path))
    tool, cases = TemplateWriter().write(BUMP), [bump(given, n) for n in range(2)]
    assert await attempt(tool, BUMP, cases) == ""
    broken = replace(tool, program=tool.program.replace("Release", "Released"))
    assert await attempt(broken, BUMP, cases) == "on a recorded case: HEAD differs"


# --- the arithmetic of it, with replays whose outcome is known ------------------------------------


class Known:
    """A replayer that is told how each case comes out."""

    budget = Budget(at_once=3)

    def __init__(self, outcomes: Mapping[str, bool | None]) -> None:
        self.outcomes = outcomes
        self.asked: list[str] = []

    async def replay(self, tool: Tool, case: Case, values: Any) -> tuple[Replayed, bool]:
        self.asked.append(case.trace.session)
        outcome = self.outcomes.get(case.trace.session, True)
        return Replayed(case.id, outcome, "" if outcome else "why"), outcome is not None


async def decided(outcomes: Sequence[bool | None], **how: Any) -> tuple[str, Known, str]:
    cases = [bump(Snapshot("/x", "c"), n) for n in range(len(outcomes) + 3)]
    made, look = candidate(cases)
    known = Known({f"bump{n + 3:02d}": outcome for n, outcome in enumerate(outcomes)})
    verdict = await judge(made, look, TemplateWriter(), replayer=known, **how)  # type: ignore[arg-type]
    return verdict.decided, known, verdict.why


@pytest.mark.parametrize(
    ("outcomes", "expected", "replays"),
    [
        ([True] * 21, "promoted", 21),
        ([True] * 20, "waits", 20),
        ([True] * 20 + [None] * 5, "waits", 25),
        ([None] * 9 + [True] * 21, "promoted", 30),
        ([True] * 30 + [False], "promoted", 31),
        ([True] * 20 + [False], "refused", 21),
        ([False] + [True] * 29, "refused", 1),  # 29 of 30 are too few
        ([False] + [True] * 30, "promoted", 31),
        ([False] + [True] * 9, "waits", 10),  # it takes 31, and there are 10
        ([False] * 3, "refused", 3),  # three of three: it is no good, however many come
        ([True] * 80, "promoted", MOST),
        ([], "waits", 0),
    ],
)
async def test_the_gate_is_the_exact_lower_bound(
    outcomes: list[bool | None], expected: str, replays: int
) -> None:
    found, known, why = await decided(outcomes)
    assert found == expected, why
    assert replays <= len(known.asked) <= replays + known.budget.at_once - 1


async def test_what_is_missing_is_told() -> None:
    _, _, why = await decided([True] * 5 + [None])
    assert why == (
        "not enough data yet: 5 of 5 held-out cases came out equal, 16 more are needed;"
        " 1 cannot be replayed (why)"
    )
    _, _, why = await decided([False] + [True] * 4)
    assert "4 of 5 held-out cases came out equal, 26 more are needed" in why


async def test_only_new_cases_are_replayed_and_what_may_change_is_tried_again() -> None:
    replays = Remembered()
    _, known, _ = await decided([True] * 4 + [None], replays=replays)
    assert len(known.asked) == 5
    found, known, _ = await decided([True] * 4 + [True] * 17, replays=replays)
    assert sorted(known.asked) == [f"bump{n:02d}" for n in range(7, 24)]
    assert found == "promoted"


async def test_when_time_is_up_the_rest_waits() -> None:
    found, known, why = await decided([True] * 25, seconds=-1.0)
    assert (found, known.asked) == ("waits", [])
    assert "25 are left for the next time" in why


async def test_cases_come_in_the_order_in_which_they_were_recorded() -> None:
    cases = [bump(Snapshot("/x", "c"), n) for n in range(9)]
    late = [
        replace(c, trace=replace(c.trace, uses=tuple(replace(u, at=900 - n) for u in c.trace.uses)))
        for n, c in enumerate(cases)
    ]
    made, look = candidate(late)
    known = Known({})
    await judge(made, look, TemplateWriter(), replayer=known)  # type: ignore[arg-type]
    assert known.asked == [f"bump{n:02d}" for n in range(8, 2, -1)]


async def test_where_there_is_no_tool_the_verdict_says_why() -> None:
    made, look = candidate([bump(Snapshot("/x", "c"), n) for n in range(6)])

    class No:
        name = "no"

        def write(self, workflow: Workflow, cases: Sequence[Case]) -> Tool:
            raise NotATool("it works over the network")

    class Later:
        name = "later"

        async def write(self, workflow: Workflow, cases: Sequence[Case]) -> Tool:
            raise NotYet("somebody was asked")

    none = await judge(made, look, No())
    assert (none.decided, none.why, none.tool) == ("none", "it works over the network", None)
    later = await judge(made, look, Later())
    assert (later.decided, later.why) == ("waits", "somebody was asked")


async def test_a_case_whose_session_is_gone_is_no_case() -> None:
    made, look = candidate([bump(Snapshot("/x", "c"), n) for n in range(6)])
    gone = Occurrence("gone", ("x",), {}, True)
    known = Known({})
    much = replace(made, held_out=(*made.held_out, gone))
    verdict = await judge(much, look, TemplateWriter(), replayer=known)  # type: ignore[arg-type]
    assert len(verdict.replays) == 3


def test_how_often_a_tool_that_is_no_better_than_the_bar_would_pass() -> None:
    """Judged once more with every new case, up to the most that are taken: the figure that is told."""
    assert chance_of_passing(0.8, FEWEST) == pytest.approx(0.8**FEWEST)
    assert 0.02 < chance_of_passing(0.8, MOST) < 0.025
    assert chance_of_passing(0.95, MOST) > 0.85

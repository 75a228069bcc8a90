"""What Foundry knows and did in a scope, for a person: made of the stores and the log of acts alone.

The counts of deeds are those of `foundry_acts`; whoever reads both finds the same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from metamem.foundry.acts import LOOKED, Did, acts, cursor_of
from metamem.foundry.alarms import alarms, minute
from metamem.foundry.failures import store as failures
from metamem.foundry.failures.effect import Effect, Place, effect
from metamem.foundry.failures.store import REPEATED, Failure, Resolution
from metamem.foundry.failures.taking import Standing, standing
from metamem.foundry.lessons import store as lessons
from metamem.foundry.lessons import taking as learning
from metamem.foundry.tools import deployments
from metamem.foundry.tools import store as tools
from metamem.foundry.tools.cooling import Judgement, judgements
from metamem.foundry.tools.replayable import Replayable, replayable
from metamem.foundry.tools.site import Site
from metamem.foundry.tools.store import Kept
from metamem.foundry.tools.watch import Watched, watched
from metamem.foundry.traces import Traces
from metamem.foundry.words import OutcomeBy, Trace
from metamem.foundry.workflows import store as workflows
from metamem.foundry.workflows.candidates import SUCCESS, USES
from metamem.foundry.workflows.suggest import of_telling
from metamem.store.engine import Execute

MOST = 10  # lines of each kind
FEW = 5  # ways in which sessions ended well
PLACES: tuple[Place, ...] = ("retry", "start")
LOOKED_AT = 500  # sessions, the newest, whose outcomes are told, and whether they can be replayed


@dataclass(frozen=True, slots=True)
class Solved:
    """A failure after which something worked, and the best that can be told of it."""

    failure: Failure
    resolution: Resolution | None  # None where nothing of it can be told
    effect: Effect | None
    ways: Mapping[str, int]  # in which it was resolved, and how often each


@dataclass(frozen=True, slots=True)
class Repeated:
    """A workflow, and what came of judging it last."""

    kept: workflows.Kept
    judged: Judgement | None
    tool: Kept | None  # the version that is in use or waits, or else the newest
    ended: str  # why that is out of use
    effect: Effect  # of telling it in words

    @property
    def next(self) -> str:
        """What it lacks to become a tool."""
        if self.tool is not None and self._tool_is_last:
            return self._of_tool(self.tool)
        if self.judged is not None:
            return f"{self.judged.decided}: {self.judged.why}"
        if self.kept.uses < USES:
            return f"{USES} uses start an evaluation"
        if self.kept.successes < SUCCESS * self.kept.uses:
            return f"too many of its uses failed ({SUCCESS:.0%} must work)"
        return "will be judged at the next look"

    @property
    def _tool_is_last(self) -> bool:
        """Whether nothing was decided since its tool was."""
        assert self.tool is not None
        if self.tool.state in tools.STANDING:
            return True
        return self.tool.state != "refused" and (
            self.judged is None or self.judged.tool == self.tool.id
        )

    def _of_tool(self, tool: Kept) -> str:
        if tool.state == "waits":
            return f"its tool `{tool.name}` waits for you"
        if tool.state == "approved":
            return f"the tool `{tool.name}` does it"
        how = {"disabled": "was disabled", "undone": "was taken out of use by a person"}
        why = f": {self.ended}" if self.ended else ""
        return f"its tool `{tool.name}` {how.get(tool.state, 'was turned down by a person')}{why}"


@dataclass(frozen=True, slots=True)
class Well:
    """What ended well: one session of it, and how many did so."""

    lesson: lessons.Lesson
    sessions: int
    goal: str  # of the workflow that all of them did; empty where it is none


@dataclass(frozen=True, slots=True)
class Gone:
    """A tool that was taken out of use because it turned bad."""

    name: str
    tool: str
    at: int
    why: str


@dataclass(frozen=True, slots=True)
class Report:
    scope: str
    since: int
    until: int
    looked_at: int  # to the end; 0 where nobody did
    sessions: int
    calls: int
    first_at: int  # of the calls that are known
    last_at: int
    outcomes: Mapping[OutcomeBy, tuple[int, int]]  # by sign: sessions that went well, and all
    failures: int
    resolved: int
    solved: tuple[Solved, ...]
    unresolved: tuple[Failure, ...]
    few: int  # failures that were met less often, and that nothing resolved
    put_away: int  # failures that nobody met for long, or for which there was no place
    suggestions: Standing
    learned: learning.Standing  # how many lessons there are, and of how many sessions
    patterns: tuple[lessons.Lesson, ...]
    insights: tuple[lessons.Lesson, ...]
    successes: tuple[Well, ...]
    workflows: int
    replayable: Replayable
    repeated: tuple[Repeated, ...]
    in_use: tuple[Watched, ...]
    out_of_use: tuple[Watched, ...]  # those that were in use before
    disabled: tuple[Gone, ...]  # by themselves, between the two times
    waiting: tuple[Kept, ...]
    more: Mapping[str, int]  # by field: how many are not shown
    deeds: Mapping[str, int]  # by what was done
    last: tuple[Did, ...]
    warnings: tuple[str, ...]


def report(site: Site, *, since: int, until: int, warnings: Sequence[str] = ()) -> Report:
    """How things stand, and what was done between two times. `warnings` are further ones that are told."""
    scope = site.number
    warnings = [*warnings, *alarms(site, at=until)]
    newest = _newest(site)
    with site.database.reading() as execute:
        ((sessions, calls, first, last),) = execute(
            "SELECT COUNT(DISTINCT session), COUNT(*), MIN(at), MAX(at) FROM calls WHERE scope = ?",
            (scope,),
        )
        known = failures.failures(execute, scope)
        kept = workflows.workflows(execute, scope)
        in_use = [watched(execute, scope, each) for each in deployments.deployed(execute, scope)]
        ended = [watched(execute, scope, each) for each in deployments.ended(execute, scope)]
        done = [each for each in acts(execute, scope, since=since) if each.at <= until]
        told = standing(execute, scope)
        learned = learning.standing(execute, scope)
        solved = _solved(execute, scope, known)
        unresolved = failures.repeated_unresolved(execute, scope)
        # What comes again unresolved is told as such.
        habits = [each for each in lessons.patterns(execute, scope) if "step" in each.evidence]
        insights = lessons.insights(execute, scope)
        well = _well(execute, scope, kept)
        parts: dict[str, tuple[int, int]] = {
            "solved": (len(solved), MOST),
            "unresolved": (len(unresolved), MOST),
            "patterns": (len(habits), MOST),
            "insights": (len(insights), MOST),
            "successes": (len(well), FEW),
            "repeated": (len(kept), MOST),
            "out_of_use": (len(ended), MOST),
        }
        return Report(
            str(site.scope),
            since,
            until,
            cursor_of(execute, scope, LOOKED),
            sessions,
            calls,
            first or 0,
            last or 0,
            _outcomes(newest.values()),
            len(known),
            sum(bool(each.resolved) for each in known),
            tuple(_with_effect(execute, scope, each) for each in solved[:MOST]),
            tuple(unresolved[:MOST]),
            sum(not each.resolved and each.count < REPEATED for each in known),
            len(failures.failures(execute, scope, archived=True)),
            told,
            learned,
            tuple(habits[:MOST]),
            tuple(insights[:MOST]),
            tuple(well[:FEW]),
            len(kept),
            replayable(execute, scope, kept, newest),
            tuple(_repeated(execute, scope, each) for each in kept[:MOST]),
            tuple(in_use),
            tuple(ended[:MOST]),
            tuple(_gone(done, {each.deployed.kept.id: each.deployed.name for each in ended})),
            tuple(t for t in tools.tools(execute, scope) if t.state == "waits"),
            {name: count - most for name, (count, most) in parts.items() if count > most},
            dict(Counter(each.what for each in done)),
            tuple(done[-MOST:]),
            tuple(
                filter(
                    None,
                    [*warnings, told.warning, learned.warning, *map(_of_tool, in_use)],
                )
            ),
        )


def _newest(site: Site) -> dict[str, Trace]:
    """The newest sessions."""
    traces = Traces(site.database)
    names = [changed.session for changed in traces.changed(site.number)[-LOOKED_AT:]]
    read = {name: traces.trace(site.number, name) for name in names}
    return {name: trace for name, trace in read.items() if trace is not None}


def _outcomes(sessions: Iterable[Trace]) -> dict[OutcomeBy, tuple[int, int]]:
    """How sessions ended, by the sign that tells it."""
    found: dict[OutcomeBy, tuple[int, int]] = {}
    for trace in sessions:
        well, of = found.get(trace.outcome.by, (0, 0))
        found[trace.outcome.by] = (well + bool(trace.outcome.success), of + 1)
    return found


def _solved(execute: Execute, scope: int, known: list[Failure]) -> list[Solved]:
    """All that something resolved: those that most sessions met, each with what resolved it in most
    sessions; those of which nothing can be told come last."""
    ways = failures.ways(execute, scope)
    found = []
    for failure in known:
        if failure.resolved:
            best = [r for r in failures.resolutions(execute, scope, failure.signature) if r.text]
            how = ways.get(failure.signature, {})
            found.append(Solved(failure, best[0] if best else None, None, how))
    return sorted(
        found,
        key=lambda each: (
            each.resolution is None,
            -each.failure.sessions,
            each.failure.signature,
        ),
    )


def _with_effect(execute: Execute, scope: int, solved: Solved) -> Solved:
    """Before a retry or when a session begins: where it was drawn for more often."""
    if solved.resolution is None:
        return solved
    places = [effect(execute, scope, solved.resolution.id, place=place) for place in PLACES]
    best = max(places, key=lambda each: each.shown.sessions + each.withheld.sessions)
    return Solved(solved.failure, solved.resolution, best, solved.ways)


def _well(execute: Execute, scope: int, kept: Sequence[workflows.Kept]) -> list[Well]:
    """What ended well, those of one workflow together, and else those that are alike to the letter."""
    goals: dict[str, str] = {}
    for each in kept:
        for one in workflows.occurrences(execute, scope, each.id):
            goals.setdefault(one.session, each.workflow.goal)
    homes = lessons.sources(execute, scope)
    first: dict[str, tuple[lessons.Lesson, str]] = {}
    times: Counter[str] = Counter()
    for lesson in lessons.successes(execute, scope):
        goal = next((goals[home] for home in homes.get(lesson.id, ()) if home in goals), "")
        first.setdefault(goal or lesson.text, (lesson, goal))
        times[goal or lesson.text] += 1
    return [Well(lesson, times[key], goal) for key, (lesson, goal) in first.items()]


def _repeated(execute: Execute, scope: int, kept: workflows.Kept) -> Repeated:
    judged = judgements(execute, scope, kept.id)
    telling = of_telling(execute, scope, kept.id)
    slot = tools.slot_of(execute, scope, kept.id)
    versions = tools.versions(execute, scope, slot)
    standing = [each for each in versions if each.state in tools.STANDING]
    several = standing or versions
    tool = several[-1] if several else None
    ended = [
        each.why
        for each in deployments.deployments(execute, scope, slot)
        if tool is not None and each.tool == tool.id and each.ended_at is not None
    ]
    return Repeated(kept, judged[-1] if judged else None, tool, ended[-1] if ended else "", telling)


def _gone(done: Sequence[Did], names: Mapping[str, str]) -> list[Gone]:
    """Tools that were disabled and are out of use still, the last first."""
    found = {}
    for each in done:
        if each.what == "disabled" and each.subject in names:
            name = names[each.subject]
            found[each.subject] = Gone(name, each.subject, each.at, each.why.removeprefix(f"{name}: "))  # fmt: skip
    return sorted(found.values(), key=lambda gone: (-gone.at, gone.tool))


def _of_tool(each: Watched) -> str:
    return f"the tool {each.deployed.name}: {each.warning}" if each.warning else ""


def looked(report: Report) -> str:
    """When somebody looked last, in words."""
    if report.looked_at:
        return f"Last looked at: {minute(report.looked_at)} UTC."
    return (
        "Nobody looked at it as a whole yet: metamem foundry oversee does, and the daemon every hour"
        " while hooks are installed."
    )

"""What Foundry knows and did in a scope, for a person: made of the stores and the log of acts alone.

The counts of deeds are those of `foundry_acts`; whoever reads both finds the same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from metamem.foundry.acts import Did, acts
from metamem.foundry.failures import store as failures
from metamem.foundry.failures.effect import Effect, Place, effect
from metamem.foundry.failures.store import Failure, Resolution
from metamem.foundry.failures.taking import Standing, standing
from metamem.foundry.lessons import store as lessons
from metamem.foundry.lessons import taking as learning
from metamem.foundry.overseer import standing_still
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
from metamem.store.engine import Execute

MOST = 10  # lines of each kind
FEW = 5  # ways in which sessions ended well
PLACES: tuple[Place, ...] = ("retry", "start")
LOOKED_AT = 500  # sessions, the newest, whose outcomes are told, and whether they can be replayed


@dataclass(frozen=True, slots=True)
class Solved:
    """A failure that is met again and again, and the best that resolved it."""

    failure: Failure
    resolution: Resolution
    effect: Effect


@dataclass(frozen=True, slots=True)
class Repeated:
    """A workflow, and what came of judging it last."""

    kept: workflows.Kept
    judged: Judgement | None
    effect: Effect  # of telling it in words

    @property
    def next(self) -> str:
        """What it lacks to become a tool."""
        if self.judged is not None:
            return f"{self.judged.decided}: {self.judged.why}"
        if self.kept.uses < USES:
            return f"{USES} uses start an evaluation"
        if self.kept.successes < SUCCESS * self.kept.uses:
            return f"too many of its uses failed ({SUCCESS:.0%} must work)"
        return "will be judged at the next look"


@dataclass(frozen=True, slots=True)
class Report:
    scope: str
    since: int
    until: int
    sessions: int
    calls: int
    outcomes: Mapping[OutcomeBy, tuple[int, int]]  # by sign: sessions that went well, and all
    failures: int
    resolved: int
    solved: tuple[Solved, ...]
    unresolved: tuple[Failure, ...]
    suggestions: Standing
    learned: learning.Standing  # how many lessons there are, and of how many sessions
    patterns: tuple[lessons.Lesson, ...]
    insights: tuple[lessons.Lesson, ...]
    successes: tuple[tuple[lessons.Lesson, int], ...]  # each with how many sessions ended so
    workflows: int
    replayable: Replayable
    repeated: tuple[Repeated, ...]
    in_use: tuple[Watched, ...]
    waiting: tuple[Kept, ...]
    deeds: Mapping[str, int]  # by what was done
    last: tuple[Did, ...]
    warnings: tuple[str, ...]


def report(site: Site, *, since: int, until: int) -> Report:
    """How things stand, and what was done between two times."""
    scope = site.number
    warnings = [standing_still(site.database, scope)]
    newest = _newest(site)
    with site.database.reading() as execute:
        ((sessions, calls),) = execute(
            "SELECT COUNT(DISTINCT session), COUNT(*) FROM calls WHERE scope = ?", (scope,)
        )
        known = failures.failures(execute, scope)
        kept = workflows.workflows(execute, scope)
        in_use = [watched(execute, scope, each) for each in deployments.deployed(execute, scope)]
        done = [each for each in acts(execute, scope, since=since) if each.at <= until]
        told = standing(execute, scope)
        learned = learning.standing(execute, scope)
        return Report(
            str(site.scope),
            since,
            until,
            sessions,
            calls,
            _outcomes(newest.values()),
            len(known),
            sum(bool(each.resolved) for each in known),
            tuple(_solved(execute, scope, known)[:MOST]),
            tuple(failures.repeated_unresolved(execute, scope)[:MOST]),
            told,
            learned,
            tuple(lessons.patterns(execute, scope)[:MOST]),
            tuple(lessons.insights(execute, scope)[:MOST]),
            _same(lessons.successes(execute, scope))[:FEW],
            len(kept),
            replayable(execute, scope, kept, newest),
            tuple(_repeated(execute, scope, each) for each in kept[:MOST]),
            tuple(in_use),
            tuple(t for t in tools.tools(execute, scope) if t.state == "waits"),
            dict(Counter(each.what for each in done)),
            tuple(done[-MOST:]),
            tuple(
                filter(
                    None,
                    [*warnings, told.warning, learned.warning, *(each.warning for each in in_use)],
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
    """Those that most sessions met, each with what resolved it in most sessions."""
    found = []
    for failure in known:
        best = [r for r in failures.resolutions(execute, scope, failure.signature) if r.text]
        if best:
            found.append(Solved(failure, best[0], _effect(execute, scope, best[0].id)))
    return sorted(found, key=lambda each: (-each.failure.sessions, each.failure.signature))


def _effect(execute: Execute, scope: int, resolution: str) -> Effect:
    """Before a retry or when a session begins: where it was drawn for more often."""
    places = [effect(execute, scope, resolution, place=place) for place in PLACES]
    return max(places, key=lambda each: each.shown.sessions + each.withheld.sessions)


def _same(successes: list[lessons.Lesson]) -> tuple[tuple[lessons.Lesson, int], ...]:
    """Those that differ, each with how many sessions ended so."""
    times = Counter(each.text for each in successes)
    first = {each.text: each for each in reversed(successes)}
    return tuple((first[text], count) for text, count in times.items())


def _repeated(execute: Execute, scope: int, kept: workflows.Kept) -> Repeated:
    judged = judgements(execute, scope, kept.id)
    telling = effect(execute, scope, kept.id, place="prompt")
    return Repeated(kept, judged[-1] if judged else None, telling)

"""One round of Foundry for a scope: read what agents did, make tools of what they repeat, watch those in use.

Every step may be taken again at any time, by any process: it goes on from its cursor, and what is done already is
not done twice. Nothing is deployed that no person approved. All that was done is in `foundry_acts`.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from metamem.core.amounts import many
from metamem.core.aside import aside
from metamem.core.errors import UnknownName
from metamem.foundry.acts import READ, count_up_to, cursor_of, note, set_cursor
from metamem.foundry.alarms import HELD_OUT, often, open_loops
from metamem.foundry.failures import suggest, taking
from metamem.foundry.failures.store import counted
from metamem.foundry.failures.suggest import Failed, Suggestion
from metamem.foundry.lessons import taking as lessons
from metamem.foundry.taking import mine_when_due, take_in_runs
from metamem.foundry.tools import cooling, deploying, deployments, promoting, running, store
from metamem.foundry.tools.deploying import Settled
from metamem.foundry.tools.deployments import Deployed
from metamem.foundry.tools.judge import judge
from metamem.foundry.tools.measuring import measured
from metamem.foundry.tools.running import Ran
from metamem.foundry.tools.site import Site, subject_of
from metamem.foundry.tools.template import TemplateWriter
from metamem.foundry.tools.tool import Writer
from metamem.foundry.tools.verdict import Verdict
from metamem.foundry.tools.watch import Watched, watch
from metamem.foundry.traces import Traces
from metamem.foundry.words import Trace, Use
from metamem.foundry.workflows import store as workflows
from metamem.foundry.workflows.candidates import Candidate, candidates, too_few
from metamem.foundry.workflows.suggest import when_asked
from metamem.service.database import now_ms

AT_ONCE = 3  # workflows that are judged in one round
ASKED_AT_ONCE = 20  # for which somebody is asked who need not answer at once
TURNED_DOWN = ("rejected", "undone")  # by a person: the same program is not offered again

TraceOf = Callable[[str], Trace | None]


class Judge(Protocol):
    """Replays a candidate's held-out cases with the tool that a writer makes of it."""

    async def __call__(
        self, candidate: Candidate, trace_of: TraceOf, writer: Writer
    ) -> Verdict: ...


@dataclass(frozen=True, slots=True)
class TookIn:
    """What one look at the log brought."""

    sessions: int = 0
    failures: int = 0  # calls that failed, of which nothing was told yet, whoever read them in
    resolved: int = 0  # failures of which it was not told yet that something worked after them
    runs: int = 0  # of tools, that are known better now
    mined: int = 0  # sessions, if it was time to mine
    occurrences: int = 0  # of workflows, that are new
    lessons: int = 0  # that were not there before

    @property
    def anything(self) -> int:
        """How much is new."""
        return self.failures + self.resolved + self.runs + self.occurrences + self.lessons

    @property
    def text(self) -> str:
        """In a line, for people."""
        return (
            f"{many(self.failures, 'failed call')} ({self.resolved} resolved),"
            f" {many(self.runs, 'use of a tool', 'uses of tools')},"
            f" {many(self.occurrences, 'time of a workflow', 'times of workflows')}, {many(self.lessons, 'lesson')}"
        )


@dataclass(frozen=True, slots=True)
class Round:
    took: TookIn
    judged: tuple[Verdict, ...]
    settled: tuple[Settled, ...]
    watched: tuple[Watched, ...]
    warnings: tuple[str, ...]


class Foundry:
    def __init__(
        self,
        site: Site,
        judging: Judge | None = None,
        *,
        writer: Writer | None = None,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        """Whoever calls must have asked before whether the scope may be read and written."""
        self.site = site
        self._judge, self._clock = judging or self._replayed, clock
        self._writer = writer or TemplateWriter()
        self._database, self._scope = site.database, site.number
        self._traces = Traces(site.database)

    async def round(self) -> Round:
        """All steps once, in their order."""
        took = await aside(self.take_in)
        judged = await self.crystallise()
        settled = await aside(self.deploy)
        seen = await aside(self.watch)
        return Round(took, tuple(judged), tuple(settled), tuple(seen), tuple(self.warnings()))

    # --- what agents did ---------------------------------------------------------------------

    def take_in(self) -> TookIn:
        """Read what came since the last time: failures, uses of tools, workflows where it is time, and the
        lessons of all that."""
        at = self._clock()
        with self._database.reading() as execute:
            after = cursor_of(execute, self._scope, READ)
        taken = taking.take_in(self._database, self._scope, after, now=at)
        with self._database.writing() as execute:
            set_cursor(execute, self._scope, READ, taken.cursor)
        joined = take_in_runs(self.site, self._traces)
        mined, fresh = mine_when_due(self.site, self._traces, at)
        learned = self._learn(at, anew=bool(taken.settled or fresh))
        with self._database.writing() as execute:
            failed, resolved = counted(execute, self._scope)
            took = TookIn(
                taken.sessions,
                count_up_to(execute, self._scope, "failures told", failed),
                count_up_to(execute, self._scope, "resolved told", resolved),
                joined,
                mined,
                fresh,
                learned,
            )
            if took.anything:
                note(execute, self._scope, "took in", "", took.text, at)
        return took

    def _learn(self, at: int, *, anew: bool) -> int:
        """Draw lessons where something came that they could be of; how many are new."""
        with self._database.reading() as execute:
            after = cursor_of(execute, self._scope, "lessons")
        if not anew and not self._traces.changed(self._scope, after):
            return 0
        taken = lessons.take_in(self._database, self._scope, after, now=at)
        with self._database.writing() as execute:
            set_cursor(execute, self._scope, "lessons", taken.cursor)
        return taken.fresh

    def before_retry(self, session: str, failed: Use | Failed) -> Suggestion:
        """What has proven to help after a call that failed."""
        with self._database.writing() as execute:
            return suggest.before_retry(execute, self._scope, session, failed, at=self._clock())

    def at_start(self, session: str, prompt: str = "") -> Suggestion:
        """What has proven to help in sessions like the one that begins, and how others did what is asked
        for."""
        at, scope = self._clock(), self._scope
        with self._database.writing() as execute:
            in_use = deployments.deployed(execute, scope)
            tools = [each.kept.tool.description for each in in_use]
            helped = suggest.at_start(execute, scope, session, prompt, at=at, tools=tools)
            done = when_asked(execute, scope, session, prompt, at=at, in_use=in_use)
        return helped.beside(done)

    # --- tools -------------------------------------------------------------------------------

    async def crystallise(self, most: int = AT_ONCE) -> list[Verdict]:
        """Judge workflows that are repeated often enough, unless they were judged already with about the
        same cases. What passes waits for a person."""
        found = await aside(self._ready)
        done: list[Verdict] = []
        for candidate, known, sessions in found[:ASKED_AT_ONCE]:
            if sum(not each.asked for each in done) >= most:
                break
            began, before = time.monotonic(), self._spent()
            verdict = candidate if isinstance(candidate, Verdict) else _waits(candidate)
            if verdict is None:
                assert isinstance(candidate, Candidate)
                verdict = await self._judge(candidate, sessions.get, self._writer)
            cost = _Cost(time.monotonic() - began, self._spent() - before)
            done.append(await aside(self._enter, candidate, verdict, known, sessions, cost))
        return done

    def _spent(self) -> int:
        """Tokens that the writer has used by now."""
        return int(getattr(self._writer, "tokens", 0))

    def approve(
        self, tool: str, *, by: str, reason: str = "", folders: Sequence[Path] = ()
    ) -> list[Settled]:
        """A person's word that a tool which waits goes into use."""
        about = self._subject(tool)
        self.site.ledger.approve(about, self.site.place, by=by, reason=reason)
        return self.deploy(folders)

    def undo(self, tool: str, *, by: str, reason: str) -> list[Settled]:
        """Take a tool out of use; what was in use before it is in use again."""
        self.site.ledger.undo(self._subject(tool), self.site.place, by=by, reason=reason)
        return self.deploy()

    def deploy(self, folders: Sequence[Path] = ()) -> list[Settled]:
        """Bring what is in use into line with what was decided."""
        return deploying.settle(self.site, at=self._clock(), folders=folders)

    def deployed(self) -> list[Deployed]:
        with self._database.reading() as execute:
            return deployments.deployed(execute, self._scope)

    async def run(self, name: str, folder: Path, values: Mapping[str, Any]) -> Ran:
        """Use a tool in the tree of a folder."""
        return await running.run(self.site, name, folder, values, at=self._clock())

    def watch(self) -> list[Watched]:
        """Disable what turned bad; how the others do."""
        return watch(self.site, at=self._clock())

    def warnings(self) -> list[str]:
        """Where the loop is open: nothing is judged that could be, no tool can be written, nobody decides."""
        return open_loops(self.site, at=self._clock())

    # --- how ---------------------------------------------------------------------------------

    async def _replayed(self, candidate: Candidate, trace_of: TraceOf, writer: Writer) -> Verdict:
        """By its effects in the jail; what was replayed before is not replayed again."""
        known = store.StoredReplays(self._database, self._scope)
        return await judge(candidate, trace_of, writer, replays=known)

    def _ready(self) -> list[tuple[Candidate | Verdict, int, Mapping[str, Trace]]]:
        """Candidates that may be judged now, or why there is none, each with how many cases there are, and
        the sessions that they are from."""
        at, scope, writer = self._clock(), self._scope, self._writer.name
        with self._database.reading() as execute:
            ready = [each for each in workflows.workflows(execute, self._scope) if often(each)]
            due = [each for each in ready if not cooling.cools(execute, self._scope, each.id, each.successes, at, writer)]  # fmt: skip
            wanted = {
                one.session
                for each in due
                for one in workflows.occurrences(execute, self._scope, each.id)
            }
        if not due:
            return []
        read = {session: self._traces.trace(self._scope, session) for session in sorted(wanted)}
        sessions = {name: trace for name, trace in read.items() if trace is not None}
        with self._database.reading() as execute:
            found = candidates(execute, self._scope, sessions.get)
            since = {c.id: cooling.counted_from(execute, self._scope, c.id) for c in found}
            missing = {
                each.id: too_few(execute, scope, each, sessions.get)
                for each in due
                if each.id not in since
            }
        judged: dict[str, Candidate | Verdict] = {c.id: _after(c, since[c.id], sessions) for c in found}  # fmt: skip
        judged |= {name: Verdict(name, "waits", why) for name, why in missing.items()}
        return [(judged[each.id], each.successes, sessions) for each in due]

    def _enter(
        self,
        candidate: Candidate | Verdict,
        verdict: Verdict,
        known: int,
        sessions: Mapping[str, Trace],
        cost: "_Cost",
    ) -> Verdict:
        at = self._clock()
        with self._database.reading() as execute:
            tool = verdict.tool.id if verdict.tool is not None else ""
            before = {t.id: t.state for t in store.tools(execute, self._scope)}.get(tool, "")
        if before in TURNED_DOWN or before in store.STANDING:
            why = "a person turned it down" if before in TURNED_DOWN else "it is known already"
            verdict = replace(verdict, decided="none", tool=None, why=f"the same tool again: {why}")
        cases: list[store.Measured] = []
        within = "."
        if isinstance(candidate, Candidate):
            written = candidate.workflow.occurrences
            cases += measured(written, sessions.get, held_out=False)
            cases += measured(candidate.held_out, sessions.get, held_out=True)
            within = _within(sessions[one.session] for one in written)
        promoting.enter(
            self.site, verdict, cases, at=at, known=known, within=within, seconds=cost.seconds,
            tokens=cost.tokens, writer=self._writer.name,
        )  # fmt: skip
        return verdict

    def _subject(self, tool: str) -> Any:
        with self._database.reading() as execute:
            found = [t for t in store.tools(execute, self._scope) if tool in (t.id, t.name)]
        if not found:
            raise UnknownName(f"there is no tool {tool!r} in {self.site.scope}")
        return subject_of(found[0].slot, found[0].id)


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of writing and judging a tool."""

    seconds: float
    tokens: int


def _waits(candidate: Candidate) -> Verdict | None:
    """Nothing is replayed where it could not be enough."""
    known = len(candidate.held_out)
    if known >= HELD_OUT:
        return None
    why = f"not enough data yet: {known} held-out cases, and it takes {HELD_OUT} at least"
    return Verdict(candidate.id, "waits", why)


def _after(candidate: Candidate, since: int, sessions: Mapping[str, Trace]) -> Candidate:
    """A candidate judged by cases since a time alone."""
    if not since:
        return candidate
    recent = {name for name, trace in sessions.items() if (trace.started_at or 0) >= since}
    return replace(
        candidate,
        held_out=tuple(one for one in candidate.held_out if one.session in recent),
        unfit=tuple(one for one in candidate.unfit if one.session in recent),
    )


def _within(traces: Iterable[Trace]) -> str:
    """The folder of the tree in which sessions were at work; empty where it was not always the same."""
    found = set()
    for trace in traces:
        folder = Path(trace.snapshot.folder) if trace.snapshot is not None else Path("/")
        top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
        found.add(str(folder.relative_to(top)))
    return found.pop() if len(found) == 1 else ""

"""One round of Foundry for a scope: read what agents did, make tools of what they repeat, watch those in use.

Every step may be taken again at any time, by any process: it goes on from its cursor, and what is done already is
not done twice. Nothing is deployed that no person approved. All that was done is in `foundry_acts`.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from metamem.core.aside import aside
from metamem.core.errors import UnknownName
from metamem.foundry.acts import cursor_of, note, set_cursor
from metamem.foundry.failures import suggest, taking
from metamem.foundry.failures.suggest import Failed, Suggestion
from metamem.foundry.lessons import taking as lessons
from metamem.foundry.taking import DAY, mine_when_due, take_in_runs
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
from metamem.foundry.workflows.candidates import SUCCESS, USES, Candidate, candidates
from metamem.foundry.workflows.suggest import when_asked
from metamem.service.database import now_ms

HELD_OUT = 21  # cases that it takes at least, to pass without a failure
AT_ONCE = 3  # workflows that are judged in one round
TURNED_DOWN = ("rejected", "undone")  # by a person: the same program is not offered again
WAITING = 7 * DAY  # that a tool waits for a person before that is worth a word

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
    failures: int = 0  # new, or newly resolved
    runs: int = 0  # of tools, that are known better now
    mined: int = 0  # sessions, if it was time to mine
    occurrences: int = 0  # of workflows, that are new
    lessons: int = 0  # that were not there before


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
            after = cursor_of(execute, self._scope, "failures")
        taken = taking.take_in(self._database, self._scope, after, now=at)
        with self._database.writing() as execute:
            set_cursor(execute, self._scope, "failures", taken.cursor)
        joined = take_in_runs(self.site, self._traces)
        mined, fresh = mine_when_due(self.site, self._traces, at)
        learned = self._learn(at, anew=bool(taken.settled or fresh))
        took = TookIn(taken.sessions, taken.occurrences, joined, mined, fresh, learned)
        if taken.occurrences or joined or fresh or learned:
            told = (
                f"{took.failures} failures, {took.runs} uses of tools, {took.occurrences} times of"
                f" workflows, {took.lessons} lessons"
            )
            with self._database.writing() as execute:
                note(execute, self._scope, "took in", "", told, at)
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
        done = []
        for candidate, known, sessions in found[:most]:
            began = time.monotonic()
            verdict = _waits(candidate)
            if verdict is None:
                verdict = await self._judge(candidate, sessions.get, self._writer)
            done.append(await aside(self._enter, candidate, verdict, known, sessions, time.monotonic() - began))  # fmt: skip
        return done

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
        """Where the loop is open: nothing is judged that could be, nobody decides, nobody uses a tool."""
        at = self._clock()
        with self._database.reading() as execute:
            kept = workflows.workflows(execute, self._scope)
            judged = cooling.judgements(execute, self._scope)
            waiting = [t for t in store.tools(execute, self._scope) if t.state == "waits"]
        found = []
        often = [each for each in kept if _often(each) and each.successes >= 2 * HELD_OUT]
        if often and not judged:
            found.append(f"{len(often)} workflows could be judged, and none ever was")
        if len(judged) >= 10 and all(each.decided == "none" for each in judged):
            found.append(f"of none of {len(judged)} workflows a tool could be written")
        old = [each for each in waiting if at - each.made_at > WAITING]
        if old:
            found.append(
                f"{len(old)} tools wait for a person for more than a week: metamem promotions pending"
            )
        return found

    # --- how ---------------------------------------------------------------------------------

    async def _replayed(self, candidate: Candidate, trace_of: TraceOf, writer: Writer) -> Verdict:
        """By its effects in the jail; what was replayed before is not replayed again."""
        known = store.StoredReplays(self._database, self._scope)
        return await judge(candidate, trace_of, writer, replays=known)

    def _ready(self) -> list[tuple[Candidate, int, Mapping[str, Trace]]]:
        """Candidates that may be judged now, each with how many cases there are, and the sessions that
        they are from."""
        at = self._clock()
        with self._database.reading() as execute:
            often = [each for each in workflows.workflows(execute, self._scope) if _often(each)]
            due = [each for each in often if not cooling.cools(execute, self._scope, each.id, each.successes, at)]  # fmt: skip
            known = {each.id: each.successes for each in due}
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
        return [
            (_after(each, since[each.id], sessions), known[each.id], sessions)
            for each in found
            if each.id in known
        ]

    def _enter(
        self,
        candidate: Candidate,
        verdict: Verdict,
        known: int,
        sessions: Mapping[str, Trace],
        seconds: float,
    ) -> Verdict:
        at = self._clock()
        with self._database.reading() as execute:
            tool = verdict.tool.id if verdict.tool is not None else ""
            before = {t.id: t.state for t in store.tools(execute, self._scope)}.get(tool, "")
        if before in TURNED_DOWN or before in store.STANDING:
            why = "a person turned it down" if before in TURNED_DOWN else "it is known already"
            verdict = replace(verdict, decided="none", tool=None, why=f"the same tool again: {why}")
        cases = [
            *measured(candidate.workflow.occurrences, sessions.get, held_out=False),
            *measured(candidate.held_out, sessions.get, held_out=True),
        ]
        within = _within(sessions[one.session] for one in candidate.workflow.occurrences)
        promoting.enter(
            self.site, verdict, cases, at=at, known=known, within=within, seconds=seconds
        )
        return verdict

    def _subject(self, tool: str) -> Any:
        with self._database.reading() as execute:
            found = [t for t in store.tools(execute, self._scope) if tool in (t.id, t.name)]
        if not found:
            raise UnknownName(f"there is no tool {tool!r} in {self.site.scope}")
        return subject_of(found[0].slot, found[0].id)


def _often(kept: workflows.Kept) -> bool:
    return kept.uses >= USES and kept.successes >= SUCCESS * kept.uses


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

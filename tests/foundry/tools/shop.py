"""A project in which the same release was done again and again, and a memory that saw it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from metamem.core.access import Scope
from metamem.foundry.foundry import Foundry, TraceOf
from metamem.foundry.overseer import Looked, Overseer
from metamem.foundry.tools import promoting
from metamem.foundry.tools.running import Ran
from metamem.foundry.tools.site import Site, site_of, tools_archive, tools_database
from metamem.foundry.tools.tool import Case, Given, Tool, Writer
from metamem.foundry.tools.verdict import Replayed, Verdict
from metamem.foundry.workflows.candidates import Candidate
from metamem.service.access.projects import project_of
from metamem.service.service import MemoryService
from metamem.service.words import Session, ToolCall, Tree, Turn
from tests.foundry.tools.made import WHO, git, tree

BEGAN = 1_760_000_000_000
HOUR = 3_600_000


def release(
    service: MemoryService, scope: Scope, number: int, folder: Path, commit: str, old: str = ""
) -> None:
    """One session that releases a version by hand, step by step. With `old` it is one that can be replayed
    in a tree of that version."""
    session, at = f"s{number}", BEGAN + number * HOUR
    old, new = old or f"1.{number}.0", f"1.{number + 5}.0"
    change = f"change{number} made"
    steps = [
        ("cat VERSION", f"{old}\n"),
        (f"sed -i 's/{old}/{new}/' VERSION pkg/__init__.py", ""),
        (f"sed -i '2a ## {new}: {change}' CHANGELOG.md", ""),
        (f"{WHO} commit -qam 'Release {new}'", ""),
        (f"git tag v{new}", ""),
    ]
    calls = [
        ToolCall(f"{session}-{n}", "Bash", {"command": command}, output, failed=False, exit_code=0,
                 at=at + n * 1000, milliseconds=200, prompt=f"{session}-p")
        for n, (command, output) in enumerate(steps)
    ]  # fmt: skip
    goal = f"Release version {new} with the change {change}"
    turn = Turn("user", goal, "user", at, f"{session}-p")
    about = Session(session, (turn,), "claude-code", started_at=at, ended_at=at + 60_000)
    mine = service.local()
    service.keep_tree(
        service.local_caller(), str(scope), Session(session, (), "claude-code"),
        Tree(str(folder), commit, at=at),
    )  # fmt: skip
    mine.ingest(str(scope), about)
    mine.keep_calls(str(scope), about, calls)


def promoted(candidate: Candidate, tool: Tool, equal: int = 24) -> Verdict:
    replays = tuple(Replayed(f"case{n}", True) for n in range(equal))
    return Verdict(candidate.id, "promoted", "all equal", tool, replays, 0.82)


@dataclass
class Nodding:
    """Judges without looking: what comes after judging is looked at here. It counts how often."""

    judged: list[str] = field(default_factory=list)
    decided: str = "promoted"
    change: str = ""  # something that makes the next program another

    async def __call__(self, candidate: Candidate, trace_of: TraceOf, writer: Writer) -> Verdict:
        self.judged.append(candidate.id)
        traces = {o.session: trace_of(o.session) for o in candidate.workflow.occurrences}
        cases = [Case(t, o) for o in candidate.workflow.occurrences if (t := traces[o.session])]
        tool = writer.write(candidate.workflow, cases)
        tool = Tool(tool.name, tool.description, tool.program + self.change, tool.given,
                    tool.workflow, tool.writer)  # fmt: skip
        if self.decided == "promoted":
            return promoted(candidate, tool)
        return Verdict(candidate.id, "refused", "it differs", tool,
                       tuple(Replayed(f"case{n}", n % 2 == 0) for n in range(24)))  # fmt: skip


@dataclass
class Shop:
    memory: Path
    folder: Path  # the project's
    service: MemoryService
    site: Site
    foundry: Foundry
    judge: Nodding
    now: list[int]

    def more(self, first: int, count: int) -> None:
        commit = git(self.folder, "rev-parse", "HEAD")
        for number in range(first, first + count):
            release(self.service, self.site.scope, number, self.folder, commit)
        self.now[0] = BEGAN + (first + count) * HOUR

    def tool(self) -> str:
        """Have a tool judged; its id. It waits for a person."""
        self.foundry.take_in()
        (verdict,) = asyncio.run(self.foundry.crystallise())
        assert verdict.tool is not None
        return verdict.tool.id

    def deploy(self) -> str:
        """Have a tool deployed; its name."""
        (done,) = self.foundry.approve(self.tool(), by="Ada", folders=[self.folder])
        assert done.what == "deployed"
        return done.name

    def offer(self, program: str, name: str = "planted", *given: Given) -> str:
        """A tool of somebody's making that has passed the gate; its id. It waits for a person."""
        tool = Tool(name, f"Does {name}.", program, given, "w", "somebody")
        replays = tuple(Replayed(f"case{n}", True) for n in range(24))
        verdict = Verdict(f"w-{name}", "promoted", "all equal", tool, replays, 0.82)
        promoting.enter(self.site, verdict, (), at=self.now[0], known=30)
        return tool.id

    def plant(self, program: str, name: str = "planted", *given: Given) -> str:
        """The same, and it is deployed."""
        tool = self.offer(program, name, *given)
        self.foundry.approve(tool, by="Ada", folders=[self.folder])
        return tool

    def run(self, name: str = "planted", /, **values: object) -> Ran:
        self.now[0] += 1000
        return asyncio.run(self.foundry.run(name, self.folder, values))

    def names(self) -> list[str]:
        return [each.name for each in self.foundry.deployed()]


@contextmanager
def opened(base: Path, sessions: int = 40) -> Iterator[Shop]:
    memory, folder = base / "memory", tree(base / "project")
    service = MemoryService(memory)
    scope = project_of(folder).scope
    service.administration.add_scope(service.local_caller(), str(scope))
    database = tools_database(memory)
    judge, now = Nodding(), [BEGAN]
    with tools_archive(memory) as archive:
        site = site_of(memory, database, archive, scope)
        foundry = Foundry(site, judge, clock=lambda: now[0])
        shop = Shop(memory, folder, service, site, foundry, judge, now)
        shop.more(0, sessions)
        try:
            yield shop
        finally:
            database.close()
            service.close()


def overseer(shop: Shop) -> Overseer:
    return Overseer(
        shop.memory,
        shop.site.database,
        shop.site.archive,  # type: ignore[arg-type]
        judging=shop.judge,
        clock=lambda: shop.now[0],
    )


def look(shop: Shop) -> Looked:
    return asyncio.run(overseer(shop).look(shop.site.scope))

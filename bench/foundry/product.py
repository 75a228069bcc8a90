"""Foundry as it is, for the bench: the memory service, the log, mining, judging, the ledger, the jail.

What happens in a task is kept as hooks and transcripts would keep it; after each session one round is carried out.
The bench plays the person: whatever waits is approved. Time is the world's.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.foundry.agent import Listed
from bench.foundry.tasks import Task
from bench.foundry.world import Tree
from metamem.core.errors import MetamemError
from metamem.core.ids import derive_seed
from metamem.foundry.foundry import Foundry
from metamem.foundry.tools.site import site_of, tools_archive, tools_database
from metamem.foundry.tools.telling import described, examples, listed
from metamem.foundry.words import Snapshot, Trace, Use
from metamem.foundry.workflows import store as workflows
from metamem.service.access.projects import project_of
from metamem.service.service import MemoryService
from metamem.service.words import Session, ToolCall, Turn
from metamem.service.words import Tree as Files

WHO = "the bench"
REFUSED = 1  # the exit code of a call that was not carried out


class Product:
    """Keeps its things in a folder. The project is that of the first session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._service = MemoryService(folder)
        self._database = tools_database(folder)
        self._archive = tools_archive(folder)
        self._foundry: Foundry | None = None
        self._now = 0
        self._drifted: set[str] = set()

    # --- aids --------------------------------------------------------------------------------

    def listing(self) -> Sequence[Listed]:
        if self._foundry is None:
            return ()
        return [
            Listed(
                each.name,
                described(each.kept.tool),
                examples(each.kept.tool),
                listed(each.name, each.kept.tool),
            )
            for each in self._foundry.deployed()
        ]

    async def call(self, name: str, values: Mapping[str, Any], tree: Tree) -> tuple[int, str]:
        assert self._foundry is not None
        lock = tree.folder / ".git" / "index.lock"
        try:
            if name in self._drifted:
                lock.touch()
            ran = await self._foundry.run(name, tree.folder, values)
        except MetamemError as error:
            return REFUSED, str(error)
        finally:
            lock.unlink(missing_ok=True)
        return ran.exit_code, ran.text()

    def at_start(self, task: Task) -> str:
        self._now = task.project.at * 1000
        if self._foundry is None:
            return ""
        return self._foundry.at_start(f"seed{task.seed}-task{task.number}", task.goal).text

    def before_retry(self, trace: Trace) -> str:
        if self._foundry is None:
            return ""
        return self._foundry.before_retry(trace.session, trace.uses[-1]).text

    # --- what the bench asks -----------------------------------------------------------------

    async def observe(self, trace: Trace) -> None:
        self._now = max(self._now, trace.ended_at or 0)
        foundry = await asyncio.to_thread(self._kept, trace)
        await foundry.round()
        for entry in foundry.site.ledger.pending():
            await asyncio.to_thread(foundry.approve, entry.subject.id, by=WHO)

    def mined(self) -> int:
        if self._foundry is None:
            return 0
        with self._database.reading() as execute:
            return len(workflows.workflows(execute, self._foundry.site.number))

    def deployed(self) -> Sequence[str]:
        return [] if self._foundry is None else [each.name for each in self._foundry.deployed()]

    def spoil(self, name: str) -> None:
        """By its name: its program is another from now on, or the world is one in which it fails."""
        assert self._foundry is not None
        if derive_seed("spoil", name) % 2:
            self._drifted.add(name)
        else:
            program = self._foundry.site.repository.folder / name / "program.py"
            program.write_text("raise SystemExit(1)\n")

    def close(self) -> None:
        self._archive.close()
        self._database.close()
        self._service.close()

    def _kept(self, trace: Trace) -> Foundry:
        """A session in the log of the service; the project is known with the first."""
        snapshot = trace.snapshot
        assert snapshot is not None
        scope = project_of(Path(snapshot.folder)).scope
        mine = self._service.local()
        about = Session(
            trace.session,
            tuple(
                Turn("user", text, "user", trace.started_at, prompt)
                for prompt, text in trace.prompts.items()
            ),
            trace.host,
            started_at=trace.started_at,
            ended_at=trace.ended_at,
        )
        self._service.make_scope(scope)
        self._service.keep_tree(self._service.local_caller(), str(scope), about, _files(snapshot))
        mine.ingest(str(scope), about)
        mine.keep_calls(str(scope), about, [_call(use) for use in trace.uses])
        if self._foundry is None:
            site = site_of(self._folder, self._database, self._archive, scope, skills=False)
            self._foundry = Foundry(site, clock=lambda: self._now)
        return self._foundry


def make(folder: Path) -> Product:
    return Product(folder)


def _files(snapshot: Snapshot) -> Files:
    return Files(snapshot.folder, snapshot.commit, snapshot.diff, snapshot.at, snapshot.whole)


def _call(use: Use) -> ToolCall:
    return ToolCall(
        use.id,
        use.tool,
        use.arguments,
        use.result,
        use.error,
        use.failed,
        use.exit_code,
        use.at,
        use.milliseconds,
        use.prompt,
    )

"""metamem import: what agents and people wrote down before memory was attached."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from metamem.cli.attach import Yes, agree
from metamem.cli.import_found import MEMORIES, NOTES, OF_USERS, Looking, is_mcp_memory
from metamem.cli.import_told import about, show_found, show_plan, tell_brought, tell_read
from metamem.cli.memory_options import HERE, There
from metamem.cli.screen import err, print_json, print_table, remark, say
from metamem.cli.spread import spread
from metamem.core.amounts import many
from metamem.core.errors import UsageError
from metamem.core.texts import read_text
from metamem.service.connecting import LocalMemories
from metamem.service.defaults import Defaults, whole
from metamem.service.importing.hiding import kept_pattern
from metamem.service.importing.items import bring
from metamem.service.importing.keeping import Keeper, scope_of
from metamem.service.importing.places import Places
from metamem.service.importing.plan import Imported, Plan, carried_out, planned
from metamem.service.importing.sources import HOSTS
from metamem.service.reading_export import by_scope
from metamem.service.service import MemoryService
from metamem.service.typed_time import moment

Only = Annotated[
    list[str] | None,
    typer.Option(metavar="FOLDER", help="Only projects there; may have wildcards."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="FOLDER", help="Never projects there; this is remembered."),
]
Include = Annotated[
    list[str] | None, typer.Option(metavar="FOLDER", help="Take back an --exclude.")
]
UsedSince = Annotated[str, typer.Option(metavar="DATE", help="Sessions used then or later.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what there is, and stop.")]
IMPORT_EXAMPLES = """[bold]Examples[/bold]

metamem import claude-code --dry-run [dim]# what there is, by project[/dim]

metamem import codex gemini --exclude '*/client-*' --since 2026-01-01

metamem import notes [dim]# CLAUDE.md, AGENTS.md, GEMINI.md, of this project and your own[/dim]

metamem import mem0.json --user ada [dim]# of an export of many users, one's[/dim]

metamem import memory.jsonl [dim]# what metamem export wrote[/dim]
"""


@spread()
def import_sources(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...",
            help=f"An agent whose sessions to read ({', '.join(HOSTS)}); notes; memories (Claude's"
            " memory folders); or a file or folder: an export of metamem or mem0, memory.json of"
            " MCP's reference server, Markdown.",
        ),
    ] = None,
    only: Only = None,
    exclude: Exclude = None,
    include: Include = None,
    since: UsedSince = "",
    scope: Annotated[
        str,
        typer.Option("--scope", "-s", metavar="SCOPE", help="Where to. Default: each its project"),
    ] = "",
    user: Annotated[
        str, typer.Option(metavar="NAME", help="Of an export of mem0, only this user's memories.")
    ] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    there: There = HERE,
) -> None:
    """Bring in what was written down before: sessions of agents, notes, exports. Shows what it would
    read and asks first; only what metamem itself wrote out is read at once. Read again, it adds only
    what is new."""
    names = sources or []
    if not names and not exclude and not include:
        raise UsageError("import what?", hint=f"{', '.join(HOSTS)}, notes, memories, or a file")
    own = [name for name in names if _is_own_export(name)]
    if user and (own or any(name in HOSTS for name in names)):
        raise UsageError("--user takes what an export has of one user", hint=OF_USERS)
    results = [_own_export(Path(name), scope, dry_run, there) for name in own]
    if len(own) < len(names) or exclude or include:
        service = MemoryService(there.folder(begins=True))
        try:
            work = Import(service, scope, dry_run, yes, there)
            work.settle(exclude or [], include or [])
            for name in names:
                if name in HOSTS:
                    results.append(work.sessions(name, only or [], since))
                elif name not in own:
                    results.append(work.pieces(name, user))
        finally:
            service.close()
    if there.json:
        print_json({"imported": results})


class Import:
    """One call of the command."""

    def __init__(
        self, service: MemoryService, scope: str, dry_run: bool, yes: bool, there: There
    ) -> None:
        self.places = Places(service.database)
        self._memories = LocalMemories(service, service.local_caller)
        self._scope, self._dry_run, self._yes, self._there = scope, dry_run, yes, there
        self._without: list[str] = []  # patterns that are left out this time only
        self._with: list[str] = []

    def settle(self, exclude: Sequence[str], include: Sequence[str]) -> None:
        """What is left out from now on; a dry run remembers nothing."""
        full = [kept_pattern(each) for each in _full(exclude)]
        back = [kept_pattern(each) for each in _full(include)]
        known = self.places.exclusions()
        for pattern, named in zip(include, back, strict=True):
            if named not in (*known, *full):
                remark(f"{pattern} was not excluded")
        if self._dry_run:
            self._without, self._with = full, back
        else:
            self.places.exclude(full)
            for named in back:
                self.places.include(named)
        if (exclude or include) and not self._there.json:
            left = [each for each in dict.fromkeys((*known, *full)) if each not in back]
            would = "Would be left out" if self._dry_run else "Left out"
            say(f"{would}: {', '.join(left) or 'nothing'}")

    # --- sessions ----------------------------------------------------------------------------

    def sessions(self, host: str, only: Sequence[str], since: str) -> dict[str, Any]:
        plan = self.plan(host, only, since)
        if self._dry_run or not plan.chosen():
            return {**about(plan), "applied": False}
        agree(self._yes, f"Keep what was said in {many(plan.sessions, 'session')}?")
        return {"source": host, "applied": True, "done": self.read(plan)}

    def plan(self, host: str, only: Sequence[str], since: str) -> Plan:
        """What there is to read; shown before anybody is asked."""
        only = _full(only)
        plan = planned(
            host,
            self.places,
            only=only,
            without=self._without,
            again=self._with,
            since=moment(since) or 0,
        )
        if not self._there.json:
            show_plan(plan)
        return plan

    def read(self, plan: Plan) -> Imported:
        """Read what was shown and agreed to."""
        keeper = Keeper(self._memories, self.places, self._to)
        done = carried_out(plan.chosen(), keeper, self._progress)
        if not self._there.json:
            tell_read(plan.host, done)
        return done

    def _to(self, folder: str) -> Any:
        from metamem.core.access import Scope

        return Scope.parse(self._written()) if self._scope else scope_of(folder)

    def _progress(self, done: int, of: int) -> None:
        console = err()
        if console.is_terminal and not self._there.json:
            console.print(f"\r{done} of {of}", end="\n" if done == of else "")

    # --- notes and exports -------------------------------------------------------------------

    def pieces(self, name: str, user: str = "") -> dict[str, Any]:
        path = Path(name).expanduser()
        if name not in (NOTES, MEMORIES) and not path.exists():
            raise UsageError(
                f"there is no source and no file {name!r}",
                hint=f"known sources: {', '.join((*HOSTS, NOTES, MEMORIES))}",
            )
        found = list(Looking(self._written, bool(self._scope)).found(name, path, user))
        rows = [(each.source, str(len(each.pieces)), each.scope) for each in found]
        if not found:
            folder = name not in (NOTES, MEMORIES)
            raise UsageError(
                f"there is no Markdown in {name}" if folder else f"there are no {name} here"
            )
        if not self._there.json:
            show_found(found)
        if self._dry_run:
            more = [{"users": each.users, "damaged": each.damaged} for each in found]
            return {"source": name, "applied": False, "files": rows, "about": more}
        agree(self._yes, "Keep these?")
        done = [
            replace(
                bring(
                    self._memories, self.places, each.scope, each.source, each.pieces, each.others
                ),
                damaged=each.damaged,
            )
            for each in found
        ]
        if not self._there.json:
            for brought in done:
                tell_brought(brought)
        return {"source": name, "applied": True, "done": done}

    def _written(self, usual: str = "") -> str:
        """The scope that was asked for, or the usual one."""
        if not self._scope:
            return usual
        return whole(self._scope, self._memories)  # what is brought makes it, and nothing before


def _own_export(path: Path, scope: str, dry_run: bool, there: There) -> dict[str, Any]:
    """What metamem itself wrote out, with its history; this alone can go to a server, too."""
    lines = read_text(path.expanduser()).splitlines(keepends=True)
    parts = {scope: lines} if scope else by_scope(lines)
    if dry_run:
        there_are = [(str(path), str(len(part)), name) for name, part in parts.items()]
        if not there.json:
            print_table(("source", "lines", "scope"), there_are, numeric=("lines",))
        return {"source": str(path), "applied": False, "lines": len(lines), "files": there_are}
    results = []
    if not parts and not there.json:
        say(f"There are no facts in {path}")
    with there.open(begins=True) as service:
        usual = Defaults(service, Path.cwd())
        for name, part in parts.items():
            # Scopes of an export are those of whoever wrote it: here they are the caller's tenant's.
            place = usual.written(name if scope else name.partition("/")[2])
            done = service.read_export(place, part)
            results.append({"scope": place, **asdict(done)})
            if there.json:
                continue
            say(f"{done.stored} facts stored in {place}, {done.known} were there already")
            if done.left_out:
                say(f"{done.left_out} links were left out: what they join is not there")
    return {"source": str(path), "applied": True, "done": results}


def _full(patterns: Sequence[str]) -> list[str]:
    return [str(Path(p).expanduser().absolute()) if _is_path(p) else p for p in patterns]


def _is_path(pattern: str) -> bool:
    return "*" not in pattern and ("/" in pattern or Path(pattern).is_dir())


def _is_own_export(name: str) -> bool:
    path = Path(name).expanduser()
    plain = name not in (*HOSTS, NOTES, MEMORIES) and path.suffix == ".jsonl" and path.is_file()
    return plain and not is_mcp_memory(path)

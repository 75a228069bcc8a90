"""metamem import: what agents and people wrote down before memory was attached."""

import json as jsonlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from metamem.cli.attach import agree
from metamem.cli.memory_options import HERE, There, moment, when
from metamem.cli.screen import err, print_json, print_table, remark, say
from metamem.cli.spread import spread
from metamem.core.errors import DataError, UsageError
from metamem.service.access.projects import project_of
from metamem.service.attach.answering import user_scope
from metamem.service.connecting import LocalMemories
from metamem.service.defaults import Defaults
from metamem.service.importing import claude, exports, notes
from metamem.service.importing.items import Brought, Piece, bring
from metamem.service.importing.keeping import Keeper, scope_of
from metamem.service.importing.places import Places
from metamem.service.importing.plan import Imported, Plan, carried_out, planned
from metamem.service.importing.sources import HOSTS, Source, peek
from metamem.service.reading_export import by_scope
from metamem.service.service import MemoryService

NOTES, MEMORIES = "notes", "memories"
IMPORT_EXAMPLES = """[bold]Examples[/bold]

metamem import claude-code --dry-run [dim]# what there is, by project[/dim]

metamem import codex gemini --exclude '*/client-*' --since 2026-01-01

metamem import notes [dim]# CLAUDE.md, AGENTS.md, GEMINI.md, of this project and your own[/dim]

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
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="FOLDER", help="Only projects there; may have wildcards."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="FOLDER", help="Never projects there; this is remembered."),
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(metavar="FOLDER", help="Take back an --exclude.")
    ] = None,
    since: Annotated[str, typer.Option(metavar="DATE", help="Sessions used then or later.")] = "",
    scope: Annotated[
        str,
        typer.Option("--scope", "-s", metavar="SCOPE", help="Where to. Default: each its project"),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what there is, and stop.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    there: There = HERE,
) -> None:
    """Bring in what was written down before: sessions of agents, notes, exports. Shows what it would
    read and asks first. Read again, it adds only what is new."""
    names = sources or []
    if not names and not exclude and not include:
        raise UsageError("import what?", hint=f"{', '.join(HOSTS)}, notes, memories, or a file")
    own = [name for name in names if _is_own_export(name)]
    results = [_own_export(Path(name), scope, dry_run, there) for name in own]
    if len(own) < len(names) or exclude or include:
        service = MemoryService(there.folder())
        try:
            work = Import(service, scope, dry_run, yes, there)
            work.settle(exclude or [], include or [])
            for name in names:
                if name in HOSTS:
                    results.append(work.sessions(name, only or [], since))
                elif name not in own:
                    results.append(work.pieces(name))
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

    def settle(self, exclude: Sequence[str], include: Sequence[str]) -> None:
        """What is left out from now on."""
        full = [str(Path(e).expanduser().absolute()) if _is_path(e) else e for e in exclude]
        self.places.exclude(full)
        for pattern in include:
            named = str(Path(pattern).expanduser().absolute()) if _is_path(pattern) else pattern
            if not self.places.include(named):
                remark(f"{pattern} was not excluded")
        if (exclude or include) and not self._there.json:
            say(f"Left out: {', '.join(self.places.exclusions()) or 'nothing'}")

    # --- sessions ----------------------------------------------------------------------------

    def sessions(self, host: str, only: Sequence[str], since: str) -> dict[str, Any]:
        plan = self.plan(host, only, since)
        if self._dry_run or not plan.chosen():
            return {"source": host, "sessions": plan.sessions, "applied": False}
        agree(self._yes, f"Keep what was said in these {plan.sessions} sessions?")
        return {"source": host, "applied": True, "done": self.read(plan)}

    def plan(self, host: str, only: Sequence[str], since: str) -> Plan:
        """What there is to read; shown before anybody is asked."""
        only = [str(Path(o).expanduser().absolute()) if _is_path(o) else o for o in only]
        plan = planned(host, self.places, only=only, since=moment(since) or 0)
        if not self._there.json:
            _show(plan)
        return plan

    def read(self, plan: Plan) -> Imported:
        """Read what was shown and agreed to."""
        keeper = Keeper(self._memories, self.places, self._to)
        done = carried_out(plan.chosen(), keeper, self._progress)
        if not self._there.json:
            _tell(plan.host, done)
        return done

    def _to(self, folder: str) -> Any:
        from metamem.core.access import Scope

        return Scope.parse(self._written()) if self._scope else scope_of(folder)

    def _progress(self, done: int, of: int) -> None:
        console = err()
        if console.is_terminal and not self._there.json:
            console.print(f"\r{done} of {of}", end="\n" if done == of else "")

    # --- notes and exports -------------------------------------------------------------------

    def pieces(self, name: str) -> dict[str, Any]:
        path = Path(name).expanduser()
        if name not in (NOTES, MEMORIES) and not path.exists():
            raise UsageError(
                f"there is no source and no file {name!r}",
                hint=f"known sources: {', '.join((*HOSTS, NOTES, MEMORIES))}",
            )
        found = list(self._found(name, path))
        rows = [(source, str(len(pieces)), scope) for source, pieces, scope in found]
        if not found:
            raise UsageError(f"there are no {name} here")
        if not self._there.json:
            print_table(("source", "pieces", "scope"), rows, numeric=("pieces",))
        if self._dry_run:
            return {"source": name, "applied": False, "files": rows}
        agree(self._yes, "Keep these?")
        done = [
            bring(self._memories, self.places, scope, source, pieces)
            for source, pieces, scope in found
        ]
        if not self._there.json:
            for each in done:
                _tell_brought(each)
        return {"source": name, "applied": True, "done": done}

    def _found(self, name: str, path: Path) -> Iterator[tuple[str, list[Piece], str]]:
        if name == NOTES:
            here = Path.cwd()
            for file in notes.of_project(here):
                yield str(file), notes.instructions(file), self._written(str(scope_of(str(here))))
            for file in notes.of_user():
                yield str(file), notes.instructions(file), self._written(str(user_scope()))
        elif name == MEMORIES:
            for folder, project in _claude_memories():
                for file, pieces in notes.memories_of(folder):
                    yield str(file), pieces, self._written(str(scope_of(project)))
        elif path.is_dir():
            for file, pieces in notes.memories_of(path):
                yield str(file.absolute()), pieces, self._written(_here())
        elif path.suffix.lower() in (".md", ".markdown"):
            home = str(scope_of(str(path.absolute().parent)))
            yield str(path.absolute()), notes.instructions(path), self._written(home)
        else:
            read = exports.mcp_memory if _is_mcp_memory(path) else exports.mem0
            yield str(path.absolute()), read(path), self._written(_here())

    def _written(self, usual: str = "") -> str:
        """The scope that was asked for, or the usual one."""
        if not self._scope:
            return usual
        return Defaults(self._memories, Path.cwd()).written(self._scope)


def _own_export(path: Path, scope: str, dry_run: bool, there: There) -> dict[str, Any]:
    """What metamem itself wrote out, with its history; this alone can go to a server, too."""
    try:
        lines = path.expanduser().read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if dry_run:
        if not there.json:
            say(f"{len(lines)} lines in {path}")
        return {"source": str(path), "applied": False, "lines": len(lines)}
    parts = {scope: lines} if scope else by_scope(lines)
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


def _show(plan: Plan) -> None:
    rows = [
        (
            project.folder or "(not known)",
            str(project.sessions),
            when(project.first)[:10],
            when(project.last)[:10],
            "left out" if project.excluded or not project.folder else "",
        )
        for project in plan.projects
    ]
    if not rows:
        say(f"There are no sessions of {plan.host} here.")
        return
    print_table(("project", "sessions", "first", "last", ""), rows, numeric=("sessions",))
    if plan.unreadable:
        remark(f"{plan.unreadable} files cannot be read")


def _tell(host: str, done: Imported) -> None:
    say(
        f"{host}: {done.stored} lines kept of {done.sessions} sessions; {done.known} were known,"
        f" {done.refused} refused, {done.rewound} taken back, {done.damaged} damaged."
        f" {done.calls} calls of tools kept. {done.facts} facts were made of them."
    )
    for why in done.failed[:20]:
        remark(f"not read: {why}")


def _tell_brought(done: Brought) -> None:
    say(
        f"{done.source}: {done.new} new, {done.changed} changed, {done.same} as before,"
        f" {done.gone} gone, {len(done.refused)} refused"
    )
    for why in sorted(set(done.refused)):
        remark(f"refused: {why}")


def _claude_memories() -> Iterator[tuple[Path, str]]:
    """Claude's folders of memories, each with the project that it is of."""
    for folder in sorted((claude.home() / "projects").glob("*/memory")):
        for session in sorted(folder.parent.glob("*.jsonl")):
            if project := peek(Source(claude.HOST, session)).folder:
                yield folder, project
                break
        else:
            remark(f"{folder}: its project is not known; import it with --scope")


def _is_path(pattern: str) -> bool:
    return "*" not in pattern and ("/" in pattern or Path(pattern).is_dir())


def _here() -> str:
    return str(project_of(Path.cwd()).scope)


def _first(path: Path) -> dict[str, Any]:
    """The first line of a file, where that is a JSON object."""
    try:
        with path.open("rb") as file:
            read = jsonlib.loads(file.readline(10_000_000))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _is_mcp_memory(path: Path) -> bool:
    return _first(path).get("type") in ("entity", "relation")


def _is_own_export(name: str) -> bool:
    path = Path(name).expanduser()
    plain = name not in (*HOSTS, NOTES, MEMORIES) and path.suffix == ".jsonl" and path.is_file()
    return plain and not _is_mcp_memory(path)

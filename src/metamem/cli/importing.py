"""metamem import: what agents and people wrote down before memory was attached."""

import json as jsonlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from metamem.cli.attach import Yes, agree
from metamem.cli.memory_options import HERE, There, when
from metamem.cli.screen import err, print_json, print_table, remark, say
from metamem.cli.spread import spread
from metamem.core.amounts import many
from metamem.core.errors import DataError, UsageError
from metamem.core.texts import read_text
from metamem.service.access.projects import project_of
from metamem.service.attach.answering import user_scope
from metamem.service.connecting import LocalMemories
from metamem.service.defaults import Defaults, whole
from metamem.service.importing import claude, exports, notes
from metamem.service.importing.items import Brought, Piece, bring
from metamem.service.importing.keeping import Keeper, scope_of
from metamem.service.importing.places import Places, kept_pattern
from metamem.service.importing.plan import Imported, Plan, carried_out, planned
from metamem.service.importing.sources import HOSTS, Source, peek
from metamem.service.reading_export import by_scope
from metamem.service.service import MemoryService
from metamem.service.typed_time import moment

NOTES, MEMORIES = "notes", "memories"
FIRST = 20  # lines by which a file is known
SOME = 10  # names that are told
_OF_USERS = "exports of mem0 name users"
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
        raise UsageError("--user takes what an export has of one user", hint=_OF_USERS)
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


@dataclass(frozen=True, slots=True)
class Found:
    """A note or an export, as it would be read."""

    source: str
    pieces: list[Piece]
    scope: str
    users: Mapping[str, int] = field(default_factory=dict)  # how many pieces each has
    damaged: int = 0  # lines or entries that cannot be read
    others: frozenset[str] = frozenset()  # keys of pieces that were not asked for


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

    def pieces(self, name: str, user: str = "") -> dict[str, Any]:
        path = Path(name).expanduser()
        if name not in (NOTES, MEMORIES) and not path.exists():
            raise UsageError(
                f"there is no source and no file {name!r}",
                hint=f"known sources: {', '.join((*HOSTS, NOTES, MEMORIES))}",
            )
        found = list(self._found(name, path, user))
        rows = [(each.source, str(len(each.pieces)), each.scope) for each in found]
        if not found:
            raise UsageError(f"there are no {name} here")
        if not self._there.json:
            _show_found(found)
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
                _tell_brought(brought)
        return {"source": name, "applied": True, "done": done}

    def _found(self, name: str, path: Path, user: str) -> Iterator["Found"]:
        if user and (name in (NOTES, MEMORIES) or path.is_dir() or _is_text(path)):
            raise UsageError(f"{name} is of no user in particular", hint=_OF_USERS)
        if name == NOTES:
            here = Path.cwd()
            for file in notes.of_project(here):
                scope = self._written(str(scope_of(str(here))))
                yield Found(str(file), notes.instructions(file), scope)
            for file in notes.of_user():
                scope = self._written(str(user_scope()))
                yield Found(str(file), notes.instructions(file), scope)
        elif name == MEMORIES:
            for folder, project in _claude_memories():
                if not (project or self._scope):
                    remark(f"{folder}: its project is not known; --scope says where to")
                    continue
                for file, pieces in notes.memories_of(folder):
                    yield Found(
                        str(file), pieces, self._written(str(scope_of(project)) if project else "")
                    )
        elif path.is_dir():
            for file, pieces in notes.memories_of(path):
                yield Found(str(file.absolute()), pieces, self._written(_here()))
        elif _is_text(path):
            home = str(scope_of(str(path.absolute().parent)))
            yield Found(str(path.absolute()), notes.instructions(path), self._written(home))
        else:
            yield self._export(path, user)

    def _export(self, path: Path, user: str) -> "Found":
        """An export of another memory, or what it has of one user."""
        read = exports.mcp_memory(path) if _is_mcp_memory(path) else exports.mem0(path)
        pieces = list(read.pieces)
        if user:
            names = sorted(name for name in read.users if name)
            if user not in names:
                known = f"known: {_some(names)}" if names else _OF_USERS
                raise UsageError(f"{path} has no memories of a user {user!r}", hint=known)
            pieces = read.of(user)
        chosen = {piece.key for piece in pieces}
        return Found(
            str(path.absolute()),
            pieces,
            self._written(_here()),
            {user: len(pieces)} if user else read.users,
            read.damaged,
            frozenset(piece.key for piece in read.pieces if piece.key not in chosen),
        )

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


def about(plan: Plan) -> dict[str, Any]:
    """What would be read, for programs."""
    return {
        "source": plan.host,
        "sessions": plan.sessions,
        "projects": [
            {
                "folder": project.folder,
                "sessions": project.sessions,
                "first": when(project.first),
                "last": when(project.last),
                "left_out": project.excluded or not project.folder,
            }
            for project in plan.projects
        ],
        "unreadable": plan.unreadable,
    }


def _show(plan: Plan) -> None:
    rows = [
        (
            plan.host,
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
    else:
        header = ("agent", "project", "sessions", "first", "last", "")
        print_table(header, rows, numeric=("sessions",))
    if plan.unreadable:
        remark(f"{many(plan.unreadable, 'file')} cannot be read")


def _tell(host: str, done: Imported) -> None:
    say(
        f"{host}: {many(done.stored, 'line')} kept of {many(done.sessions, 'session')}; {done.known} were known,"
        f" {done.refused} refused, {done.rewound} taken back, {done.damaged} damaged."
        f" {many(done.calls, 'call')} of tools kept. {many(done.facts, 'fact')} made of them."
    )
    if done.erased:
        remark(f"{many(done.erased, 'line')} were erased from memory, and stay so")
    for why in done.failed[:20]:
        remark(f"not read: {why}")


def _show_found(found: Sequence[Found]) -> None:
    """What would be read; users and damage where there are any."""
    heads, numeric = ["source", "pieces", "scope"], ["pieces"]
    columns = [[each.source for each in found], [str(len(each.pieces)) for each in found],
               [each.scope for each in found]]  # fmt: skip
    for head, counts in (
        ("damaged", [each.damaged for each in found]),
        ("users", [len([name for name in each.users if name]) for each in found]),
    ):
        if any(counts):
            heads.insert(2, head)
            numeric.append(head)
            columns.insert(2, [str(count) for count in counts])
    print_table(heads, list(zip(*columns, strict=True)), numeric=numeric)
    for each in found:
        names = [f"{name} ({count})" for name, count in each.users.items() if name]
        if len(each.users) > 1 and names:
            say(
                f"{each.source} has memories of {_some(names)}. Each will say whose it is;"
                " --user NAME takes those of one."
            )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SOME} more" if len(names) > SOME else ""
    return ", ".join(names[:SOME]) + more


def _tell_brought(done: Brought) -> None:
    known = f" {done.known} in memory already," if done.known else ""
    damaged = f", {done.damaged} damaged" if done.damaged else ""
    say(
        f"{done.source}: {done.new} new, {done.changed} changed, {done.same} as before,{known}"
        f" {done.gone} gone, {len(done.refused)} refused{damaged}"
    )
    for why in sorted(set(done.refused)):
        remark(f"refused: {why}")


def _claude_memories() -> Iterator[tuple[Path, str]]:
    """Claude's folders of memories, each with the project that it is of; empty for not known."""
    for folder in sorted((claude.home() / "projects").glob("*/memory")):
        sessions = (Source(claude.HOST, path) for path in sorted(folder.parent.glob("*.jsonl")))
        yield folder, next((found for each in sessions if (found := peek(each).folder)), "")


def _full(patterns: Sequence[str]) -> list[str]:
    return [str(Path(p).expanduser().absolute()) if _is_path(p) else p for p in patterns]


def _is_path(pattern: str) -> bool:
    return "*" not in pattern and ("/" in pattern or Path(pattern).is_dir())


def _here() -> str:
    return str(project_of(Path.cwd()).scope)


def _is_text(path: Path) -> bool:
    return path.suffix.lower() in (".md", ".markdown")


def _is_mcp_memory(path: Path) -> bool:
    """Whether one of the first lines of a file, of which some may be damaged, is of such a memory."""
    try:
        with path.open("rb") as file:
            lines = [file.readline(10_000_000) for _ in range(FIRST)]
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    for line in lines:
        with suppress(ValueError, RecursionError):
            read = jsonlib.loads(line)
            if isinstance(read, dict) and read.get("type") in ("entity", "relation"):
                return True
    return False


def _is_own_export(name: str) -> bool:
    path = Path(name).expanduser()
    plain = name not in (*HOSTS, NOTES, MEMORIES) and path.suffix == ".jsonl" and path.is_file()
    return plain and not _is_mcp_memory(path)

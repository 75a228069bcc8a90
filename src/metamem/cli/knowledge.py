"""metamem knowledge: repositories and notes, indexed and searched on this machine."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metamem.cli import options as o
from metamem.cli.progress import watcher
from metamem.cli.screen import out, print_json, print_table, remark, say, tell, visible
from metamem.cli.spread import spread
from metamem.core.amounts import many
from metamem.core.controls import in_a_line
from metamem.core.errors import UsageError

if TYPE_CHECKING:  # loaded when a command needs it
    from metamem.core.protocols import Embedder
    from metamem.knowledge.indexing import Report
    from metamem.knowledge.searching import Found, Wanted

EXAMPLES = """[bold]Examples[/bold]

metamem knowledge index ~/src/shop [dim]# again later: only what changed is read[/dim]

metamem knowledge search "retry a request that timed out"

metamem knowledge find "*Client" --kind class

metamem knowledge show shop/http.py:120
"""
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Repositories and notes, indexed and searched on this machine.",
    epilog=EXAMPLES,
)
SHOWN_LINES = 6  # of a piece that was found

Names = Annotated[
    list[str] | None,
    typer.Option(
        "--index",
        "-i",
        metavar="NAME",
        help="Which index; may be given several times. Default: the one of this folder, else all",
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Which index.", show_default=False)]
EmbedderName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What knows meanings: one of `metamem models`, or none for words alone.",
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND",
        help="function, method, class, type, section or block; may be given several times.",
    ),
]
PathLike = Annotated[
    str, typer.Option("--path", metavar="PATTERN", help="Only in such files, such as 'src/*'.")
]
LanguageName = Annotated[str, typer.Option("--language", metavar="NAME", help="Such as python.")]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", help="How many at most.")]
USUAL_EMBEDDER = "auto"


@dataclass(frozen=True, slots=True)
class Where:
    """Where the indexes are, and how a command answers."""

    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The indexes' folder. Default: METAMEM_KNOWLEDGE, or"
            " ~/.local/share/metamem/knowledge",
        ),
    ] = None
    json: o.Json = False

    def folder(self) -> Path:
        from metamem.knowledge.place import store_folder

        return store_folder(self.store)


HERE = Where()


@app.command()
@spread()
def index(
    path: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH...", help="Folders or files.", show_default=False),
    ] = None,
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What the index is called. Default: as the folder. A known one alone is brought up"
            " to date; with further paths it gets these, too.",
        ),
    ] = "",
    embedder: EmbedderName = USUAL_EMBEDDER,
    workers: Annotated[
        int, typer.Option(metavar="N", min=0, help="Processes that read. Default: one per core.")
    ] = 0,
    thorough: Annotated[
        bool,
        typer.Option(
            "--thorough", help="Read every file, also where size and time say that it is the same."
        ),
    ] = False,
    quiet: o.Quiet = False,
    where: Where = HERE,
) -> None:
    """Index folders, or bring an index up to date: only what changed is read.

    What git ignores is left out, and so is what is binary, generated, minified or larger than 1 MB.
    Secrets are taken out of what is kept. Stopped at any moment, it goes on where it was.
    """
    from metamem.knowledge.embedding import embedder_of
    from metamem.knowledge.indexing import Indexer

    name = name or _name_of(where.folder(), path or [])
    with watcher(quiet or where.json) as progress:
        indexer = Indexer(where.folder(), embedder_of(embedder), workers, thorough, progress)
        report = indexer.index(name, path or [])
    if where.json:
        print_json({**asdict(report), "left_out": dict(report.left_out)})
    else:
        _tell(report)
    if not report.files:
        remark("warning: nothing is left of what was indexed")


@app.command()
@spread()
def search(
    query: Annotated[str, typer.Argument(help="What is looked for, in words.", show_default=False)],
    index: Names = None,
    limit: Limit = 10,
    kind: Kinds = None,
    path: PathLike = "",
    language: LanguageName = "",
    embedder: EmbedderName = USUAL_EMBEDDER,
    full: Annotated[bool, typer.Option("--full", help="Print whole pieces.")] = False,
    where: Where = HERE,
) -> None:
    """Find functions, classes, sections and other pieces by what they are about."""
    from metamem.knowledge.searching import search_all

    names = _meant(where, index)
    found, warnings = search_all(
        where.folder(), names, query, limit, _embedder(embedder), _wanted(kind, path, language)
    )
    _show(found, warnings, where, None if full else SHOWN_LINES)


@app.command()
@spread()
def find(
    name: Annotated[
        str, typer.Argument(help="A name, or a pattern with * and ?.", show_default=False)
    ] = "*",
    index: Names = None,
    limit: Limit = 50,
    kind: Kinds = None,
    path: PathLike = "",
    language: LanguageName = "",
    where: Where = HERE,
) -> None:
    """List components by name, kind, path and language."""
    from metamem.knowledge.searching import MOST, find_all

    if not 1 <= limit <= MOST:
        raise UsageError(f"from 1 to {MOST} components can be asked for, not {limit}")
    names = _meant(where, index)
    found, more = find_all(where.folder(), names, name, _wanted(kind, path, language), limit)
    if where.json:
        print_json([_data(hit) for hit in found])
        return
    if not found:
        remark("no component goes by that name")
        raise typer.Exit(1)
    several = len(names) > 1  # and every index counts its own pieces
    rows = [
        (
            *([hit.index] if several else []),
            *(f"{hit.id}", hit.kind, in_a_line(hit.name), in_a_line(f"{hit.path}:{hit.line}")),
        )
        for hit in found
    ]
    heads = (*(["index"] if several else []), "id", "kind", "name", "where")
    print_table(heads, rows, numeric=("id",))
    if more:
        remark("there are more: give a longer name, or --limit")


@app.command()
@spread()
def show(
    what: Annotated[
        str,
        typer.Argument(help="An id, PATH:LINE, PATH or a name, as found.", show_default=False),
    ],
    index: Names = None,
    where: Where = HERE,
) -> None:
    """Print pieces whole, as they are indexed."""
    from metamem.knowledge.searching import Index, counted

    names = _meant(where, index)
    if counted(what) is not None and len(names) > 1:
        raise UsageError(
            "every index counts its own pieces", hint=f"say which with --index: {', '.join(names)}"
        )
    found: list[Found] = []
    for name in names:
        with Index(where.folder(), name) as opened:
            found += opened.show(what)
    if not found:
        remark(f"nothing that is indexed goes by {what!r}; see: metamem knowledge find")
        raise typer.Exit(1)
    _show(found, [], where, None)


@app.command("list")
@spread()
def list_indexes(where: Where = HERE) -> None:
    """List the indexes, of what they are made, and how large they are."""
    from metamem.knowledge.overview import overview

    rows = overview(where.folder())
    if where.json:
        print_json(rows)
        return
    if not rows:
        say("nothing is indexed yet; begin with: metamem knowledge index PATH")
        return
    print_table(
        ("index", "files", "pieces", "lines", "MB", "vectors", "of"),
        [
            (
                *(row.name, f"{row.files}", f"{row.pieces}", f"{row.lines}"),
                *(
                    f"{row.bytes / 1e6:.1f}",
                    row.embedder or "none",
                    in_a_line(", ".join(row.roots)),
                ),
            )
            for row in rows
        ],
        numeric=("files", "pieces", "lines", "MB"),
    )
    for row in rows:
        if row.trouble:
            remark(f"warning: {row.trouble}")


@app.command()
@spread()
def forget(name: Name, where: Where = HERE) -> None:
    """Remove an index. The files that it was made of stay as they are."""
    from metamem.knowledge import place

    place.forget(where.folder(), name)
    if where.json:
        print_json({"forgotten": name})
    else:
        say(f"the index {name} is gone; its files are as they were")


# --- shared ----------------------------------------------------------------------------------


def _name_of(store: Path, paths: list[Path]) -> str:
    """What an index is called if nobody says: as its folder, unless that is another's name."""
    from metamem.knowledge import place
    from metamem.knowledge.overview import roots

    if not paths:
        raise UsageError("name a folder to index", hint="or a known index with --name")
    name = place.name_for(Path(paths[0]).expanduser().resolve())
    if name in place.names(store):
        known = roots(store, name)
        if not {Path(path).expanduser().resolve() for path in paths} <= set(known):
            listed = ", ".join(map(str, known))
            raise UsageError(
                f"the index {name} is of {listed}",
                hint=f"--name OTHER makes another one; --name {name} adds to that one",
            )
    return name


def _meant(where: Where, named: list[str] | None) -> list[str]:
    from metamem.knowledge.overview import meant

    names, warnings = meant(where.folder(), named or [], Path.cwd())
    for warning in warnings:
        remark(f"warning: {warning}")
    return names


def _embedder(name: str) -> "Embedder | None":
    from metamem.knowledge.embedding import embedder_of

    return embedder_of(name)


def _wanted(kinds: list[str] | None, path: str, language: str) -> "Wanted":
    from metamem.knowledge.languages import NAMES
    from metamem.knowledge.searching import Wanted

    if language and language not in NAMES:
        raise UsageError(f"no language called {language!r}", hint=f"known: {', '.join(NAMES)}")
    return Wanted(tuple(kinds or ()), path, language)


def _data(hit: "Found") -> dict[str, Any]:
    return {**asdict(hit), "file": str(hit.file)}


def _show(found: list["Found"], warnings: list[str], where: Where, lines: int | None) -> None:
    for warning in warnings:
        remark(f"warning: {warning}")
    if where.json:
        print_json([_data(hit) for hit in found])
        return
    if not found:
        remark("nothing that is indexed has to do with that")
        raise typer.Exit(1)
    several = len({hit.index for hit in found}) > 1
    for place, hit in enumerate(found):
        if place:
            say("")
        of = f"{hit.index}: " if several else ""
        named = f"  {hit.kind} {hit.name}" if hit.name else ""
        stale = "  (the file has changed since)" if hit.stale else ""
        head = in_a_line(f"{of}{hit.path}:{hit.line}-{hit.end}{named}{stale}")
        out().print(visible(head, style="bold"))
        for line in hit.begun(lines).split("\n"):
            tell(f"    {line}")


def _tell(report: "Report") -> None:
    say(
        f"{report.index}: {many(report.files, 'file')}, {many(report.pieces, 'piece')},"
        f" {many(report.lines, 'line')} ({report.added} added, {report.changed} changed, {report.removed} removed,"
        f" {report.same} as before)"
    )
    if report.secrets:
        say(f"taken out of what is kept: {many(report.secrets, 'secret')}")
    for why, count in report.left_out.most_common():
        some = in_a_line(", ".join(report.examples[why][:3]))
        say(f"left out, {why}: {count} ({some}{', …' if count > 3 else ''})")
    for each in report.unreadable:
        remark(f"warning: {in_a_line(each)}")

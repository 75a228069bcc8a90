"""metamem foundry: what agents do again and again in this project, and what is made of it."""

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from metamem.cli import memory_options as m
from metamem.cli.memory_options import HERE, There, when
from metamem.cli.screen import print_json, print_table, remark, say, tell
from metamem.cli.site import site_here
from metamem.cli.spread import spread
from metamem.core.errors import UnknownName
from metamem.core.ids import short

if TYPE_CHECKING:  # loaded when a command needs it
    from collections.abc import Callable, Sequence

    from metamem.foundry.overseer import Looked
    from metamem.store.engine import Execute

Kept = TypeVar("Kept")
DAY = 86_400_000
REPORT_EXAMPLES = """[bold]Examples[/bold]

metamem foundry report [dim]# of the project of this folder[/dim]

metamem foundry report --days 30 > report.md
"""
OVERSEE_EXAMPLES = """[bold]Examples[/bold]

metamem foundry oversee [dim]# every project, now; the daemon and metamem serve do it every hour[/dim]

metamem foundry oversee --scope project/shop
"""

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="What agents do again and again: failures and what resolved them, workflows, tools.",
)


@app.command(epilog=REPORT_EXAMPLES)
@spread()
def report(
    days: Annotated[int, typer.Option(metavar="N", min=1, help="How far back deeds are told.")] = 7,
    scope: m.ScopeName = "",
    there: There = HERE,
) -> None:
    """Tell what failed and what then worked, what is repeated, which tools came of it, and what they save."""
    from metamem.foundry.report import report as made
    from metamem.foundry.telling import as_markdown
    from metamem.service.database import now_ms

    with site_here(scope, there) as site:
        until = now_ms()
        found = made(site, since=until - days * DAY, until=until) if site is not None else None
    if there.json:
        print_json(found)
    elif found is None:
        _nothing()
    else:
        tell(as_markdown(found).rstrip("\n"))


@app.command(epilog=OVERSEE_EXAMPLES)
@spread()
def oversee(scope: m.ScopeNames = None, there: There = HERE) -> None:
    """Look at what agents did since the last time: link failures, mine, judge, deploy, watch, tidy up.

    Tools that pass wait for you: metamem promotions pending.
    """
    from metamem.core.access import Scope
    from metamem.foundry.overseer import overseeing
    from metamem.service.connecting import open_folder
    from metamem.service.defaults import Defaults

    folder = there.folder()
    with open_folder(folder) as service:
        wanted = (
            [Scope.parse(s) for s in Defaults(service, Path.cwd()).read(scope)] if scope else None
        )

    async def all_of_them() -> "list[Looked]":
        async with overseeing(folder) as overseer:
            return await overseer.once(wanted, every=0)

    done = asyncio.run(all_of_them())
    if there.json:
        print_json(done)
    else:
        _tell(done)
    if any(each.round is None for each in done):
        raise typer.Exit(1)


def _tell(done: "Sequence[Looked]") -> None:
    if not done:
        _nothing()
    for each in done:
        if each.round is None:
            remark(f"{each.scope}: {each.trouble}")
            continue
        took = each.round.took
        say(
            f"{each.scope}: {took.sessions} sessions read, {took.failures} failures,"
            f" {took.occurrences} times of workflows, {took.lessons} lessons, {len(each.round.judged)} workflows judged,"
            f" {len(each.round.settled)} tools changed, {each.tidied.total} put away or merged"
        )
        for verdict in each.round.judged:
            say(f"  {short(verdict.workflow)} {verdict.decided}: {verdict.why}")
        for settled in each.round.settled:
            say(f"  {settled.name} {settled.what} {settled.why}".rstrip())
        for warning in each.round.warnings:
            remark(f"warning: {warning}")


@app.command()
@spread()
def workflows(
    archived: Annotated[bool, typer.Option("--archived", help="Those that were put away.")] = False,
    scope: m.ScopeName = "",
    there: There = HERE,
) -> None:
    """List what is done again and again, with its steps."""
    from metamem.foundry.words import template_json
    from metamem.foundry.workflows import store

    found = _kept(scope, there, partial(store.workflows, archived=archived))
    if there.json:
        print_json(
            [
                {
                    "id": each.id,
                    "goal": each.workflow.goal,
                    "steps": [
                        {
                            "tool": s.tool,
                            "arguments": template_json(s.arguments),
                            "optional": s.optional,
                            "each": s.each,
                        }
                        for s in each.workflow.steps
                    ],
                    "parameters": [p.name for p in each.workflow.parameters],
                    "uses": each.uses,
                    "successes": each.successes,
                    "sessions": each.sessions,
                    "last_at": when(each.last_at),
                }
                for each in found
            ]
        )
        return
    if not found:
        _nothing(archived)
        return
    print_table(
        ("id", "goal", "steps", "uses", "went well", "sessions", "last"),
        [
            (
                short(w.id),
                w.workflow.goal,
                str(len(w.workflow.steps)),
                str(w.uses),
                str(w.successes),
                str(w.sessions),
                when(w.last_at)[:10],
            )
            for w in found
        ],
        numeric=("steps", "uses", "went well", "sessions"),
    )


@app.command()
@spread()
def failures(
    archived: Annotated[bool, typer.Option("--archived", help="Those that were put away.")] = False,
    scope: m.ScopeName = "",
    there: There = HERE,
) -> None:
    """List what failed, how often, and what resolved it."""
    from metamem.foundry.failures import store

    rows: list[dict[str, Any]] = []
    with site_here(scope, there) as site:
        if site is not None:
            with site.database.reading() as execute:
                for each in store.failures(execute, site.number, archived=archived):
                    known = store.resolutions(execute, site.number, each.signature)
                    best = next((r.text for r in known if r.text), "")
                    rows.append(
                        {"id": each.signature, "failure": each.text, "count": each.count, "sessions": each.sessions,
                         "resolved": each.resolved, "what_worked": best, "last_at": when(each.last_at)}
                    )  # fmt: skip
    if there.json:
        print_json(rows)
        return
    if not rows:
        _nothing(archived)
        return
    print_table(
        ("id", "failure", "times", "sessions", "resolved", "what worked"),
        [
            (
                short(r["id"]),
                r["failure"],
                str(r["count"]),
                str(r["sessions"]),
                str(r["resolved"]),
                r["what_worked"],
            )
            for r in rows
        ],
        numeric=("times", "sessions", "resolved"),
    )


@app.command()
@spread()
def lessons(
    archived: Annotated[bool, typer.Option("--archived", help="Those that were put away.")] = False,
    scope: m.ScopeName = "",
    there: There = HERE,
) -> None:
    """List what was learned beside that: what keeps going wrong, what was measured, what ended well."""
    from metamem.foundry.lessons import store

    found = _kept(scope, there, partial(store.lessons, archived=archived))
    if there.json:
        print_json(found)
        return
    if not found:
        _nothing(archived)
        return
    print_table(
        ("id", "kind", "lesson", "sessions"),
        [(short(each.id), each.kind, each.text, str(each.sessions)) for each in found],
        numeric=("sessions",),
    )


@app.command()
@spread(without=["json"])
def restore(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Of a failure, a workflow, a lesson or a tool; or its start."
        ),
    ],
    scope: m.ScopeName = "",
    there: There = HERE,
) -> None:
    """Bring back what was put away because nobody needed it for 30 days."""
    from metamem.foundry.failures import store as failed
    from metamem.foundry.lessons import store as taught
    from metamem.foundry.tools import store as tools
    from metamem.foundry.workflows import store as repeated

    with site_here(scope, there) as site:
        if site is None:
            raise UnknownName("nothing is known of this project yet")
        with site.database.writing() as execute:
            away = [
                *(("failure", f.signature, failed.restore) for f in failed.failures(execute, site.number, archived=True)),
                *(("workflow", w.id, repeated.restore) for w in repeated.workflows(execute, site.number, archived=True)),
                *(("lesson", t.id, taught.restore) for t in taught.lessons(execute, site.number, archived=True)),
                *(("tool", t.id, tools.restore) for t in tools.tools(execute, site.number, archived=True)),
            ]  # fmt: skip
            found = [each for each in away if each[1].startswith(wanted)]
            if len(found) != 1:
                several = (
                    f"{len(found)} begin with it"
                    if found
                    else "nothing that was put away is called so"
                )
                raise UnknownName(
                    f"{wanted!r}: {several}", hint="metamem foundry failures --archived"
                )
            kind, identifier, bring_back = found[0]
            bring_back(execute, site.number, identifier)
    say(f"The {kind} {short(identifier)} is active again.")


def _kept(scope: str, there: There, read: "Callable[[Execute, int], list[Kept]]") -> "list[Kept]":
    """What a store has of the project; nothing where the project is not known."""
    with site_here(scope, there) as site:
        if site is None:
            return []
        with site.database.reading() as execute:
            return read(execute, site.number)


def _nothing(archived: bool = False) -> None:
    say(
        "Nothing was put away."
        if archived
        else "Nothing is known here yet. metamem import-sessions reads what your agents did so far;"
        " metamem hooks install HOST keeps it from now on."
    )

"""metamem foundry: what agents do again and again in this project, and what is made of it."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from metamem.cli import memory_options as m
from metamem.cli import options as o
from metamem.cli.memory_options import HERE, There, when
from metamem.cli.parts import allowance
from metamem.cli.screen import print_json, print_table, remark, say, tell
from metamem.cli.site import meant, site_here
from metamem.cli.spread import spread
from metamem.core.amounts import many
from metamem.core.errors import UnknownName
from metamem.core.ids import short

if TYPE_CHECKING:  # loaded when a command needs it
    from collections.abc import Callable

    from metamem.foundry.overseer import Looked
    from metamem.store.engine import Execute

Kept = TypeVar("Kept")
DAY = 86_400_000
DAEMON_SECONDS = 1.0  # that a report waits for the daemon
WRITERS = ("template", "model", "handoff")
NOTHING = (
    "Nothing is known here yet. metamem import-sessions reads what your agents did so far;"
    " metamem hooks install HOST keeps it from now on."
)
REPORT_EXAMPLES = """[bold]Examples[/bold]

metamem foundry report [dim]# of the project of this folder[/dim]

metamem foundry report --days 30 > report.md
"""
OVERSEE_EXAMPLES = """[bold]Examples[/bold]

metamem foundry oversee [dim]# every project, now; the daemon does it every hour by itself[/dim]

metamem foundry oversee --scope shop [dim]# one project, by the name of its folder[/dim]

metamem foundry oversee --writer model --model meta=openai:gpt-5-mini --max-money 2

metamem foundry oversee --writer handoff [dim]# asks for tools in folders; run again, it takes what lies there[/dim]
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
        until, more = now_ms(), _of_daemon(there)
        found = (
            made(site, since=until - days * DAY, until=until, warnings=more)
            if site is not None
            else None
        )
    if there.json:
        print_json(found)
    elif found is None:
        _nothing()
    else:
        tell(as_markdown(found).rstrip("\n"))


@app.command(epilog=OVERSEE_EXAMPLES)
@spread()
def oversee(
    scope: m.ScopeNames = None,
    writer: Annotated[
        str,
        typer.Option(metavar="|".join(WRITERS), help="Who writes tools; they are judged alike."),
    ] = WRITERS[0],
    model: o.Model = None,
    max_tokens: o.MaxTokens = None,
    max_money: o.MaxMoney = None,
    there: There = HERE,
) -> None:
    """Look at what agents did since the last time: link failures, mine, judge, deploy, watch, tidy up.

    Tools that pass wait for you: metamem promotions pending. What goes wrong in one project stops no other;
    the exit code is 1 then.
    """
    from metamem.foundry.overseer import overseeing
    from metamem.foundry.writers import writing
    from metamem.models.config import role_flags

    folder = there.folder()
    limits = allowance(max_tokens, max_money)
    chosen = writing(writer, folder, role_flags(model or []), limits)
    wanted = meant(scope, there) if scope else None

    async def all_of_them() -> "list[Looked]":
        async with overseeing(folder, writing=chosen) as overseer:
            return await overseer.once(wanted, every=0, tell=lambda each: _tell(each, there))

    done = asyncio.run(all_of_them())
    failed = [each for each in done if each.round is None]
    if there.json:
        print_json(done)
    elif not done:
        say(NOTHING)
    if failed and not there.json:
        remark(f"{len(failed)} of {many(len(done), 'project')} could not be looked at: see above")
    if failed:
        raise typer.Exit(1)


def _tell(each: "Looked", there: There) -> None:
    if there.json:
        return
    if each.round is None:
        remark(f"error: {each.scope}: {each.trouble}")
        return
    took = each.round.took
    say(
        f"{each.scope}: {many(took.sessions, 'session')} read; {took.text};"
        f" {many(len(each.round.judged), 'workflow')} judged, {many(len(each.round.settled), 'tool')}"
        f" changed, {each.tidied.total} put away or merged"
    )
    for verdict in each.round.judged:
        say(f"  {short(verdict.workflow)} {verdict.decided}: {verdict.why}")
    for settled in each.round.settled:
        say(f"  {settled.name} {settled.what} {settled.why}".rstrip())
    for warning in each.round.warnings:
        remark(f"warning: {warning}")


def _of_daemon(there: There) -> list[str]:
    """What its hourly looks say, where some failed and the last one did."""
    from metamem.core.errors import MetamemError
    from metamem.service.attach import control
    from metamem.service.attach.places import Meeting

    try:
        running = control.status(Meeting(there.folder()), DAEMON_SECONDS) or {}
    except (MetamemError, OSError, ValueError):
        return []
    hourly = running.get("hourly", {})
    if not hourly.get("trouble"):
        return []
    return [f"the daemon's last hourly look failed ({hourly['failed']} of {hourly['ran']}): {hourly['trouble']}"]  # fmt: skip


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
    from metamem.foundry.workflows.telling import lines, roots_of

    found = _kept(scope, there, partial(store.workflows, archived=archived))
    roots = _kept(scope, there, roots_of)
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
        _nothing(
            scope,
            there,
            archived,
            "workflow",
            "what three sessions at least do in one order, more often than chance would have it",
        )
        return
    for each in found:
        goal = each.workflow.goal.split(" / ")[0] or "no goal was told"
        tell(
            f"{short(each.id)} {goal}: {many(each.uses, 'time')} in {many(each.sessions, 'session')},"
            f" {each.successes} went well, last {when(each.last_at)[:10]}"
        )
        for number, line in enumerate(lines(each.workflow, roots), start=1):
            tell(f"  {number}. {line}")


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
        _nothing(scope, there, archived, "failure", "a call that ended with an error")
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
        _nothing(
            scope, there, archived, "lesson", "what several sessions have in common, or one proves"
        )
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
    from metamem.service.database import now_ms

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
            bring_back(execute, site.number, identifier, at=now_ms())
    say(f"The {kind} {short(identifier)} is active again.")


def _kept(scope: str, there: There, read: "Callable[[Execute, int], list[Kept]]") -> "list[Kept]":
    """What a store has of the project; nothing where the project is not known."""
    with site_here(scope, there) as site:
        if site is None:
            return []
        with site.database.reading() as execute:
            return read(execute, site.number)


def _nothing(
    scope: str = "", there: There = HERE, archived: bool = False, what: str = "", is_one: str = ""
) -> None:
    """Say that there is nothing, and why: nothing was put away, nobody looked, or nothing was found."""
    if archived:
        say("Nothing was put away.")
        return
    sessions, looked = 0, False
    with site_here(scope, there) as site:
        if site is not None:
            from metamem.foundry.acts import LOOKED, MINED_AT, cursor_of

            with site.database.reading() as execute:
                ((sessions,),) = execute(
                    "SELECT COUNT(DISTINCT session) FROM calls WHERE scope = ?", (site.number,)
                )
                looked = any(cursor_of(execute, site.number, job) for job in (LOOKED, MINED_AT))
    if not sessions or not what:
        say(NOTHING)
        return
    more = "" if looked else " Nobody looked at them yet: metamem foundry oversee does."
    say(
        f"No {what} in the {many(sessions, 'session')} that {'is' if sessions == 1 else 'are'} known here: that is {is_one}.{more}"
    )

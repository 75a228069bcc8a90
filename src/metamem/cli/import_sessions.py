"""metamem import-sessions: what agents did before there were hooks, and what is learned of it at once."""

from contextlib import suppress
from typing import Annotated, Any

import typer

from metamem.cli.attach import agree
from metamem.cli.importing import Import
from metamem.cli.memory_options import HERE, There
from metamem.cli.screen import print_json, print_table, say
from metamem.cli.spread import spread
from metamem.core.errors import Busy
from metamem.service.importing.sources import HOSTS, known_host
from metamem.service.service import MemoryService

EXAMPLES = """[bold]Examples[/bold]

metamem import-sessions --dry-run [dim]# what there is, by agent and project[/dim]

metamem import-sessions claude-code --exclude '*/client-*'

metamem import-sessions codex gemini --since 2026-01-01 --yes
"""


@spread()
def import_sessions(
    hosts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="HOST...", help=f"Which agents' sessions. Default: {', '.join(HOSTS)}."
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what there is, and stop.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    there: There = HERE,
) -> None:
    """Read the sessions that coding agents keep on this machine, with what they did, and find failures and
    what then worked. Shows what it would read and asks first. It is metamem import for agents, and goes
    on to learn from it; read again, it adds only what is new."""
    names = [known_host(host) for host in hosts or HOSTS]
    service = MemoryService(there.folder())
    try:
        work = Import(service, "", dry_run, yes, there)
        work.settle(exclude or [], include or [])
        plans = [work.plan(host, only or [], since) for host in names]
        chosen = [plan for plan in plans if plan.chosen()]
        if dry_run or not chosen:
            if there.json:
                found = [{"source": plan.host, "sessions": plan.sessions} for plan in plans]
                print_json({"imported": found, "applied": False})
            return
        agree(yes, f"Read these {sum(plan.sessions for plan in chosen)} sessions?")
        done = {plan.host: work.read(plan) for plan in chosen}
        learned = _learned(service, sorted({s for each in done.values() for s in each.scopes}))
    finally:
        service.close()
    if there.json:
        print_json({"imported": done, "learned": learned, "applied": True})
    elif learned:
        rows = [
            (row["scope"], str(row["sessions"]), str(row["failures"]), str(row["resolved"]))
            for row in learned
        ]
        numeric = ("sessions", "failures", "resolved")
        print_table(("scope", *numeric), rows, numeric=numeric)
    else:
        say("No calls of tools were found.")


def _learned(service: MemoryService, scopes: list[str]) -> list[dict[str, Any]]:
    """Take in what the scopes have more of; how they stand then."""
    from metamem.core.access import Scope
    from metamem.foundry.failures.store import failures
    from metamem.foundry.failures.tables import FAILURES
    from metamem.foundry.failures.taking import keep_up
    from metamem.service.database import now_ms
    from metamem.service.sight import scope_number

    service.database.grow([FAILURES])
    found = []
    for scope in scopes:
        with service.database.reading() as execute:
            number = scope_number(execute, Scope.parse(scope))
        if number is None:
            continue
        sessions = 0
        with suppress(Busy):  # the daemon is at it, and takes in this, too
            sessions = keep_up(service.database, number, now=now_ms()).sessions
        with service.database.reading() as execute:
            known = failures(execute, number)
        found.append(
            {
                "scope": scope,
                "sessions": sessions,
                "failures": len(known),
                "resolved": sum(each.resolved > 0 for each in known),
            }
        )
    return found

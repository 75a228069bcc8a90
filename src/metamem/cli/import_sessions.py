"""metamem import-sessions: what agents did before there were hooks, and what is learned of it at once."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

import typer

from metamem.cli.attach import Yes, agree
from metamem.cli.import_told import about
from metamem.cli.importing import DryRun, Exclude, Import, Include, Only, UsedSince
from metamem.cli.memory_options import HERE, There
from metamem.cli.screen import print_json, print_table, refuse, remark, say
from metamem.cli.spread import spread
from metamem.core.amounts import many
from metamem.core.aside import aside
from metamem.core.errors import Busy, DataError, UnknownName
from metamem.service.importing.plan import Plan
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
    only: Only = None,
    exclude: Exclude = None,
    include: Include = None,
    since: UsedSince = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    there: There = HERE,
) -> None:
    """Read the sessions that coding agents keep on this machine, with what they did, and find failures, what
    then worked, and what is done again and again. Shows what it would read and asks first. It is metamem import
    for agents, and goes on to learn from it; read again, it adds only what is new."""
    names = [known_host(host) for host in hosts or HOSTS]
    service = MemoryService(there.folder(begins=True))
    try:
        work = Import(service, "", dry_run, yes, there)
        work.settle(exclude or [], include or [])
        plans, refused = _planned(work, names, only or [], since)
        chosen = [plan for plan in plans if plan.chosen()]
        if dry_run or not chosen:
            if there.json:
                shown = [about(plan) for plan in plans]
                print_json({"imported": shown, "unreadable": list(refused), "applied": False})
            _end(refused)
            return
        agree(yes, f"Read {many(sum(plan.sessions for plan in chosen), 'session')}?")
        done = {plan.host: work.read(plan) for plan in chosen}
    finally:
        service.close()
    learned = _learned(there, sorted({s for each in done.values() for s in each.scopes}))
    if there.json:
        print_json(
            {"imported": done, "unreadable": list(refused), "learned": learned, "applied": True}
        )
    elif learned:
        numeric = ("sessions", "failures", "resolved", "workflows")
        rows = [(row["scope"], *(str(row[name]) for name in numeric)) for row in learned]
        print_table(("scope", *numeric), rows, numeric=numeric)
        say("What came of it: metamem foundry report, in the folder of a project.")
    else:
        say("No calls of tools were found.")
    _end(refused)


def _planned(
    work: Import, hosts: list[str], only: list[str], since: str
) -> tuple[list[Plan], dict[str, DataError]]:
    """What each host has; those whose sessions cannot be read stop none of the others."""
    plans, refused = [], {}
    for host in hosts:
        try:
            plans.append(work.plan(host, only, since))
        except DataError as error:
            refused[host] = error
            refuse(error.message, error.hint)
    return plans, refused


def _end(refused: Mapping[str, DataError]) -> None:
    if refused:
        raise typer.Exit(DataError.exit_code)


def _learned(there: There, scopes: list[str]) -> list[dict[str, Any]]:
    """Read what the scopes have more of, without writing or judging any tool; how they stand then."""
    if not scopes:
        return []
    from metamem.core.access import Scope
    from metamem.foundry.failures.store import failures
    from metamem.foundry.overseer import overseeing
    from metamem.foundry.workflows.store import workflows

    async def all_of_them() -> list[dict[str, Any]]:
        found = []
        async with overseeing(there.folder()) as overseer:
            for number, name in enumerate(scopes, start=1):
                if not there.json:
                    remark(f"learning from {name} ({number} of {len(scopes)}) …")
                try:
                    with suppress(Busy):  # the daemon is at it, and takes in this, too
                        await aside(overseer.learn, Scope.parse(name))
                    site = await aside(overseer.site, Scope.parse(name))
                except UnknownName:
                    remark(f"{name} was erased, and its sessions stay so")
                    continue
                with site.database.reading() as execute:
                    ((sessions,),) = execute(
                        "SELECT COUNT(DISTINCT session) FROM calls WHERE scope = ?",
                        (site.number,),
                    )
                    known = failures(execute, site.number)
                    repeated = workflows(execute, site.number)
                resolved = sum(each.resolved > 0 for each in known)
                found.append(
                    {
                        "scope": name,
                        "sessions": sessions,
                        "failures": len(known),
                        "resolved": resolved,
                        "workflows": len(repeated),
                    }
                )
        return found

    return asyncio.run(all_of_them())

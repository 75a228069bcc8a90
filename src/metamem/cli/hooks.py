"""metamem hooks: what coding agents do with their tools is read, and what helped before is told."""

import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from metamem.cli.attach import (
    DryRun,
    Host,
    Where,
    Yes,
    put_in,
    states,
    take_out,
    tell_daemon,
    there_now,
    warn_of_server,
    yes_or_no,
)
from metamem.cli.memory_options import HERE, There
from metamem.cli.screen import print_json, print_table, remark, say, tell
from metamem.cli.spread import spread
from metamem.core.amounts import many
from metamem.core.errors import UnknownName
from metamem.service.attach import control
from metamem.service.attach.places import Meeting
from metamem.service.attach.spool import Spool
from metamem.service.importing.sources import known_host

EXAMPLES = """[bold]Examples[/bold]

metamem hooks install claude-code [dim]# shows what would change, and asks[/dim]

metamem hooks status

metamem hooks uninstall claude-code [dim]# memory stays attached where it is[/dim]
"""

app = typer.Typer(
    no_args_is_help=True,
    help="Hooks of tools in coding agents: what helped before is told where a tool fails, and what is"
    " done is kept for finding what repeats.",
    epilog=EXAMPLES,
)


@app.command()
@spread()
def install(
    host: Host,
    scope: Where = "user",
    dry_run: DryRun = False,
    yes: Yes = False,
    there: There = HERE,
) -> None:
    """Put the hooks into a coding agent's own settings, beside what is there. Shows how, keeps a copy, and
    says where the agent wants you to review them. metamem attach does this and more."""
    done = put_in(host, scope, there_now(host, scope, there) | {"tools"}, dry_run, yes, there)
    if done is None or there.json:
        return
    changed, note = done
    say(f"The hooks are {'in' if changed else 'there already, in'} {host}'s settings.")
    if note:
        say(note)
    warn_of_server()
    say(f"What was done so far can be brought in, too: metamem import-sessions {host}")


@app.command()
@spread()
def uninstall(
    host: Host,
    scope: Where = "user",
    dry_run: DryRun = False,
    yes: Yes = False,
    there: There = HERE,
) -> None:
    """Take the hooks of tools out again. Memory stays attached where it is."""
    now = there_now(host, scope, there)
    rest = now - {"tools"}
    if rest:
        done = put_in(host, scope, rest, dry_run, yes, there)
        changed = done[0] if done is not None else None
    else:
        changed = take_out(host, scope, dry_run, yes, there)
    if changed is not None and not there.json:
        gone = "are taken out of" if "tools" in now and changed else "were not in"
        say(f"The hooks {gone} {host}'s settings.")


@app.command()
@spread()
def status(
    host: Annotated[
        str, typer.Argument(metavar="[HOST]", help="Which agent. Default: all of them.")
    ] = "",
    there: There = HERE,
) -> None:
    """Which agents have the hooks, what the daemon does, and what came of suggestions."""
    if host:
        known_host(host)
    meeting = Meeting(there.folder(begins=True))
    rows = [row for row in states(meeting) if not host or row["host"] == host]
    running, waiting = control.status(meeting), Spool(meeting.spool).waiting()
    standing = _standing(meeting.memories)
    if there.json:
        print_json({"hosts": rows, "daemon": running, "waiting": waiting, "suggestions": standing})
        return
    print_table(
        ("agent", "scope", "hooks of tools", "events", "what there is to say"),
        [
            (
                row["host"],
                row["scope"],
                row["state"] if row["tools"] else yes_or_no(False),
                ", ".join(row["present"]) if row["tools"] else "",
                row["trouble"] or row["note"],
            )
            for row in rows
        ],
    )
    tell_daemon(running, waiting)
    for each in standing:
        say(
            f"{each['scope']}: {many(each['failures'], 'failure')}, {each['resolved']} of them resolved;"
            f" {many(each['shown'], 'suggestion')} shown, {each['withheld']} withheld for comparison,"
            f" {each['late']} too late to be told; what came of it is known of {each['settled']}."
        )
        if each["warning"]:
            remark(f"warning: {each['warning']}")


@app.command()
@spread()
def events(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The host's id of it.")],
    there: There = HERE,
) -> None:
    """What is kept of a session with calls, as events: one JSON object a line (docs/foundry-events.md)."""
    from metamem.foundry.events import events_of
    from metamem.foundry.traces import Traces
    from metamem.service.access.rights import LOCAL
    from metamem.service.attach.events import to_json
    from metamem.service.database import FILE, Database
    from metamem.service.writing.fields import identifier

    known_as = identifier(session)
    with closing(Database(there.folder() / FILE)) as database:
        with database.reading() as execute:
            scopes = execute(
                "SELECT DISTINCT c.scope FROM calls c JOIN scopes s ON s.number = c.scope"
                " WHERE c.session = ? AND s.tenant = ? ORDER BY c.scope",
                (known_as, LOCAL),
            )
        traces = [Traces(database).trace(number, known_as) for (number,) in scopes]
    told = [to_json(event) for trace in traces if trace for event in events_of(trace)]
    if not told:
        raise UnknownName(
            f"no call of a session {session!r} is kept", hint="metamem import-sessions reads them"
        )
    if there.json:
        print_json(told)
        return
    for event in told:
        tell(json.dumps(event, ensure_ascii=False))


def _standing(folder: Path) -> list[dict[str, Any]]:
    """How suggestions do in each scope where any failure is known."""
    from dataclasses import asdict

    from metamem.core.access import Scope
    from metamem.foundry.failures.store import failures
    from metamem.foundry.failures.tables import FAILURES
    from metamem.foundry.failures.taking import standing
    from metamem.service.database import FILE, Database

    if not (folder / FILE).is_file():
        return []
    found = []
    with (
        closing(Database(folder / FILE, create=False, also=[FAILURES])) as database,
        database.reading() as execute,
    ):
        for number, tenant, kind, name in execute(
            "SELECT DISTINCT s.number, s.tenant, s.kind, s.name FROM scopes s"
            " JOIN failures f ON f.scope = s.number ORDER BY s.number"
        ):
            known = failures(execute, number)
            found.append(
                {
                    "scope": str(Scope(tenant, kind, name)),
                    "failures": len(known),
                    "resolved": sum(each.resolved > 0 for each in known),
                    **asdict(standing(execute, number)),
                }
            )
    return found

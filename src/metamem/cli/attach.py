"""metamem attach, detach, status and daemon: memory in the agents that people use."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metamem.cli.asking import go_on
from metamem.cli.memory_options import HERE, There
from metamem.cli.screen import print_json, print_table, remark, say, tell
from metamem.cli.spread import spread
from metamem.core import extras
from metamem.core.amounts import many
from metamem.core.errors import MetamemError, NotInstalled, UsageError
from metamem.service.attach import control
from metamem.service.attach.hosts import (
    ALL,
    REACHES,
    Attachment,
    Reach,
    What,
    apart,
    attachment,
    installed,
    taken,
)
from metamem.service.attach.install import Edit, Installer
from metamem.service.attach.places import Meeting
from metamem.service.attach.settings import is_whole
from metamem.service.attach.spool import Spool
from metamem.service.importing.sources import HOSTS

if TYPE_CHECKING:  # it brings models, which most of these commands do without
    from metamem.service.enriching_state import State

ATTACH_EXAMPLES = """[bold]Examples[/bold]

metamem attach claude-code [dim]# shows what would change, and asks[/dim]

metamem attach gemini --scope project --dry-run

metamem detach claude-code
"""
MANY = 50  # looks at transcripts, of which some should have told something for later
Host = Annotated[str, typer.Argument(metavar="HOST", help=f"Which agent: {', '.join(HOSTS)}.")]
Where = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="REACH",
        help=f"Whose settings: {' or '.join(REACHES)}; a project's are those of this folder.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and stop.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

daemon = typer.Typer(no_args_is_help=True, help="The process that answers the hooks of all agents.")


@spread()
def attach(
    host: Host,
    scope: Where = "user",
    without_tools: Annotated[
        bool,
        typer.Option(
            "--without-tools", help="Only memory: no hooks of tools (metamem hooks --help)."
        ),
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    there: There = HERE,
) -> None:
    """Attach memory to a coding agent: a briefing when a session starts, what memory knows of a
    prompt, what helped before where a tool fails, and what is said kept for the next time. Changes its
    settings, after showing how."""
    what: frozenset[What] = frozenset(("memory",)) if without_tools else ALL
    done = put_in(host, scope, what, dry_run, yes, there)
    if done is None or there.json:
        return
    changed, note = done
    state = "attached" if changed else "attached already"
    say(f"{host} is {state}; its next session starts with a briefing.")
    if note:
        say(note)
    warn_of_server()
    say(f"What you said so far can be brought in, too: metamem import {host}")


@spread()
def detach(
    host: Host,
    scope: Where = "user",
    dry_run: DryRun = False,
    yes: Yes = False,
    there: There = HERE,
) -> None:
    """Take metamem out of a coding agent's settings, and nothing else. Memories stay."""
    changed = take_out(host, scope, dry_run, yes, there)
    if changed is not None and not there.json:
        say(f"{host} is {'detached' if changed else 'not attached'}.")


@spread()
def status(there: There = HERE) -> None:
    """Which agents memory is attached to, and how the daemon is."""
    meeting = Meeting(there.folder(begins=True))
    running = control.status(meeting)
    waiting = Spool(meeting.spool).waiting()
    rows = states(meeting)
    enrichment = _enrichment(meeting.memories)
    if there.json:
        told = asdict(enrichment) | {"warning": enrichment.warning} if enrichment else None
        print_json({"hosts": rows, "daemon": running, "waiting": waiting, "enrichment": told})
        return
    print_table(
        ("agent", "scope", "attached", "memory", "tools", "what there is to say"),
        [
            (
                row["host"],
                row["scope"],
                row["state"],
                yes_or_no(row["memory"]),
                yes_or_no(row["tools"]),
                row["trouble"] or row["note"],
            )
            for row in rows
        ],
    )
    tell_daemon(running, waiting)
    if enrichment is not None:
        say(
            f"A model drew {enrichment.stored} facts from conversations with"
            f" {enrichment.spent.questions} questions; {enrichment.waiting} turns wait."
        )
        if enrichment.warning:
            remark(f"warning: {enrichment.warning}")


@daemon.command("start")
@spread(without=["json"])
def daemon_start(there: There = HERE) -> None:
    """Start the daemon, if it is not running."""
    say(f"The daemon runs as process {control.start(Meeting(there.folder(begins=True)))['pid']}.")


@daemon.command("stop")
@spread(without=["json"])
def daemon_stop(there: There = HERE) -> None:
    """Stop the daemon, when it is through with what it does. The next hook starts it again."""
    stopped = control.stop(Meeting(there.folder(begins=True)))
    say("The daemon is stopped." if stopped else "The daemon was not running.")


@daemon.command("run")
@spread(without=["json"])
def daemon_run(
    idle: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="End after so long; 0: never.")
    ] = 0,
    there: There = HERE,
) -> None:
    """Run the daemon here, until it is stopped: for service managers."""
    from metamem.service.attach.daemon import main

    main(str(there.folder(begins=True)), idle=idle)


def agree(yes: bool, question: str) -> None:
    """Go on only if somebody said so."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("there is nobody here to ask", hint="say --yes to go on")
    go_on(question)


def _enrichment(folder: Path) -> "State | None":
    """How enrichment stands where it was ever begun."""
    from metamem.service.database import FILE, Database
    from metamem.service.enriching_state import state

    if not (folder / FILE).is_file():
        return None
    database = Database(folder / FILE, create=False)
    try:
        found = state(database)
    finally:
        database.close()
    return found if found.spent.questions else None


def put_in(
    host: str, scope: str, what: frozenset[What], dry_run: bool, yes: bool, there: There
) -> tuple[bool, str] | None:
    """Put these into a host's settings, and no other of ours. Whether anything changed, and what its
    user has to know; None where it was only shown."""
    meeting, found = _found(host, scope, what, there)
    edits = Installer(meeting).attaching(found)
    changes = [edit for edit in edits if edit.changes]
    if not there.json:
        _show(changes)
    if dry_run:
        _report(there, host, edits, applied=False)
        return None
    if changes and what - installed(found) and not there.json:
        say(
            f"From then on what is said and done in {host} is kept in {meeting.memories}, with secrets"
            " taken out. metamem import --exclude FOLDER leaves a project out."
        )
    if changes:
        agree(yes, "Change these files?")
    meeting.make()
    copies = Installer(meeting).apply(edits)
    running = control.start(meeting)
    other = taken(found) if "memory" in what else ""
    _report(
        there,
        host,
        edits,
        applied=True,
        copies=copies,
        pid=running["pid"],
        note=found.note,
        warning=other or no_server(),
    )
    if not there.json:
        if other:
            remark(f"warning: {other}", whole=True)
        for copy in copies:
            tell(f"a copy of what was there: {copy}")
    return bool(changes), found.note


def take_out(host: str, scope: str, dry_run: bool, yes: bool, there: There) -> bool | None:
    """Take all that is ours out of a host's settings. Whether there was any; None where it was only
    shown."""
    meeting, found = _found(host, scope, ALL, there)
    edits = Installer(meeting).detaching(found)
    changes = [edit for edit in edits if edit.changes]
    if not there.json:
        _show(changes)
    if dry_run:
        _report(there, host, edits, applied=False)
        return None
    if changes:
        agree(yes, "Change these files?")
        meeting.make()
        Installer(meeting).apply(edits)
    _report(there, host, edits, applied=True)
    return bool(changes)


def no_server() -> str:
    """Why the MCP server that hosts are given cannot start, and what to do; empty where it can."""
    try:
        extras.require("mcp")
    except NotInstalled as error:
        return f"the MCP server cannot start, {error.message}; to install it: {error.hint}"
    return ""


def warn_of_server() -> None:
    """Hooks do without, but an agent that was given a server would show it as failed."""
    if why := no_server():
        remark(f"warning: {why}", whole=True)


def there_now(host: str, scope: str, there: There) -> frozenset[What]:
    """What a host has of ours."""
    return installed(_found(host, scope, ALL, there)[1])


def states(meeting: Meeting) -> list[dict[str, Any]]:
    """What each host has; projects only where there is something to say of them."""
    # In the home folder a project's settings are the user's own.
    reaches = ("user",) if Path.cwd() == Path.home().resolve() else REACHES
    rows = [_state(host, reach, meeting) for host in HOSTS for reach in reaches]
    return [row for row in rows if row["scope"] == "user" or row["present"] or row["trouble"]]


def tell_daemon(running: dict[str, Any] | None, waiting: int) -> None:
    if running is None:
        say("The daemon is not running; the first hook starts it.")
    else:
        say(
            f"The daemon runs as process {running['pid']} for {running['seconds']} s:"
            f" {running['answered']} answers, {running['silent']} times nothing to say,"
            f" {running['sessions']} looks at transcripts, {running['stored']} lines and"
            f" {running['calls']} calls of tools kept, {running['facts']} facts made of them."
        )
        if running["sessions"] >= MANY and not running["facts"]:
            remark(f"warning: of {running['sessions']} looks at transcripts no fact was made")
        if running["late"]:
            say(f"{many(running['late'], 'answer')} came too late for their hooks.")
        if running["trouble"]:
            say(f"Its last trouble: {running['trouble']}")
        hourly = running.get("hourly", {})
        if hourly.get("failed"):
            remark(
                f"warning: of {hourly['ran']} hourly looks {hourly['failed']} failed;"
                f" {'the last said: ' + hourly['trouble'] if hourly['trouble'] else 'the last went well'}"
            )
        elif hourly.get("ran"):
            say(f"Hourly looks: {hourly['ran']}, none of which failed.")
    if waiting:
        say(f"{many(waiting, 'session')} to be looked at yet.")


def yes_or_no(answer: bool) -> str:
    return "yes" if answer else "no"


def _found(
    host: str, scope: str, what: frozenset[What], there: There
) -> tuple[Meeting, Attachment]:
    if scope not in REACHES:
        raise UsageError(f"settings reach {' or '.join(REACHES)}, not {scope!r}")
    reach: Reach = "project" if scope == "project" else "user"
    meeting = Meeting(there.folder(begins=True))
    return meeting, attachment(host, meeting, reach=reach, what=what, folder=Path.cwd())


def _show(changes: list[Edit]) -> None:
    for edit in changes:
        for line in edit.diff().splitlines():
            tell(line)


def _report(
    there: There, host: str, edits: list[Edit], *, applied: bool, copies: Any = (), **more: Any
) -> None:
    if there.json:
        files = [{"path": str(e.path), "changes": e.changes, "diff": e.diff()} for e in edits]
        print_json({"host": host, "applied": applied, "files": files, "copies": copies, **more})
    elif not applied and not any(edit.changes for edit in edits):
        remark("nothing would change")


def _state(host: str, reach: Reach, meeting: Meeting) -> dict[str, Any]:
    where = Path.cwd()
    what = installed(attachment(host, meeting, reach=reach, folder=where))
    found = attachment(host, meeting, reach=reach, what=what or ALL, folder=where)
    present: list[str] = []
    trouble = ""
    missing = False
    for part in found.parts:
        try:
            text = part.path.read_text(encoding="utf-8") if part.path.is_file() else None
            present += part.present(text)
            missing = missing or not is_whole(part, text)
        except (MetamemError, UnicodeDecodeError) as error:
            trouble = str(error).split("\n")[0]
        except OSError as error:
            trouble = f"{part.path} cannot be read: {error.strerror}"
    told = (apart(found), taken(found), no_server()) if present else ()
    trouble = trouble or next(filter(None, told), "")
    state = "no" if not present else "in part, or by another version" if missing else "yes"
    return {
        "host": host,
        "scope": reach,
        "state": state,
        "memory": "memory" in what,
        "tools": "tools" in what,
        "present": present,
        "trouble": trouble,
        "note": found.note if present else "",
    }

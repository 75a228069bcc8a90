"""metamem runs and metamem report: what was learned, when, and with what result."""

import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from metamem.cli import options as o
from metamem.cli.parts import existing_archive
from metamem.cli.progress import duration
from metamem.cli.results import print_results
from metamem.cli.screen import print_json, print_table, say
from metamem.core import registry
from metamem.core.errors import UnknownName
from metamem.core.ids import short
from metamem.report.headline import reservation
from metamem.runs.attribution import attributions
from metamem.runs.config import learns
from metamem.runs.replay import erasure_in_run, told
from metamem.runs.summary import Summary
from metamem.search.entries import HUMAN
from metamem.store.archive import Archive, RunRecord, state_now

app = typer.Typer(invoke_without_command=True, help="Learning runs and how they ended.")
REPORT_EXAMPLES = """[bold]Examples[/bold]

metamem report toy-s0-1 --open

metamem report toy-s0-1 --output result.html
"""


def _complete_runs(incomplete: str) -> list[str]:
    with existing_archive(None) as archive:
        return [run.id for run in _runs(archive) if run.id.startswith(incomplete)]


RunName = Annotated[
    str, typer.Argument(metavar="RUN", autocompletion=_complete_runs, show_default=False)
]


@app.callback()
def default(context: typer.Context, home: o.Home = None, json: o.Json = False) -> None:
    if context.invoked_subcommand is None:
        list_runs(home, json)


@app.command("list")
def list_runs(home: o.Home = None, json: o.Json = False) -> None:
    """List the runs, oldest first."""
    with existing_archive(home) as archive:
        runs = _runs(archive)
        found = [_about(archive, run) for run in runs]
    if json:
        print_json(found)
        return
    if not found:
        say("No run yet. Start with: metamem learn toy --designs 6")
        return
    rows = [
        (
            run["run"],
            run["domain"],
            run["state"] if run["replayable"] else f"{run['state']}, not replayable",
            str(run["designs"]),
            duration(run["seconds"]),
            _ending(Summary.from_json(record.summary)),
        )
        for record, run in zip(runs, found, strict=True)
    ]
    print_table(
        ("run", "domain", "state", "designs", "time", "learned"), rows, numeric=("designs", "time")
    )


@app.command("show")
def show_run(name: RunName, home: o.Home = None, json: o.Json = False) -> None:
    """Show one run: its result, and the command that repeats it."""
    from metamem.report.reproduce import command_line

    with existing_archive(home) as archive:
        run = find_run(archive, name)
        summary = Summary.from_json(run.summary)
        about = _about(archive, run)
        erasure = erasure_in_run(archive, run)
    if json:
        print_json({**about, "config": run.config, "summary": run.summary})
        return
    say(f"{run.id}: {about['state']}, {about['designs']} designs, {duration(about['seconds'])}")
    if erasure:
        say(f"It is {told(erasure)}.")
    for split, rows in summary.tables.items():
        say("")
        print_results(
            f"{split}: {rows[0].tasks} tasks that the search never saw", rows, summary.scale
        )
    say("")
    if summary.decision is not None:
        say(f"The gate: {summary.decision.reason}.")
    for found in attributions(summary):
        say(found.told(summary.scale))
    if reserved := reservation(summary):
        say(reserved)
    for each in summary.rounds:
        say(each.told(summary.scale))
    if (counts := summary.search) is not None:
        say(
            f"The search: {counts.proposed} proposed, {counts.accepted} evaluated, "
            f"{counts.duplicate} duplicates, {counts.rejected} rejected, "
            f"{counts.improved} better than their parent."
        )
    if summary.error:
        say(f"It failed: {summary.error}")
    if run.state != "finished":
        say(f"Go on with: metamem learn --run {run.id}")
    say(f"Repeat it with: {command_line(run.config)}")


def report(
    run: RunName,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to. Default: reports/RUN.html at home."),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Show it in a browser.")] = False,
    home: o.Home = None,
) -> None:
    """Write a run's report: one HTML file that needs nothing else."""
    from metamem.api import home_folder
    from metamem.report.page import write_report
    from metamem.report.place import report_path

    path = output or report_path(home_folder(home), run)
    with existing_archive(home) as archive:
        find_run(archive, run)
        write_report(archive, run, path)
    say(str(path))
    if open_it:
        webbrowser.open(path.absolute().as_uri())


def find_run(archive: Archive, name: str) -> RunRecord:
    known = {run.id: run for run in _runs(archive)}
    if name not in known:
        raise UnknownName(f"no run called {name!r}", hint=f"known: {', '.join(known) or 'none'}")
    return known[name]


def _runs(archive: Archive) -> list[RunRecord]:
    """The runs that people started; the control arm of a run is part of it."""
    return [run for run in archive.runs() if learns(run)]


def _about(archive: Archive, run: RunRecord) -> dict[str, Any]:
    summary = Summary.from_json(run.summary)
    learned = summary.row("test")
    return {
        "run": run.id,
        "domain": registry.plain(run.config["domain"]["name"]),
        "state": state_now(archive, run),
        "designs": sum(
            p.operator != HUMAN and p.status != "duplicate" for p in archive.proposals(run.id)
        ),
        "seconds": summary.seconds,
        "learned": summary.learned,
        "promoted": summary.promoted,
        "test": learned.mean if learned is not None else None,
        "started": run.created_at,
        "replayable": erasure_in_run(archive, run) is None,
    }


def _ending(summary: Summary) -> str:
    if not summary.learned:
        return ""
    row, scale = summary.row("test"), summary.scale
    score = "" if row is None else f" {scale.value(row.mean)}{scale.unit} on test,"
    return f"{short(summary.learned)}{score} {'promoted' if summary.promoted else 'not promoted'}"

"""metamem runs and metamem report: what was learned, when, and with what result."""

import webbrowser
from collections.abc import Mapping
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
from metamem.store.archive import Archive, RunRecord, state_now
from metamem.store.replay import erasure_in_run, told
from metamem.web.figures import percent

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
        found = [_about(archive, run) for run in _runs(archive)]
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
            _ending(run),
        )
        for run in found
    ]
    print_table(
        ("run", "domain", "state", "designs", "time", "learned"), rows, numeric=("designs", "time")
    )


@app.command("show")
def show_run(name: RunName, home: o.Home = None, json: o.Json = False) -> None:
    """Show one run: its result, and the command that repeats it."""
    from metamem.web.headline import ordered
    from metamem.web.reproduce import command_line

    with existing_archive(home) as archive:
        run = find_run(archive, name)
        about = _about(archive, run)
        erasure = erasure_in_run(archive, run)
    if json:
        print_json({**about, "config": run.config, "summary": run.summary})
        return
    say(f"{run.id}: {about['state']}, {about['designs']} designs, {duration(about['seconds'])}")
    if erasure:
        say(f"It is {told(erasure)}.")
    for split, rows in ordered(run.summary.get("tables", {})).items():
        say("")
        print_results(f"{split}: {rows[0]['tasks']} tasks that the search never saw", rows)
    say("")
    if "decision" in run.summary:
        say(f"The gate: {run.summary['decision']['reason']}.")
    if "search" in run.summary:
        counts = run.summary["search"]
        say(
            f"The search: {counts['proposed']} proposed, {counts['accepted']} evaluated, "
            f"{counts['duplicate']} duplicates, {counts['rejected']} rejected, "
            f"{counts['improved']} better than their parent."
        )
    if "error" in run.summary:
        say(f"It failed: {run.summary['error']}")
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
    from metamem.web.report import report_path, write_report

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
    return [run for run in archive.runs() if "control_of" not in run.config]


def _about(archive: Archive, run: RunRecord) -> dict[str, Any]:
    return {
        "run": run.id,
        "domain": registry.plain(run.config["domain"]["name"]),
        "state": state_now(archive, run),
        "designs": len(archive.proposals(run.id)),
        "seconds": run.summary.get("seconds", 0.0),
        "learned": run.summary.get("learned"),
        "promoted": run.summary.get("promoted", False),
        "test": _score(run.summary, "test"),
        "started": run.created_at,
        "replayable": erasure_in_run(archive, run) is None,
    }


def _score(summary: Mapping[str, Any], split: str) -> float | None:
    rows = summary.get("tables", {}).get(split, [])
    return next((row["mean"] for row in rows if row["name"] == "learned"), None)


def _ending(run: Mapping[str, Any]) -> str:
    if not run["learned"]:
        return ""
    score = "" if run["test"] is None else f" {percent(run['test'])} % on test,"
    return f"{short(run['learned'])}{score} {'promoted' if run['promoted'] else 'not promoted'}"

"""metamem handoff: a coding agent writes the designs, over files or over MCP."""

import asyncio
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metamem.cli import options as o
from metamem.cli.handoff_mcp import mcp
from metamem.cli.handoff_words import came_of, checked, standing
from metamem.cli.parts import allowance, existing_archive
from metamem.cli.runs import find_run
from metamem.cli.screen import print_json, tell
from metamem.core.errors import UsageError
from metamem.runs.desk.quick import TASKS
from metamem.search.handoff import files, run_folder
from metamem.search.handoff.place import WorkFolder
from metamem.search.handoff.proposer import skill as skill_text
from metamem.search.handoff.submission import SOURCE_BYTES
from metamem.store.archive import Archive

if TYPE_CHECKING:  # loaded when a command needs it
    from metamem.runs.desk.desk import Desk

app = typer.Typer(
    no_args_is_help=True, help="A coding agent writes the designs, over files or over MCP."
)
WAIT = 50.0  # seconds; coding agents often give a command a minute or two

Number = Annotated[
    int, typer.Argument(metavar="NUMBER", min=1, help="The request, as `next` gave it.")
]
File = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="Default: design.py in the request's folder."),
]
Run = Annotated[
    str, typer.Option(metavar="NAME", help="Which run. Default: the one that is not finished.")
]
Wait = Annotated[
    float, typer.Option(metavar="S", min=0, help="How long to wait at most, in seconds.")
]


@app.command("next")
def next_request(
    run: Run = "", wait: Wait = WAIT, home: o.Home = None, json: o.Json = False
) -> None:
    """Ask for the next request: a numbered folder with all that is known."""
    with _desk(home, run) as desk:
        request = asyncio.run(desk.next(wait))
    if json:
        print_json(request)
        return
    if request["number"] is None:
        tell(request["message"])
        return
    number = request["number"]
    options = shlex.join(["--run", desk.run, *(["--home", str(home)] if home else [])])
    tell(f"Request {number} is in {request['folder']}")
    tell(request["message"])
    if request["repair"]:
        tell(f"The error: {request['repair']['error']}")
    if request["refused"]:
        tell(f"What was submitted before could not be used: {request['refused']}")
    tell("Read dossier.md there (it names the other files), and manual.md once. Write your design")
    tell("to design.py there. Then:")
    tell(f"  metamem handoff check {number} {options}")
    tell(f'  metamem handoff submit {number} {options} --note "what changed, and why"')


@app.command()
def check(
    number: Number,
    file: File = None,
    score: Annotated[
        bool, typer.Option("--score", help="Also play some tasks of train with it.")
    ] = False,
    tasks: Annotated[
        int, typer.Option(metavar="N", min=2, help="On how many tasks, with --score.")
    ] = TASKS,
    run: Run = "",
    max_tokens: o.MaxTokens = None,
    max_money: o.MaxMoney = None,
    home: o.Home = None,
    json: o.Json = False,
) -> None:
    """Try a draft in the jail: does it run, what does it say, is it new? Nothing is handed in.

    A quick score is bounded: status tells how many cases of the run are left for that.
    """
    with _desk(home, run, allowance(max_tokens, max_money)) as desk:
        source = _source(desk, number, file)
        found = asyncio.run(desk.check(number, source, tasks if score else 0))
    if json:
        print_json(found)
    else:
        for line in checked(found):
            tell(line)
    if not found["passed"]:
        raise typer.Exit(1)


@app.command()
def submit(
    number: Number,
    file: File = None,
    note: Annotated[
        str, typer.Option(metavar="TEXT", help="What changed, and why: a sentence or two.")
    ] = "",
    run: Run = "",
    wait: Wait = WAIT,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Do not wait for what comes of it.")
    ] = False,
    home: o.Home = None,
    json: o.Json = False,
) -> None:
    """Hand in a design: it is evaluated and archived."""
    with _desk(home, run) as desk:
        source = _source(desk, number, file)
        outcome = asyncio.run(desk.submit(number, source, note, 0 if no_wait else wait))
    if json:
        print_json(outcome)
        return
    tell(came_of(outcome))


@app.command()
def status(run: Run = "", home: o.Home = None, json: o.Json = False) -> None:
    """Tell where a run stands and what came of the last submissions."""
    with _desk(home, run) as desk:
        found = desk.status()
    if json:
        print_json(found)
        return
    tell(f"{found['run']}: {found['message']}")
    for line in standing(found):
        tell(line)


@app.command()
def skill() -> None:
    """Print how the work goes, for a coding agent: keep it as a skill or in its instructions."""
    sys.stdout.write(skill_text())


app.command()(mcp)


@contextmanager
def _desk(home: Path | None, run: str, limits: Any = None) -> "Iterator[Desk]":
    from metamem.api import home_folder
    from metamem.runs.desk.desk import Desk

    with existing_archive(home) as archive:
        if run:
            find_run(archive, run)
        name = run or _only_run(archive, home_folder(home))
        place = WorkFolder(run_folder(home_folder(home), name))
        if not place.root.is_dir():
            raise UsageError(
                f"the run {name!r} hands nothing off",
                hint="start one with: metamem learn DOMAIN --proposer handoff",
            )
        yield Desk(
            archive,
            place,
            name,
            allowance=limits,
        )


def _only_run(archive: Archive, home: Path) -> str:
    """The run that somebody means who names none."""
    runs = [run for run in archive.runs() if run_folder(home, run.id).is_dir()]
    going = [run.id for run in runs if run.state != "finished"]
    if len(going) == 1:
        return going[0]
    if not going and runs:
        return runs[-1].id
    if not runs:
        raise UsageError(
            "no run hands anything off here",
            hint="start one with: metamem learn DOMAIN --proposer handoff",
        )
    raise UsageError("which run?", hint=f"give one with --run: {', '.join(going)}")


def _source(desk: "Desk", number: int, file: Path | None) -> bytes:
    return desk.source(number) if file is None else files.read_file(file, SOURCE_BYTES)

"""metamem handoff: a coding agent writes the designs, over files or over MCP."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metamem.cli import options as o
from metamem.cli.learn import RUN_NAME
from metamem.cli.parts import check_domain, executor, existing_archive, given
from metamem.cli.progress import watcher
from metamem.cli.runs import find_run
from metamem.cli.screen import out, print_json, remark, visible
from metamem.core.errors import Busy, UsageError
from metamem.evaluation.jobs import Spec
from metamem.search.handoff.files import read_file
from metamem.search.handoff.place import Place, run_folder
from metamem.search.handoff.submission import SOURCE_BYTES
from metamem.store.archive import Archive
from metamem.web.figures import percent

if TYPE_CHECKING:  # loaded when a command needs it
    from metamem.search.handoff.desk import Desk

app = typer.Typer(
    no_args_is_help=True, help="A coding agent writes the designs, over files or over MCP."
)
WAIT = 50.0  # seconds; coding agents often give a command a minute or two
INTERRUPTED = 130

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
        _tell(request["message"])
        return
    number = request["number"]
    options = f"--run {desk.run}" + (f" --home {home}" if home else "")
    _tell(f"Request {number} is in {request['folder']}")
    _tell(request["message"])
    if request["repair"]:
        _tell(f"The error: {request['repair']['error']}")
    if request["refused"]:
        _tell(f"What was submitted before could not be used: {request['refused']}")
    _tell("Read dossier.md there, and manual.md once. Then:")
    _tell(f"  metamem handoff check {number} {options}")
    _tell(f'  metamem handoff submit {number} {options} --note "what changed, and why"')


@app.command()
def check(
    number: Number, file: File = None, run: Run = "", home: o.Home = None, json: o.Json = False
) -> None:
    """Try a draft in the jail, as the verifier will. Nothing is handed in."""
    with _desk(home, run) as desk:
        found = asyncio.run(desk.check(number, _source(desk, number, file)))
    if json:
        print_json(found)
    else:
        _tell("It runs." if found["passed"] else found["error"])
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
    _tell(_outcome(outcome))


@app.command()
def status(run: Run = "", home: o.Home = None, json: o.Json = False) -> None:
    """Tell where a run stands and what came of the last submissions."""
    with _desk(home, run) as desk:
        found = desk.status()
    if json:
        print_json(found)
        return
    _tell(f"{found['run']}: {found['message']}")
    of = f" of {found['designs']}" if found["designs"] else ""
    _tell(f"Designs: {found['proposed']}{of}")
    for name, key in (("Best", "best"), ("Best by people", "best_human")):
        if found[key]:
            _tell(f"{name}: {found[key]['design'][:8]}, {percent(found[key]['score'])} %")
    for outcome in found["submissions"]:
        _tell(f"Request {outcome['number']}: {_outcome(outcome)}")


@app.command()
def skill() -> None:
    """Print how the work goes, for a coding agent: keep it as a skill or in its instructions."""
    from metamem.search.handoff.proposer import skill as text

    sys.stdout.write(text())


@app.command()
def mcp(
    domain: Annotated[
        str,
        typer.Argument(
            metavar="DOMAIN",
            autocompletion=o.complete_domains,
            help="What to learn for; may be left out to go on with a run.",
        ),
    ] = "",
    run: Annotated[
        str, typer.Option(metavar="NAME", help="The run's name; a known one goes on.")
    ] = "",
    designs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Stop after N proposals. Default: 150")
    ] = None,
    seed: o.Seed = None,
    workers: o.Workers = None,
    home: o.Home = None,
) -> None:
    """Serve MCP on stdin and stdout, and carry out the learning run beside it.

    Meant for the config of a coding agent. Started again, it goes on with the same run.
    """
    try:
        from metamem.search.handoff.server import serve
    except ImportError as error:
        raise UsageError(
            f"MCP needs a package that is not here: {error.name}",
            hint="pip install 'metamem[mcp]'",
        ) from error
    from metamem.api import home_folder, open_archive
    from metamem.search.handoff.desk import Desk

    if domain:
        check_domain(domain, {})
    elif not run:
        raise UsageError("which domain, or which run?")
    name = run or f"{domain}-handoff-s{seed or 0}"
    if not RUN_NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a run", hint="use letters, digits, . _ and -")
    with open_archive(home) if domain else existing_archive(home) as archive:
        _same(archive, name, domain, seed, designs)
        desk = Desk(archive, Place(run_folder(home_folder(home), name)), name)
        settings = given(seed=seed, designs=designs)
        _serve_and_learn(desk, serve, lambda: _learn(domain, name, home, workers, settings))


def _learn(
    domain: str, run: str, home: Path | None, workers: int | None, settings: dict[str, Any]
) -> None:
    from metamem.api import home_folder, learn
    from metamem.web.report import report_path, write_report

    folder = run_folder(home_folder(home), run).absolute()
    with watcher(quiet=False) as progress:
        learn(
            domain,
            run=run,
            home=home,
            executor=executor(workers),
            progress=progress,
            proposer=Spec("metamem.search.handoff.proposer:Handoff", {"folder": str(folder)}),
            batch=1,  # each request sees what came of the one before
            **settings,
        )
    with existing_archive(home) as archive:
        write_report(archive, run, report_path(home_folder(home), run))


def _serve_and_learn(
    desk: "Desk", serve: Callable[["Desk", Callable[[], None]], None], learn: Callable[[], None]
) -> None:
    """MCP in a thread, learning here: the end of stdin then stops it just as Ctrl-C does."""
    main = threading.main_thread()
    ready, closed = threading.Event(), threading.Event()
    failed: list[Exception] = []

    def attend() -> None:
        try:
            serve(desk, ready.set)
        except Exception as error:
            failed.append(error)
        closed.set()
        ready.set()
        if desk.here and main.ident is not None:
            signal.pthread_kill(main.ident, signal.SIGINT)

    attendant = threading.Thread(target=attend, name="mcp", daemon=True)
    desk.here = True
    attendant.start()
    try:
        ready.wait()
        learn()
    except Busy as busy:
        remark(f"{busy.message}: its requests are served here, too")
    except Exception as error:
        failed.append(error)
        desk.problem = str(error)
        remark(f"error: {error}")
    except KeyboardInterrupt:
        if not closed.is_set():
            # Ctrl-C: a thread that waits for stdin would keep the process alive.
            remark("stopped")
            os._exit(INTERRUPTED)
    finally:
        desk.here = False
    attendant.join()
    if failed:
        raise failed[0]


def _same(archive: Archive, run: str, domain: str, seed: int | None, designs: int | None) -> None:
    """A run never changes its settings."""
    known = {record.id: record.config for record in archive.runs()}
    if run not in known:
        if not domain:
            raise UsageError(f"no run called {run!r}", hint="name a domain to start one")
        return
    config = known[run]
    stored = (config["domain"]["name"], config["seed"], config["budget"]["designs"])
    wanted = (domain or stored[0], stored[1] if seed is None else seed, designs or stored[2])
    if wanted != stored:
        raise UsageError(
            f"the run {run!r} is there already, for {stored[0]} with seed {stored[1]} and "
            f"{stored[2]} designs",
            hint="give the new run another name with --run",
        )


@contextmanager
def _desk(home: Path | None, run: str) -> "Iterator[Desk]":
    from metamem.api import home_folder
    from metamem.search.handoff.desk import Desk

    with existing_archive(home) as archive:
        if run:
            find_run(archive, run)
        name = run or _only_run(archive, home_folder(home))
        place = Place(run_folder(home_folder(home), name))
        if not place.root.is_dir():
            raise UsageError(
                f"the run {name!r} hands nothing off",
                hint="start one with: metamem learn DOMAIN --proposer handoff",
            )
        yield Desk(archive, place, name)


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
    return desk.source(number) if file is None else read_file(file, SOURCE_BYTES)


def _tell(text: str) -> None:
    """A line as it is: whoever takes a path or an error from it must find it whole."""
    out().print(visible(text), soft_wrap=True)


def _outcome(outcome: dict[str, Any]) -> str:
    words = [outcome["status"]]
    if outcome["score"] is not None:
        words.append(f"score {percent(outcome['score'])} %")
    if outcome["gain"] is not None:
        words.append(f"gain over its parent {100 * outcome['gain']:+.1f}")
    told = ", ".join(words)
    if outcome["status"] == "pending":
        return f"handed in; {outcome['reason']}"
    return f"{told}: {outcome['reason']}" if outcome["reason"] else told

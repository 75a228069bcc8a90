"""metamem handoff mcp: serves MCP, and carries out the learning run beside it."""

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metamem.cli import options as o
from metamem.cli.parts import (
    allowance,
    check_domain,
    data_settings,
    executor,
    existing_archive,
    given,
)
from metamem.cli.progress import watcher
from metamem.cli.screen import remark
from metamem.core import extras
from metamem.core.errors import Busy, UsageError
from metamem.core.needs import needs_of
from metamem.evaluation.jobs import Spec
from metamem.search.handoff import run_folder
from metamem.search.handoff.place import WorkFolder
from metamem.store.archive import Archive

if TYPE_CHECKING:  # loaded when the command needs it
    from metamem.runs.desk.desk import Desk

PROPOSER = "handoff"  # of the runs that are started here
INTERRUPTED = 130  # as shells have it for a program that Ctrl-C ended


def mcp(
    domain: o.LearnedDomain = "",
    run: o.Run = "",
    designs: o.Budgeted = None,
    seed: o.Seed = None,
    data: o.Data = "",
    max_tokens: o.MaxTokens = None,
    max_money: o.MaxMoney = None,
    workers: o.Workers = None,
    home: o.Home = None,
) -> None:
    """Serve MCP on stdin and stdout, and carry out the learning run beside it.

    Meant for the config of a coding agent. Started again, it goes on with the same run.
    """
    extras.load("mcp")
    from metamem.api import home_folder, open_home
    from metamem.runs.desk.desk import Desk
    from metamem.runs.desk.server import serve

    if domain:
        check_domain(domain, data_settings(data))
    elif not run:
        raise UsageError("which domain, or which run?")
    name = run or f"{domain}-{PROPOSER}-s{seed or 0}"
    o.check_run_name(name)
    limits = allowance(max_tokens, max_money)
    with open_home(home) if domain else existing_archive(home) as archive:
        _same(archive, name, domain, data, seed, designs)
        desk = Desk(
            archive,
            WorkFolder(run_folder(home_folder(home), name)),
            name,
            allowance=limits,
        )
        settings = given(seed=seed, designs=designs, executor=executor(workers), allowance=limits)
        settings["domain_settings"] = data_settings(data)
        _serve_and_learn(
            desk,
            serve,
            lambda: _learn(domain, name, home, settings),
            lambda: _report(desk, home),
        )


def _learn(domain: str, run: str, home: Path | None, settings: dict[str, Any]) -> None:
    from metamem.api import learn

    with watcher(quiet=False) as progress:
        learn(
            domain,
            run=run,
            home=home,
            progress=progress,
            proposer=Spec(PROPOSER),
            batch=1,  # each request sees what came of the one before
            **settings,
        )


def _report(desk: "Desk", home: Path | None) -> None:
    from metamem.api import home_folder
    from metamem.report.page import write_report
    from metamem.report.place import report_path

    write_report(desk.archive, desk.run, report_path(home_folder(home), desk.run))


def _serve_and_learn(
    desk: "Desk",
    serve: Callable[["Desk", Callable[[], None]], None],
    learn: Callable[[], None],
    report: Callable[[], None],
) -> None:
    """MCP in a thread, learning here: the end of stdin then stops it just as Ctrl-C does."""
    main = threading.main_thread()
    # Whoever started us may have had this signal ignored, as shells do for what runs behind them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
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
        desk.here = False  # a client that leaves now does not take the report away
        report()
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


def _same(
    archive: Archive, run: str, domain: str, data: str, seed: int | None, designs: int | None
) -> None:
    """A run never changes its settings."""
    from metamem.runs.config import LearnConfig
    from metamem.search.budget import Budget

    known = {record.id: record.config for record in archive.runs()}
    if run not in known:
        if not domain:
            raise UsageError(f"no run called {run!r}", hint="name a domain to start one")
        return
    config = LearnConfig.from_json(known[run])
    needs = needs_of("proposers", config.proposer.name)
    if not (needs.folder and needs.somebody):
        raise UsageError(f"the designs of the run {run!r} come from {config.proposer.name}")
    place = Spec(domain or config.domain.name, {**config.domain.settings, **data_settings(data)})
    told = given(seed=seed, budget=Budget(designs, config.budget.seconds) if designs else None)
    if replace(config, domain=place, **told) != config:
        raise UsageError(
            f"the run {run!r} is there already, with other settings",
            hint=f"metamem runs show {run} tells them; give the new run another name with --run",
        )

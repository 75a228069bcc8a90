"""metamem doctor: what this machine has, what is missing, and what to do about it."""

import os
import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import typer
from rich.text import Text

from metamem import __version__
from metamem.cli import options as o
from metamem.cli import trials
from metamem.cli.attempt import DEFAULT_EMBEDDER, Trial
from metamem.cli.findings import Finding, fault
from metamem.cli.progress import watcher
from metamem.cli.screen import out, print_json, visible
from metamem.core import extras, registry
from metamem.core.errors import MetamemError
from metamem.core.system import cores

SCARCE_BYTES = 1 << 30
DOMAIN_EXTRAS = set(extras.EXTRAS) & set(registry.BUILT_IN["domains"])


def doctor(home: o.Home = None, json: o.Json = False) -> None:
    """Look at this machine: what works, what is missing, what to do about it.

    Everything is tried: each domain starts a world, each agent is made, the jail holds a design,
    the archive is read through. Ends with 1 where something is missing or broken.
    """
    from metamem.api import home_folder

    folder = home_folder(home).absolute()
    with watcher(quiet=not sys.stderr.isatty()) as progress:
        jail, embedder, *others = trials.run(_trials(), progress)
    findings = [
        Finding("metamem", "ok", __version__),
        Finding("Python", "ok", f"{platform.python_version()} at {sys.executable}"),
        Finding("system", "ok", f"{platform.system()} {platform.release()} {platform.machine()}"),
        Finding("cores", "ok", str(cores())),
        disk(folder),
        _guarded("archive", lambda: _archive(folder / "archive.db")),
        jail,
        *_mechanisms(),
        embedder,
        *_models(),
        *others,
        _guarded("human designs", _designs),
    ]
    usable = all(finding.state in ("ok", "note") for finding in findings)
    if json:
        print_json({"usable": usable, "findings": findings})
    else:
        _show(findings)
    if not usable:
        raise typer.Exit(1)


def _trials() -> list[Trial]:
    """The jail first, then the embedder, then all that can be chosen."""
    return [
        Trial("jail", "auto"),
        Trial("embedder", _chosen_embedder()),
        *(Trial("domain", name) for name in registry.names("domains")),
        *(Trial("agent", name) for name in registry.names("agents")),
        *(Trial("extra", name) for name in extras.EXTRAS if name not in DOMAIN_EXTRAS),
    ]


def _show(findings: list[Finding]) -> None:
    marks = {
        "ok": ("ok  ", "green"),
        "note": ("note", "yellow"),
        "missing": ("MISS", "bold red"),
        "broken": ("FAIL", "bold red"),
    }
    console = out()
    for finding in findings:
        console.print(
            Text.assemble(
                marks[finding.state],
                f"  {finding.what}: ",
                visible(finding.found, style="dim"),
            )
        )
        if finding.advice:
            console.print(visible(f"      → {finding.advice}"))
    console.print()
    states = {finding.state for finding in findings}
    if "missing" in states:
        words = "Learning is impossible until what is missing is put right."
    elif "broken" in states:
        words = "What is broken cannot be used until it is put right; the rest can."
    else:
        console.print(Text("Everything needed is here.", style="green"))
        return
    console.print(Text(words, style="bold red"))


def _guarded(what: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except MetamemError as error:
        return fault(what, "broken", error)


def disk(folder: Path) -> Finding:
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    found = f"{free / (1 << 30):.1f} GiB free at {folder}"
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        words = "cannot be written to" if folder.is_dir() else "is no folder"
        return Finding("disk", "broken", f"{folder} {words}", "name another folder with --home")
    if free < SCARCE_BYTES:
        return Finding("disk", "note", found, "make room, or name another folder with --home")
    return Finding("disk", "ok", found)


def _models() -> list[Finding]:
    from metamem.core.chat import ROLES
    from metamem.models.config import load_config

    try:
        config = load_config()
    except MetamemError as error:
        return [Finding("language models", "note", error.message, error.hint)]
    found = []
    for role in ROLES:
        for name in config.roles.get(role, ()):
            try:
                config.open(name)
                found.append(
                    Finding(f"model, {role}", "ok", name, f"try it: metamem models test {name}")
                )
            except MetamemError as error:
                found.append(Finding(f"model, {role}", "note", error.message, error.hint))
    if found:
        return found
    advice = "not needed: designs and agents here work without one; see `metamem models`"
    return [Finding("language models", "note", "none configured", advice)]


def _archive(path: Path) -> Finding:
    from metamem.store import check_file

    if not path.exists():
        return Finding("archive", "ok", f"none yet at {path}")
    found = check_file(path)
    if found.is_newer:
        return Finding("archive", "broken", str(found), "upgrade metamem to open it")
    return Finding("archive", "ok", str(found))


def _mechanisms() -> list[Finding]:
    from metamem.sandbox.isolation import mechanisms

    return [Finding(f"jail: {r.name}", "ok" if r.active else "note", r.note) for r in mechanisms()]


def _chosen_embedder() -> str:
    from metamem.models.config import EMBED, load_config

    try:
        names = load_config().roles.get(EMBED, ())
    except MetamemError:  # told by the finding about models
        names = ()
    return names[0] if names else DEFAULT_EMBEDDER


def _designs() -> Finding:
    from metamem.designs.library import names

    return Finding("human designs", "ok", ", ".join(names()))

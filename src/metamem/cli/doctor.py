"""metamem doctor: what this machine has, what is missing, and what to do about it."""

import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import typer
from rich.text import Text

from metamem import __version__
from metamem.cli import options as o
from metamem.cli.parts import first_sentence
from metamem.cli.screen import out, print_json
from metamem.core import registry
from metamem.core.errors import MetamemError

State = Literal["ok", "note", "missing"]
SCARCE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `missing`: without it nothing can be learned."""

    what: str
    state: State
    found: str
    advice: str = ""


def doctor(home: o.Home = None, json: o.Json = False) -> None:
    """Look at this machine: what works, what is missing, what to do about it.

    Ends with 1 where learning is impossible.
    """
    from metamem.api import home_folder

    folder = home_folder(home).absolute()
    while not folder.exists():
        folder = folder.parent
    findings = [
        Finding("metamem", "ok", __version__),
        Finding("Python", "ok", f"{platform.python_version()} at {sys.executable}"),
        Finding("system", "ok", f"{platform.system()} {platform.release()} {platform.machine()}"),
        Finding("cores", "ok", str(len(os.sched_getaffinity(0)))),
        _disk(shutil.disk_usage(folder).free, str(folder)),
        *_jail(),
        _guarded("embedder", _embedder),
        *_models(),
        *(_domain(name) for name in registry.names("domains")),
        *(_loadable("agents", name) for name in registry.names("agents")),
        _guarded("human designs", _designs),
    ]
    usable = all(finding.state != "missing" for finding in findings)
    if json:
        print_json({"usable": usable, "findings": findings})
    else:
        _show(findings, usable)
    if not usable:
        raise typer.Exit(1)


def _show(findings: list[Finding], usable: bool) -> None:
    marks = {"ok": ("ok  ", "green"), "note": ("note", "yellow"), "missing": ("MISS", "bold red")}
    console = out()
    for finding in findings:
        console.print(
            Text.assemble(marks[finding.state], f"  {finding.what}: ", (finding.found, "dim"))
        )
        if finding.advice:
            console.print(Text(f"      → {finding.advice}"))
    console.print()
    console.print(
        Text("Everything needed is here.", style="green")
        if usable
        else Text("Learning is impossible until what is missing is put right.", style="bold red")
    )


def _guarded(what: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except MetamemError as error:
        return Finding(what, "missing", error.message, error.hint)


def _disk(free: int, folder: str) -> Finding:
    found = f"{free / (1 << 30):.1f} GiB free at {folder}"
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


def _jail() -> list[Finding]:
    from metamem.sandbox.isolation import choose, describe, mechanisms

    def chosen() -> Finding:
        choose("auto")
        return Finding("jail", "ok", describe())

    parts = [Finding(f"jail: {r.name}", "ok" if r.active else "note", r.note) for r in mechanisms()]
    return [_guarded("jail", chosen), *parts]


def _embedder() -> Finding:
    from metamem.models import describe
    from metamem.models.config import EMBED, load_config
    from metamem.models.embedders import usable

    if chosen := load_config().roles.get(EMBED, ()):
        return Finding("embedder", "ok", usable(chosen[0]))
    words = describe()
    if "fallback" in words:
        return Finding(
            "embedder", "note", words, "install wordllama with its weights for a better one"
        )
    return Finding("embedder", "ok", words)


def _domain(name: str) -> Finding:
    try:
        about = registry.create("domains", name).describe()
        return Finding(f"domain {name}", "ok", first_sentence(about))
    except MetamemError as error:
        return Finding(f"domain {name}", "note", error.message, error.hint)


def _loadable(kind: str, name: str) -> Finding:
    what = f"{kind[:-1]} {name}"
    try:
        about = registry.factory(kind, name).__doc__ or ""
    except MetamemError as error:
        return Finding(what, "note", error.message, error.hint)
    return Finding(what, "ok", about.strip().split("\n")[0])


def _designs() -> Finding:
    from metamem.designs.library import names

    return Finding("human designs", "ok", ", ".join(names()))

"""metamem designs: those that come along, and designs from elsewhere brought into the archive."""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from metamem.cli import options as o
from metamem.cli.screen import print_json, print_table, say
from metamem.core.errors import DesignFailure, UsageError
from metamem.core.ids import short
from metamem.core.types import Design, Experience, Query, Step

app = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode="rich",
    help="The human designs: what to beat. Learned ones. And designs from elsewhere.",
)

IMPORT_EXAMPLES = """[bold]Examples[/bold]

metamem designs import my_memory.py

metamem designs import memo_structure_similarity.py --name alma-similarity [dim]# written for ALMA[/dim]
"""


@app.callback()
def default(context: typer.Context, json: o.Json = False) -> None:
    if context.invoked_subcommand is None:
        list_designs(json)


@app.command("list")
def list_designs(json: o.Json = False) -> None:
    """List the human designs, and the learned ones that come along."""
    from metamem.designs.docstrings import docstrings, first_paragraph
    from metamem.designs.library import learned_names, load, names

    found = [load(name) for name in (*names(), *learned_names())]
    rows = [
        {"name": d.name, "id": d.id, "about": first_paragraph(docstrings(d.source).get("", ""))}
        for d in found
    ]
    if json:
        print_json(rows)
    else:
        print_table(
            ("design", "id", "about"), [(r["name"], short(r["id"]), r["about"]) for r in rows]
        )


@app.command("show")
def show_design(
    name: Annotated[str, typer.Argument(autocompletion=o.complete_designs, show_default=False)],
) -> None:
    """Print the source of a design that comes along: a starting point for one of your own."""
    from metamem.designs.library import load

    sys.stdout.buffer.write(load(name).source.encode())


@app.command("import", epilog=IMPORT_EXAMPLES)
def import_design(
    file: Annotated[
        Path, typer.Argument(help="A Python file with one design.", show_default=False)
    ],
    name: Annotated[
        str, typer.Option(metavar="NAME", help="What to call it. Default: the file's name.")
    ] = "",
    home: o.Home = None,
    json: o.Json = False,
) -> None:
    """Try a design in the jail and put it into the archive.

    It may be written for metamem or for ALMA's own repository; the file stays as it is. The trial
    is two made-up episodes and two questions, with made-up replies where it asks a model.
    """
    from metamem.api import open_home
    from metamem.designs.library import load

    if not file.is_file():
        raise UsageError(f"there is no file {file}")
    loaded = load(file)
    design = Design(loaded.source, name=name or loaded.name)
    tried = asyncio.run(_tried(design))
    with open_home(home) as archive:
        new = archive.add_design(design, created_by="import")
        kept = archive.design(design.id)
    if json:
        told = {"asks_a_model": tried.asks_a_model, "remarks": tried.remarks}
        print_json({"id": design.id, "name": kept.name, "new": new} | told)
        return
    say(f"{design.id}  {kept.name}" + ("" if new else "  (was in the archive already)"))
    if tried.asks_a_model:
        say("It asks a language model: configure one for the role `memory` before it is played.")
    for remark in tried.remarks:
        say(remark)
    say(f"Evaluate it with: metamem evaluate {short(design.id)} --domain NAME")


@dataclass(frozen=True, slots=True)
class _Trial:
    asks_a_model: bool
    remarks: list[str]  # what is not as it should be, and does not keep the design from being used


async def _tried(design: Design) -> _Trial:
    """Run the design in the jail; a `DesignFailure` says at which point it failed, and how."""
    from metamem.core.protocols import CallSite
    from metamem.designs.jailed import Jail
    from metamem.models.hashed_embedder import HashedEmbedder

    remarks = []
    tools: dict[str, Any] = {
        "seed": 0,
        "embedder": HashedEmbedder(),
        "at": CallSite(model=_made_up),
    }
    async with Jail() as jail:
        doing = "load"
        try:
            memory, empty = await jail.open(design, **tools), await jail.open(design, **tools)
            doing = "learn from a made-up episode"
            for episode in _EPISODES:
                await memory.update(episode)
            doing = "advise"
            for query in _ASKED:
                await memory.retrieve(query)
        except DesignFailure as failure:
            raise DesignFailure(
                f"the design was not imported: it failed to {doing}: {failure.message}",
                kind=failure.kind,
                hint="docs/designs.md and docs/alma-designs.md say what a design may use",
            ) from failure
        try:
            await empty.retrieve(_ASKED[0])
        except DesignFailure as failure:
            remarks.append(f"It fails when asked before it has learned: {failure.message}")
        try:
            await memory.snapshot()
        except DesignFailure as failure:
            remarks.append(f"It is rebuilt by replay: {failure.message}")
        return _Trial(memory.model_calls + empty.model_calls > 0, remarks)


_VIEW = "You are in a hall. You see a chest 1 and a shelf 1."
_START = ("go to chest 1", "go to shelf 1", "look")
_THERE = ("take lamp 1 from chest 1", "go to shelf 1", "look")
_WON = Experience(
    "put a lamp on the shelf",
    _VIEW,
    _START,
    (
        Step("go to chest 1", "On the chest 1, you see a lamp 1.", _THERE),
        Step("take lamp 1 from chest 1", "You pick up the lamp 1.", _START),
        Step("put lamp 1 on shelf 1", "You put the lamp 1 on the shelf 1.", _START, 1.0, True),
    ),
    1.0,
)
_LOST = Experience(
    "put a book on the shelf", _VIEW, _START, (Step("look", _VIEW, _START, 0.0, True),), 0.0
)
_EPISODES = (_WON, _LOST)
_ASKED = (Query(_WON.goal, _VIEW, _START), Query("put a bowl in the chest", _VIEW, _START))


async def _made_up(prompt: str, schema: Mapping[str, Any] | None, system: str) -> Any:
    return "A made-up reply." if schema is None else _fitting(schema)


def _fitting(schema: Mapping[str, Any]) -> Any:
    """A small value that fits a plain JSON schema."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "object" if "properties" in schema else "string")
    first = kind[0] if isinstance(kind, list) else kind
    if first == "object":
        return {name: _fitting(field) for name, field in schema.get("properties", {}).items()}
    if first == "array":
        return [_fitting(schema["items"])] if isinstance(schema.get("items"), Mapping) else []
    plain: dict[str, Any] = {"number": 0.5, "integer": 1, "boolean": True, "null": None}
    return plain.get(first, "made up")

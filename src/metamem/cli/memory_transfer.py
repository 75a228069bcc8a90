"""metamem export, reindex, mcp: memory out, anew, and to agents."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, BinaryIO, cast

import typer

from metamem.cli.memory_options import HERE, There
from metamem.cli.screen import print_json, remark, say
from metamem.cli.spread import spread
from metamem.core import extras
from metamem.core.errors import UsageError
from metamem.service.defaults import whole

EXPORT_EXAMPLES = """[bold]Examples[/bold]

metamem export > memory.jsonl

metamem export --scope project/webshop --form markdown --to webshop.md
"""
MCP_EXAMPLES = """[bold]Example[/bold]

metamem mcp [dim]# as the command of an MCP server in an agent's settings[/dim]
"""

Exported = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        "-s",
        metavar="SCOPE",
        help="TENANT/KIND/NAME, KIND/NAME, or own; may be given several times."
        " Default: all that you may read",
    ),
]


@spread(without=["json"])
def export(
    scope: Exported = None,
    form: Annotated[
        str,
        typer.Option(
            metavar="FORM", help="jsonl (lossless; import reads it) or markdown (for people)."
        ),
    ] = "jsonl",
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: stdout")] = None,
    there: There = HERE,
) -> None:
    """Write out all that is kept in the scopes that you may read, or in some of them."""
    with there.open() as service, ExitStack() as stack:
        pieces = service.export([whole(name, service) for name in scope or []], form)
        out: BinaryIO = sys.stdout.buffer  # UTF-8 wherever it goes: it is read in again
        if to is not None:
            try:
                out = stack.enter_context(to.open("wb"))
            except OSError as error:
                raise UsageError(f"{to} cannot be written: {error.strerror}") from error
        count = 0
        for piece in pieces:
            out.write(piece.encode("utf-8", "backslashreplace"))
            count += piece.count("\n")
        out.flush()
    if to is not None:
        remark(f"{count} lines in {to}")


@spread()
def reindex(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="all, vectors or terms.")] = "all",
    there: There = HERE,
) -> None:
    """Make the indexes anew after a change of the embedder or of metamem. Recall goes on meanwhile."""
    from metamem.service.connecting import open_folder

    with open_folder(there.folder(), create=False) as service:
        done = service.reindex(cast(Any, what))
    if there.json:
        print_json(done)
    else:
        say(f"{done.embedded} vectors made; {done.waiting} facts wait for theirs")


@spread(without=["json"])
def mcp(there: There = HERE) -> None:
    """Serve memory as MCP tools on stdin and stdout, for the settings of an agent.

    Its tools are recall, remember, forget, feedback, briefing and why. Unless they are told
    otherwise they use the project of the folder where the agent starts it, and your own scope.
    """
    extras.load("mcp")
    from metamem.web.mcp_stdio import serve

    with there.open(begins=True) as service:
        serve(service)

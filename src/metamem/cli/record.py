"""metamem record: a recorder between any MCP client and its server."""

from pathlib import Path
from typing import Annotated

import typer

from metamem.cli.memory_options import HERE, ScopeName, There
from metamem.cli.screen import remark
from metamem.cli.spread import spread
from metamem.core.errors import UsageError

KEEP_SECONDS = 2.0  # at the end, for what is not kept yet; it goes on by itself
EXAMPLES = """[bold]Examples[/bold]

metamem record -- npx -y @modelcontextprotocol/server-filesystem /home/ada/shop

metamem record --scope team/shop -- python my_server.py
"""


@spread(without=["json"])
def record(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND...", help="What starts the server, after two dashes."),
    ] = None,
    scope: ScopeName = "",
    there: There = HERE,
) -> None:
    """Run an MCP server, and keep what its tools are asked and what they answer.

    To be put in the place of the server's command in the settings of any MCP client that speaks over
    stdin and stdout. Every byte passes as it is, also when nothing can be kept. Secrets are taken out.
    """
    if not command:
        raise UsageError("record what?", hint="metamem record -- COMMAND ARGUMENTS...")
    from metamem.service.recording.piping import Watcher, carried
    from metamem.service.recording.recorder import Recorder

    where = {
        "where": there.url or (str(there.memory.absolute()) if there.memory else ""),
        "key": there.key,
        "scope": scope,
        "folder": str(Path.cwd()),
    }
    recorder = Recorder(where)
    watcher = Watcher(recorder.seen, recorder.missed)
    code = carried(command, watcher)
    if watcher.end() and recorder.end(KEEP_SECONDS) is False:
        remark("metamem record: not all calls were kept; is the memory there? metamem status")
    if recorder.read_already:
        remark(
            f"metamem record: nothing was kept: sessions of {recorder.read_already} are read from its"
            " own transcripts, and no call counts twice"
        )
    raise typer.Exit(code)

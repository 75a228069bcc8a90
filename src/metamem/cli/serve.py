"""metamem serve: the memory service for others, until it is told to stop."""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metamem.cli import memory_options as m
from metamem.cli import options as o
from metamem.cli.parts import allowance
from metamem.cli.screen import print_json, tell
from metamem.core import extras
from metamem.core.errors import UsageError
from metamem.models.config import role_flags
from metamem.service.home import memory_folder

if TYPE_CHECKING:  # loaded when the command needs it
    from metamem.web.server import Place

EXAMPLES = """[bold]Examples[/bold]

metamem serve [dim]# on 127.0.0.1, port 7348, for whoever has an API key[/dim]

metamem serve --port 0 --socket /run/user/1000/metamem.sock

metamem serve --design success_retrieval --scope local/project/shop

metamem serve --design observational --scope local/project/shop --model memory=openai:gpt-5-nano --max-money 5

metamem serve --enrich --model memory=openai:gpt-5-nano --max-money 5

metamem keys make --label laptop [dim]# a key for clients[/dim]
"""


def serve(
    memory: m.Memory = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Where to listen. Beyond this machine only once there is a key."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="0 takes a free one.")
    ] = 7348,
    socket: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Also a unix socket, which needs no key: yours alone."),
    ] = None,
    design: Annotated[
        str,
        typer.Option(
            metavar="ID", help="A design to serve: an id, a name or a file. With --scope."
        ),
    ] = "",
    scope: Annotated[
        str, typer.Option(metavar="SCOPE", help="Whose memory --design is: TENANT/KIND/NAME.")
    ] = "",
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder of the archive whose designs in use are served."
            " Default: METAMEM_HOME or ./metamem-home, if there is one",
        ),
    ] = None,
    enrich: Annotated[
        bool,
        typer.Option(
            "--enrich",
            help="Let the model of the role memory draw facts from conversations, beside all else."
            " Needs a model, and --max-tokens or --max-money.",
        ),
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[memory=]NAME",
            help="The model that served designs ask, and enrichment with --enrich. Without it designs"
            " are given none. Needs --max-tokens or --max-money.",
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="The most tokens for this memory: designs and enrichment together, over all days.",
        ),
    ] = None,
    max_money: Annotated[
        float | None,
        typer.Option(metavar="USD", min=0, help="The most dollars, counted in the same way."),
    ] = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Serve memory over REST and MCP, with health and metrics, from one process.

    Vectors are made in the background. Designs that the archive has in use for scopes are served,
    too: agents ask them for advice, and tell them what they lived through. With --model, designs that
    ask a model are answered. SIGTERM or Ctrl-C ends it: requests under way are finished.
    """
    extras.load("serve")
    from metamem.service.metered import PaidModel
    from metamem.web.server import Offer
    from metamem.web.server import serve as run

    offer, asked = Offer(archive, design, scope), bool(model or max_tokens or max_money)
    if asked and not (enrich or offer.is_any):
        raise UsageError(
            "nothing here would ask a model: no design is served, and nothing is enriched",
            hint="say --design ID and --scope SCOPE, or --archive DIR, or --enrich",
        )
    paid = None
    if asked or enrich:
        paid = PaidModel.of(role_flags(model or []), allowance(max_tokens, max_money))

    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING if quiet else logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
    )
    for name in ("mcp", "uvicorn", "httpx2"):  # they would log what was said
        logging.getLogger(name).setLevel(logging.CRITICAL)

    def ready(place: "Place") -> None:
        if json:
            print_json(place)
            return
        tell(f"memory: {memory_folder(memory)}")
        tell(f"REST:   {place.url}/v1 (described at {place.url}/openapi.json)")
        tell(f"MCP:    {place.url}/mcp")
        if place.socket:
            tell(f"socket: {place.socket}")
        if paid is not None and offer.is_any:
            tell(f"designs that ask a model ask {paid.name}")
        if paid is not None and enrich:
            tell(f"facts are drawn from conversations by {paid.name}")
        sys.stdout.flush()

    run(
        memory_folder(memory),
        host=host,
        port=port,
        socket_path=socket.absolute() if socket else None,
        offer=offer,
        model=paid,
        enrich=enrich,
        ready=ready,
    )

"""metamem tool and tools: what was made of what agents repeat, used and looked at from the shell."""

import json as json_
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metamem.cli import memory_options as m
from metamem.cli.memory_options import HERE, There, when
from metamem.cli.screen import print_json, print_table, remark, say, tell
from metamem.cli.site import site_here
from metamem.cli.spread import spread
from metamem.cli.typed_text import stdin_text
from metamem.core.blocking import finished
from metamem.core.errors import UnknownName, UsageError
from metamem.core.ids import short

if TYPE_CHECKING:  # loaded when a command needs it
    from metamem.foundry.tools.site import Site
    from metamem.foundry.tools.store import Kept
    from metamem.foundry.tools.watch import Watched

TOOL_EXAMPLES = """[bold]Examples[/bold]

metamem tool release_version --json '{"version": "1.4.0", "change": "new colours"}'

metamem tool release_version --version 1.4.0 --change "new colours" [dim]# the same[/dim]

metamem tool release_version --help [dim]# what has to be given[/dim]
"""

HELP = {"--help", "-h"}

app = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode="rich",
    help="Tools that were made of what agents repeat in this project.",
)


def tool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which tool.", show_default=False)],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OPTIONS]...", help="What it takes: --json VALUES, or an option each."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--in", metavar="DIR", help="Where. Default: this folder")
    ] = None,
    memory: m.Memory = None,
) -> None:
    """Use a tool that was deployed for the project of this folder.

    It runs in the jail and can change the files of this git tree alone. Its exit code is passed on. What
    stands after NAME is the tool's own.
    """
    from metamem.foundry.tools.skills import usage
    from metamem.foundry.tools.toolbox import Toolbox
    from metamem.service.connecting import open_folder
    from metamem.service.defaults import Defaults

    here = (folder or Path.cwd()).absolute()
    values, words = _values(words or [])
    with open_folder(There(memory).folder()) as service, closing(Toolbox(service.service)) as box:
        caller = service.caller
        offered = box.find(caller, Defaults(service, here).read(), name)
        if HELP & set(words):
            tell(usage(offered.deployed.kept))
            return
        ran = finished(box.run(caller, offered, here, values, words))
    if ran.output:
        tell(ran.output)
    remark(ran.line, whole=True)
    if ran.exit_code:
        raise typer.Exit(ran.exit_code)


@app.callback()
@spread()
def default(context: typer.Context, scope: m.ScopeName = "", there: There = HERE) -> None:
    if context.invoked_subcommand is None:
        _list(scope, there)


@app.command("list")
@spread()
def list_tools(scope: m.ScopeName = "", there: There = HERE) -> None:
    """List the tools of this project: those in use, how they do, and those that are not."""
    _list(scope, there)


def _list(scope: str, there: There) -> None:
    from metamem.foundry.tools import deployments, store
    from metamem.foundry.tools.watch import watched

    with site_here(scope, there) as site:
        if site is None:
            _nothing(there)
            return
        with site.database.reading() as execute:
            in_use = [
                watched(execute, site.number, d) for d in deployments.deployed(execute, site.number)
            ]
            ended = {
                each.kept.id: watched(execute, site.number, each)
                for each in deployments.ended(execute, site.number)
            }
            used = {each.deployed.kept.id for each in in_use}
            others = [t for t in store.tools(execute, site.number) if t.id not in used]
    if there.json:
        print_json(
            {
                "in_use": [_plain(each) for each in in_use],
                "others": [
                    (_plain(ended[t.id]) if t.id in ended else {}) | _about(t) for t in others
                ],
            }
        )
        return
    _show(in_use, others, ended) if in_use or others else _nothing(there)


def _nothing(there: There) -> None:
    if there.json:
        print_json({"in_use": [], "others": []})
    else:
        say("There is no tool here yet: they are made of what is done again and again.")


@app.command(epilog="[bold]Example[/bold]\n\nmetamem tools show 3f9ac2d1 | less\n")
@spread()
def show(
    wanted: Annotated[
        str, typer.Argument(metavar="ID", help="Its name, its id, or the start of that.")
    ],
    whole: Annotated[
        bool, typer.Option("--all", help="The whole program, with the helpers of all tools.")
    ] = False,
    scope: m.ScopeName = "",
    there: There = HERE,
) -> None:
    """Show a tool: what it is for, how it was judged, and its steps as they are run."""
    from metamem.foundry.tools import store
    from metamem.foundry.tools.template import steps_of

    with site_here(scope, there) as site:
        found = _one(site, wanted) if site is not None else None
        if site is None or found is None:
            raise UnknownName(f"there is no tool {wanted!r} here", hint="metamem tools lists them")
        with site.database.reading() as execute:
            replays = store.replays(execute, site.number, found.id)
    known = [each.equal for each in replays if each.equal is not None]
    about = _about(found) | {
        "replays": len(known), "equal": sum(known), "not_replayable": len(replays) - len(known),
        "lower_bound": found.lower,
    }  # fmt: skip
    if there.json:
        print_json(about | {"schema": found.tool.schema(), "program": found.tool.program})
        return
    for name, value in _about(found).items():
        tell(f"{name.replace('_', ' ')}: {value}")
    tell(_judged(known, len(replays) - len(known), found.lower))
    say("")
    program = found.tool.program
    own = steps_of(program)
    if whole or not own:
        tell(program)
        return
    tell(own)
    left = len(program.splitlines()) - len(own.splitlines())
    say(f"\n{left} lines of helpers that all tools have in common are left out: --all shows them.")


def _judged(known: list[bool], others: int, lower: float) -> str:
    if not known:
        return "judged by: no replay"
    more = f"; {others} could not be replayed" if others else ""
    return f"judged by: {sum(known)} of {len(known)} held-out cases with equal effects, at least {lower:.1%} of all, at 1%{more}"


def _one(site: "Site", wanted: str) -> "Kept | None":
    from metamem.foundry.tools import store

    with site.database.reading() as execute:
        known = [
            *store.tools(execute, site.number),
            *store.tools(execute, site.number, archived=True),
        ]
    found = [t for t in known if t.id.startswith(wanted) or t.name == wanted]
    if len({t.id for t in found}) > 1 and not any(t.name == wanted for t in found):
        raise UsageError(f"several ids begin with {wanted!r}", hint="say more of it")
    return found[0] if found else None


def _values(words: list[str]) -> tuple[dict[str, Any] | None, list[str]]:
    """Values that are given as one JSON object; all else is the program's own to read."""
    if len(words) != 2 or words[0] != "--json":
        return None, words
    said = stdin_text() if words[1] == "-" else words[1]
    try:
        values = json_.loads(said)
    except ValueError as error:
        raise UsageError(f"the values are no JSON: {error}") from None
    if not isinstance(values, dict):
        raise UsageError("the values must be one JSON object")
    return values, []


def _show(in_use: "list[Watched]", others: "list[Kept]", ended: "Mapping[str, Watched]") -> None:
    rows = [
        _row(each, f"in use since {when(each.deployed.deployment.at)[:10]}", each.deployed.kept)
        for each in in_use
    ]
    for kept in others:
        was = ended.get(kept.id)
        why = f": {was.deployed.deployment.why}" if was is not None else ""
        rows.append(_row(was, f"{kept.state}{why}", kept))
    columns = (
        "tool",
        "id",
        "state",
        "uses",
        "by hand",
        "worked",
        "calls saved",
        "tokens saved - spent",
    )
    print_table(columns, rows, numeric=("uses", "by hand", "calls saved"))
    for each in in_use:
        if each.warning:
            say(f"{each.deployed.name}: {each.warning}")


def _row(each: "Watched | None", state: str, kept: "Kept") -> tuple[str, ...]:
    if each is None:
        return (kept.name, short(kept.id), state, "", "", "", "", "")
    account, fitness = each.account, each.fitness
    share = f"{fitness.share.value:.0%} ({fitness.share.low:.0%} to {fitness.share.high:.0%})"
    return (
        kept.name,
        short(kept.id),
        state,
        str(account.uses),
        str(account.by_hand),
        share if fitness.counted else "",
        f"{account.calls.value:+.0f}",
        f"{account.net.value:+.0f} ({account.net.low:+.0f} to {account.net.high:+.0f})",
    )


def _about(kept: "Kept") -> dict[str, Any]:
    return {
        "name": kept.name,
        "id": kept.id,
        "state": kept.state,
        "description": kept.tool.description,
        "writer": kept.tool.writer,
        "workflow": kept.kept_as,
        "made_at": when(kept.made_at),
    }


def _plain(each: "Watched") -> dict[str, Any]:
    account = asdict(each.account) | {"net": asdict(each.account.net), "pays_after": each.account.pays_after}  # fmt: skip
    deployment = asdict(each.deployed.deployment)
    return _about(each.deployed.kept) | {
        "deployment": deployment, "fitness": asdict(each.fitness), "account": account,
        "warning": each.warning,
    }  # fmt: skip

"""metamem advise, experience and served: the designs that serve scopes, from the command line."""

import asyncio
import json as json_
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from metamem.cli import memory_options as m
from metamem.cli import options as o
from metamem.cli.screen import print_json, print_table, remark, say
from metamem.cli.spread import spread
from metamem.cli.typed_text import stdin_text
from metamem.core.errors import UsageError
from metamem.core.ids import short
from metamem.core.texts import read_text
from metamem.core.types import Query
from metamem.service.administers import Connected
from metamem.service.connecting import LocalMemories
from metamem.service.defaults import whole
from metamem.service.designs.requests import read_experience
from metamem.service.designs.starting import served_designs
from metamem.service.designs.threads import FromThreads
from metamem.service.designs.words import Against, Arm, Comparison
from metamem.service.service import MemoryService

ADVISE_EXAMPLES = """[bold]Examples[/bold]

metamem advise "mend billing" --scope local/project/shop

metamem advise "mend billing" --scope local/project/shop --session today --json
"""
EXPERIENCE_EXAMPLES = """[bold]Examples[/bold]

metamem experience episode.json --scope local/project/shop --moment m0190...

echo '{"goal": "mend billing", "steps": [["restart it", "runs", [], 1, true]], "reward": 1}' |
metamem experience - --scope local/project/shop
"""

Place = Annotated[
    str,
    typer.Option("--scope", metavar="S", help="Whose memory: TENANT/KIND/NAME, KIND/NAME, or own."),
]
Named = Annotated[
    str, typer.Option("--design", metavar="ID", help="In the place of the one that is in use.")
]


@dataclass(frozen=True, slots=True)
class Serving:
    """Where designs are served: by a server, or here, out of a memory and an archive."""

    memory: Annotated[
        Path | None,
        typer.Option(
            "--memory",
            metavar="DIR",
            help="The memory's folder. Default: METAMEM_MEMORY, or ~/.local/share/metamem",
        ),
    ] = None
    home: o.Home = None
    url: m.Url = ""
    key: m.ApiKey = ""
    json: o.Json = False

    def run(self, scope: str, work: Callable[[Connected, str], None], design: str = "") -> None:
        """Do something for a scope with a server, or with designs that are opened in this process."""
        there = m.There(self.memory, self.url, self.key)
        if there.is_remote:
            if design:
                raise UsageError(
                    "a server has its own designs", hint="leave --design out, or give --memory"
                )
            with there.open() as memories:
                work(memories, whole(scope, memories))
            return
        asyncio.run(self._run_here(there, scope, work, design))

    async def _run_here(
        self,
        there: m.There,
        scope: str,
        work: Callable[[Connected, str], None],
        design: str,
    ) -> None:
        service = MemoryService(there.folder())
        try:
            place = whole(scope, LocalMemories(service, service.local_caller))
            where = place if design else ""
            async with served_designs(service, self.home, design=design, scope=where) as served:
                designs = FromThreads(served)
                mine = LocalMemories(service, service.local_caller, designs=designs)
                await asyncio.to_thread(work, mine, place)
        finally:
            service.close()


HERE = Serving()


@spread()
def advise(
    goal: Annotated[str, typer.Argument(help="What is to be done.", show_default=False)],
    scope: Place,
    observation: Annotated[str, typer.Option(help="What is seen now.")] = "",
    session: Annotated[str, typer.Option(help="The conversation that asks.")] = "",
    design: Named = "",
    there: Serving = HERE,
) -> None:
    """Ask the design that serves a scope for advice. What came of it, tell with: metamem experience"""

    def ask(memories: Connected, place: str) -> None:
        found = memories.advise(place, Query(goal, observation), session=session)
        if there.json:
            print_json(asdict(found))
            return
        if found.text:
            say(found.text)
        if found.note or found.held_back:
            remark(found.note or "This session is held back, to compare.")
        remark(f"The moment: {found.moment}")

    there.run(scope, ask, design)


@spread()
def experience(
    file: Annotated[str, typer.Argument(help="JSON of one experience; - is stdin.")],
    scope: Place,
    moment: Annotated[str, typer.Option(help="The advice that it came of.")] = "",
    useful: Annotated[list[str] | None, typer.Option(help="A fact that was of use.")] = None,
    there: Serving = HERE,
) -> None:
    """Tell what an agent lived through: the design that serves the scope learns from it."""
    text = stdin_text() if file == "-" else read_text(Path(file))
    try:
        lived = read_experience(json_.loads(text))
    except ValueError as error:
        raise UsageError(f"{file} cannot be read: {error}") from None

    def tell(memories: Connected, place: str) -> None:
        found = memories.experience(place, lived, moment=moment, useful=useful or ())
        if there.json:
            print_json(asdict(found))
            return
        secrets = f", without {', '.join(found.redacted)}" if found.redacted else ""
        say(f"kept as number {found.position} of {place}{secrets}")
        if found.note:
            remark(found.note)

    there.run(scope, tell)


app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="Designs that serve scopes, live."
)
Of = Annotated[str, typer.Argument(metavar="SCOPE", show_default=False)]


@app.command()
@spread()
def show(scope: Of, there: Serving = HERE) -> None:
    """Show how a scope's live comparison stands, and how much came back at all."""

    def look(memories: Connected, place: str) -> None:
        found = memories.standing(place)
        if there.json:
            print_json({**asdict(found.comparison), "back": asdict(found.back)})
            return
        say(f"{found.back.moments} moments, {found.back.outcomes} with an outcome")
        if found.back.warning:
            remark(f"warning: {found.back.warning}")
        _show(found.comparison)

    there.run(scope, look)


@app.command()
@spread()
def compare(
    scope: Of,
    design: Annotated[str, typer.Argument(help="Its id, or the start of it.")],
    share: Annotated[float, typer.Option(help="Of the sessions, how many are held back.")] = 0.5,
    former: Annotated[
        bool, typer.Option("--former", help="Those get the design in use, not nothing.")
    ] = False,
    there: Serving = HERE,
) -> None:
    """Begin a live comparison: a share of sessions is held back from a design."""

    def begin(memories: Connected, place: str) -> None:
        against: Against = "former" if former else "nothing"
        trial = memories.compare(place, design, share=share, against=against)
        if there.json:
            print_json(trial)
        else:
            say(f"{short(trial.design)} is compared in {place}: {trial.share:.0%} are held back")

    there.run(scope, begin)


@app.command()
@spread()
def end(scope: Of, there: Serving = HERE) -> None:
    """End a scope's live comparison: nobody is held back any more."""

    def stop(memories: Connected, place: str) -> None:
        done = memories.end_comparison(place)
        if there.json:
            print_json({"ended": done})
        else:
            say(f"ended in {place}" if done else f"there was none in {place}")

    there.run(scope, stop)


def _show(found: Comparison) -> None:
    if not found.trial.id:
        say("no live comparison: metamem served compare SCOPE DESIGN begins one")
        return
    rows = [_row("with advice", found.given), _row("held back", found.held_back)]
    print_table(("side", "sessions", "with an outcome", "mean", "95 %"), rows)
    if found.difference is not None and found.interval is not None:
        say(
            f"difference {found.difference:+.3f} ({found.interval[0]:+.3f} to"
            f" {found.interval[1]:+.3f}); {found.detectable:.3f} could be seen"
        )
    say(found.verdict)
    for note in found.notes:
        remark(f"note: {note}")


def _row(name: str, arm: Arm) -> tuple[str, ...]:
    between = f"{arm.interval[0]:.3f} to {arm.interval[1]:.3f}" if arm.interval else ""
    return (name, str(arm.asked), str(arm.sessions), f"{arm.mean:.3f}", between)

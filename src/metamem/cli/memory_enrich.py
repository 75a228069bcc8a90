"""metamem enrich: one bounded pass of a model over conversations, by hand."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from metamem.cli import memory_options as m
from metamem.cli import options as o
from metamem.cli.memory_options import HERE, There
from metamem.cli.parts import allowance
from metamem.cli.screen import print_json, remark, say
from metamem.cli.spread import spread
from metamem.core.access import Scope
from metamem.models.config import role_flags

EXAMPLES = """[bold]Examples[/bold]

metamem enrich --look [dim]# what waits, and what was spent so far; asks no model[/dim]

metamem enrich --model memory=openai:gpt-5-nano --max-money 2

metamem enrich --scope project/webshop --questions 5 --model memory=local:MODEL.gguf --max-tokens 200000
"""


@spread()
def enrich(
    scope: m.ScopeNames = None,
    questions: Annotated[
        int, typer.Option(metavar="N", min=1, help="How often the model is asked, at most.")
    ] = 20,
    look: Annotated[bool, typer.Option("--look", help="Only tell how it stands.")] = False,
    model: o.Model = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="The most tokens, of all that this memory asks."),
    ] = None,
    max_money: Annotated[
        float | None,
        typer.Option(metavar="USD", min=0, help="The most dollars, of all that this memory asks."),
    ] = None,
    there: There = HERE,
) -> None:
    """Let a model draw facts from conversations that nobody looked at yet: one pass, then it stops.

    The limit holds over all passes and days, what metamem serve asks for designs and facts included.
    """
    from metamem.service.enriching import Pass, enriching
    from metamem.service.enriching_state import state
    from metamem.service.metered import PaidModel
    from metamem.service.service import MemoryService

    folder = there.folder()
    settings = None
    if not look:
        settings = PaidModel.of(role_flags(model or []), allowance(max_tokens, max_money))
    service = MemoryService(folder, create=False)
    try:
        wanted = _wanted(service, scope)
        before = state(service.database, wanted)
        done = Pass()

        async def one_pass() -> Pass:
            assert settings is not None
            async with enriching(service, settings) as job:
                return await job.once(questions, wanted)

        if settings is not None and before.waiting:
            done = asyncio.run(one_pass())
        after = state(service.database, wanted)
    finally:
        service.close()
    tokens = after.spent.tokens - before.spent.tokens
    money = after.spent.money - before.spent.money
    if there.json:
        cost = {"tokens": tokens, "money": money}
        standing = {**asdict(after), "warning": after.warning}
        print_json({"pass": asdict(done), "cost": cost, "standing": standing})
        return
    if settings is not None:
        say(
            f"{done.turns} turns read with {done.asked} questions: {done.stored} facts stored,"
            f" {done.left_out} left out; {tokens:,} tokens, ${money:.4f}"
        )
        for note in done.notes:
            remark(note)
    _say_standing(after)


def _wanted(service: Any, names: list[str] | None) -> frozenset[Scope] | None:
    from metamem.service.connecting import LocalMemories
    from metamem.service.defaults import Defaults

    if not names:
        return None
    mine = LocalMemories(service, service.local_caller)
    return frozenset(Scope.parse(name) for name in Defaults(mine, Path.cwd()).read(names))


def _say_standing(found: Any) -> None:
    paid = found.spent
    unknown = f", of {paid.unpriced} the price is not known" if paid.unpriced else ""
    say(
        f"{found.waiting} turns wait in {len(found.scopes)} scopes; so far {paid.questions}"
        f" questions, {found.stored} facts, {paid.tokens:,} tokens, ${paid.money:.4f}{unknown}"
    )
    if found.warning:
        remark(f"warning: {found.warning}")

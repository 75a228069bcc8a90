"""metamem models: which models play which role, whether one answers, and what was spent."""

import asyncio
import time
from dataclasses import asdict
from typing import Annotated, Any

import typer

from metamem.cli import options as o
from metamem.cli.parts import existing_archive
from metamem.cli.screen import print_json, print_table, say
from metamem.core.chat import ROLES, Question, Turn, Usage
from metamem.core.errors import MetamemError, ModelFault
from metamem.core.ids import short

EXAMPLES = """[bold]Examples[/bold]

metamem models test openai:gpt-5-nano/low

metamem models test openai:NAME@http://127.0.0.1:8000/v1 [dim]# any server of that format[/dim]

metamem models test local:PATH.gguf

metamem models test --embed openai:text-embedding-3-small

metamem models spent --by design
"""
ABOUT = {
    "agent": "acts, with --agent llm",
    "memory": "answers designs that ask a model",
    "meta": "writes designs, with --proposer llm; several make an ensemble",
    "embed": "turns texts into vectors",
}
HELLO = "Reply with the single word: ready"

app = typer.Typer(
    help="Which models play which role, whether one answers, and what was spent.",
    epilog=EXAMPLES,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def models(context: typer.Context, json: o.Json = False) -> None:
    """The models by role, as flags, environment and config file have them."""
    if context.invoked_subcommand is not None:
        return
    from metamem.models import describe
    from metamem.models.config import FILE, load_config
    from metamem.models.embedders import options

    config = load_config()
    rows = []
    for role, about in ABOUT.items():
        names = list(config.roles.get(role, ()))
        shown = " + ".join(names) or (describe() if role == "embed" else "none")
        rows.append({"role": role, "model": shown, "about": about, "state": _state(role, names)})
    if json:
        print_json(rows)
        return
    print_table(("role", "model", "what it does", ""), [list(_cells(row)) for row in rows])
    say("")
    print_table(("provider", "such as", "what it has"), _providers())
    say("")
    say(f"Set them with --model ROLE=NAME, METAMEM_MODEL_ROLE, or {FILE} ([models]).")
    say(f"The role embed takes one of: {options()}.")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return row["role"], row["model"], row["about"], row["state"]


def _providers() -> list[list[str]]:
    """Who has models; one that cannot be loaded says why."""
    from metamem.core import registry
    from metamem.models.provider import KIND, provider_of

    rows = []
    for name in registry.names(KIND):
        try:
            found = provider_of(name)
            rows.append([name, f"{name}:{found.example}", found.about])
        except MetamemError as error:
            rows.append([name, "", error.message])
    return rows


def _state(role: str, names: list[str]) -> str:
    """Whether the models could be opened; nothing is sent."""
    from metamem.models.config import load_config
    from metamem.models.embedders import usable

    for name in names:
        try:
            load_config().open(name) if role in ROLES else usable(name)
        except MetamemError as error:
            return f"{error.message}: {error.hint}" if error.hint else error.message
    return "ready" if names else ""


@app.command()
def test(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="Such as openai:gpt-5-nano/low.")],
    embed: Annotated[bool, typer.Option("--embed", help="An embedder: embed a text.")] = False,
    json: o.Json = False,
) -> None:
    """Ask a model one short question: does it answer, how fast, and what does it cost?"""
    from metamem.models.base import Completion, Fault
    from metamem.models.config import load_config

    if embed:
        _test_embedder(name, json)
        return
    model = load_config().open(name)

    async def ask() -> Completion:
        try:
            async with asyncio.timeout(model.seconds):
                return await model.complete(Question((Turn("user", HELLO),), max_tokens=2048))
        except TimeoutError as error:
            raise ModelFault(f"{model.name} did not answer in {model.seconds:g} s") from error
        except Fault as fault:
            raise ModelFault(f"{model.name}: {fault.message}") from fault
        finally:
            await model.close()

    begun = time.perf_counter()
    answer = asyncio.run(ask())
    seconds = time.perf_counter() - begun
    money = model.price(answer.usage)
    found = {
        "model": model.name,
        "reply": answer.text.strip(),
        "seconds": round(seconds, 3),
        "usage": asdict(answer.usage),
        "money": money,
    }
    if json:
        print_json(found)
        return
    say(f"{model.name} answered in {seconds:.2f} s: {answer.text.strip()[:200]}")
    say(_usage_words(answer.usage, money))


def _test_embedder(name: str, json: bool) -> None:
    from metamem.models.embedders import try_out

    begun = time.perf_counter()
    dimensions, usage, money = asyncio.run(try_out(name, HELLO))
    seconds = time.perf_counter() - begun
    if json:
        found = {"model": name, "dimensions": dimensions, "seconds": round(seconds, 3)}
        print_json({**found, "usage": asdict(usage), "money": money})
        return
    say(f"{name} gave a vector of {dimensions} numbers in {seconds:.2f} s")
    say(_usage_words(usage, money))


@app.command()
def spent(
    run: Annotated[str, typer.Option(metavar="NAME", help="Only this run.")] = "",
    by: Annotated[
        str, typer.Option(metavar="WHAT", help="role (default), run, design or task.")
    ] = "role",
    home: o.Home = None,
    json: o.Json = False,
) -> None:
    """What models were asked and what that cost, with what failed and what is uncertain."""
    from metamem.core.errors import UsageError

    columns = {
        "role": (),
        "run": ("run_id",),
        "design": ("run_id", "design_id"),
        "task": ("run_id", "design_id", "task_id"),
    }
    if by not in columns:
        raise UsageError(f"spending is shown by role, run, design or task, not by {by!r}")
    with existing_archive(home) as archive:
        rows = archive.spending(run or None, by_task=by == "task")
    totals: dict[tuple[str, ...], Any] = {}
    for row in rows:
        key = (*(getattr(row, name) for name in columns[by]), row.role, row.model)
        totals[key] = totals[key] + row if key in totals else row
    if json:
        print_json([asdict(row) for row in totals.values()])
        return
    if not totals:
        say("No model was asked yet.")
        return
    head = (*(n.removesuffix("_id") for n in columns[by]), "role", "model")
    table = [
        [
            *(
                short(part) if name == "design" else part
                for name, part in zip(head, key, strict=True)
            ),
            f"{row.attempts:,}",
            f"{row.usage.input:,}",
            f"{row.usage.cached:,}",
            f"{row.usage.output:,}",
            f"{row.usage.reasoning:,}",
            f"${row.money:,.4f}" + (" +?" if row.unpriced else ""),
            _faults(row),
        ]
        for key, row in totals.items()
    ]
    counts = ("calls", "input", "cached", "output", "thoughts", "cost", "faults")
    print_table((*head, *counts), table)


def _faults(row: Any) -> str:
    kinds = {"failed": row.failed, "maybe billed": row.uncertain, "cut off": row.in_flight}
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)


def _usage_words(usage: Usage, money: float | None) -> str:
    price = "price unknown" if money is None else f"${money:.6f}"
    return f"{usage.input} tokens in ({usage.cached} cached), {usage.output} out, {price}"

"""metamem curve and metamem transfer: designs with growing memory, and with other agents."""

from pathlib import Path
from typing import Annotated

import typer

from metamem.cli import options as o
from metamem.cli.conditions import USUAL, Conditions
from metamem.cli.evaluate import Designs
from metamem.cli.progress import watcher
from metamem.cli.screen import out, print_json, print_table, say
from metamem.cli.spread import spread
from metamem.core.errors import UsageError
from metamem.core.figures import Scale, chance
from metamem.runs.swept import Curve, Transfer
from metamem.runs.table import TableRow

CURVE_EXAMPLES = """[bold]Examples[/bold]

metamem curve no_memory success_retrieval --domain toy --sizes 0,5,10,20,40

metamem curve 3f9ac2d1 object_places --domain alfworld --plot curve.svg
"""
TRANSFER_EXAMPLES = """[bold]Examples[/bold]

metamem transfer 3f9ac2d1 object_places --domain alfworld --agents reader,explorer

metamem transfer 3f9ac2d1 --domain alfworld --parity alma
  --agents llm=openai:gpt-5-nano/low,llm=openai:gpt-5-mini/medium
"""


@spread(without=["collect", "tasks"])  # sizes say it
def curve(
    designs: Designs,
    domain: o.Domain,
    sizes: Annotated[
        str,
        typer.Option(
            metavar="N,N,...",
            help="From how many tasks memory learns. Default: 0,5,10,20,40, as far as there are",
        ),
    ] = "",
    split: o.Split = "test",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw the curves, too.")
    ] = None,
    played: Conditions = USUAL,
    json: o.Json = False,
) -> None:
    """Evaluate designs with more and more memory.

    Each size holds the tasks of the smaller ones, and all sizes play the same tasks with the same
    luck. Gains are over the smallest size, paired by task.
    """
    settings = played.settings(domain)
    from metamem.sweeps import curve as play

    with watcher(played.quiet) as progress:
        found = play(designs, domain, _numbers(sizes), split, progress=progress, **settings)
    if plot is not None:
        _draw(found, plot)
    if json:
        print_json(found.to_json())
    else:
        _show_curve(found)
        if plot is not None:
            say(f"The plot: {plot}")


@spread(without=["agent", "agent_setting", "tasks"])  # there are several
def transfer(
    designs: Designs,
    domain: o.Domain,
    agents: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="Who acts, one after the other; NAME=MODEL for an agent with a model of its own.",
        ),
    ],
    split: o.Split = "test",
    played: Conditions = USUAL,
    json: o.Json = False,
) -> None:
    """Evaluate designs with several agents: does a design that helps one help another?

    Gains are over no memory with the same agent, paired by task. Every agent collects its own
    experiences.
    """
    settings = played.settings(domain)
    from metamem.sweeps import transfer as play

    acting = [name.strip() for name in agents.split(",") if name.strip()]
    with watcher(played.quiet) as progress:
        found = play(designs, domain, acting, split, progress=progress, **settings)
    if json:
        print_json(found.to_json())
    else:
        _show_transfer(found)


def _numbers(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",") if word.strip()]
    except ValueError as error:
        raise UsageError(f"sizes are numbers with commas, not {text!r}") from error


def _draw(found: Curve, path: Path) -> None:
    from metamem.report.plots.curve import curve_plot

    try:
        path.write_text(str(curve_plot(found)), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the plot cannot be written to {path}: {error.strerror}") from error


def _show_curve(found: Curve) -> None:
    first = found.sizes[0]
    say(
        f"{found.domain}, {found.split}: {found.tasks} tasks, agent {found.agent};"
        f" gains over {first} collected tasks, p-values Holm-corrected over all lines"
    )
    gain = f"gain over {first}"
    rows = [
        (line.name, str(size), *_figures(point, found.scale))
        for line in found.rows
        for size, point in line.points.items()
    ]
    reward = found.scale.heading
    columns = ("design", "collected", reward, "95 % interval", gain, "its 95 %", "p (Holm)")
    print_table(columns, rows, numeric=columns[1:])


def _show_transfer(found: Transfer) -> None:
    """Agents across where they fit, else one below the other."""
    scale, agents = found.scale, found.agents
    what = "success in per cent" if scale.shares else "the reward"
    say(
        f"{found.domain}, {found.split}: {found.tasks} tasks; under each agent {what},"
        " the gain over no memory with its 95 % interval, and p, Holm-corrected over all"
    )
    rows = [
        (line.name, *(_cell(line.cells[agent], scale) for agent in agents)) for line in found.rows
    ]
    widths = [max(map(len, column)) for column in zip(("design", *agents), *rows, strict=True)]
    if sum(widths) + len(widths) <= out().width:
        print_table(("design", *agents), rows)
        return
    columns = ("design", scale.heading, "95 % interval", "gain", "its 95 %", "p (Holm)")
    for agent in agents:
        say("")
        say(f"agent {agent}")
        lines = [(line.name, *_figures(line.cells[agent], scale)) for line in found.rows]
        print_table(columns, lines, numeric=columns[1:])


def _figures(cell: TableRow, scale: Scale) -> tuple[str, ...]:
    compared = cell.comparison
    shown = (scale.value(cell.mean), scale.span(cell.low, cell.high))
    if compared is None:
        return (*shown, "", "", "")
    gain = scale.gain(compared.gain)
    return (*shown, gain, scale.gain_span(compared.low, compared.high), chance(compared.p_holm))


def _cell(cell: TableRow, scale: Scale) -> str:
    """Short, for many agents side by side. A gain's interval is symmetric: its half width says it."""
    mean, _, gain, _, p = _figures(cell, scale)
    if cell.comparison is None:
        return f"{mean:>5}"
    half = scale.value((cell.comparison.high - cell.comparison.low) / 2)
    return f"{mean:>5} {gain:>6} ±{half:<4} p {p}"

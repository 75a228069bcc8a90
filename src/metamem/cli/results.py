"""The tables that evaluations end in, for screens of any width."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from metamem.cli.screen import out
from metamem.core.figures import SHARES, Scale, amount, chance
from metamem.runs.table import ANSWERS, LEARNED, TableRow, advised, largest_costs

WIDE, MEDIUM = 108, 76  # columns


def print_results(title: str, rows: Sequence[TableRow], scale: Scale = SHARES) -> None:
    """One line a design. Gains, where there are any, are the learned design's over that row."""
    console = out()
    console.print(Text(title, style="bold"))
    gains = any(row.comparison is not None for row in rows)
    if console.width >= WIDE or (console.width >= MEDIUM and not gains):
        shown = _wide(rows, scale, gains)
    elif console.width >= MEDIUM:
        shown = _medium(rows, scale)
    else:
        shown = None
    if shown is None or (largest_costs(rows) and not _fits(console, shown)):
        _narrow(console, rows, scale)
    else:
        console.print(shown)


def _fits(console: Console, table: Table) -> bool:
    boundless = console.options.update(max_width=100_000)
    return console.measure(table, options=boundless).maximum <= console.width


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in columns:
        table.add_column(name, justify="left" if name == "design" else "right", no_wrap=True)
    return table


def _style(row: TableRow) -> str:
    return {LEARNED: "bold green", **dict.fromkeys(ANSWERS, "dim")}.get(row.name, "")


def _spent(row: TableRow, rows: Sequence[TableRow]) -> list[str]:
    """What a row cost: its advice where any row was advised, then whatever the domain counts."""
    cells = [f"{row.tokens:.0f}", f"{row.retrieve_ms:.1f}"] if advised(rows) else []
    return cells + [
        amount(row.costs[name], largest) if name in row.costs else ""
        for name, largest in largest_costs(rows).items()
    ]


def _wide(rows: Sequence[TableRow], scale: Scale, gains: bool) -> Table:
    headings = ("learned's gain", "95 % interval", "p (Holm)") if gains else ()
    costs = [*(("tokens", "ms/retrieve") if advised(rows) else ()), *largest_costs(rows)]
    table = _table("design", scale.heading, "95 % interval", *headings, *costs)
    for row in rows:
        cells = [row.name, scale.value(row.mean), scale.span(row.low, row.high)]
        if gains:
            found = row.comparison
            cells += (
                [
                    scale.gain(found.gain),
                    scale.gain_span(found.low, found.high),
                    chance(found.p_holm),
                ]
                if found
                else ["", "", ""]
            )
        table.add_row(*map(Text, (*cells, *_spent(row, rows))), style=_style(row))
    return table


def _medium(rows: Sequence[TableRow], scale: Scale) -> Table:
    """Intervals as half widths: they are symmetric, save where a reward cannot leave its range."""
    costs = [*(("tokens", "ms") if advised(rows) else ()), *largest_costs(rows)]
    table = _table("design", scale.heading, "learned's gain", "p (Holm)", *costs)
    for row in rows:
        found = row.comparison
        gain, p = "", ""
        if found:
            half = scale.value((found.high - found.low) / 2)
            gain, p = f"{scale.gain(found.gain)} ±{half}", chance(found.p_holm)
        reward = f"{scale.value(row.mean)} ±{scale.value((row.high - row.low) / 2)}"
        cells = (row.name, reward, gain, p, *_spent(row, rows))
        table.add_row(*map(Text, cells), style=_style(row))
    return table


def _narrow(console: Console, rows: Sequence[TableRow], scale: Scale) -> None:
    for row in rows:
        reward = f"{scale.value(row.mean)}{scale.unit} ({scale.span(row.low, row.high)})"
        console.print(Text(f"{row.name}", style=_style(row) or "bold"))
        console.print(Text(f"  {reward}"))
        found = row.comparison
        if found:
            gain = f"{scale.gain(found.gain)} ({scale.gain_span(found.low, found.high)})"
            console.print(Text(f"  gain {gain}"))
            console.print(Text(f"  p {chance(found.p_holm)}"))
        spent = _spent_in_words(row, rows)
        if spent:
            console.print(Text(f"  {spent}", style="dim"))


def _spent_in_words(row: TableRow, rows: Sequence[TableRow]) -> str:
    said = [f"{row.tokens:.0f} tokens", f"{row.retrieve_ms:.1f} ms"] if advised(rows) else []
    largest = largest_costs(rows)
    costs = [f"{name} {amount(cost, largest[name])}" for name, cost in row.costs.items()]
    return ", ".join([*said, *costs])

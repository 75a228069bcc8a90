"""The tables that evaluations end in, for screens of any width."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from metamem.cli.screen import out
from metamem.web.figures import chance, gain_span, percent, points, span

WIDE, MEDIUM = 108, 76  # columns
Row = Mapping[str, Any]


def print_results(title: str, rows: Sequence[Row]) -> None:
    """One line a design. Gains, where there are any, are the learned design's over that row."""
    console = out()
    console.print(Text(title, style="bold"))
    gains = any("comparison" in row for row in rows)
    if console.width >= WIDE or (console.width >= MEDIUM and not gains):
        _wide(console, rows, gains)
    elif console.width >= MEDIUM:
        _medium(console, rows)
    else:
        _narrow(console, rows)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in columns:
        table.add_column(name, justify="left" if name == "design" else "right", no_wrap=True)
    return table


def _style(row: Row) -> str:
    return {"learned": "bold green", "oracle": "dim"}.get(row["name"], "")


def _costs(row: Row) -> tuple[str, str]:
    return f"{row['tokens']:.0f}", f"{row['retrieve_ms']:.1f}"


def _wide(console: Console, rows: Sequence[Row], gains: bool) -> None:
    headings = ("learned's gain", "95 % interval", "p (Holm)") if gains else ()
    table = _table("design", "success %", "95 % interval", *headings, "tokens", "ms/retrieve")
    for row in rows:
        cells = [row["name"], percent(row["mean"]), span(row["low"], row["high"])]
        if gains:
            found = row.get("comparison")
            cells += (
                [
                    points(found["gain"]),
                    gain_span(found["low"], found["high"]),
                    chance(found["p_holm"]),
                ]
                if found
                else ["", "", ""]
            )
        table.add_row(*map(Text, (*cells, *_costs(row))), style=_style(row))
    console.print(table)


def _medium(console: Console, rows: Sequence[Row]) -> None:
    """Intervals as half widths: they are symmetric, save where a share cannot leave 0 to 100."""
    table = _table("design", "success %", "learned's gain", "p (Holm)", "tokens", "ms")
    for row in rows:
        found = row.get("comparison")
        gain, p = "", ""
        if found:
            half = percent((found["high"] - found["low"]) / 2)
            gain, p = f"{points(found['gain'])} ±{half}", chance(found["p_holm"])
        success = f"{percent(row['mean'])} ±{percent((row['high'] - row['low']) / 2)}"
        table.add_row(*map(Text, (row["name"], success, gain, p, *_costs(row))), style=_style(row))
    console.print(table)


def _narrow(console: Console, rows: Sequence[Row]) -> None:
    for row in rows:
        success = f"{percent(row['mean'])} % ({span(row['low'], row['high'])})"
        console.print(Text(f"{row['name']}", style=_style(row) or "bold"))
        console.print(Text(f"  {success}"))
        found = row.get("comparison")
        if found:
            gain = f"{points(found['gain'])} ({gain_span(found['low'], found['high'])})"
            console.print(Text(f"  gain {gain}"))
            console.print(Text(f"  p {chance(found['p_holm'])}"))
        tokens, milliseconds = _costs(row)
        console.print(Text(f"  {tokens} tokens, {milliseconds} ms", style="dim"))

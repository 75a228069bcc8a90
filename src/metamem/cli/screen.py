"""Where words for people go. Results go to stdout, everything else to stderr."""

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from metamem.core.controls import spelled_out

# Letters of a line in a table's last column, and in another that has several words.
LAST, WORDS = 30, 24
_BETWEEN = 2  # spaces between two columns
PIPE_WIDTH = 120  # where nobody says how wide the reader's screen is


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # `main` ends the program quietly


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    known = stream.isatty() or "COLUMNS" in os.environ
    return _Console(
        stderr=stderr, highlight=False, soft_wrap=False, width=None if known else PIPE_WIDTH
    )


def out() -> Console:
    return _console(stderr=False)


def err() -> Console:
    return _console(stderr=True)


def visible(text: str, style: str = "") -> Text:
    """Text from anywhere, made harmless: no markup, nothing that a terminal would obey."""
    return Text(spelled_out(text), style=style)


def say(text: str) -> None:
    """A sentence on stdout, as it is: no markup, wrapped at the screen's width."""
    out().print(visible(text))


def tell(text: str) -> None:
    """A line on stdout that is never wrapped: whoever takes a path or a command from it finds it
    whole."""
    out().print(visible(text), soft_wrap=True)


def remark(text: str, *, whole: bool = False) -> None:
    """A sentence on stderr, where it is in nobody's way. `whole`: never wrapped, since programs read it."""
    err().print(visible(text), soft_wrap=whole)


def refuse(message: str, hint: str = "") -> None:
    """Why it did not work: one line, and what to do about it on the next. Both may quote what was typed."""
    from metamem.core.secrets import redact  # only here: most commands refuse nothing

    message, hint = redact(message).text, redact(hint).text
    console = err()
    console.print(Text.assemble(("error: ", "bold red"), visible(message)), soft_wrap=True)
    if hint:
        console.print(visible(f"  {hint}"), soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON document. What is not a number there is null here: JSON has no word for it."""
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    # What UTF-8 cannot hold is written as the escape that JSON has for it.
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, numeric: Sequence[str] = ()
) -> None:
    """A table, or, where it would not fit, a short list a row: names and values in two columns."""
    console = out()
    cells = [[visible(cell) for cell in row] for row in rows]
    if _needed(columns, cells) <= console.width:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in columns:
            side: Literal["left", "right"] = "right" if name in numeric else "left"
            table.add_column(name, justify=side, overflow="fold", no_wrap=name in numeric)
        for row in cells:
            table.add_row(*row)
        console.print(table)
        return
    for row in cells:
        console.print(Text(row[0].plain, style="bold"))
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1))
        table.add_column(no_wrap=True, style="dim")
        table.add_column(overflow="fold")
        for name, cell in zip(columns[1:], row[1:], strict=True):
            if cell:
                table.add_row(f"  {name}", cell)
        console.print(table)


def _needed(columns: Sequence[str], cells: Sequence[Sequence[Text]]) -> int:
    """The width of a table in which prose may wrap: the last column, and any other that has long lines
    with spaces in them. What is one word, such as an id, is never broken there."""
    widths = [max(len(name), *(row[n].cell_len for row in cells)) for n, name in enumerate(columns)]
    for n, width in enumerate(widths):
        if n == len(columns) - 1:
            widths[n] = min(width, LAST)
        elif any(" " in row[n].plain for row in cells if row[n].cell_len > WORDS):
            widths[n] = min(width, WORDS)
    return sum(widths) + _BETWEEN * (len(columns) - 1)

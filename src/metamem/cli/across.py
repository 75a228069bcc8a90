"""The table of metamem compare --across: designs down, domains across."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metamem.cli.parts import executor, existing_archive
from metamem.cli.progress import watcher
from metamem.cli.screen import print_json, print_table, say
from metamem.web.figures import chance, percent, points


def show_across(
    domains: str, split: str, workers: int | None, home: Path | None, json: bool, quiet: bool
) -> None:
    """`domains` is a list with commas; none: all that something was learned for."""
    from metamem.api import across

    existing_archive(home).close()  # looking at what was learned must not make an empty one
    wanted = [name.strip() for name in domains.split(",") if name.strip()]
    with watcher(quiet) as progress:
        found = across(wanted, split, home=home, executor=executor(workers), progress=progress)
    if json:
        print_json(found)
        return
    names = [domain["name"] for domain in found["domains"]]
    say(f"Success in per cent on {split}, each domain under its own run's conditions; * wins there")
    print_table(
        ("design", *names), [_line(found, row, names) for row in found["rows"]], numeric=names
    )
    for domain in found["domains"]:
        home_win: Mapping[str, Any] | None = domain["home"]
        if home_win:
            say(
                f"{domain['name']}: its own learned design against the best from elsewhere"
                f" ({home_win['against']}): {points(home_win['gain'])} points,"
                f" p {chance(home_win['p'])}"
                + ("" if domain["promoted"] else "; the gate did not promote it")
            )


def _line(found: Mapping[str, Any], row: Mapping[str, Any], names: list[str]) -> tuple[str, ...]:
    winners = {domain["name"]: domain["winner"] for domain in found["domains"]}
    cells = [
        f"{percent(row['cells'][name]['mean'])}{'*' if winners[name] == row['name'] else ' '}"
        if name in row["cells"]
        else ""
        for name in names
    ]
    return (row["name"], *cells)

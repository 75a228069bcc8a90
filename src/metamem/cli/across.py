"""The table of metamem compare --across: designs down, domains across."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from metamem.cli.conditions import Conditions
from metamem.cli.parts import allowance, executor, existing_archive
from metamem.cli.progress import watcher
from metamem.cli.screen import print_json, print_table, say
from metamem.core.errors import UsageError
from metamem.web.figures import chance, percent, points

APPLY = ("max_tokens", "max_money", "workers", "home", "quiet")  # whatever the conditions


def show_across(domains: str, split: str, played: Conditions, json: bool) -> None:
    """`domains` is a list with commas; none: all that something was learned for."""
    from metamem.api import across

    _refuse_conditions(played)
    existing_archive(played.home).close()  # looking at what was learned must not make an empty one
    wanted = [name.strip() for name in domains.split(",") if name.strip()]
    with watcher(played.quiet) as progress:
        found = across(
            wanted,
            split,
            home=played.home,
            executor=executor(played.workers),
            progress=progress,
            allowance=allowance(played.max_tokens, played.max_money),
        )
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
        for why in dict.fromkeys(domain["missing"].values()):
            names = [name for name, reason in domain["missing"].items() if reason == why]
            say(f"{domain['name']} lacks {', '.join(names)}: {why}")


def _refuse_conditions(played: Conditions) -> None:
    for field in fields(played):
        if field.name not in APPLY and getattr(played, field.name) != field.default:
            raise UsageError(
                f"--across takes no --{field.name.replace('_', '-')}",
                hint="each domain is played under its own run's conditions, with its models",
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

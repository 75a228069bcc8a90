"""The table of metamem compare --across: designs down, domains across."""

from dataclasses import fields

from metamem.cli.conditions import Conditions
from metamem.cli.parts import allowance, executor, existing_archive
from metamem.cli.progress import watcher
from metamem.cli.screen import print_json, print_table, say
from metamem.core.errors import UsageError
from metamem.core.figures import chance
from metamem.runs.crosstable import CrossRow, CrossTable

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
        print_json(found.to_json())
        return
    names = [domain.name for domain in found.domains]
    what = "Success in per cent" if all(d.scale.shares for d in found.domains) else "Rewards"
    say(f"{what} on {split}, each domain under its own run's conditions; * wins there")
    print_table(("design", *names), [_line(found, row) for row in found.rows], numeric=names)
    for domain in found.domains:
        if (home := domain.home) is not None:
            say(
                f"{domain.name}: its own learned design against the best from elsewhere"
                f" ({home.against}): {domain.scale.gain(home.gain)}{domain.scale.unit_of_gains},"
                f" p {chance(home.p)}"
                + ("" if domain.promoted else "; the gate did not promote it")
            )
        for why in dict.fromkeys(domain.missing.values()):
            names = [name for name, reason in domain.missing.items() if reason == why]
            say(f"{domain.name} lacks {', '.join(names)}: {why}")


def _refuse_conditions(played: Conditions) -> None:
    for field in fields(played):
        if field.name not in APPLY and getattr(played, field.name) != field.default:
            raise UsageError(
                f"--across takes no --{field.name.replace('_', '-')}",
                hint="each domain is played under its own run's conditions, with its models",
            )


def _line(found: CrossTable, row: CrossRow) -> tuple[str, ...]:
    cells = [
        f"{domain.scale.value(row.cells[domain.name].mean)}"
        f"{'*' if domain.winner == row.name else ' '}"
        if domain.name in row.cells
        else ""
        for domain in found.domains
    ]
    return (row.name, *cells)

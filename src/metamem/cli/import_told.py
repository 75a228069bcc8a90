"""What an import says: what it would read, before anybody is asked, and what came of it."""

from collections.abc import Sequence
from typing import Any

from metamem.cli.import_found import Found, some
from metamem.cli.memory_options import when
from metamem.cli.screen import print_table, remark, say
from metamem.core.amounts import many
from metamem.service.importing.items import Brought
from metamem.service.importing.plan import Imported, Plan


def about(plan: Plan) -> dict[str, Any]:
    """What would be read, for programs."""
    return {
        "source": plan.host,
        "sessions": plan.sessions,
        "projects": [
            {
                "folder": project.folder,
                "sessions": project.sessions,
                "first": when(project.first),
                "last": when(project.last),
                "left_out": project.excluded or not project.folder,
            }
            for project in plan.projects
        ],
        "unreadable": plan.unreadable,
    }


def show_plan(plan: Plan) -> None:
    rows = [
        (
            plan.host,
            project.folder or "(not known)",
            str(project.sessions),
            when(project.first)[:10],
            when(project.last)[:10],
            "left out" if project.excluded or not project.folder else "",
        )
        for project in plan.projects
    ]
    if not rows:
        say(f"There are no sessions of {plan.host} here.")
    else:
        header = ("agent", "project", "sessions", "first", "last", "")
        print_table(header, rows, numeric=("sessions",))
    if plan.unreadable:
        remark(f"{many(plan.unreadable, 'file')} cannot be read")


def tell_read(host: str, done: Imported) -> None:
    say(
        f"{host}: {many(done.stored, 'line')} kept of {many(done.sessions, 'session')}; {done.known} were known,"
        f" {done.refused} refused, {done.rewound} taken back, {done.damaged} damaged."
        f" {many(done.calls, 'call')} of tools kept. {many(done.facts, 'fact')} made of them."
    )
    if done.erased:
        remark(f"{many(done.erased, 'line')} were erased from memory, and stay so")
    for why in done.failed[:20]:
        remark(f"not read: {why}")


def show_found(found: Sequence[Found]) -> None:
    """What would be read; users and damage where there are any."""
    heads, numeric = ["source", "pieces", "scope"], ["pieces"]
    columns = [[each.source for each in found], [str(len(each.pieces)) for each in found],
               [each.scope for each in found]]  # fmt: skip
    for head, counts in (
        ("damaged", [each.damaged for each in found]),
        ("users", [len([name for name in each.users if name]) for each in found]),
    ):
        if any(counts):
            heads.insert(2, head)
            numeric.append(head)
            columns.insert(2, [str(count) for count in counts])
    print_table(heads, list(zip(*columns, strict=True)), numeric=numeric)
    for each in found:
        names = [f"{name} ({count})" for name, count in each.users.items() if name]
        if len(each.users) > 1 and names:
            say(
                f"{each.source} has memories of {some(names)}. Each will say whose it is;"
                " --user NAME takes those of one."
            )


def tell_brought(done: Brought) -> None:
    known = f" {done.known} in memory already," if done.known else ""
    damaged = f", {done.damaged} damaged" if done.damaged else ""
    say(
        f"{done.source}: {done.new} new, {done.changed} changed, {done.same} as before,{known}"
        f" {done.gone} gone, {len(done.refused)} refused{damaged}"
    )
    for why in sorted(set(done.refused)):
        remark(f"refused: {why}")

"""metamem list, edit, forget, restore, history, erase: what is kept, seen and changed."""

import sys
from typing import Annotated

import typer

from metamem.cli import memory_options as m
from metamem.cli.memory_options import HERE, There, scopes_of, when
from metamem.cli.screen import print_json, print_table, say
from metamem.cli.spread import spread
from metamem.core.errors import UsageError
from metamem.service.defaults import whole
from metamem.service.typed_time import before, moment
from metamem.service.words import LIFECYCLES, Change, Fact, Lifecycle, Listing

LIST_EXAMPLES = """[bold]Examples[/bold]

metamem list --type decision

metamem list --since 2026-11-01 --until 2026-12-01

metamem list --everywhere --contains deploy --all
"""
EDIT_EXAMPLES = """[bold]Example[/bold]

metamem edit FACT --text "We deploy from main." --reason "since the move"
"""
ERASE_EXAMPLES = """[bold]Examples[/bold]

metamem erase project/webshop --reason "the project ended"

metamem erase team/payments --person Ada --reason "asked for by mail" --yes
"""


@spread()
def list_facts(
    scope: m.ScopeNames = None,
    everywhere: m.Everywhere = False,
    type: Annotated[
        list[str] | None,
        typer.Option(metavar="TYPE", help="Only such; may be given several times."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Forgotten, superseded and merged ones, too.")
    ] = False,
    entity: Annotated[str, typer.Option(metavar="NAME", help="What it must be about.")] = "",
    session: Annotated[str, typer.Option(metavar="ID", help="Of one conversation.")] = "",
    contains: Annotated[str, typer.Option(metavar="TEXT", help="What its text must hold.")] = "",
    since: m.Since = "",
    until: m.Until = "",
    after: Annotated[str, typer.Option(metavar="FACT", help="Where the last page ended.")] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="A page's size.")
    ] = 50,
    there: There = HERE,
) -> None:
    """List facts in the order of their coming, page by page."""
    with there.open() as service:
        page = service.browse(
            Listing(
                scopes_of(service, scope, everywhere),
                tuple(type or ()),
                LIFECYCLES if every else ("active",),
                entity,
                session,
                contains,
                after,
                limit,
                moment(since),
                before(until),
            )
        )
    if there.json:
        print_json(page)
        return
    if not page.facts:
        say("There are none.")
        return
    rows = [
        (fact.id, fact.type, _state(fact, every), when(fact.said_at)[:10], fact.said_by, fact.text)
        for fact in page.facts
    ]
    print_table(("fact", "type", "state", "said", "by", "text"), rows)
    if page.next:
        say(f"More with: --after {page.next}")


@spread()
def edit(
    fact: m.FactId,
    text: Annotated[str | None, typer.Option(help="What it says from now on.")] = None,
    type: Annotated[str | None, typer.Option(metavar="TYPE", help="What it is.")] = None,
    importance: Annotated[float | None, typer.Option(min=0, max=1, help="From 0 to 1.")] = None,
    pin: Annotated[
        bool | None, typer.Option("--pin/--unpin", help="Always part of a briefing, or not.")
    ] = None,
    reason: m.Reason = "",
    there: There = HERE,
) -> None:
    """Change a fact. What it was stays in its history."""
    if text is None and type is None and importance is None and pin is None:
        raise UsageError("what shall change?", hint="--text, --type, --importance, --pin, --unpin")
    with there.open() as service:
        _show(service.edit(fact, Change(text, type, importance, pin, reason)), there)


@spread()
def forget(fact: m.FactId, reason: m.Reason = "", there: There = HERE) -> None:
    """Take a fact out of recall. It can be restored."""
    with there.open() as service:
        _show(service.forget(fact, reason), there)


@spread()
def restore(fact: m.FactId, reason: m.Reason = "", there: There = HERE) -> None:
    """Bring a forgotten fact back."""
    with there.open() as service:
        _show(service.restore(fact, reason), there)


@spread()
def history(fact: m.FactId, there: There = HERE) -> None:
    """All versions of a fact, the one that holds now at the end."""
    with there.open() as service:
        found = service.history(fact)
    if there.json:
        print_json(found)
        return
    rows = [
        (str(v.version), when(v.at), v.changed_by, v.lifecycle, v.type, v.reason, v.text)
        for v in found
    ]
    print_table(("version", "at (UTC)", "by", "state", "type", "reason", "text"), rows)


@spread()
def erase(
    scope: Annotated[str, typer.Argument(metavar="SCOPE", help="Which scope.", show_default=False)],
    reason: Annotated[
        str, typer.Option(metavar="WHY", help="Whose request or which rule. It is kept.")
    ],
    person: Annotated[
        str, typer.Option(metavar="NAME", help="Only what this person said there.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    there: There = HERE,
) -> None:
    """Delete a scope's content everywhere and for good. There is no way back."""
    with there.open() as service:
        place = whole(scope, service)
        what = f"what {person} said in {place}" if person else f"all of {place}"
        if not yes and not _agreed(f"Erase {what} for good?"):
            raise UsageError("nothing was erased")
        stone = service.erase(place, reason, person)
    if there.json:
        print_json(stone)
        return
    say(f"Erased: {stone.what}.")
    rows = [(name, str(count)) for name, count in stone.counts.items() if count]
    if rows:
        print_table(("what", "how many"), rows, numeric=("how many",))


def _agreed(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        if sys.stdin.isatty():  # Ctrl-C; else nobody answered
            raise
        raise UsageError(
            "nothing was erased: there is nobody here to ask", hint="say --yes to go on"
        ) from None


def _state(fact: Fact, every: bool) -> str:
    marks: list[str | Lifecycle] = [fact.lifecycle] if every else []
    marks += ["pinned"] if fact.pinned else []
    marks += ["quoted only"] if fact.quarantined else []
    return ", ".join(marks)


def _show(fact: Fact, there: There) -> None:
    if there.json:
        print_json(fact)
    else:
        say(f"{fact.id} is {fact.lifecycle}, version {fact.version}: {fact.text}")

"""metamem promotions: who decided what is in use, and what waits for a person."""

import getpass
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from metamem.cli import bounds
from metamem.cli import options as o
from metamem.cli.asking import go_on
from metamem.cli.decided import (
    archives,
    carry_out,
    ledgers,
    of_routers,
    tell_routers,
    tool_names,
)
from metamem.cli.screen import print_json, print_table, remark, say
from metamem.core.errors import UnknownName, UsageError
from metamem.core.ids import short
from metamem.promotion.gate import GateReport
from metamem.promotion.ledger import MAY_BE_UNDONE, Ledger, by_gate
from metamem.promotion.under import AGREED, Under
from metamem.store.records import Place, PromotionRecord

SEVERAL = {
    "design": "designs",
    "parameters": "sets of parameters",
    "policy": "policies",
    "tool": "tools",
}

app = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode="rich",
    help="Decisions to put something into use: what waits for you, and their undo.",
)

Id = Annotated[
    str, typer.Argument(metavar="ID", help="Its id, or the start of it.", show_default=False)
]
Reason = Annotated[str, typer.Option(help="Why. It is recorded.", show_default=False)]
By = Annotated[str, typer.Option(metavar="NAME", help="Who decides. Default: you.")]
Where = Annotated[
    str,
    typer.Option(
        "--place",
        "--domain",
        metavar="PLACE",
        help="Where, if it is the same in several: a domain, or scope:NAME.",
    ),
]


@app.callback()
def default(context: typer.Context, home: o.Home = None, json: o.Json = False) -> None:
    if context.invoked_subcommand is None:
        list_promotions(home, json)


@app.command("list")
def list_promotions(home: o.Home = None, json: o.Json = False) -> None:
    """List every decision, oldest first; → marks what is in use, ? what waits for a person."""
    with archives(home) as several:
        found = [entry for archive in several for entry in archive.promotions()]
        in_use = [entry for archive in several for entry in Ledger(archive).in_use()]
        pending = [entry for archive in several for entry in Ledger(archive).pending()]
    if json:
        print_json([{**_plain(p), "in_use": p in in_use, "pending": p in pending} for p in found])
        return
    if not found:
        say("No decision yet: every finished run takes one.")
        return
    _print([(p, " →" if p in in_use else " ?" if p in pending else "") for p in found])
    for line in _gate_told([p for p in found if by_gate(p)]):
        say(line)
    if pending:
        say(f"{len(pending)} waiting for a person: metamem promotions pending")


@app.command()
def pending(home: o.Home = None, json: o.Json = False) -> None:
    """List what passed the gate and waits for a person."""
    with ledgers(home, needed=home is not None) as several:
        found = [entry for ledger in several for entry in ledger.pending()]
    if json:
        print_json([_plain(p) for p in found])
        return
    if not found:
        say("Nothing waits for a person.")
        return
    _print([(p, "") for p in found])
    if any(p.subject.kind == "tool" for p in found):
        say("Read a tool before you decide: metamem tools show ID")
    say("Put into use with: metamem promotions approve ID")
    say("Or turn down with: metamem promotions reject ID --reason WHY")


@app.command(epilog="[bold]Example[/bold]\n\nmetamem promotions approve 3f9ac2d1\n")
def approve(
    subject: Id,
    reason: Reason = "",
    by: By = "",
    place: Where = "",
    without_comparison: Annotated[
        str,
        typer.Option(metavar="WHY", help="For a scope: why its design needs no live comparison."),
    ] = "",
    settings_differ: Annotated[
        bool,
        typer.Option(
            "--settings-differ",
            help="You know that it was learned under settings that the domain does not have by itself.",
        ),
    ] = False,
    watched: Annotated[
        bool,
        typer.Option(
            "--watched",
            help="For settings of routers: they are taken back where their use proves that they hurt.",
        ),
    ] = False,
    home: o.Home = None,
) -> None:
    """Put into use what passed the gate and waits.

    A design for a scope also needs a live comparison there, or a reason to do without one. What was
    learned under other settings than the domain's own is asked about once more.
    """
    with ledgers(home) as several:
        ledger, found = _found(
            several, lambda each: each.pending(), subject, place, "waits for approval"
        )
        before = ledger.standing(found.subject, found.place).in_use
        evidence = {
            **_live(found, without_comparison),
            **_agreed(found, settings_differ),
            **_watched(found, watched),
        }
        who = by or getpass.getuser()
        ledger.approve(found.subject, found.place, by=who, reason=reason, evidence=evidence)
    instead = f", instead of {_short(before)}" if before else ""
    say(f"approved: {_short(found)} is in use in {found.place}{instead}")
    carry_out(found)
    tell_routers(found, home)


@app.command(
    epilog='[bold]Example[/bold]\n\nmetamem promotions reject 3f9ac2d1 --reason "reads too much"\n'
)
def reject(
    subject: Id, reason: Reason, by: By = "", place: Where = "", home: o.Home = None
) -> None:
    """Turn down what passed the gate and waits."""
    with ledgers(home) as several:
        ledger, found = _found(
            several, lambda each: each.pending(), subject, place, "waits for approval"
        )
        ledger.reject(found.subject, found.place, by=by or getpass.getuser(), reason=_given(reason))
    say(f"rejected: {_short(found)} in {found.place}")
    carry_out(found)


@app.command(
    epilog='[bold]Example[/bold]\n\nmetamem promotions undo 3f9ac2d1 --reason "slow in use"\n'
)
def undo(subject: Id, reason: Reason, by: By = "", place: Where = "", home: o.Home = None) -> None:
    """Take something out of use. What was in use before it is in use again."""
    with ledgers(home) as several:
        ledger, found = _found(several, _applied, subject, place, "is in use")
        ledger.undo(found.subject, found.place, by=by or getpass.getuser(), reason=_given(reason))
        now = ledger.standing(found.subject, found.place).in_use
    in_use = f"{_short(now)} is in use now" if now else "nothing is in use now"
    say(f"undone: {_short(found)} in {found.place}; {in_use}")
    carry_out(found)


app.command(
    epilog="[bold]Example[/bold]\n\n"
    "metamem promotions bounds routing --within floor=0.01..0.2 --within boldness=0..1\n"
)(bounds.bounds)


def _live(found: PromotionRecord, without: str) -> Mapping[str, Any]:
    """What the live comparison of a scope came to, for a design that waits there."""
    if found.place.kind != "scope" or found.subject.kind != "design":
        return {}
    if without.strip():
        return {"without_comparison": without.strip()}
    from metamem.service.designs.approving import live_evidence
    from metamem.service.home import memory_folder

    return live_evidence(memory_folder(), found.place)


def _watched(found: PromotionRecord, asked: bool) -> Mapping[str, Any]:
    """The word of a person that what watches it may take it back."""
    if not asked:
        return {}
    if found.subject.kind != "parameters" or not of_routers(found):
        raise UsageError(
            f"nothing watches {_short(found)} in {found.place}",
            hint="settings of routers alone are watched in use",
        )
    return {MAY_BE_UNDONE: True}


def _agreed(found: PromotionRecord, said: bool) -> Mapping[str, Any]:
    """The word of a person where it was learned under other settings than its place has."""
    under = Under.of(found.evidence)
    if not under.differs:
        return {}
    if not said and sys.stdin.isatty():
        remark(
            f"{_short(found)} was learned under settings that {found.place} does not have by itself:"
            f" {under.told}. What was proven there need not hold here."
        )
        go_on(f"Put it into use for all of {found.place}?")
        said = True
    return {AGREED: said}  # the ledger refuses where nobody said so


def _gate_told(decided: Sequence[PromotionRecord]) -> list[str]:
    """How often the gate acted, for each kind of subject: one says nothing about another."""
    by_kind: dict[str, list[bool]] = {}
    for entry in decided:
        by_kind.setdefault(entry.subject.kind, []).append(entry.decision == "promoted")
    told = []
    for kind, promoted in by_kind.items():
        report = GateReport(len(promoted), sum(promoted), SEVERAL[kind])
        told.append(report.warning or f"the gate {report}")
    return [f"{line[:1].upper()}{line[1:]}." for line in told or [GateReport(0, 0).warning]]


def _given(reason: str) -> str:
    if not reason.strip():
        raise UsageError("this needs a reason", hint='give --reason "..."')
    return reason.strip()


def _applied(ledger: Ledger) -> list[PromotionRecord]:
    return [entry for each in ledger.all_standing() for entry in each.applied]


def _found(
    several: Sequence[Ledger],
    entries: Callable[[Ledger], list[PromotionRecord]],
    prefix: str,
    where: str,
    what: str,
) -> tuple[Ledger, PromotionRecord]:
    """The one entry that is meant, and the ledger that it is in."""
    listed = [(entry, ledger) for ledger in several for entry in entries(ledger)]
    found = _one([entry for entry, _ in listed], prefix, where, what)
    return next(ledger for entry, ledger in listed if entry is found), found


def _one(entries: Sequence[PromotionRecord], prefix: str, where: str, what: str) -> PromotionRecord:
    """The one entry whose subject's id begins so, in that place if one is named."""
    found = [e for e in entries if prefix and e.subject.id.startswith(prefix.lower())]
    found = [e for e in found if not where or e.place == _place(where)]
    subjects = {e.subject for e in found}
    if not found:
        there = f" in {where}" if where else ""
        raise UnknownName(
            f"nothing that {what}{there} has an id that begins with {prefix!r}",
            hint="metamem promotions lists every decision; ? marks what waits, → what is in use",
        )
    if len(subjects) > 1:
        shown = ", ".join(sorted(short(subject.id) for subject in subjects))
        raise UsageError(f"several ids begin with {prefix!r}", hint=f"say more of it: {shown}")
    places = sorted({str(e.place) for e in found})
    if len(places) > 1:
        raise UsageError(
            f"{short(found[0].subject.id)} {what} in several places",
            hint=f"say which with --place: {', '.join(places)}",
        )
    return found[-1]


def _place(where: str) -> Place:
    scope, colon, name = where.partition(":")
    return Place("scope", name) if colon and scope == "scope" else Place("domain", where)


def _short(entry: PromotionRecord) -> str:
    return short(entry.subject.id)


def _print(entries: Sequence[tuple[PromotionRecord, str]]) -> None:
    called = tool_names([p for p, _ in entries])
    rows = [
        (
            _short(p) + mark,
            called.get(p.subject.id) or p.subject.name or p.subject.kind,
            str(p.place),
            p.decision,
            p.decided_by,
            p.at[:16].replace("T", " "),
            _why(p),
        )
        for p, mark in entries
    ]
    print_table(("id", "what", "where", "decision", "by", "at (UTC)", "reason"), rows)


def _why(entry: PromotionRecord) -> str:
    under = Under.of(entry.evidence)
    return f"learned under {under.told}: {entry.reason}" if under.differs else entry.reason


def _plain(promotion: PromotionRecord) -> dict[str, Any]:
    subject, place = promotion.subject, promotion.place
    return {
        "run": promotion.run_id,
        "subject": subject,
        "place": place,
        "design": (subject.id or None) if subject.kind == "design" else None,
        "domain": place.name if place.kind == "domain" else None,
        "decision": promotion.decision,
        "decided_by": promotion.decided_by,
        "risk": promotion.risk,
        "reason": promotion.reason,
        "at": promotion.at,
        "settings_differ": Under.of(promotion.evidence).differs,
        "evidence": promotion.evidence,
    }

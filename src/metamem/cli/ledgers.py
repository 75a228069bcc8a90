"""metamem promotions and metamem reads: who decided what, and who looked at what."""

import getpass
from typing import Annotated

import typer

from metamem.cli import options as o
from metamem.cli.parts import existing_archive
from metamem.cli.screen import print_json, print_table, say
from metamem.core.errors import UsageError
from metamem.core.ids import short
from metamem.promotion.gate import GateReport
from metamem.store.archive import Archive, PromotionRecord, utc_now

app = typer.Typer(
    invoke_without_command=True, help="Decisions to put a design into use, and their undo."
)


@app.callback()
def default(context: typer.Context, home: o.Home = None, json: o.Json = False) -> None:
    if context.invoked_subcommand is None:
        list_promotions(home, json)


@app.command("list")
def list_promotions(home: o.Home = None, json: o.Json = False) -> None:
    """List every decision, oldest first; → marks what is in use."""
    with existing_archive(home) as archive:
        found = archive.promotions()
        current = {p.domain: archive.current_promotion(p.domain) for p in found}
    if json:
        print_json([{**_plain(p), "in_use": p == current[p.domain]} for p in found])
        return
    if not found:
        say("No decision yet: every finished run takes one.")
        return
    rows = [
        (
            short(p.design_id or "") + (" →" if p == current[p.domain] else ""),
            p.domain,
            p.decision,
            p.decided_by,
            p.at[:16].replace("T", " "),
            p.reason,
        )
        for p in found
    ]
    print_table(("design", "domain", "decision", "by", "at (UTC)", "reason"), rows)
    decided = [p for p in found if p.decided_by == "gate"]
    report = GateReport(len(decided), sum(p.decision == "promoted" for p in decided))
    say(f"The gate {report}. {report.warning}".strip())


@app.command(
    epilog='[bold]Example[/bold]\n\nmetamem promotions undo 3f9ac2d1 --reason "slow in use"\n'
)
def undo(
    design: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why. It is recorded.", show_default=False)],
    by: Annotated[str, typer.Option(metavar="NAME", help="Who decides. Default: you.")] = "",
    domain: Annotated[
        str, typer.Option(metavar="NAME", help="Where, if it is in use in several domains.")
    ] = "",
    home: o.Home = None,
) -> None:
    """Take a design out of use. What was promoted before it is in use again."""
    if not reason.strip():
        raise UsageError("an undo needs a reason", hint='give --reason "..."')
    with existing_archive(home) as archive:
        design_id = archive.find(design)
        place = domain or _domain_of(archive, design_id)
        archive.add_promotion(
            PromotionRecord(
                run_id=None,
                design_id=design_id,
                decided_by=by or getpass.getuser(),
                decision="undone",
                reason=reason.strip(),
                evidence={},
                at=utc_now(),
                domain=place,
            )
        )
        now = archive.current_promotion(place)
    in_use = f"{short(now.design_id or '')} is in use again" if now else "nothing is in use now"
    say(f"undone: {short(design_id)} in {place}; {in_use}")


def reads(home: o.Home = None, json: o.Json = False) -> None:
    """List every look at test and shift: each one spends a little of their worth."""
    with existing_archive(home) as archive:
        found = archive.reads()
        names = {d.id: d.design.name for d in archive.designs()}
    if json:
        print_json(found)
        return
    if not found:
        say("Nobody has looked at test or shift yet.")
        return
    rows = [
        (
            r.at[:16].replace("T", " "),
            r.split,
            short(r.design_id),
            names.get(r.design_id, ""),
            r.run_id or "",
            r.purpose,
        )
        for r in found
    ]
    print_table(("at (UTC)", "split", "design", "name", "run", "purpose"), rows)


def _domain_of(archive: Archive, design_id: str) -> str:
    """The one domain in which a design stands promoted."""
    domains = sorted({p.domain for p in archive.promotions() if p.design_id == design_id})
    current = {d: archive.current_promotion(d) for d in domains}
    standing = [d for d, p in current.items() if p is not None and p.design_id == design_id]
    candidates = standing or domains
    if len(candidates) > 1:
        raise UsageError(
            f"{short(design_id)} is in use in several domains",
            hint=f"say which with --domain: {', '.join(candidates)}",
        )
    if not candidates:
        raise UsageError(
            f"{short(design_id)} was never promoted", hint="metamem promotions lists what was"
        )
    return candidates[0]


def _plain(promotion: PromotionRecord) -> dict[str, object]:
    return {
        "run": promotion.run_id,
        "design": promotion.design_id,
        "domain": promotion.domain,
        "decision": promotion.decision,
        "decided_by": promotion.decided_by,
        "reason": promotion.reason,
        "at": promotion.at,
        "evidence": promotion.evidence,
    }

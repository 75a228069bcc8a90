"""What came of judging a tool, entered in the store and in the ledger.

The ledger is never erased: evidence and reasons hold ids and figures, and no words of anybody's data.
"""

from collections.abc import Iterable
from typing import Any

from metamem.foundry.acts import What, note
from metamem.foundry.tools import store
from metamem.foundry.tools.cooling import enter_judgement, judgements
from metamem.foundry.tools.site import Site, subject_of
from metamem.foundry.tools.store import Measured
from metamem.foundry.tools.verdict import Verdict


def enter(
    site: Site,
    verdict: Verdict,
    cases: Iterable[Measured],
    *,
    at: int,
    known: int,
    within: str = ".",
    seconds: float = 0.0,
    tokens: int = 0,
    writer: str = "template",
) -> None:
    """Keep a verdict. A tool that passed waits for a person from now on. `known` is how many cases there
    were, `within` the folder of the tree in which the tool works; seconds and tokens are what writing and
    judging cost. That somebody was asked is kept once, until there is an answer."""
    tool = verdict.tool
    if tool is not None and verdict.decided in ("promoted", "refused"):
        with site.database.writing() as execute:
            kept = store.keep(
                execute, site.number, tool, verdict.workflow,
                state="waits" if verdict.decided == "promoted" else "refused",
                at=at, lower=verdict.lower, within=within, cases=cases, replays=verdict.replays,
            )  # fmt: skip
        about = subject_of(kept.slot, kept.id)
        decide = site.ledger.promote if verdict.decided == "promoted" else site.ledger.refuse
        decide(about, site.place, reason=reason(verdict), evidence=evidence(verdict))
    with site.database.writing() as execute:
        before = judgements(execute, site.number, verdict.workflow)
        if verdict.asked and before and before[-1].asked and before[-1].why == verdict.why:
            return
        # Last: whatever interrupted what is above, it is judged and entered again.
        enter_judgement(
            execute, site.number, verdict, at=at, known=known, seconds=seconds, tokens=tokens,
            writer=writer,
        )  # fmt: skip
        named = verdict.tool.id if verdict.tool is not None else verdict.workflow
        what: What = verdict.decided if verdict.decided in ("promoted", "refused") else "judged"
        note(execute, site.number, what, named, verdict.why, at)


def evidence(verdict: Verdict) -> dict[str, Any]:
    """What speaks for a tool: ids and figures."""
    known = [replay.equal for replay in verdict.replays if replay.equal is not None]
    return {
        "workflow": verdict.workflow,
        "writer": verdict.tool.writer if verdict.tool is not None else "",
        "replays": len(known),
        "equal": sum(known),
        "not replayable": len(verdict.replays) - len(known),
        "lower": round(verdict.lower, 4),
    }


def reason(verdict: Verdict) -> str:
    found = evidence(verdict)
    return (
        f"{found['equal']} of {found['replays']} held-out cases had equal effects;"
        f" the exact lower bound of their share is {verdict.lower:.3f}"
    )

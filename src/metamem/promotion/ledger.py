"""Decisions about what is in use: who took them, and what may follow on what.

Something is *promoted* where a rule of evidence holds for it. What is code, policy, wider sharing
or deletion then waits for a person, who *approves* or *rejects* it; parameters inside bounds that
a person approved go into use at once. What is in use can be *undone*, and what was in use before
it is in use again. Nothing is ever rewritten: what is in use follows from the decisions. And nothing
is ever erased: so evidence holds ids and figures, and no words of anybody's data.
"""

from collections.abc import Mapping
from typing import Any

from metamem.core.access import Scope
from metamem.core.errors import Conflict, UsageError
from metamem.promotion.contents import NO_CONTENTS, Contents, check_content
from metamem.promotion.standing import Standing, standing
from metamem.promotion.under import AGREED, Under
from metamem.store.facets import Promotions
from metamem.store.records import (
    Decision,
    Place,
    PromotionRecord,
    Risk,
    Subject,
    SubjectKind,
    utc_now,
)

AUTOMATON = "auto:"  # how the name of whatever decides and is no person begins
GATE = f"{AUTOMATON}gate"  # decides by a rule of evidence
REVERT = f"{AUTOMATON}bounds"  # takes parameters back that hurt
_OLD_NAMES = {"gate": GATE, "bounds": REVERT}  # in archives of before, and no names for people
RISKS_OF: Mapping[SubjectKind, tuple[Risk, ...]] = {  # the first where none is said
    "design": ("code",),
    "tool": ("code",),
    "policy": ("policy", "sharing", "deletion"),
    "parameters": ("parameters",),
}
# Whoever approves one approves it for as long as it works: what watches it may take it out of use.
WATCHED: tuple[SubjectKind, ...] = ("tool",)
MAY_BE_UNDONE = "may_be_undone"  # evidence of an approval: by what watches it, where it hurts
BETTER = "better"  # what a live comparison must have come to
NO_EVIDENCE: Mapping[str, Any] = {}
_TRIES = 20  # until a decision finds its place among those that others take at the same time


class Ledger:
    """The decisions of an archive."""

    def __init__(self, archive: Promotions, contents: Contents = NO_CONTENTS) -> None:
        """`contents` tells by kind of subject how to see that what is promoted is there."""
        self._archive, self._contents = archive, contents

    def promote(
        self,
        subject: Subject,
        place: Place,
        *,
        reason: str,
        evidence: Mapping[str, Any],
        risk: Risk | None = None,
        inside_bounds: bool = False,
        by: str = GATE,
        run_id: str | None = None,
    ) -> PromotionRecord:
        """Enter that the evidence is there. It is in use now, or waits for a person.

        What there is to risk follows from the kind of subject; a policy may say more about it.
        """
        risk = _risk(subject, risk)
        _check_place(place)
        check_content(subject, evidence, self._contents)
        waits = needs_person(risk, inside_bounds=inside_bounds)
        return self._enter(subject, place, "promoted", by, reason, evidence, run_id, risk, waits)

    def refuse(
        self,
        subject: Subject,
        place: Place,
        *,
        reason: str,
        evidence: Mapping[str, Any],
        risk: Risk | None = None,
        by: str = GATE,
        run_id: str | None = None,
    ) -> PromotionRecord:
        """Enter that the evidence is not there."""
        risk = _risk(subject, risk)
        _check_place(place)
        return self._enter(subject, place, "refused", by, reason, evidence, run_id, risk)

    def approve(
        self,
        subject: Subject,
        place: Place,
        *,
        by: str,
        reason: str = "",
        evidence: Mapping[str, Any] = NO_EVIDENCE,
    ) -> PromotionRecord:
        """Put what waits into use.

        What was judged by records of a scope alone needs more than that there: a design waits for a
        live comparison (`evidence["comparison"]`), or for somebody's word that it can do without
        one (`evidence["without_comparison"]`, which says why). What was learned under settings that its
        domain does not have by itself waits for the word of whoever knows that (`evidence[AGREED]`). With
        `evidence[MAY_BE_UNDONE]` what watches it may take it out of use where it hurts.
        """
        _check_compared(subject, place, evidence)
        return self._enter(subject, place, "approved", by, reason, evidence)

    def reject(self, subject: Subject, place: Place, *, by: str, reason: str) -> PromotionRecord:
        return self._enter(subject, place, "rejected", by, reason)

    def undo(
        self,
        subject: Subject,
        place: Place,
        *,
        by: str,
        reason: str,
        evidence: Mapping[str, Any] = NO_EVIDENCE,
    ) -> PromotionRecord:
        """Take something out of use. What was in use before it is in use again."""
        return self._enter(subject, place, "undone", by, reason, evidence)

    def history(self, subject: Subject, place: Place) -> list[PromotionRecord]:
        """The decisions about all versions of the subject in the place."""
        return self._archive.promotions(of=(subject, place))

    def standing(self, subject: Subject, place: Place) -> Standing:
        """How it stands with them now."""
        return standing(self.history(subject, place))

    def all_standing(self) -> list[Standing]:
        """Of every history, the oldest first."""
        found: dict[tuple[str, str, Place], Standing] = {}
        for entry in self._archive.promotions():
            key = (entry.subject.kind, entry.subject.name, entry.place)
            found[key] = found.get(key, Standing()).after(entry)
        return list(found.values())

    def pending(self) -> list[PromotionRecord]:
        """What waits for a person."""
        return [entry for each in self.all_standing() for entry in each.pending]

    def in_use(self) -> list[PromotionRecord]:
        return [each.in_use for each in self.all_standing() if each.in_use is not None]

    def _enter(
        self,
        subject: Subject,
        place: Place,
        decision: Decision,
        by: str,
        reason: str,
        evidence: Mapping[str, Any] = NO_EVIDENCE,
        run_id: str | None = None,
        risk: Risk | None = None,
        waits: bool = False,
    ) -> PromotionRecord:
        """As the next decision of its history, once it is sure that it can follow."""
        for _ in range(_TRIES):
            history = self.history(subject, place)
            about = _checked(standing(history), subject, place, decision, by, evidence)
            entry = PromotionRecord(
                subject=subject,
                place=place,
                ordinal=len(history),
                decision=decision,
                decided_by=by,
                reason=reason,
                evidence=evidence,
                at=utc_now(),
                run_id=run_id,
                risk=risk or (about.risk if about else "code"),
                waits=waits,
            )
            try:
                self._archive.add_promotion(entry)
            except Conflict:
                continue  # another was first; whether this one can still follow is asked again
            return entry
        raise Conflict(
            f"others keep deciding about the {subject.kind} in {place}",
            hint="look at what they decided, and decide again",
        )


def needs_person(risk: Risk, *, inside_bounds: bool = False) -> bool:
    """Whether something of that risk waits for a person's approval."""
    return risk != "parameters" or not inside_bounds


def is_automaton(who: str) -> bool:
    """Whether a name is one of those that are kept for what is no person."""
    name = who.strip().casefold()
    return name.startswith(AUTOMATON) or name in _OLD_NAMES


def by_gate(entry: PromotionRecord) -> bool:
    """Also in archives of before."""
    return _OLD_NAMES.get(entry.decided_by, entry.decided_by) == GATE


def _automata_may_undo(applied: PromotionRecord) -> bool:
    """What went into use by itself; else what a person approved with that word."""
    return (
        applied.decision != "approved"
        or applied.subject.kind in WATCHED
        or bool(applied.evidence.get(MAY_BE_UNDONE))
    )


def _risk(subject: Subject, said: Risk | None) -> Risk:
    allowed = RISKS_OF.get(subject.kind, ())
    if not allowed:
        raise UsageError(
            f"nothing of the kind {subject.kind!r} is promoted",
            hint=f"known: {', '.join(RISKS_OF)}",
        )
    if said is not None and said not in allowed:
        raise UsageError(
            f"a {subject.kind} cannot be promoted at the risk of {said!r}",
            hint=f"its risk is {' or '.join(allowed)}",
        )
    return said or allowed[0]


def _check_compared(subject: Subject, place: Place, evidence: Mapping[str, Any]) -> None:
    if subject.kind != "design" or place.kind != "scope":
        return
    if str(evidence.get("without_comparison", "")).strip():
        return
    found = evidence.get("comparison", {})
    own = found.get("design") == subject.id
    if not own or found.get("verdict") != BETTER:
        told = found["verdict"] if own else "there is none of it"
        raise UsageError(
            f"the design {subject.id} waits for a live comparison in {place}: {told}",
            hint="begin one, or say why it can do without (--without-comparison WHY)",
        )


def _check_place(place: Place) -> None:
    if place.kind == "scope":
        Scope.parse(place.name)


def _check_settings(about: PromotionRecord, evidence: Mapping[str, Any]) -> None:
    under = Under.of(about.evidence)
    if under.differs and not evidence.get(AGREED):
        raise UsageError(
            f"what is to be approved, {about.subject.id}, was learned under settings that {about.place}"
            f" does not have by itself: {under.told}. What was proven there need not hold here",
            hint="learn it as it will be used, or say that you know: --settings-differ",
        )


def _checked(
    now: Standing,
    subject: Subject,
    place: Place,
    decision: Decision,
    by: str,
    evidence: Mapping[str, Any],
) -> PromotionRecord | None:
    """The entry that a decision is about, or an error where it cannot be taken."""
    what = f"the {subject.kind} {subject.id}"
    if decision in ("approved", "rejected"):
        if is_automaton(by):
            raise UsageError(f"{what} waits for a person; {by} is none")
        about = next((e for e in now.pending if e.subject == subject), None)
        if about is None:
            raise UsageError(
                f"{what} does not wait for approval in {place}",
                hint="metamem promotions pending lists what does",
            )
        if decision == "approved":
            _check_settings(about, evidence)
        return about
    if decision == "undone":
        about = next((e for e in reversed(now.applied) if e.subject == subject), None)
        if about is None:
            raise UsageError(
                f"{what} is not in use in {place}",
                hint="it waits for approval: reject it"
                if now.waits(subject)
                else "metamem promotions lists what is",
            )
        if is_automaton(by) and not _automata_may_undo(about):
            raise UsageError(f"a person put {what} into use; {by} may not undo that")
        return about
    return None

"""The ledger of decisions: every history counts its entries, so that none can be slipped in."""

from metamem.core.errors import Conflict, UsageError
from metamem.store.codec import dump, load
from metamem.store.engine import Execute, Value
from metamem.store.records import (
    DECISIONS,
    PLACE_KINDS,
    RISKS,
    SUBJECT_KINDS,
    Place,
    PromotionRecord,
    Subject,
)
from metamem.store.sql.base import Part, insert_new, one_of, portion, require

_COLUMNS = (
    "subject_kind, subject_id, subject_name, place_kind, place_name, ordinal, decision, decided_by,"
    " reason, evidence, at, run_id, risk, waits"
)
_HISTORY = "subject_kind = ? AND subject_name = ? AND place_kind = ? AND place_name = ?"


class Promotions(Part):
    def add_promotion(self, promotion: PromotionRecord) -> bool:
        subject, place = promotion.subject, promotion.place
        _check(promotion)
        columns: dict[str, Value] = {
            "subject_kind": subject.kind,
            "subject_name": subject.name,
            "subject_id": subject.id,
            "place_kind": place.kind,
            "place_name": place.name,
            "ordinal": promotion.ordinal,
            "decision": promotion.decision,
            "decided_by": promotion.decided_by,
            "waits": int(promotion.waits),
            "risk": promotion.risk,
            "run_id": promotion.run_id,
            "reason": promotion.reason,
            "evidence": dump(promotion.evidence, "the evidence of a promotion"),
            "at": promotion.at,
        }
        with self._engine.writing() as execute:
            require(execute, "runs", promotion.run_id, "run")
            if subject.kind == "design" and subject.id:
                require(execute, "designs", subject.id, "design")
            if insert_new(execute, "promotions", columns):
                history = _promotions(execute, f"WHERE {_HISTORY}", *_key(subject, place))
                if len(history) == promotion.ordinal + 1:
                    return True
                raise _conflict(promotion, f"is not the next: there are {len(history) - 1}")
            (there,) = _promotions(
                execute,
                f"WHERE {_HISTORY} AND ordinal = ?",
                *_key(subject, place),
                promotion.ordinal,
            )
            if there == promotion:
                return False
            raise _conflict(promotion, f"was taken by {there.decided_by}")

    def promotions(
        self,
        run_id: str | None = None,
        *,
        of: tuple[Subject, Place] | None = None,
        skip: int = 0,
        limit: int | None = None,
    ) -> list[PromotionRecord]:
        conditions: list[str] = []
        values: list[Value] = []
        if run_id is not None:
            conditions.append("run_id = ?")
            values.append(run_id)
        if of is not None:
            conditions.append(_HISTORY)
            values += _key(*of)
        where = "WHERE " + " AND ".join(conditions) if conditions else ""
        end, part = portion(skip, limit)
        with self._engine.reading() as execute:
            return _promotions(execute, where, *values, *part, end=end)


def _check(promotion: PromotionRecord) -> None:
    one_of(promotion.decision, DECISIONS, "decision")
    one_of(promotion.subject.kind, SUBJECT_KINDS, "kind of subject")
    one_of(promotion.place.kind, PLACE_KINDS, "kind of place")
    one_of(promotion.risk, RISKS, "risk")
    if not promotion.subject.id and promotion.decision != "refused":
        raise UsageError(f"nothing was {promotion.decision}", hint="name what it was")
    if not promotion.decided_by:
        raise UsageError("a decision needs to say who took it")
    if promotion.ordinal < 0:
        raise UsageError(f"a decision's ordinal is {promotion.ordinal}", hint="count from 0")


def _key(subject: Subject, place: Place) -> tuple[str, str, str, str]:
    return subject.kind, subject.name, place.kind, place.name


def _conflict(promotion: PromotionRecord, why: str) -> Conflict:
    return Conflict(
        f"decision {promotion.ordinal} about the {promotion.subject.kind} in {promotion.place} {why}",
        hint="look at what was decided meanwhile, and decide again",
    )


def _promotions(
    execute: Execute, where: str, *values: Value, end: str = ""
) -> list[PromotionRecord]:
    found = execute(f"SELECT {_COLUMNS} FROM promotions {where} ORDER BY seq{end}", values)
    return [
        PromotionRecord(
            subject=Subject(kind, identifier, name),
            place=Place(place_kind, place_name),
            ordinal=ordinal,
            decision=decision,
            decided_by=decided_by,
            reason=reason,
            evidence=load(evidence, "the evidence of a promotion"),
            at=at,
            run_id=run_id,
            risk=risk,
            waits=bool(waits),
        )
        for (
            kind,
            identifier,
            name,
            place_kind,
            place_name,
            ordinal,
            decision,
            decided_by,
            reason,
            evidence,
            at,
            run_id,
            risk,
            waits,
        ) in found
    ]

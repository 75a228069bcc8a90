"""The two ledgers: what was put into use, and what was looked at."""

from metamem.core.errors import StoreError, UsageError
from metamem.store.archive import DECISIONS, PromotionRecord, ReadRecord
from metamem.store.codec import dump, load
from metamem.store.engine import Execute
from metamem.store.sql.base import Part, insert, one_of, require


class Ledgers(Part):
    def add_promotion(self, promotion: PromotionRecord) -> None:
        one_of(promotion.decision, DECISIONS, "decision")
        design_id = promotion.design_id
        if design_id is None and promotion.decision != "refused":
            raise UsageError(f"nothing was {promotion.decision}", hint="name the design")
        with self._engine.writing() as execute:
            require(execute, "runs", promotion.run_id, "run")
            require(execute, "designs", design_id, "design")
            if promotion.decision == "undone" and not any(
                standing.design_id == design_id for standing in _standing(execute, promotion.domain)
            ):
                raise StoreError(
                    f"the design {design_id} does not stand promoted in {promotion.domain!r}",
                    hint="only what is promoted can be undone",
                )
            columns = {
                "domain": promotion.domain,
                "run_id": promotion.run_id,
                "design_id": design_id,
                "decided_by": promotion.decided_by,
                "decision": promotion.decision,
                "reason": promotion.reason,
                "evidence": dump(promotion.evidence, "the evidence of a promotion"),
                "at": promotion.at,
            }
            insert(execute, "promotions", columns)

    def promotions(self, run_id: str | None = None) -> list[PromotionRecord]:
        with self._engine.reading() as execute:
            if run_id is None:
                return _promotions(execute)
            return _promotions(execute, "WHERE run_id = ?", run_id)

    def current_promotion(self, domain: str) -> PromotionRecord | None:
        with self._engine.reading() as execute:
            standing = _standing(execute, domain)
        return standing[-1] if standing else None

    def record_read(self, read: ReadRecord) -> None:
        columns = {
            "at": read.at,
            "run_id": read.run_id,
            "split": read.split,
            "design_id": read.design_id,
            "evaluation_id": read.evaluation_id,
            "purpose": read.purpose,
        }
        with self._engine.writing() as execute:
            insert(execute, "reads", columns)

    def reads(self) -> list[ReadRecord]:
        with self._engine.reading() as execute:
            found = execute(
                "SELECT at, run_id, split, design_id, evaluation_id, purpose FROM reads"
                " ORDER BY seq"
            )
        return [ReadRecord(*columns) for columns in found]


def _promotions(execute: Execute, where: str = "", *values: str) -> list[PromotionRecord]:
    found = execute(
        "SELECT run_id, design_id, decided_by, decision, reason, evidence, at, domain"
        f" FROM promotions {where} ORDER BY seq",
        values,
    )
    return [
        PromotionRecord(
            run_id=run_id,
            design_id=design_id,
            decided_by=decided_by,
            decision=decision,
            reason=reason,
            evidence=load(evidence, "the evidence of a promotion"),
            at=at,
            domain=domain,
        )
        for run_id, design_id, decided_by, decision, reason, evidence, at, domain in found
    ]


def _standing(execute: Execute, domain: str) -> list[PromotionRecord]:
    """The promotions not undone, oldest first: an undo takes its design's newest one away."""
    standing: list[PromotionRecord] = []
    for entry in _promotions(execute, "WHERE domain = ?", domain):
        if entry.decision == "promoted":
            standing.append(entry)
        elif entry.decision == "undone":
            newest = max(i for i, p in enumerate(standing) if p.design_id == entry.design_id)
            del standing[newest]
    return standing

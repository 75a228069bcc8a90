"""What a history of decisions comes to: what waits for a person, and what is in use."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from metamem.store.records import PromotionRecord, Subject


@dataclass(frozen=True, slots=True)
class Standing:
    """Entries are those by which something came to wait, or into use; the newest are last."""

    pending: tuple[PromotionRecord, ...] = ()
    applied: tuple[PromotionRecord, ...] = ()

    @property
    def in_use(self) -> PromotionRecord | None:
        return self.applied[-1] if self.applied else None

    def waits(self, subject: Subject) -> bool:
        return any(entry.subject == subject for entry in self.pending)

    def after(self, entry: PromotionRecord) -> "Standing":
        """What one more decision makes of it. One that finds nothing to decide changes nothing."""
        subject = entry.subject
        without = replace(self, pending=_without(self.pending, subject))
        if entry.decision == "promoted" and entry.waits:
            if self.in_use is not None and self.in_use.subject == subject:
                return self  # nothing would change by approving it
            return replace(without, pending=(*without.pending, entry))
        if entry.decision == "promoted" or (entry.decision == "approved" and self.waits(subject)):
            return without._with_applied(entry)
        if entry.decision == "rejected":
            return without
        if entry.decision == "undone":
            # Wherever it stands: what was undone comes back by a new decision alone.
            return replace(self, applied=_collapsed(_without(self.applied, subject)))
        return self

    def _with_applied(self, entry: PromotionRecord) -> "Standing":
        if self.in_use is not None and self.in_use.subject == entry.subject:
            return self
        return replace(self, applied=(*self.applied, entry))


def standing(history: Iterable[PromotionRecord]) -> Standing:
    found = Standing()
    for entry in history:
        found = found.after(entry)
    return found


def _without(entries: tuple[PromotionRecord, ...], subject: Subject) -> tuple[PromotionRecord, ...]:
    return tuple(entry for entry in entries if entry.subject != subject)


def _collapsed(entries: tuple[PromotionRecord, ...]) -> tuple[PromotionRecord, ...]:
    """Once where it stands on itself: an undo must change what is in use."""
    kept: list[PromotionRecord] = []
    for entry in entries:
        if not kept or kept[-1].subject != entry.subject:
            kept.append(entry)
    return tuple(kept)

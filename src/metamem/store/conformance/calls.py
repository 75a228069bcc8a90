"""Questions to models: sendings, their ends, replies, and what was spent."""

from dataclasses import replace

from metamem.core.calls import AttemptEnd, AttemptRecord, CallRecord, Spending
from metamem.core.chat import Usage
from metamem.core.errors import DataError, StoreError, UsageError
from metamem.store.conformance.support import ODD_TEXT, Check, Opener, refused, same

_ATTEMPT = AttemptRecord("k", "run", "agent", "m-1", "d", "t", 100, 0.5, "2026-01-01")
_TURNS = (("system", "the same for all"), ("user", ODD_TEXT), ("user", ""))
_CALL = CallRecord("k", "agent", "m-1", "d", "t", _TURNS, "a reply" + ODD_TEXT, Usage(7, 3, 2, 1))


def calls_come_back_exactly(open_archive: Opener) -> None:
    other = replace(_CALL, key="k2", turns=(*_TURNS, ("assistant", "more")), reply="")
    with open_archive() as archive:
        same(archive.call("k"), None)
        first = archive.begin_attempt(_ATTEMPT)
        archive.end_attempt(first, AttemptEnd("answered", Usage(7, 3, 2, 1), 0.25), _CALL)
        second = archive.begin_attempt(replace(_ATTEMPT, key="k2"))
        same(first == second, False, "two attempts having one number")
        archive.end_attempt(second, AttemptEnd("answered"), other)
    with open_archive() as archive:
        same(archive.call("k"), _CALL)
        same(archive.calls("d"), [_CALL, other])
        same(archive.calls(), [_CALL, other])
        same(archive.calls(""), [])


def calls_and_ends_never_change(open_archive: Opener) -> None:
    with open_archive() as archive:
        number = archive.begin_attempt(_ATTEMPT)
        end = AttemptEnd("answered", Usage(1, 1))
        archive.end_attempt(number, end, _CALL)
        archive.end_attempt(number, end, _CALL)  # the same again is no error
        with refused(StoreError, "outcome"):
            archive.end_attempt(number, replace(end, outcome="failed"))
        again = archive.begin_attempt(_ATTEMPT)
        with refused(StoreError, "reply"):
            archive.end_attempt(again, end, replace(_CALL, reply="another"))
        same(archive.call("k"), _CALL)
        same(archive.spending()[0].in_flight, 1, "attempts whose end was refused")


def ends_that_cannot_be_kept_are_refused(open_archive: Opener) -> None:
    with open_archive() as archive:
        number = archive.begin_attempt(_ATTEMPT)
        with refused(StoreError, "no attempt"):
            archive.end_attempt(number + 1, AttemptEnd("failed"))
        with refused(UsageError):
            archive.end_attempt(number, AttemptEnd("lost"))  # type: ignore[arg-type]
        with refused(DataError):
            archive.end_attempt(number, AttemptEnd("answered", money=float("nan")))
        with refused(DataError):
            archive.begin_attempt(replace(_ATTEMPT, reserved_money=float("inf")))
        same(archive.spending()[0].in_flight, 1, "attempts without an end")


def spending_counts_every_attempt(open_archive: Opener) -> None:
    with open_archive() as archive:
        same(archive.spending(), [])
        ends = (
            AttemptEnd("answered", Usage(10, 5, 4, 2), 0.25, seconds=1.5),
            AttemptEnd("answered", Usage(1, 1), None),
            AttemptEnd("failed", detail="429"),
            AttemptEnd("uncertain", detail="timeout", money=None),
            None,
        )
        for end in ends:
            number = archive.begin_attempt(_ATTEMPT)
            if end is not None:
                archive.end_attempt(number, end)
        other = archive.begin_attempt(replace(_ATTEMPT, run_id="other", role="meta"))
        archive.end_attempt(other, AttemptEnd("answered", Usage(2, 2), 1.0))
        mine = Spending(
            "run", "agent", "m-1", "d", "", 5, 2, 1, 1, 1, Usage(11, 6, 4, 2), 200, 1.25, 1, 1.5
        )
        theirs = Spending(
            "other", "meta", "m-1", "d", "", 1, 1, 0, 0, 0, Usage(2, 2), 0, 1.0, 0, 0.0
        )
        same(archive.spending(), [mine, theirs])
        same(archive.spending("run"), [mine])
        same(archive.spending("nobody"), [])
        another = archive.begin_attempt(replace(_ATTEMPT, task_id="u"))
        archive.end_attempt(another, AttemptEnd("failed"))
        by_task = archive.spending("run", by_task=True)
        same([(row.task_id, row.attempts) for row in by_task], [("t", 5), ("u", 1)])


CHECKS: tuple[Check, ...] = (
    calls_come_back_exactly,
    calls_and_ends_never_change,
    ends_that_cannot_be_kept_are_refused,
    spending_counts_every_attempt,
)

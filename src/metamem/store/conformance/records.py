"""Runs, proposals and the two ledgers."""

from dataclasses import replace
from typing import Any, cast

from metamem.core.errors import Conflict, DataError, StoreError, UnknownName, UsageError
from metamem.store.conformance.support import (
    ODD_TEXT,
    Check,
    Opener,
    design,
    refused,
    same,
    with_evaluation,
)
from metamem.store.records import (
    Place,
    PromotionRecord,
    ProposalRecord,
    ReadRecord,
    RunRecord,
    Subject,
)

EVIDENCE = {"text": ODD_TEXT, "list": [1, 0.1, None, True], "nested": {"": {}}}


def runs_are_created_once(open_archive: Opener) -> None:
    config = {"seed": 1, **EVIDENCE}
    with open_archive() as archive:
        with refused(UnknownName, "'r'"):
            archive.run("r")
        same(archive.create_run("r", config), True)
        same(archive.create_run("q", {}), True)
        same(archive.create_run("r", dict(reversed(config.items()))), False, "creating it again")
        with refused(StoreError, "'r'", "config"):
            archive.create_run("r", {"seed": 2})
        with refused(DataError):
            archive.create_run("s", {"path": object()})
        made = [RunRecord("r", config, "created", {}), RunRecord("q", {}, "created", {})]
        same(archive.runs(), made, "the runs, in order")
        same(archive.run("q"), made[1])


def run_states_follow_one_another(open_archive: Opener) -> None:
    with open_archive() as archive:
        archive.create_run("r", {})
        archive.create_run("q", {})
        begun = archive.run("r")
        archive.set_run_state("r", "running", {"budget": 0.5})
        archive.set_run_state("r", "stopped")
        same(archive.run("r"), RunRecord("r", {}, "stopped", {"budget": 0.5}), "no new summary")
        archive.set_run_state("r", "running")
        archive.set_run_state("r", "failed", {})
        archive.set_run_state("r", "finished", {"reason": ODD_TEXT})
        now = archive.run("r")
        same(now, RunRecord("r", {}, "finished", {"reason": ODD_TEXT}))
        same(now.created_at, begun.created_at, "when it was created")
        same(now.changed_at >= begun.changed_at, True, "a later change being later")
        same(archive.run("q").state, "created", "the other run's state")
        with refused(StoreError, "'nothing'"):
            archive.set_run_state("nothing", "running")
        with refused(UsageError, "'paused'"):
            archive.set_run_state("r", cast(Any, "paused"))
        with refused(UsageError):
            archive.set_run_state("r", "created")
        same(archive.run("r"), now, "the run after refusals")


def proposals_form_an_unchanging_journal(open_archive: Opener) -> None:
    with open_archive() as archive:
        evaluation_id = with_evaluation(archive)
        for number in (1, 2, 3):
            archive.add_design(design(number))
        archive.create_run("r", {})
        archive.create_run("q", {})
        full = ProposalRecord(
            run_id="r",
            ordinal=10,
            design_id=design(3).id,
            parents=(design(2).id, design(1).id, design(2).id),
            proposer="recombine",
            operator="graft",
            note=ODD_TEXT,
            status="accepted",
            reason="",
            evidence=EVIDENCE,
            evaluation_id=evaluation_id,
            estimate={"mean": 1 / 3, "low": 0.1},
        )
        bare = ProposalRecord("r", 2, None, (), "llm", "", "", "rejected", "no such name: x")
        twin = replace(bare, ordinal=3, status="duplicate", design_id=design(1).id)
        other = replace(full, run_id="q")
        for proposal in (full, twin, bare, other):
            same(archive.add_proposal(proposal), True)
        for proposal in (full, bare, other):
            same(archive.add_proposal(proposal), False, "adding it again")
        for changed in (
            replace(full, parents=full.parents[:2]),
            replace(full, parents=()),
            replace(full, estimate=None),
            replace(full, estimate={}),
            replace(full, evidence={}),
            replace(full, note=""),
            replace(full, design_id=None),
            replace(full, evaluation_id=None),
            replace(bare, reason=""),
            replace(bare, status="duplicate"),
            replace(bare, proposer="x"),
            replace(bare, operator="x"),
            replace(bare, parents=(design(1).id,)),
        ):
            with refused(StoreError, f"proposal {changed.ordinal}"):
                archive.add_proposal(changed)
        for dangling in (
            replace(full, ordinal=11, run_id="nothing"),
            replace(full, ordinal=11, design_id="nothing"),
            replace(full, ordinal=11, evaluation_id="nothing"),
            replace(full, ordinal=11, parents=(design(1).id, "nothing")),
        ):
            with refused(StoreError, "'nothing'"):
                archive.add_proposal(dangling)
        with refused(UsageError, "'maybe'"):
            archive.add_proposal(replace(bare, ordinal=11, status=cast(Any, "maybe")))
        with refused(UsageError, "-1"):
            archive.add_proposal(replace(bare, ordinal=-1))
        with refused(DataError):
            archive.add_proposal(replace(bare, ordinal=11, estimate={"mean": float("nan")}))
    with open_archive() as archive:
        same(archive.proposals("r"), [bare, twin, full], "the journal, by ordinal")
        same(archive.proposals("q"), [other])
        same(archive.proposals("nothing"), [])


def decisions_form_histories(open_archive: Opener) -> None:
    with open_archive() as archive:
        for number in (1, 2):
            archive.add_design(design(number))
        archive.create_run("r", {})
        first = PromotionRecord(
            subject=Subject("design", design(1).id),
            place=Place("domain", ODD_TEXT),
            ordinal=0,
            decision="promoted",
            decided_by="gate",
            reason=ODD_TEXT,
            evidence=EVIDENCE,
            at="2030-01-01T00:00:59+00:00",
            run_id="r",
            risk="code",
            waits=True,
        )
        second = replace(
            first,
            subject=Subject("design", design(2).id),
            ordinal=1,
            decision="approved",
            decided_by="Ada",
            at="2030-01-01T00:00:00+00:00",  # the order is the ordinals', not the clock's
            run_id=None,
            waits=False,
        )
        nothing = replace(first, subject=Subject("design", ""), ordinal=2, decision="refused")
        others = [
            replace(first, place=Place("scope", ODD_TEXT)),
            replace(first, subject=Subject("design", design(1).id, "named")),
            replace(first, subject=Subject("tool", "not a design"), risk="sharing"),
            replace(first, subject=Subject("policy", "p", "who reads"), risk="deletion"),
            replace(first, subject=Subject("parameters", "v2"), risk="parameters"),
        ]
        entries = [first, *others, second, nothing]
        for entry in entries:
            same(archive.add_promotion(entry), True)
        for entry in entries:
            same(archive.add_promotion(entry), False, "adding it again")
        for late in (
            replace(first, decided_by="another"),
            replace(second, subject=first.subject),
            replace(nothing, waits=False),
            replace(first, ordinal=4),
        ):
            with refused(Conflict, f"decision {late.ordinal}"):
                archive.add_promotion(late)
        new = replace(first, ordinal=3)
        for dangling in (
            replace(new, run_id="nothing"),
            replace(new, subject=Subject("design", "nothing")),
        ):
            with refused(StoreError, "'nothing'"):
                archive.add_promotion(dangling)
        for wrong in (
            replace(new, decision=cast(Any, "maybe")),
            replace(new, risk=cast(Any, "none")),
            replace(new, place=Place(cast(Any, "moon"), "x")),
            replace(new, subject=Subject(cast(Any, "star"), "x")),
            replace(new, subject=Subject("design", "")),
            replace(new, decided_by=""),
            replace(new, ordinal=-1),
        ):
            with refused(UsageError):
                archive.add_promotion(wrong)
        with refused(DataError):
            archive.add_promotion(replace(new, evidence={"mean": float("nan")}))
    with open_archive() as archive:
        same(archive.promotions(), entries, "the ledger")
        same(archive.promotions("r"), [e for e in entries if e.run_id == "r"], "a run's decisions")
        same(archive.promotions("nothing"), [])
        history = (Subject("design", "any"), first.place)
        same(archive.promotions(of=history), [first, second, nothing], "one history")
        same(archive.promotions("r", of=history), [first, nothing])
        same(archive.promotions(skip=1, limit=2), entries[1:3], "a part of the ledger")
        same(archive.promotions(of=history, skip=2), [nothing], "the end of a history")
        same(archive.promotions(of=(Subject("design", ""), Place("domain", "other"))), [])


def every_read_is_entered(open_archive: Opener) -> None:
    read = ReadRecord("2030-01-01T00:00:00+00:00", "r", "test", "d", "e", ODD_TEXT)
    reads = [read, replace(read, run_id=None, split="shift"), read]
    with open_archive() as archive:
        same(archive.reads(), [])
        for entry in reads:  # of a run, design and evaluation that are not there yet
            archive.record_read(entry)
    with open_archive() as archive:
        same(archive.reads(), reads, "the ledger, with the same read twice")
        same(archive.reads("r"), [read, read], "a run's reads")
        same(archive.reads(skip=1, limit=1), reads[1:2], "a part of the ledger")
        same(archive.reads("r", skip=1), [read], "the rest of a run's reads")
        for skip, limit in ((-1, None), (0, -1)):
            with refused(UsageError):
                archive.reads(skip=skip, limit=limit)


CHECKS: tuple[Check, ...] = (
    runs_are_created_once,
    run_states_follow_one_another,
    proposals_form_an_unchanging_journal,
    decisions_form_histories,
    every_read_is_entered,
)

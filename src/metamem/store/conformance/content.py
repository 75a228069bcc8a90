"""Designs, evaluations, traces, collections, blobs."""

from dataclasses import replace

from metamem.core.calls import AttemptEnd, AttemptRecord, CallRecord
from metamem.core.errors import DataError, StoreError, UnknownName, UsageError
from metamem.core.types import Case, Design, Evaluation, Measurement
from metamem.store.conformance.support import (
    ODD_TEXT,
    Check,
    Opener,
    design,
    episode,
    fingerprint,
    refused,
    row,
    same,
    with_evaluation,
)
from metamem.store.records import DesignRecord, Trace


def designs_are_kept_once_and_in_order(open_archive: Opener) -> None:
    with open_archive() as archive:
        first, second = design(1), Design('{"rate": 0.5}', kind="params", name="half")
        same(archive.add_design(first, created_by="me"), True, "the first adding")
        same(archive.add_design(second), True)
        renamed = replace(first, name="another name")
        same(archive.add_design(renamed, created_by="you"), False, "the second adding")
        listed = [DesignRecord.of(first, "me"), DesignRecord.of(second)]
        same(archive.designs(), listed)
        same(archive.design(first.id).source, first.source, "the source")
        same(archive.design(first.id), first)
        same(archive.design(first.id).name, "memory 1", "the name")
        same(archive.design(second.id).kind, "params", "the kind")
        same(all(record.created_at for record in archive.designs()), True, "having a time")


def lists_come_in_parts(open_archive: Opener) -> None:
    with open_archive() as archive:
        for number in range(5):
            archive.add_design(design(number))
            archive.create_run(f"run {9 - number}", {"number": number})
            archive.open_evaluation(fingerprint(design(number)), number)
            attempt = AttemptRecord(f"k{9 - number}", "", "agent", "m", "", "t", 1, 0.0, "")
            call = CallRecord(f"k{9 - number}", "agent", "m", "", "t", (("user", "?"),), "!")
            archive.end_attempt(archive.begin_attempt(attempt), AttemptEnd("answered"), call)
        designs, runs, evaluations, calls = (
            (archive.designs, [record.id for record in archive.designs()]),
            (archive.runs, [record.id for record in archive.runs()]),
            (archive.evaluations, [record.id for record in archive.evaluations()]),
            (archive.calls, [record.key for record in archive.calls()]),
        )
        for listed, ids in (designs, runs, evaluations, calls):
            same(len(ids), 5, "the number of entries")
            entries = listed()
            same(listed(limit=2), entries[:2], "the first two")
            same(listed(after=ids[1], limit=2), entries[2:4], "the next two")
            same(listed(after=ids[3]), entries[4:], "the rest")
            same(listed(after=ids[4]), [], "what follows on the last")
            same(listed(limit=0), [], "none")
            with refused(StoreError, "'nothing'"):
                listed(after="nothing")
            with refused(UsageError):
                listed(limit=-1)
        found = archive.evaluations(split="train", after=evaluations[1][0], limit=1)
        same([record.id for record in found], evaluations[1][1:2], "a part of those of a split")


def designs_are_found_by_a_unique_prefix(open_archive: Opener) -> None:
    with open_archive() as archive:
        with refused(UnknownName, "'abc'"):
            archive.find("abc")
        added = [design(number) for number in range(40)]  # 16 first digits: some must be shared
        for one in added:
            archive.add_design(one)
        for one in added:
            same(archive.find(one.id), one.id)
            same(archive.design(one.id[:20].upper()), one, "the design of a prefix in capitals")
        digits = [one.id[0] for one in added]
        shared = next(digit for digit in digits if digits.count(digit) > 1)
        for lookup in (archive.find, archive.design):
            with refused(UsageError, repr(shared), "begins with"):
                lookup(shared)
            for nothing in ("", "xyz", "%", "_", added[0].id + "0", ODD_TEXT):
                with refused(UnknownName):
                    lookup(nothing)


def evaluations_are_opened_once(open_archive: Opener) -> None:
    with open_archive() as archive:
        print_ = fingerprint(design())
        with refused(StoreError, print_.design):
            archive.open_evaluation(print_, 3)
        same(archive.evaluation(print_.id), None, "an evaluation that was refused")
        archive.add_design(design())
        same(archive.open_evaluation(print_, 3), print_.id, "the id")
        same(archive.open_evaluation(print_, 3), print_.id, "the id when opened again")
        same(archive.evaluation(print_.id), Evaluation(print_, (), 3))
        with refused(StoreError, "planned"):
            archive.open_evaluation(print_, 4)
        with refused(UsageError):
            archive.open_evaluation(replace(print_, seed=1), -1)
        with refused(DataError):
            archive.open_evaluation(replace(print_, limits={"calls": float("nan")}), 3)
        same(archive.evaluations(), [Evaluation(print_, (), 3)])


def rows_come_back_exactly_and_in_order(open_archive: Opener) -> None:
    rewards = (0.1 + 0.2, 5e-324, -1.7976931348623157e308, 1 / 3, 0.0, 1.0, -0.0)
    rows = [row("t2", repeat, reward) for repeat, reward in enumerate(rewards)]
    rows += [replace(row("t10"), failure=ODD_TEXT, advice_digest=""), replace(row(""), steps=2**62)]
    rows += [row(ODD_TEXT), row("ü"), row("z")]
    with open_archive() as archive:
        key = with_evaluation(archive)
        same(archive.add_rows(key, rows[::-1]), len(rows), "the number of new rows")
        expected = sorted(rows, key=lambda r: (r.task_id, r.repeat))
    with open_archive() as archive:
        found = archive.evaluation(key)
        same(found, Evaluation(fingerprint(design()), tuple(expected), 100))
        measured = [r.measured for r in found.rows] if found else []
        same(measured, [r.measured for r in expected], "what was measured")
        shown = [repr(r.reward) for r in found.rows if r.reward == 0] if found else []
        same(shown, ["0.0", "0.0"], "nothing, as it is written")


def rows_never_change(open_archive: Opener) -> None:
    with open_archive() as archive:
        key = with_evaluation(archive, planned=3)
        same(archive.add_rows(key, [row("a"), row("b")]), 2)
        slower = replace(row("a"), measured=Measurement(seconds=99.0))
        same(archive.add_rows(key, [slower, row("b"), row("c")]), 1, "the number of new rows")
        same(archive.add_rows(key, []), 0)
        found = archive.evaluation(key)
        same(found.rows[0].measured if found else None, row().measured, "the first measurement")
        for change in (
            {"reward": 0.2},
            {"steps": 8},
            {"advice_tokens": 1},
            {"advice_truncated": False},
            {"advice_digest": "d2"},
            {"actions_digest": ""},
            {"model_calls": 3},
            {"tokens": 1},
            {"failure": "crash"},
        ):
            with refused(StoreError, "'a'", next(iter(change))):
                archive.add_rows(key, [replace(row("a"), **change)])
        same(archive.evaluation(key), found, "the evaluation after refusals")


def rows_that_cannot_be_kept_are_refused_whole(open_archive: Opener) -> None:
    with open_archive() as archive:
        with refused(StoreError, "'nowhere'"):
            archive.add_rows("nowhere", [row()])
        key = with_evaluation(archive, planned=2)
        for bad in (
            replace(row("x"), reward=float("nan")),
            replace(row("x"), reward=float("inf")),
            replace(row("x"), steps=2**63),
            replace(row("x"), measured=Measurement(seconds=float("nan"))),
        ):
            with refused(DataError):
                archive.add_rows(key, [row("fine"), bad])
        with refused(StoreError, "'a'"):
            archive.add_rows(key, [row("a", reward=0.0), row("a", reward=1.0)])
        with refused(StoreError, "planned"):
            archive.add_rows(key, [row("a"), row("b"), row("c")])
        with refused(StoreError, "no row"):
            archive.add_rows(key, [row("a")], {Case("b", 0): episode("b")})
        same(archive.evaluation(key), Evaluation(fingerprint(design()), (), 2))


def evaluations_are_chosen_by_what_they_share(open_archive: Opener) -> None:
    with open_archive() as archive:
        opened = []
        for number in (2, 1):
            archive.add_design(design(number))
            for split in ("train", "valid"):
                for seed in (0, 1):
                    print_ = fingerprint(design(number), split=split, seed=seed)
                    archive.add_rows(archive.open_evaluation(print_, 2), [row(split, seed)])
                    opened.append(Evaluation(print_, (row(split, seed),), 2))
        one, conditions = design(1).id, opened[3].fingerprint.conditions
        same(archive.evaluations(), opened, "all evaluations")
        same(archive.evaluations(design_id=one), opened[4:], "those of a design")
        same(archive.evaluations(split="valid"), opened[2:4] + opened[6:], "those of a split")
        same(archive.evaluations(conditions=conditions), [opened[3], opened[7]])
        same(archive.evaluations(design_id=one, split="valid", conditions=conditions), [opened[7]])
        same(archive.evaluations(design_id=one, split="train", conditions=conditions), [])
        same(archive.evaluations(design_id="nothing"), [])
        same(archive.evaluation("nothing"), None)


def traces_belong_to_rows(open_archive: Opener) -> None:
    with open_archive() as archive:
        key = with_evaluation(archive)
        case = Case(ODD_TEXT, 1)
        with refused(StoreError, "no row"):
            archive.add_trace(key, case, episode())
        archive.add_rows(key, [row(ODD_TEXT, 1), row("b"), row("a")], {Case("b", 0): episode("b")})
        same(archive.add_trace(key, case, episode(text=ODD_TEXT)), True)
        same(archive.add_trace(key, case, episode(text=ODD_TEXT)), False, "adding it again")
        with refused(StoreError):
            archive.add_trace(key, case, episode(text="something else"))
        with refused(DataError):
            archive.add_trace(key, Case("a", 0), replace(episode(), reward=float("nan")))
        expected = [Trace(Case("b", 0), episode("b")), Trace(case, episode(text=ODD_TEXT))]
        same(archive.traces(key), sorted(expected, key=lambda t: (t.case.task_id, t.case.repeat)))
        same(archive.traces("nothing"), [])


def collections_and_blobs_are_kept_once(open_archive: Opener) -> None:
    episodes = [episode("b"), episode("a", ODD_TEXT), episode("b")]
    content = bytes(range(256)) * 4
    with open_archive() as archive:
        same(archive.collection("c"), None)
        same(archive.blob("c"), None)
        same(archive.put_collection("c", episodes), True)
        same(archive.put_collection("c", episodes), False, "putting it again")
        same(archive.put_collection("b", []), True)
        with refused(StoreError):
            archive.put_collection("c", episodes[:2])
        same(archive.put_blob("c", content), True)
        same(archive.put_blob("c", content), False, "putting it again")
        same(archive.put_blob("", b""), True)
        with refused(StoreError):
            archive.put_blob("c", b"other")
    with open_archive() as archive:
        same(archive.collection("c"), episodes)
        same(archive.collection("b"), [])
        same(archive.collections(), ["c", "b"])
        same(archive.blob("c"), content)
        same(archive.blob(""), b"")


CHECKS: tuple[Check, ...] = (
    designs_are_kept_once_and_in_order,
    lists_come_in_parts,
    designs_are_found_by_a_unique_prefix,
    evaluations_are_opened_once,
    rows_come_back_exactly_and_in_order,
    rows_never_change,
    rows_that_cannot_be_kept_are_refused_whole,
    evaluations_are_chosen_by_what_they_share,
    traces_belong_to_rows,
    collections_and_blobs_are_kept_once,
)

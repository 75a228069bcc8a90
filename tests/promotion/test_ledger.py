"""Any sequence of decisions: nothing in use that a person must approve first, undo restores."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, cast, get_args

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from metamem.core.errors import StoreError, UsageError
from metamem.core.types import Design
from metamem.promotion import Contents, Ledger, needs_person, parameters_id, policy_id, standing
from metamem.promotion.ledger import RISKS_OF, by_gate
from metamem.store import Archive, Place, PromotionRecord, SqliteArchive, Subject, open_archive
from metamem.store.records import RISKS, SubjectKind

HERE, ELSEWHERE = Place("domain", "here"), Place("scope", "acme/project/here")
TOOLS = [Subject("tool", f"v{n}", "grep") for n in range(3)]
OTHER = Subject("tool", "v0", "sed")
VALUES = [{"decay": n / 10} for n in range(3)]
SETS = [Subject("parameters", parameters_id(values)) for values in VALUES]
CONTENTS: Contents = {"tool": lambda subject, evidence: subject.id in ("v0", "v1", "v2")}


def ledger_of(archive: Archive) -> Ledger:
    return Ledger(archive, CONTENTS)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with open_archive(tmp_path / "archive.db") as opened:
        yield opened


def promote(ledger: Ledger, subject: Subject, place: Place = HERE, *, free: bool = False) -> None:
    evidence = {"values": VALUES[SETS.index(subject)]} if subject in SETS else {}
    ledger.promote(subject, place, reason="", evidence=evidence, inside_bounds=free)


def test_what_needs_a_person() -> None:
    assert [risk for risk in RISKS if not needs_person(risk, inside_bounds=True)] == ["parameters"]
    assert all(needs_person(risk) for risk in RISKS)


def test_from_promotion_to_use_and_back(archive: Archive) -> None:
    ledger = ledger_of(archive)
    one, two, _ = TOOLS
    for tool in (one, two):
        promote(ledger, tool)
    assert [entry.subject for entry in ledger.pending()] == [one, two]
    assert ledger.in_use() == []
    ledger.approve(one, HERE, by="Ada")
    second = ledger.approve(two, HERE, by="Ada", reason="seen it work")
    assert (ledger.in_use(), ledger.pending()) == ([second], [])
    ledger.undo(two, HERE, by="Bo", reason="slow")
    in_use = ledger.standing(one, HERE).in_use
    assert in_use is not None and in_use.subject == one
    assert [(e.decision, e.decided_by) for e in archive.promotions()] == [
        ("promoted", "auto:gate"),
        ("promoted", "auto:gate"),
        ("approved", "Ada"),
        ("approved", "Ada"),
        ("undone", "Bo"),
    ]


def test_each_name_and_each_place_has_its_own_version_in_use(archive: Archive) -> None:
    ledger = ledger_of(archive)
    for subject, place in ((TOOLS[0], HERE), (TOOLS[1], ELSEWHERE), (OTHER, HERE)):
        promote(ledger, subject, place)
        ledger.approve(subject, place, by="Ada")
    assert len(ledger.in_use()) == 3
    ledger.undo(OTHER, HERE, by="Ada", reason="x")
    assert [entry.subject for entry in ledger.in_use()] == TOOLS[:2]


def test_only_people_approve_and_undo_what_people_approved(archive: Archive) -> None:
    ledger = ledger_of(archive)
    promote(ledger, SETS[0])
    automata = ("auto:gate", "auto:bounds", "auto:dreamer", " Auto:x", "gate", "bounds")
    for automaton in automata:
        with pytest.raises(UsageError, match="waits for a person"):
            ledger.approve(SETS[0], HERE, by=automaton)
        with pytest.raises(UsageError, match="waits for a person"):
            ledger.reject(SETS[0], HERE, by=automaton, reason="x")
    ledger.approve(SETS[0], HERE, by="Ada")
    for automaton in automata:
        with pytest.raises(UsageError, match="a person put"):
            ledger.undo(SETS[0], HERE, by=automaton, reason="x")
    promote(ledger, SETS[1], free=True)
    assert ledger.undo(SETS[1], HERE, by="auto:dreamer", reason="it hurts").waits is False


@pytest.mark.parametrize("kind", get_args(SubjectKind))
def test_the_risk_follows_from_what_is_promoted(archive: Archive, kind: SubjectKind) -> None:
    """Whatever a caller says: nothing but parameters applies itself."""
    design = Design("x = 1")
    archive.add_design(design)
    subjects = {
        "design": (Subject("design", design.id), {}),
        "tool": (TOOLS[0], {}),
        "policy": (Subject("policy", policy_id("access", [1]), "access"), {"access": [1]}),
        "parameters": (SETS[0], {"values": VALUES[0]}),
    }
    subject, evidence = subjects[kind]
    ledger = ledger_of(archive)
    for risk in RISKS:
        about = {"reason": "", "evidence": evidence, "risk": risk, "inside_bounds": True}
        if risk in RISKS_OF[kind]:
            assert ledger.promote(subject, HERE, **about).waits == (kind != "parameters")
        else:
            with pytest.raises(UsageError, match="at the risk of"):
                ledger.promote(subject, HERE, **about)
    entry = ledger.promote(subject, HERE, reason="", evidence=evidence)
    assert entry.risk == RISKS_OF[kind][0] and entry.waits
    with pytest.raises(UsageError, match="'star'"):
        ledger.promote(Subject(cast(Any, "star"), "x"), HERE, reason="", evidence={})


def test_nothing_is_promoted_that_is_not_there(archive: Archive) -> None:
    ledger = ledger_of(archive)
    policy = Subject("policy", policy_id("access", ["Ada"]), "access")
    for subject, evidence in (
        (Subject("tool", "ghost", "grep"), {}),
        (SETS[0], {}),
        (SETS[0], {"values": VALUES[1]}),
        (policy, {}),
        (policy, {"access": ["Bo"]}),
        (Subject("policy", policy.id, "other"), {"other": ["Ada"]}),
    ):
        with pytest.raises(UsageError, match=f"there is no {subject.kind} '{subject.id}'"):
            ledger.promote(subject, HERE, reason="", evidence=evidence)
    with pytest.raises(StoreError, match="there is no design 'nothing'"):
        ledger.promote(Subject("design", "nothing"), HERE, reason="", evidence={})
    with pytest.raises(UsageError, match="is not known here"):
        Ledger(archive).promote(TOOLS[0], HERE, reason="", evidence={})
    ledger.promote(policy, HERE, reason="", evidence={"access": ["Ada"]})
    assert len(archive.promotions()) == 1


def test_a_scope_is_one_and_what_older_archives_hold_can_still_be_decided(
    archive: Archive,
) -> None:
    ledger, somewhere = ledger_of(archive), Place("scope", "anywhere at all")
    for enter in (ledger.promote, ledger.refuse):
        with pytest.raises(UsageError, match="is not a scope"):
            enter(TOOLS[0], somewhere, reason="", evidence={})
    old = PromotionRecord(
        TOOLS[0], somewhere, 0, "promoted", "gate", "", {}, "2025", risk="parameters", waits=True
    )
    archive.add_promotion(old)
    assert by_gate(old)
    ledger.approve(TOOLS[0], somewhere, by="Ada")
    assert [by_gate(entry) for entry in archive.promotions()] == [True, False]
    ledger.undo(TOOLS[0], somewhere, by="Ada", reason="x")


def test_what_does_not_wait_or_is_not_in_use_cannot_be_decided(archive: Archive) -> None:
    ledger = ledger_of(archive)
    with pytest.raises(UsageError, match="does not wait"):
        ledger.approve(TOOLS[0], HERE, by="Ada")
    promote(ledger, TOOLS[0])
    with pytest.raises(UsageError) as caught:
        ledger.undo(TOOLS[0], HERE, by="Ada", reason="x")
    assert "reject it" in caught.value.hint
    with pytest.raises(UsageError, match="does not wait"):
        ledger.approve(TOOLS[0], ELSEWHERE, by="Ada")
    assert len(archive.promotions()) == 1


def test_of_two_who_decide_at_once_the_second_sees_the_first(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    with open_archive(path) as archive:
        for _ in range(2):
            promote(ledger_of(archive), TOOLS[0])
    start, said = Barrier(8), []

    def decide(number: int) -> None:
        with open_archive(path) as own:
            start.wait()
            try:
                ledger_of(own).approve(TOOLS[0], HERE, by=f"person {number}")
                said.append("approved")
            except UsageError as error:
                said.append(error.message)

    threads = [Thread(target=decide, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said)[0] == "approved" and len(set(said)) == 2
    assert said.count("approved") == 1
    with open_archive(path) as archive:
        assert [p.ordinal for p in archive.promotions()] == [0, 1, 2]


class Decisions(RuleBasedStateMachine):
    """Decisions in any order, against a plain account of what each ought to do."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "archive.db"
        self.archive = SqliteArchive(self.path)
        self.ledger = ledger_of(self.archive)
        self.waiting: list[Subject] = []
        self.used: list[Subject] = []  # the last is in use
        self.count = 0

    def teardown(self) -> None:
        self.archive.close()
        self.folder.cleanup()

    @property
    def now(self) -> Subject | None:
        return self.used[-1] if self.used else None

    @rule(tool=st.sampled_from(SETS))
    def passes_the_gate(self, tool: Subject) -> None:
        promote(self.ledger, tool)
        self.count += 1
        if self.now != tool:
            self.waiting = [t for t in self.waiting if t != tool] + [tool]

    @rule(tool=st.sampled_from(SETS))
    def applies_itself(self, tool: Subject) -> None:
        promote(self.ledger, tool, free=True)
        self.count += 1
        self._use(tool)

    @rule(tool=st.sampled_from(SETS))
    def is_refused(self, tool: Subject) -> None:
        self.ledger.refuse(tool, HERE, reason="", evidence={})
        self.count += 1

    @rule(tool=st.sampled_from(SETS))
    def is_approved(self, tool: Subject) -> None:
        if tool not in self.waiting:
            with pytest.raises(UsageError):
                self.ledger.approve(tool, HERE, by="Ada")
            return
        self.ledger.approve(tool, HERE, by="Ada")
        self.count += 1
        self._use(tool)

    @rule(tool=st.sampled_from(SETS))
    def is_rejected(self, tool: Subject) -> None:
        if tool not in self.waiting:
            with pytest.raises(UsageError):
                self.ledger.reject(tool, HERE, by="Ada", reason="x")
            return
        self.ledger.reject(tool, HERE, by="Ada", reason="x")
        self.count += 1
        self.waiting.remove(tool)

    @rule(tool=st.sampled_from(SETS))
    def is_undone(self, tool: Subject) -> None:
        if tool not in self.used:
            with pytest.raises(UsageError):
                self.ledger.undo(tool, HERE, by="Ada", reason="x")
            return
        self.ledger.undo(tool, HERE, by="Ada", reason="x")
        self.count += 1
        left = [t for t in self.used if t != tool]
        self.used = [t for n, t in enumerate(left) if n == 0 or left[n - 1] != t]

    @precondition(lambda self: SETS[0] not in self.used)
    @rule(free=st.booleans())
    def is_applied_and_undone(self, free: bool) -> None:
        """Undo restores the former."""
        before = self.ledger.standing(SETS[0], HERE).applied
        promote(self.ledger, SETS[0], free=free)
        if not free:
            self.ledger.approve(SETS[0], HERE, by="Ada")
        self.ledger.undo(SETS[0], HERE, by="Ada", reason="x")
        self.count += 2 if free else 3
        assert self.ledger.standing(SETS[0], HERE).applied == before
        self.waiting = [tool for tool in self.waiting if tool != SETS[0]]

    @rule()
    def reopens(self) -> None:
        self.archive.close()
        self.archive = SqliteArchive(self.path, create=False)
        self.ledger = ledger_of(self.archive)

    def _use(self, tool: Subject) -> None:
        self.waiting = [t for t in self.waiting if t != tool]
        if self.now != tool:
            self.used.append(tool)

    @invariant()
    def the_ledger_says_the_same(self) -> None:
        found = self.ledger.standing(SETS[0], HERE)
        assert [entry.subject for entry in found.pending] == self.waiting
        assert [entry.subject for entry in found.applied] == self.used
        assert all(e.decision == "approved" or not e.waits for e in found.applied)
        history = self.archive.promotions()
        assert [entry.ordinal for entry in history] == list(range(self.count))
        assert standing(history) == found


TestDecisions = Decisions.TestCase
TestDecisions.settings = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

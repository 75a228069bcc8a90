"""Whatever is put in comes out the same, in any order of calls, also after reopening."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from metamem.core.errors import StoreError
from metamem.core.types import (
    Advice,
    Case,
    CaseResult,
    Design,
    Episode,
    Evaluation,
    Fingerprint,
    Measurement,
    Step,
)
from metamem.store import ProposalRecord, SqliteArchive
from metamem.store.conformance.support import design, fingerprint
from metamem.store.engine import escape, unescape

any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
proper_text = st.text(max_size=12)
number = st.floats(allow_nan=False, allow_infinity=False).map(lambda value: value + 0.0)  # no -0.0
count = st.integers(0, 2**63 - 1)
plain_json = st.recursive(
    st.none() | st.booleans() | st.integers() | number | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
mapping = st.dictionaries(any_text, plain_json, max_size=3)

rows = st.builds(
    CaseResult,
    task_id=any_text,
    repeat=st.integers(0, 3),
    reward=number,
    steps=count,
    advice_tokens=count,
    advice_truncated=st.booleans(),
    advice_digest=any_text,
    actions_digest=any_text,
    model_calls=count,
    tokens=count,
    failure=any_text,
    measured=st.builds(Measurement, number, number),
)
actions = st.lists(any_text, max_size=3).map(tuple)
episodes = st.builds(
    Episode,
    task_id=any_text,
    goal=any_text,
    observation=any_text,
    actions=actions,
    steps=st.lists(
        st.builds(Step, any_text, any_text, actions, number, st.booleans()), max_size=3
    ).map(tuple),
    reward=number,
    advice=st.lists(st.builds(Advice, any_text, count, st.booleans()), max_size=2).map(tuple),
)


@given(any_text)
@example("\x10")
@example("\x100041")
@example("\x00")
@example("\ud83e\udde0")
def test_escaped_text_is_safe_and_comes_back(text: str) -> None:
    safe = escape(text)
    assert unescape(safe) == text
    assert "\x00" not in safe
    safe.encode("utf-8")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\x10")))
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    assert escape(text) == text


class Model(RuleBasedStateMachine):
    """An archive beside a plain dictionary of what it should hold."""

    designs = Bundle("designs")
    evaluations = Bundle("evaluations")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.archive = SqliteArchive(Path(self.folder.name) / "archive.db")
        self.archive.create_run("run", {})
        self.known_designs: dict[str, Design] = {}
        self.prints: dict[str, Fingerprint] = {}
        self.rows: dict[str, dict[Case, CaseResult]] = {}
        self.traces: dict[tuple[str, Case], Episode] = {}
        self.journal: dict[int, ProposalRecord] = {}
        self.collections: dict[str, list[Episode]] = {}
        self.blobs: dict[str, bytes] = {}

    def teardown(self) -> None:
        self.archive.close()
        self.folder.cleanup()

    @rule(target=designs, source=proper_text, name=any_text)
    def add_design(self, source: str, name: str) -> Design:
        given_design = Design(source, name=name)
        assert self.archive.add_design(given_design) == (given_design.id not in self.known_designs)
        return self.known_designs.setdefault(given_design.id, given_design)

    @rule(target=evaluations, of=designs, seed=st.integers(0, 2**63), protocol=mapping)
    def open_evaluation(self, of: Design, seed: int, protocol: dict[str, object]) -> str:
        # An id is a hash of UTF-8, so fingerprints have proper text only.
        safe = {escape(key): escape(repr(value)) for key, value in protocol.items()}
        print_ = replace(fingerprint(of, seed=seed), rules=safe)
        key = self.archive.open_evaluation(print_, 1000)
        self.prints[key] = print_
        self.rows.setdefault(key, {})
        return key

    @rule(key=evaluations, batch=st.lists(rows, max_size=5))
    def add_rows(self, key: str, batch: list[CaseResult]) -> None:
        merged = dict(self.rows[key])
        if any(merged.setdefault(row.case, row) != row for row in batch):
            with pytest.raises(StoreError):
                self.archive.add_rows(key, batch)
        else:
            new = len(merged) - len(self.rows[key])
            assert self.archive.add_rows(key, batch) == new
            self.rows[key] = merged

    @rule(key=evaluations, episode=episodes, choice=st.integers(0))
    def add_trace(self, key: str, episode: Episode, choice: int) -> None:
        cases = sorted(self.rows[key], key=lambda case: (case.task_id, case.repeat))
        if not cases:
            return
        case = cases[choice % len(cases)]
        there = self.traces.setdefault((key, case), episode)
        if there == episode:
            self.archive.add_trace(key, case, episode)
        else:
            with pytest.raises(StoreError):
                self.archive.add_trace(key, case, episode)

    @rule(
        ordinal=st.integers(0, 5),
        parents=st.lists(designs, max_size=2),
        note=any_text,
        evidence=mapping,
        estimate=st.none() | mapping,
    )
    def propose(
        self,
        ordinal: int,
        parents: list[Design],
        note: str,
        evidence: dict[str, object],
        estimate: dict[str, object] | None,
    ) -> None:
        proposal = ProposalRecord(
            run_id="run",
            ordinal=ordinal,
            design_id=parents[0].id if parents else None,
            parents=tuple(parent.id for parent in parents),
            proposer="recombine",
            operator="graft",
            note=note,
            status="accepted",
            evidence=evidence,
            estimate=estimate,
        )
        if ordinal not in self.journal:
            assert self.archive.add_proposal(proposal)
            self.journal[ordinal] = proposal
        elif self.journal[ordinal] != proposal:
            with pytest.raises(StoreError):
                self.archive.add_proposal(proposal)
        assert not self.archive.add_proposal(self.journal[ordinal])

    @rule(name=any_text, content=st.lists(episodes, max_size=2))
    def put_collection(self, name: str, content: list[Episode]) -> None:
        if name not in self.collections:
            assert self.archive.put_collection(name, content)
            self.collections[name] = content
        assert not self.archive.put_collection(name, self.collections[name])

    @rule(name=any_text, content=st.binary(max_size=20))
    def put_blob(self, name: str, content: bytes) -> None:
        if name not in self.blobs:
            assert self.archive.put_blob(name, content)
            self.blobs[name] = content
        assert not self.archive.put_blob(name, self.blobs[name])

    @rule(gone=consumes(evaluations))
    def reopen(self, gone: str) -> None:
        """Consuming an evaluation keeps reopening from being most of what happens."""
        self.archive.close()
        self.archive = SqliteArchive(Path(self.folder.name) / "archive.db", create=False)

    @invariant()
    def holds_what_was_put_in(self) -> None:
        assert [r.id for r in self.archive.designs()] == list(self.known_designs)
        assert {key: self.archive.design(key) for key in self.known_designs} == self.known_designs
        found = {e.id: e for e in self.archive.evaluations()}
        assert list(found) == list(self.prints)
        for key, print_ in self.prints.items():
            ordered = sorted(self.rows[key].values(), key=lambda r: (r.task_id, r.repeat))
            assert found[key] == Evaluation(print_, tuple(ordered), 1000)
            assert [r.measured for r in found[key].rows] == [r.measured for r in ordered]
            traces = {(key, t.case): t.episode for t in self.archive.traces(key)}
            assert traces == {k: e for k, e in self.traces.items() if k[0] == key}
        assert self.archive.proposals("run") == [self.journal[n] for n in sorted(self.journal)]
        assert self.archive.collections() == list(self.collections)
        assert {name: self.archive.collection(name) for name in self.collections} == (
            self.collections
        )
        assert {name: self.archive.blob(name) for name in self.blobs} == self.blobs


TestModel = Model.TestCase
TestModel.settings = settings(
    max_examples=20,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@given(st.lists(rows, max_size=20, unique_by=lambda row: row.case))
@settings(max_examples=40, deadline=None)
def test_rows_come_back_bit_for_bit(batch: list[CaseResult]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive.db"
        with SqliteArchive(path) as archive:
            archive.add_design(design())
            key = archive.open_evaluation(fingerprint(design()), len(batch))
            archive.add_rows(key, batch)
        with SqliteArchive(path) as archive:
            found = archive.evaluation(key)
        assert found is not None
        assert found.complete
        ordered = sorted(batch, key=lambda row: (row.task_id, row.repeat))
        assert repr(list(found.rows)) == repr(ordered)  # `==` would not tell 1 from 1.0

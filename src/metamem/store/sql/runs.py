"""Runs and their journals."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from metamem.core.errors import StoreError, UnknownName, UsageError
from metamem.store.codec import dump, load
from metamem.store.engine import Execute, Value
from metamem.store.records import (
    PROPOSAL_STATUSES,
    RUN_STATES,
    ProposalRecord,
    RunRecord,
    RunState,
    utc_now,
)
from metamem.store.sql.base import Part, insert, insert_once, one_of, page, require


class Runs(Part):
    def create_run(self, run_id: str, config: Mapping[str, Any]) -> bool:
        what = f"the run {run_id!r}"
        with self._engine.writing() as execute:
            content: dict[str, Value] = {"config": dump(config, f"the config of {what}")}
            new = insert_once(execute, "runs", {"id": run_id}, content, what)
            if new:
                _enter(execute, run_id, "created", "{}")
            return new

    def run(self, run_id: str) -> RunRecord:
        with self._engine.reading() as execute:
            found = _runs(execute, "runs.id = ?", "", run_id)
        if not found:
            raise UnknownName(
                f"there is no run {run_id!r}", hint=f"{self._engine.place} does not hold it"
            )
        return found[0]

    def runs(self, *, after: str | None = None, limit: int | None = None) -> list[RunRecord]:
        where, end, values = page("runs", after, limit)
        with self._engine.reading() as execute:
            if after is not None:
                require(execute, "runs", after, "run")
            return _runs(execute, where, end, *values)

    def set_run_state(
        self, run_id: str, state: RunState, summary: Mapping[str, Any] | None = None
    ) -> None:
        one_of(state, RUN_STATES, "state of a run")
        if state == "created":
            raise UsageError("a run is created once", hint="use create_run")
        text = None if summary is None else dump(summary, f"the summary of run {run_id!r}")
        with self._engine.writing() as execute:
            require(execute, "runs", run_id, "run")
            self._engine.alone(execute, f"run {run_id}")  # a state follows on the one before
            if text is None:
                ((text,),) = execute(
                    "SELECT summary FROM run_states WHERE run_id = ? ORDER BY seq DESC LIMIT 1",
                    (run_id,),
                )
            _enter(execute, run_id, state, text)

    def lock_run(self, run_id: str) -> AbstractContextManager[None]:
        return self._engine.lock_run(run_id)

    def run_is_held(self, run_id: str) -> bool:
        return self._engine.run_is_held(run_id)

    def add_proposal(self, proposal: ProposalRecord) -> bool:
        one_of(proposal.status, PROPOSAL_STATUSES, "status of a proposal")
        if proposal.ordinal < 0:
            raise UsageError(f"a proposal's ordinal is {proposal.ordinal}", hint="count from 0")
        what = f"proposal {proposal.ordinal} of run {proposal.run_id!r}"
        key: dict[str, Value] = {"run_id": proposal.run_id, "ordinal": proposal.ordinal}
        content: dict[str, Value] = {
            "design_id": proposal.design_id,
            "proposer": proposal.proposer,
            "operator": proposal.operator,
            "note": proposal.note,
            "status": proposal.status,
            "reason": proposal.reason,
            "evidence": dump(proposal.evidence, f"the evidence of {what}"),
            "evaluation_id": proposal.evaluation_id,
            "estimate": None
            if proposal.estimate is None
            else dump(proposal.estimate, f"the estimate of {what}"),
        }
        with self._engine.writing() as execute:
            require(execute, "runs", proposal.run_id, "run")
            require(execute, "evaluations", proposal.evaluation_id, "evaluation")
            for design_id in (proposal.design_id, *proposal.parents):
                require(execute, "designs", design_id, "design")
            if insert_once(execute, "proposals", key, content, what):
                for place, parent in enumerate(proposal.parents):
                    columns = {**key, "place": place, "design_id": parent}
                    insert(execute, "proposal_parents", columns)
                return True
            there = _parents(execute, proposal.run_id).get(proposal.ordinal, ())
            if there != tuple(proposal.parents):
                raise StoreError(
                    f"{what} is in the archive already, with other parents",
                    hint="what was written once is never changed",
                )
            return False

    def proposals(self, run_id: str) -> list[ProposalRecord]:
        with self._engine.reading() as execute:
            parents = _parents(execute, run_id)
            found = execute(
                "SELECT ordinal, design_id, proposer, operator, note, status, reason, evidence,"
                " evaluation_id, estimate FROM proposals WHERE run_id = ? ORDER BY ordinal",
                (run_id,),
            )
        records = []
        for ordinal, design_id, *words, evidence, evaluation_id, estimate in found:
            what = f"of proposal {ordinal} of run {run_id!r}"
            proposer, operator, note, status, reason = words
            records.append(
                ProposalRecord(
                    run_id=run_id,
                    ordinal=ordinal,
                    design_id=design_id,
                    parents=parents.get(ordinal, ()),
                    proposer=proposer,
                    operator=operator,
                    note=note,
                    status=status,
                    reason=reason,
                    evidence=load(evidence, f"the evidence {what}"),
                    evaluation_id=evaluation_id,
                    estimate=None if estimate is None else load(estimate, f"the estimate {what}"),
                )
            )
        return records


def _enter(execute: Execute, run_id: str, state: str, summary: str) -> None:
    columns = {"run_id": run_id, "state": state, "summary": summary, "at": utc_now()}
    insert(execute, "run_states", columns)


def _runs(execute: Execute, where: str, end: str, *values: Value) -> list[RunRecord]:
    found = execute(
        "SELECT runs.id, runs.config, newest.state, newest.summary, oldest.at, newest.at FROM runs"
        " JOIN run_states oldest ON oldest.seq ="
        " (SELECT MIN(seq) FROM run_states WHERE run_id = runs.id)"
        " JOIN run_states newest ON newest.seq ="
        f" (SELECT MAX(seq) FROM run_states WHERE run_id = runs.id) WHERE {where} {end}",
        values,
    )
    return [
        RunRecord(
            id=run_id,
            config=load(config, f"the config of run {run_id!r}"),
            state=state,
            summary=load(summary, f"the summary of run {run_id!r}"),
            created_at=created_at,
            changed_at=changed_at,
        )
        for run_id, config, state, summary, created_at, changed_at in found
    ]


def _parents(execute: Execute, run_id: str) -> dict[int, tuple[str, ...]]:
    found = execute(
        "SELECT ordinal, design_id FROM proposal_parents WHERE run_id = ? ORDER BY ordinal, place",
        (run_id,),
    )
    parents: dict[int, tuple[str, ...]] = {}
    for ordinal, design_id in found:
        parents[ordinal] = (*parents.get(ordinal, ()), design_id)
    return parents

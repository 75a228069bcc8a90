"""The search: select parents, propose, verify, evaluate, keep. Resumable at any moment.

A search is a function of its seed. Proposals come in batches of a fixed size; everything a
batch depends on (parents, credit, known behaviours, the race's reference) is taken from the
batches before it, and its results are committed in order. So it does not matter how many
workers there are, which evaluation ends first, or how often the process was killed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import nlargest
from statistics import fmean
from typing import Protocol

from metamem.core.aside import aside
from metamem.core.errors import StoreError, UsageError
from metamem.core.ids import derive_seed, short
from metamem.core.progress import Progress, Silent
from metamem.core.protocols import Chat
from metamem.core.stopwatch import Stopwatch
from metamem.core.types import Design, Evaluation
from metamem.evaluation.evaluator import Evaluator, Outcome
from metamem.evaluation.probation import why_stopped
from metamem.evaluation.racing import (
    Estimate,
    Race,
    RacePlan,
    RaceSettings,
    complete_estimate,
)
from metamem.evaluation.shares import in_shares
from metamem.search.budget import Budget as Budget
from metamem.search.drafts import COST, ROUND, STAGES, Draft, Tries, distinct, settled, told
from metamem.search.entries import HUMAN as HUMAN
from metamem.search.entries import Entry, Views, lenders
from metamem.search.learnables import Learnable
from metamem.search.pool import Pool
from metamem.search.proposer import (
    OperatorOutcome,
    ParentView,
    Proposal,
    Proposer,
    Request,
    Tried,
)
from metamem.search.selectors import Selector
from metamem.search.verifier import Verdict, verify
from metamem.store.facets import Designs, Evaluations, Journal
from metamem.store.records import ProposalRecord, ProposalStatus, Trace

RESAMPLES = 3  # tries until a proposal is no copy of a known design


class Records(Designs, Evaluations, Journal, Protocol):
    """What searching needs of an archive, beside what evaluating needs."""


@dataclass
class Search:
    """One arm of a run: its journal is the proposals under `journal` in the archive.

    It may have several rounds, each with an equal share of the budget. Between two of them, what
    designs learn from changes, and with it the evaluator (`renew`).
    """

    archive: Records
    evaluator: Evaluator
    journal: str
    learnable: Learnable
    seeds: Sequence[Design]
    proposer: Proposer
    proposer_name: str
    selector: Selector
    budget: Budget
    seed: int
    batch: int = 6
    repairs: int = 3
    race: RaceSettings | None = field(default_factory=RaceSettings)
    progress: Progress = field(default_factory=Silent)
    chats_at: Callable[[int], Mapping[str, Chat]] | None = None  # models, bound to a request's seed
    hints: bool = True  # whether proposers may be told about the domain
    entries: list[Entry] = field(default_factory=list)
    outcomes: list[OperatorOutcome] = field(default_factory=list)
    visits: dict[str, int] = field(default_factory=dict)
    fruitless: dict[str, list[str]] = field(default_factory=dict)  # children in words, by parent
    seen: dict[str, str] = field(default_factory=dict)  # by syntax, whatever became of it
    worked: Callable[[], float] = field(default_factory=lambda: Stopwatch().seconds)
    free_duplicates: bool = False  # whether duplicates cost nothing (as many as there are designs)
    free: int = 0  # duplicates so far that cost nothing
    rounds: int = 1
    round: int = 1
    past: dict[str, Entry] = field(default_factory=dict)  # by design, of rounds that are over
    _next: int = 0  # the place of the next proposal in the journal
    _written: dict[int, ProposalRecord] = field(default_factory=dict)
    _reference_id: str = field(init=False)

    def __post_init__(self) -> None:
        self._reference_id = self.learnable.reference(self.evaluator.domain).id
        if self._reference_id not in [design.id for design in self.seeds]:
            raise UsageError("a search begins with what it is compared with among its seeds")

    async def run(self) -> list[Entry]:
        """Search until this round's share of the budget is spent; returns every evaluated design."""
        if not self.entries:
            journal = await aside(self.archive.proposals, self.journal)
            self._written = {p.ordinal: p for p in journal}
            await self._seeds()
            self._next = len(self.seeds)
        share = self.budget.share(self.round, self.rounds)
        while self._goes_on(share):
            size = self.batch
            if share.designs:
                size = min(size, share.designs - self._cost(self._next))
            ordinals = range(self._next, self._next + size)
            if all(n in self._written for n in ordinals):
                await self._replay(ordinals)
            else:
                await self._batch(ordinals)
            self._next += size
        return self.entries

    async def renew(self, evaluator: Evaluator, carried: int) -> None:
        """Go on in a new round, whose evaluator lets designs learn from more.

        Designs of people and so many of the best others are played anew and become the parents to
        come; nothing that was scored by what was known before is compared with them.
        """
        whole = [e for e in self.entries if e.estimate.complete and not e.human]
        whole.sort(key=lambda e: (-e.estimate.mean, e.ordinal))
        kept = [*(e for e in self.entries if e.human), *whole[:carried]]
        self.past |= {entry.design.id: entry for entry in self.entries}
        self.evaluator, self.round, self.entries = evaluator, self.round + 1, []
        outcomes = await settled(self._played(e.design, self.proposer_name) for e in kept)
        for entry, outcome in zip(kept, outcomes, strict=True):
            estimate = complete_estimate(outcome.evaluation.by_task())
            proposal = Proposal(entry.design, entry.parents, entry.operator, entry.note)
            again = self._entry(entry.ordinal, proposal, outcome.evaluation, estimate)
            self.entries.append(again)

    def _goes_on(self, share: Budget) -> bool:
        """Whether this round does. One that an earlier process had finished ends where it ended."""
        written = self._written.get(self._next)
        if written is not None:
            return bool(written.evidence.get(ROUND, 1) <= self.round)
        if share.designs and self._cost(self._next) >= share.designs:
            return False
        return not share.seconds or self.worked() < share.seconds

    def _cost(self, ordinal: int) -> int:
        """How many of the budget's designs were spent before this place in the journal."""
        return ordinal - len(self.seeds) - self.free

    def _is_free(self, duplicate: bool) -> bool:
        """Bounded, so that no run goes on for ever."""
        return duplicate and self.free_duplicates and self.free < self.budget.designs

    @property
    def spent(self) -> int:
        """Of the budget's designs."""
        return len(self.outcomes) - self.free

    @property
    def best(self) -> Entry:
        """The incumbent: the best mean among complete evaluations; the earlier one in a tie."""
        whole = [e for e in self.entries if e.estimate.complete]
        return max(whole, key=lambda e: (e.estimate.mean, -e.ordinal))

    # --- the human designs come first --------------------------------------------------------

    async def _seeds(self) -> None:
        outcomes = await settled(self._played(design, HUMAN) for design in self.seeds)
        for ordinal, (design, outcome) in enumerate(zip(self.seeds, outcomes, strict=True)):
            proposal = Proposal(design, (), HUMAN, "written by people")
            await self._commit(ordinal, Verdict(proposal), outcome, None)

    async def _played(self, design: Design, created_by: str) -> Outcome:
        """To the end, whatever comes of it."""
        outcome = await self.evaluator.evaluate(
            design, "train", purpose="search", created_by=created_by
        )
        self.progress.advance()
        return outcome

    # --- one batch ---------------------------------------------------------------------------

    async def _batch(self, ordinals: range) -> None:
        number = ordinals.start
        incumbent, played = self.best, {e.design.id: e.evaluation for e in self.entries}
        known_behaviours = self.learnable.behaviours(played, self._probes())
        pool = Pool(self.entries, self.visits, self.evaluator.domain.reward_range, self._kinds())
        chosen = pool.choose(
            self.selector,
            len(ordinals),
            self._reference().estimate.mean,
            derive_seed(self.seed, "parents", number),
        )
        known = dict(self.seen)
        drafts = await self._drafts(ordinals, chosen, known)
        verified = await settled(self._verify(draft, known) for draft in drafts)
        verdicts = distinct(verified, self.learnable.copy_key)

        async def one(ordinal: int, verdict: Verdict) -> tuple[Outcome, Race | None] | None:
            if not verdict.accepted:
                self._advance(bool(verdict.duplicate_of))
                return None
            race = self._race_for(incumbent, verdict.proposal.design)
            outcome = await self.evaluator.evaluate(
                verdict.proposal.design,
                "train",
                purpose="search",
                race=race,
                behaviours=known_behaviours,
                probes=self._probes(),
                created_by=self.proposer_name,
            )
            self._advance(bool(outcome.done.same_as))
            if reason := why_stopped(outcome.evaluation.rows):
                self.progress.note(f"{short(verdict.proposal.design.id)}: {reason}")
            return outcome, race

        results = await settled(map(one, ordinals, verdicts))
        for ordinal, verdict, result in zip(ordinals, verdicts, results, strict=True):
            await self._commit(ordinal, verdict, *(result or (None, None)))

    async def _drafts(
        self, ordinals: range, chosen: Sequence[str], known: dict[str, str]
    ) -> list[Draft]:
        """Proposals that are no copies of known designs, if such come of a few tries.

        All first tries are made at once; which of them are copies is decided in order.
        """
        views = Views(
            self.entries,
            self.fruitless,
            self._kinds(),
            self._traces,
            self._reference().evaluation,
            self.evaluator.domain.reward_range,
        )
        own = [e.design.id for e in self.entries if not e.human]
        latest = views.view(own[-1]) if own else None
        drafts = []
        for parent, ordinal in zip(chosen, ordinals, strict=True):
            lent = lenders(self.entries, parent, derive_seed(self.seed, "lenders", ordinal))
            parents = [views.view(each) for each in (parent, *lent)]
            request = replace(self._request(parents, ordinal, 0), latest=latest)
            drafts.append(Draft(request, Tries(self.proposer)))
        await settled(draft.tries.propose(draft.request) for draft in drafts)
        for ordinal, draft in zip(ordinals, drafts, strict=True):
            for attempt in range(1, RESAMPLES):
                if self._key(draft.proposal) not in known:
                    break
                again = self._request(draft.request.parents, ordinal, attempt)
                draft.request = replace(again, latest=latest)
                await draft.tries.propose(draft.request)
            known.setdefault(self._key(draft.proposal), draft.proposal.design.id)
        return drafts

    def _request(self, parents: Sequence[ParentView], ordinal: int, attempt: int) -> Request:
        seed = derive_seed(self.seed, "propose", ordinal, attempt)
        return Request(
            parents=parents,
            history=self.outcomes,
            tried=[
                Tried(e.design, e.estimate.mean, e.operator, e.human, e.rewards)
                for e in self.entries
            ],
            seed=seed,
            domain_description=self.evaluator.domain.describe(),
            invariants=self.evaluator.domain.invariants(),
            hints=self.hints,
            space=self.learnable.space(self.evaluator.domain),
            agent=self.evaluator.setup.agent.name,
            asked=self.evaluator.setup.rules.asked,
            chats=self.chats_at(seed) if self.chats_at else {},
        )

    async def _verify(self, draft: Draft, known: dict[str, str]) -> Verdict:
        """Duplicates are not even tried; the others are run, and repaired where they fail."""
        if twin := self._twin(draft.proposal, known):
            return Verdict(draft.proposal, duplicate_of=twin)
        verdict = await verify(
            self.evaluator, draft.tries, draft.request, draft.proposal, self.repairs
        )
        if verdict.accepted and (twin := self._twin(verdict.proposal, known)):  # by its repair
            return Verdict(verdict.proposal, duplicate_of=twin)
        return verdict

    def _twin(self, proposal: Proposal, known: Mapping[str, str]) -> str:
        """The known design with the same code; empty where there is none but itself."""
        twin = known.get(self._key(proposal), "")
        itself = twin == proposal.design.id and twin not in self.seen.values()
        return "" if itself else twin

    def _key(self, proposal: Proposal) -> str:
        return self.learnable.copy_key(proposal.design)

    def _race_for(self, incumbent: Entry, design: Design) -> Race | None:
        if self.race is None:
            return None
        tasks = [t.id for t in self.evaluator.plan("train").deployment]
        plan = RacePlan.build(tasks, derive_seed("race", self.seed, design.id), self.race)
        return Race(plan, incumbent.evaluation.by_task())

    def _probes(self) -> list[str]:
        """The deployed tasks on which behaviour is compared."""
        return self.learnable.probes([t.id for t in self.evaluator.plan("train").deployment])

    async def _traces(self, entry: Entry, tasks: Sequence[str]) -> list[Trace]:
        return await self.evaluator.traces(entry.design, "train", tasks)

    def _advance(self, duplicate: bool) -> None:
        if not self._is_free(duplicate):
            self.progress.advance()

    # --- the journal -------------------------------------------------------------------------

    async def _replay(self, ordinals: range) -> None:
        """A batch that an earlier process finished, as the journal has it."""
        for ordinal in ordinals:
            record = self._written[ordinal]
            if record.design_id is None:
                raise StoreError(f"entry {ordinal} of the journal {self.journal} has no design")
            proposal = Proposal(
                await aside(self.archive.design, record.design_id),
                record.parents,
                record.operator,
                record.note,
                record.evidence.get(STAGES, {}),
                record.evidence.get(COST, 0.0),
            )
            entry = None
            if record.evaluation_id is not None and record.estimate is not None:
                evaluation = await aside(self.archive.evaluation, record.evaluation_id)
                if evaluation is None:
                    raise StoreError(f"evaluation {record.evaluation_id} is not in the archive")
                estimate = Estimate(**record.estimate)
                entry = self._entry(ordinal, proposal, evaluation, estimate)
            duplicate = record.status == "duplicate"
            self._advance(duplicate)
            self._keep(proposal, entry, record.reason, duplicate)

    async def _commit(
        self, ordinal: int, verdict: Verdict, outcome: Outcome | None, race: Race | None
    ) -> None:
        proposal, entry = verdict.proposal, None
        status: ProposalStatus = "accepted"
        reason = ""
        if verdict.duplicate_of:
            status = "duplicate"
            reason = f"{self.learnable.copied} as {short(verdict.duplicate_of)}"
        elif verdict.error or outcome is None:
            status, reason = "rejected", verdict.error
        elif outcome.done.same_as:
            status = "duplicate"
            reason = f"{self.learnable.alike} as {short(outcome.done.same_as)}"
            reason += f" on all {len(self._probes())} tasks"
        else:
            estimate = self._estimate(outcome.evaluation, race)
            entry = self._entry(ordinal, proposal, outcome.evaluation, estimate)
        self._keep(proposal, entry, reason, status == "duplicate")
        record = ProposalRecord(
            run_id=self.journal,
            ordinal=ordinal,
            design_id=proposal.design.id,
            parents=proposal.parents,
            proposer=HUMAN if proposal.operator == HUMAN else self.proposer_name,
            operator=proposal.operator,
            note=proposal.note,
            status=status,
            reason=reason,
            evidence=(asdict(entry.evidence) if entry else {}) | told(proposal, self.round),
            evaluation_id=entry.evaluation.id if entry else None,
            estimate=asdict(entry.estimate) if entry else None,
        )
        await aside(self.archive.add_design, proposal.design, created_by=self.proposer_name)
        await aside(self.archive.add_proposal, record)

    def _keep(
        self, proposal: Proposal, entry: Entry | None, reason: str, duplicate: bool = False
    ) -> None:
        """What later batches build on: entries, credit, visits and what led nowhere."""
        gain = ahead = None
        self.free += self._is_free(duplicate)
        if entry is not None:
            if self.entries:
                gain = entry.estimate.mean - self._before(proposal)
                ahead = entry.estimate.mean - self.best.estimate.mean
            self.entries.append(entry)
        self.seen.setdefault(self._key(proposal), proposal.design.id)
        if proposal.operator != HUMAN:
            self.outcomes.append(OperatorOutcome(proposal.operator, gain, proposal.cost, ahead))
        for parent_id in proposal.parents[:1]:
            self.visits[parent_id] = self.visits.get(parent_id, 0) + 1
            if entry is None:
                self.fruitless.setdefault(parent_id, []).append(f"{proposal.note} ({reason})")

    def _before(self, proposal: Proposal) -> float:
        """What a proposal is to improve on: its parent; without one, a typical parent, so that new
        starts get their share by what they bring."""
        for entry in self.entries:
            if entry.design.id in proposal.parents[:1]:
                return entry.estimate.mean
        return fmean(nlargest(self.batch, (entry.estimate.mean for entry in self.entries)))

    def _estimate(self, evaluation: Evaluation, race: Race | None) -> Estimate:
        rows = evaluation.by_task()
        if race is None or self.evaluator.never_ran(evaluation):  # then all of it is known
            return complete_estimate(rows)
        return race.estimate(rows)

    def _reference(self) -> Entry:
        """What things are worth where nothing was learned."""
        return next(e for e in self.entries if e.design.id == self._reference_id)

    def _kinds(self) -> dict[str, str]:
        return {t.id: t.kind for t in self.evaluator.plan("train").deployment}

    def _entry(
        self, ordinal: int, proposal: Proposal, evaluation: Evaluation, estimate: Estimate
    ) -> Entry:
        known = any(e.design.id == self._reference_id for e in self.entries)
        reference = self._reference().evaluation if known else evaluation
        rewards = self.evaluator.domain.reward_range
        evidence = self.learnable.evidence(
            in_shares(evaluation, rewards), self._kinds(), in_shares(reference, rewards)
        )
        return Entry(
            ordinal,
            proposal.design,
            proposal.parents,
            proposal.operator,
            proposal.note,
            estimate,
            evaluation,
            evidence,
            evaluation.by_task(),
        )

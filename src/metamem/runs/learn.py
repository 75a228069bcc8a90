"""One learning run from start to finish: search, control, choice, gate, one look at the rest."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.calls import Spending
from metamem.core.chat import ROLES, Site
from metamem.core.errors import AllowanceSpent, UnknownName, UsageError
from metamem.core.ids import derive_seed
from metamem.core.needs import needs_of
from metamem.core.progress import Progress, Silent
from metamem.core.stopwatch import Stopwatch
from metamem.core.together import together
from metamem.core.types import Design, Evaluation
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Spec
from metamem.evaluation.origins import enter_origin
from metamem.evaluation.racing import RaceSettings
from metamem.models.placed import PlacedChat
from metamem.promotion.gate import Decision, Gate
from metamem.promotion.ledger import Ledger
from metamem.promotion.places import place_of
from metamem.runs.config import LearnConfig
from metamem.runs.explain import PURPOSE, explain
from metamem.runs.explanation import Explanation
from metamem.runs.opening import Stage
from metamem.runs.readiness import readiness
from metamem.runs.summary import SearchCounts, Summary
from metamem.runs.supply import make_proposer, met_needs
from metamem.runs.table import LEARNED, TableRow, table
from metamem.search.learnables import learnable_of
from metamem.search.loop import HUMAN, Budget, Search
from metamem.store.archive import Archive
from metamem.store.records import ProposalRecord, Subject

KEEP_SECONDS = 2.0  # of working time that are lost at most, or one case if that takes longer
CONTROL = "control"  # the journal of the random arm is the run's name with this behind it


class Learning:
    """Carries out one run. Whatever a killed process had finished is found in the archive."""

    def __init__(
        self,
        stage: Stage,
        progress: Progress | None = None,
        *,
        desk: Path | None = None,
    ) -> None:
        """`desk` is the folder that the proposer is given, where it needs one."""
        self.stage, self.desk = stage, desk
        self.archive, self.broker = stage.archive, stage.broker
        self.run_id, self.config = stage.run_id, stage.config
        self.progress = progress or Silent()
        self.watch = Stopwatch()  # stands still while a proposer waits for somebody
        self.elapsed = 0.0  # by earlier processes of the same run
        self._kept = 0.0  # the time that was entered last, and the entering of it
        self._keeping: asyncio.Future[None] | None = None
        self.evaluator = self._evaluator()
        self.domain = self.evaluator.domain
        self.learnable = learnable_of(self.domain)
        readiness(self.domain, self.config.rules)
        self.humans = self._humans()
        met_needs("proposers", self.config.proposer.name, self.broker)

    async def run(self) -> Summary:
        """The summary of the finished run, which is also stored with it."""
        main = await self._search()
        finalists = await self._confirm(main)
        control = await self._control(main.spent) if self.config.control else []
        valid = await self._on_valid(finalists)
        decision = self._decide(finalists, valid)
        learned = decision.promoted or (
            decision.comparisons[0].design if decision.comparisons else None
        )
        blind = await self._control_on_valid(control)
        rival = max(blind, key=lambda found: (blind[found].reward, found)) if blind else None
        if learned is not None:
            decision = self._gate.beside_control(
                decision,
                valid[learned].by_task(),
                {found: evaluation.by_task() for found, evaluation in blind.items()},
                seed=self.config.seed,
            )
        summary = Summary(
            learned=learned,
            promoted=decision.promoted is not None,
            decision=decision,
            control=rival,
            search=await self._search_told(main),
            explanation=await self._explain(learned, main),
            tables=await self._report(learned, rival),
            models=await aside(self._models),
            reward_range=self.domain.reward_range,
        )
        await aside(self._record, decision, learned)
        return replace(summary, seconds=self.seconds)

    @property
    def seconds(self) -> float:
        """Worked on by this process and those before it."""
        return round(self.elapsed + self.watch.seconds(), 3)

    def so_far(self, error: str = "") -> dict[str, Any]:
        """What is kept of a run that has not finished; `error`: why it ended."""
        found = Summary(self.seconds, error, reward_range=self.domain.reward_range)
        return found.to_json()

    def _waits(self, yes: bool) -> None:
        if yes:
            self.watch.pause()
        else:
            self.watch.resume()
        self.progress.waiting(yes)

    # --- the parts ---------------------------------------------------------------------------

    def _evaluator(self, **changes: Any) -> Evaluator:
        return self.stage.evaluator(lambda row: self._played(), self.progress.note, **changes)

    def _played(self) -> None:
        """Keeps the time now and then: a process that is killed cannot say how long it worked."""
        self.progress.cases()
        if self.seconds - self._kept >= KEEP_SECONDS:
            self._kept = self.seconds
            self._keeping = asyncio.ensure_future(
                aside(self.archive.set_run_state, self.run_id, "running", self.so_far())
            )

    def _humans(self) -> dict[str, Design]:
        broker = self.broker
        roles = [role for role in ROLES if broker is not None and broker.models(role)]
        return self.learnable.seeds(self.domain, roles)

    async def _search(self) -> Search:
        total = len(self.humans) + self.config.budget.designs if self.config.budget.designs else 0
        self.progress.phase("searching", total)
        config = self.config
        search = self._arm(self.run_id, config.budget, config.proposer, config.selector)
        await search.run()
        return search

    async def _control(self, tried: int) -> list[Design]:
        """Who searches blindly, with as many designs as the search tried."""
        self.progress.phase("random control", len(self.humans) + tried)
        journal = f"{self.run_id}/{CONTROL}"
        await aside(self.archive.create_run, journal, {"control_of": self.run_id})
        blind = self.learnable.blind
        arm = self._arm(journal, Budget(designs=tried), blind.proposer, blind.selector)
        await arm.run()
        counts = _counts(arm, await aside(self.archive.proposals, journal))
        await aside(self.archive.set_run_state, journal, "finished", counts.to_json())
        return await self._confirm(arm)

    def _arm(self, journal: str, budget: Budget, made: Spec, chosen: Spec) -> Search:
        config = self.config
        return Search(
            archive=self.archive,
            evaluator=self.evaluator,
            journal=journal,
            learnable=self.learnable,
            seeds=list(self.humans.values()),
            proposer=make_proposer(made, self.broker, self.desk, self._waits),
            proposer_name=registry.portable(made.name),
            selector=registry.create("selectors", chosen.name, **chosen.settings),
            budget=budget,
            seed=derive_seed(config.seed, "search", registry.portable(made.name)),
            batch=config.batch,
            race=RaceSettings() if config.racing else None,
            progress=self.progress,
            chats_at=self._chats_at if self.broker else None,
            hints=config.hints,
            worked=lambda: self.seconds,
            free_duplicates=not needs_of("proposers", made.name).model,  # each try is paid for
        )

    def _chats_at(self, seed: int) -> dict[str, PlacedChat]:
        """The models that write designs, bound to one request."""
        assert self.broker is not None
        return {
            model.name: PlacedChat(
                self.broker.ask, Site("meta", model.name, phase="propose", seed=seed)
            )
            for model in self.broker.models("meta")
        }

    async def _confirm(self, arm: Search) -> list[Design]:
        """The best of an arm, after they changed halves: on tasks the search never chose by."""
        whole = [e for e in arm.entries if e.estimate.complete and not e.human]
        whole.sort(key=lambda e: (-e.estimate.mean, e.evidence.tokens, e.ordinal))
        best = whole[: self.config.confirm]
        self.progress.phase("confirming", len(best) * self.config.confirm_seeds)
        scores = {e.design.id: [e.estimate.mean] for e in best}
        other = replace(self.config.rules, fold=0 if self.config.rules.fold else 1)
        for n in range(self.config.confirm_seeds):
            luck = derive_seed(self.config.seed, "confirm", n)
            fresh = self._evaluator(seed=luck, rules=other)
            results = await self._all(fresh, [e.design for e in best], "train", "confirm")
            for design_id, evaluation in results.items():
                scores[design_id].append(evaluation.reward)
        best.sort(key=lambda e: (-fmean(scores[e.design.id]), e.evidence.tokens, e.ordinal))
        return [e.design for e in best[: self.config.shortlist]]

    async def _on_valid(self, finalists: Sequence[Design]) -> dict[str, Evaluation]:
        designs = [*self.humans.values(), *finalists]
        self.progress.phase("deciding on valid", len(designs))
        return await self._all(self._finals(), designs, "valid", "promotion gate")

    @property
    def _gate(self) -> Gate:
        return Gate(rule=self.learnable.rule(self.domain))

    def _decide(self, finalists: Sequence[Design], valid: Mapping[str, Evaluation]) -> Decision:
        names = {design.id: name for name, design in self.humans.items()}
        return self._gate.decide(
            {d.id: valid[d.id].by_task() for d in finalists},
            {name: valid[design_id].by_task() for design_id, name in names.items()},
            seed=self.config.seed,
        )

    async def _control_on_valid(self, finalists: Sequence[Design]) -> dict[str, Evaluation]:
        """Its champion is chosen there, just as the learned design is."""
        if not finalists:
            return {}
        self.progress.phase("the control on valid", len(finalists))
        return await self._all(self._finals(), finalists, "valid", "random control")

    async def _explain(self, learned: str | None, arm: Search) -> Explanation | None:
        """What the learned design's parts and the steps to it are worth."""
        evaluator = self._finals()
        wanted = self.config.explain
        if learned is None or wanted is False or (wanted is None and evaluator.setup.models):
            return None
        by_id = {entry.design.id: entry for entry in arm.entries}
        line: list[Design] = []
        entry = by_id[learned]
        while entry.parents and entry.parents[0] in by_id:
            entry = by_id[entry.parents[0]]
            line.append(entry.design)

        async def play(designs: Sequence[Design]) -> dict[str, Evaluation]:
            self.progress.phase("taking the design apart", len(designs))
            return await self._all(evaluator, designs, "valid", PURPOSE, created_by=PURPOSE)

        played = evaluator.fingerprint(by_id[learned].design, "valid").id
        gate = await aside(self.archive.traces, played)
        design = by_id[learned].design
        variants = self.learnable.variants(design, [t.episode for t in gate], self.domain)
        return await explain(design, line, variants, play)

    async def _report(
        self, learned: str | None, rival: str | None
    ) -> dict[str, tuple[TableRow, ...]]:
        """The one look at test and shift."""
        rows: dict[str, Design] = dict(self.humans)
        if rival is not None:
            rows[self.learnable.blind.name] = await aside(self.archive.design, rival)
        if learned is not None:
            rows[LEARNED] = await aside(self.archive.design, learned)
        evaluator = self._finals()
        if (ceiling := evaluator.kind.ceiling) is not None:
            rows[ceiling.name] = ceiling
        tables = {}
        for split in ("test", "shift"):
            self.progress.phase(f"reading {split}", len(rows))
            found = await self._all(evaluator, list(rows.values()), split, "report")
            shown = {name: found[design.id] for name, design in rows.items()}
            tables[split] = tuple(table(shown, list(self.humans), self.domain.reward_range))
        return tables

    def _finals(self) -> Evaluator:
        return self._evaluator(rules=replace(self.config.rules, repeats=self.config.final_repeats))

    async def _all(
        self,
        evaluator: Evaluator,
        designs: Sequence[Design],
        split: str,
        purpose: str,
        created_by: str = "",
    ) -> dict[str, Evaluation]:
        async def one(design: Design) -> Evaluation:
            outcome = await evaluator.evaluate(
                design, split, purpose=purpose, created_by=created_by
            )
            self.progress.advance()
            return outcome.evaluation

        unique = list({d.id: d for d in designs}.values())
        done = await together(one(design) for design in unique)
        return {design.id: evaluation for design, evaluation in zip(unique, done, strict=True)}

    async def _search_told(self, arm: Search) -> SearchCounts:
        """What came of the search, with calls that were lost and models that nobody ever asked."""
        counts = _counts(arm, await aside(self.archive.proposals, self.run_id))
        spending = await aside(self.archive.spending, self.run_id)
        asked = {spent.role for spent in spending}
        asked |= self.broker.roles_asked if self.broker is not None else set()
        warnings = [
            f"the model of the role {role} was never asked"
            for role in self.config.models
            if role not in asked
        ]
        lost = sum(spent.in_flight for spent in spending)
        if lost:
            warnings.append(
                f"{lost} calls to models were under way when an earlier process was ended; they"
                " were sent again, so they may have been billed twice"
            )
        return replace(counts, warnings=(*counts.warnings, *warnings))

    def _models(self) -> tuple[Spending, ...]:
        """What this run spent on models, by role and model."""
        totals: dict[tuple[str, str], Spending] = {}
        for spent in self.archive.spending(self.run_id):
            key = (spent.role, spent.model)
            totals[key] = totals[key] + spent if key in totals else spent
        return tuple(replace(spent, design_id="", run_id="") for spent in totals.values())

    def _record(self, decision: Decision, learned: str | None) -> None:
        """Enter the decision, once: a run that was killed right after this enters no second one."""
        if self.archive.promotions(self.run_id):
            return
        ledger, evidence = Ledger(self.archive), decision.to_json()
        if decision.promoted:
            design = self.archive.design(decision.promoted)
            self.learnable.promote(
                ledger, design, self.domain, decision.reason, evidence, self.run_id
            )
            return
        ledger.refuse(
            Subject(self.learnable.subject, learned or ""),
            place_of(self.domain),
            reason=decision.reason,
            evidence=evidence,
            run_id=self.run_id,
        )


def _counts(arm: Search, proposals: Sequence[ProposalRecord]) -> SearchCounts:
    """What came of the proposals. Zero evaluated or zero better than its parent is a warning."""
    own = [p for p in proposals if p.operator != HUMAN]
    by_status = {s: sum(p.status == s for p in own) for s in ("accepted", "duplicate", "rejected")}
    improved = sum(o.gain is not None and o.gain > 0 for o in arm.outcomes)
    warnings: tuple[str, ...] = ()
    if not by_status["accepted"]:
        warnings = ("no proposal was new and worked: the search never searched",)
    elif not improved:
        warnings = ("no child did better than its parent: the search found nothing",)
    return SearchCounts(len(own), **by_status, improved=improved, warnings=warnings)


def _enter(archive: Archive, run_id: str, config: LearnConfig) -> None:
    """Enter a new run. One that an older version began may lack settings that came later: what
    counts is what its settings mean."""
    with suppress(UnknownName):
        if LearnConfig.from_json(archive.run(run_id).config) == config:
            return
    archive.create_run(run_id, config.to_json())  # refuses another config for a known run


async def learn(
    stage: Stage, progress: Progress | None = None, *, desk: Path | None = None
) -> Summary:
    """Start a run, or go on with it where it stopped. One process at a time per run."""
    learning = Learning(stage, progress, desk=desk)  # refuses a wrong config
    archive, run_id = stage.archive, stage.run_id
    await aside(enter_origin, archive, learning.domain, "run", run_id)
    await aside(_enter, archive, run_id, stage.config)
    with ExitStack() as held:
        await aside(held.enter_context, archive.lock_run(run_id))
        record = await aside(archive.run, run_id)
        if record.state == "finished":
            return Summary.from_json(record.summary)
        learning.elapsed = Summary.from_json(record.summary).seconds
        await aside(archive.set_run_state, run_id, "running", learning.so_far())
        try:
            summary = await learning.run()
        except (KeyboardInterrupt, asyncio.CancelledError):
            await aside(archive.set_run_state, run_id, "stopped", learning.so_far())
            raise
        except (AllowanceSpent, UsageError) as stop:
            await aside(archive.set_run_state, run_id, "stopped", learning.so_far(stop.message))
            raise
        except Exception as error:
            told = learning.so_far(str(error) or type(error).__name__)
            await aside(archive.set_run_state, run_id, "failed", told)
            raise
        await aside(archive.set_run_state, run_id, "finished", summary.to_json())
        return summary
